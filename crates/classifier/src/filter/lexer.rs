//! Words of the filter language, and the numbers and addresses that words can be.
//!
//! Words are runs of letters, digits and `-./@_:`; operators and everything else stand alone. Quotes separate
//! words like spaces do, so that a quoted argument reads as an unquoted one.

use std::net::Ipv4Addr;
use std::ops::Range;

/// A word and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    pub text: &'a str,
    pub start: usize,
}

impl Word<'_> {
    pub fn range(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }
}

pub(crate) fn words(text: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut start = 0;
    while let Some(first) = text[start..].chars().next() {
        let length = word_length(&text[start..], first);
        if !first.is_ascii_whitespace() && !matches!(first, '"' | '\'') {
            words.push(Word { text: &text[start..start + length], start });
        }
        start += length;
    }
    words
}

fn word_length(rest: &str, first: char) -> usize {
    let second = rest[first.len_utf8()..].chars().next();
    match first {
        '&' | '|' if second == Some(first) => 2,
        '<' | '>' | '!' | '=' if second == Some('=') => 2,
        _ if in_word(first) => rest.find(|c| !in_word(c)).unwrap_or(rest.len()),
        _ => first.len_utf8(),
    }
}

fn in_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '/' | '@' | '_' | ':')
}

/// An integer as Click writes it: decimal, `0x` hexadecimal or `0` octal, perhaps with a sign. It fits 32
/// bits, signed or not.
pub(crate) fn integer(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let magnitude = if let Some(hex) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        unsigned(hex, 16)?
    } else if digits.len() > 1 && digits.starts_with('0') {
        unsigned(digits, 8)?
    } else {
        unsigned(digits, 10)?
    };
    let value = if negative { -i64::from(magnitude) } else { i64::from(magnitude) };
    (value >= i64::from(i32::MIN)).then_some(value)
}

fn unsigned(digits: &str, radix: u32) -> Option<u32> {
    let plain = digits.starts_with(|c: char| c.is_ascii_alphanumeric());
    if plain { u32::from_str_radix(digits, radix).ok() } else { None }
}

/// `LOW-HIGH` or `LOW:HIGH`.
pub(crate) fn integer_range(text: &str) -> Option<(u32, u32)> {
    let (low, high) = text.split_once(['-', ':'])?;
    let bound = |text: &str| integer(text).and_then(|value| u32::try_from(value).ok());
    Some((bound(low)?, bound(high)?))
}

/// `a.b.c.d`.
pub(crate) fn ip_address(text: &str) -> Option<u32> {
    text.parse::<Ipv4Addr>().ok().map(u32::from)
}

/// `a.b.c.d/LENGTH`, `a.b/LENGTH` or `a.b.c.d/MASK`, as address and mask.
pub(crate) fn ip_prefix(text: &str) -> Option<(u32, u32)> {
    let (address, mask) = text.rsplit_once('/')?;
    let (address, bytes) = leading_bytes(address)?;
    if let Some(mask) = ip_address(mask) {
        return (bytes == 4).then_some((address, mask));
    }
    let length = mask.parse::<u32>().ok().filter(|&length| length <= 8 * bytes)?;
    let mask = u32::MAX.checked_shl(32 - length).unwrap_or(0);
    Some((address, mask))
}

/// One to four decimal bytes with dots between, as the high bytes of an address.
fn leading_bytes(text: &str) -> Option<(u32, u32)> {
    let mut address = 0;
    let mut count = 0;
    for part in text.split('.') {
        let plain = part.starts_with(|c: char| c.is_ascii_digit());
        let byte = part.parse::<u8>().ok().filter(|_| plain && count < 4)?;
        address |= u32::from(byte) << (24 - 8 * count);
        count += 1;
    }
    Some((address, count))
}

/// Six hexadecimal bytes with colons or hyphens between.
pub(crate) fn ether_address(text: &str) -> Option<[u8; 6]> {
    let separator = if text.contains(':') { ':' } else { '-' };
    let mut address = [0; 6];
    let mut parts = text.split(separator);
    for byte in &mut address {
        let part = parts.next()?;
        *byte = u8::from_str_radix(part, 16).ok().filter(|_| !part.starts_with('+'))?;
    }
    parts.next().is_none().then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        words(text).iter().map(|word| word.text).collect()
    }

    #[test]
    fn operators_stand_alone() {
        assert_eq!(texts("src port>=80&&!(tcp)"), ["src", "port", ">=", "80", "&&", "!", "(", "tcp", ")"]);
        assert_eq!(texts("ip[9:1]=0x06"), ["ip", "[", "9:1", "]", "=", "0x06"]);
        assert_eq!(texts("tcp ? a : b"), ["tcp", "?", "a", ":", "b"]);
        assert_eq!(texts("\"tcp\" é"), ["tcp", "é"]);
        assert_eq!(words("a  é b")[2], Word { text: "b", start: 6 });
    }

    #[test]
    fn integers_in_three_bases() {
        let values = ["10", "0x1F", "017", "0", "-1", "4294967295"].map(integer);
        assert_eq!(values, [Some(10), Some(31), Some(15), Some(0), Some(-1), Some(4_294_967_295)]);
        for bad in ["", "-", "0x", "08", "1x", "4294967296", "--1", "+-1", "0x+1"] {
            assert_eq!(integer(bad), None, "{bad}");
        }
        assert_eq!(integer_range("1-1024"), Some((1, 1024)));
        assert_eq!(integer_range("1024:2000"), Some((1024, 2000)));
        assert_eq!(integer_range("-5"), None);
    }

    #[test]
    fn addresses_and_prefixes() {
        assert_eq!(ip_prefix("10.0.0.0/8"), Some((0x0a00_0000, 0xff00_0000)));
        assert_eq!(ip_prefix("18.26/16"), Some((0x121a_0000, 0xffff_0000)));
        assert_eq!(ip_prefix("1.2.3.4/0"), Some((0x0102_0304, 0)));
        assert_eq!(ip_prefix("1.2.3.4/255.0.0.255"), Some((0x0102_0304, 0xff00_00ff)));
        for bad in ["1.2.3.4/33", "1.2/24", "1.2.3.4", "1.2.3.4.5/8", "/8", "1..2/8", "1.2/255.0.0.0"] {
            assert_eq!(ip_prefix(bad), None, "{bad}");
        }
        assert_eq!(ether_address("0:1:2:a:b:ff"), Some([0, 1, 2, 10, 11, 255]));
        assert_eq!(ether_address("00-01-02-0a-0b-ff"), Some([0, 1, 2, 10, 11, 255]));
        assert_eq!(ether_address("0:1:2:a:b"), None);
    }
}
