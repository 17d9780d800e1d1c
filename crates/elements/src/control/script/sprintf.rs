//! The `sprintf` handler: C's formats for integers and strings, filled up as Click does: with the flag 0, anything is
//! filled with zeros, even strings, and 0 is always one digit.

use super::words::{parse, shift_word, unquote};
use clickwork_router::Value;
use clickwork_source::text::{decode, encode};

/// The longest field that may be asked for.
const MAX_FIELD: usize = 65535;

/// How one value is to be printed.
#[derive(Default)]
struct Spec {
    zero: bool,
    alternate: bool,
    left: bool,
    space: bool,
    plus: bool,
    width: usize,
    precision: Option<usize>,
    short: bool,
}

/// The words that are yet to be printed.
struct Words<'a>(&'a str);

impl<'a> Words<'a> {
    fn next(&mut self) -> &'a str {
        let (word, rest) = shift_word(self.0);
        self.0 = rest;
        word
    }

    fn integer(&mut self) -> Option<i64> {
        parse(self.next())
    }
}

/// Formats words as the first one says.
pub fn sprintf(text: &str) -> Result<Value, String> {
    let (format, rest) = shift_word(text);
    let (format, mut words) = (unquote(format), Words(rest));
    let formatted = all(&format, &mut words).filter(|_| words.0.is_empty());
    formatted.map(Value::from).ok_or_else(|| "syntax error".to_string())
}

fn all(mut format: &str, words: &mut Words<'_>) -> Option<String> {
    let mut out = String::new();
    while let Some((before, conversion)) = format.split_once('%') {
        out.push_str(before);
        let (spec, rest) = Spec::read(conversion, words)?;
        let letter = rest.chars().next()?;
        out.push_str(&spec.convert(letter, words)?);
        format = &rest[letter.len_utf8()..];
    }
    Some(out + format)
}

/// Reads the number at the start of a format, or takes it from the words if there is a star.
fn number<'f>(format: &'f str, words: &mut Words<'_>) -> Option<(i64, &'f str)> {
    if let Some(rest) = format.strip_prefix('*') {
        return Some((words.integer()?, rest));
    }
    let digits = format.bytes().take_while(u8::is_ascii_digit).count();
    let value = if digits == 0 { 0 } else { format[..digits].parse().ok()? };
    Some((value, &format[digits..]))
}

impl Spec {
    fn read<'f>(format: &'f str, words: &mut Words<'_>) -> Option<(Spec, &'f str)> {
        let mut spec = Spec::default();
        let flags = format.bytes().take_while(|b| b"0#- +".contains(b)).count();
        for flag in format[..flags].bytes() {
            match flag {
                b'0' => spec.zero = true,
                b'#' => spec.alternate = true,
                b'-' => spec.left = true,
                b' ' => spec.space = true,
                _ => spec.plus = true,
            }
        }
        let (width, mut rest) = number(&format[flags..], words)?;
        spec.left |= width < 0;
        spec.width = usize::try_from(width.unsigned_abs()).ok().filter(|&w| w <= MAX_FIELD)?;
        if let Some(precision) = rest.strip_prefix('.') {
            let (precision, after) = number(precision, words)?;
            spec.precision = Some(usize::try_from(precision).ok().filter(|&p| p <= MAX_FIELD)?);
            rest = after;
        }
        let sizes = rest.bytes().take_while(|b| b"hlLq".contains(b)).count();
        spec.short = rest[..sizes].ends_with('h');
        Some((spec, &rest[sizes..]))
    }

    fn convert(&self, letter: char, words: &mut Words<'_>) -> Option<String> {
        match letter {
            '%' => Some(self.filled("%".to_string())),
            's' => Some(self.string(&parse::<String>(words.next())?)),
            'd' | 'i' => Some(self.signed(words.integer()?)),
            'o' | 'x' | 'X' | 'u' => Some(self.unsigned(letter, parse(words.next())?)),
            _ => None,
        }
    }

    fn string(&self, text: &str) -> String {
        let bytes = encode(text);
        let length = self.precision.map_or(bytes.len(), |most| most.min(bytes.len()));
        self.filled(decode(&bytes[..length]))
    }

    fn signed(&self, value: i64) -> String {
        let value = if self.short { i64::from(value as i16) } else { value };
        let sign = match value < 0 {
            true => "-",
            false if self.plus => "+",
            false if self.space => " ",
            false => "",
        };
        self.integer(sign, value.unsigned_abs().to_string())
    }

    fn unsigned(&self, letter: char, value: u64) -> String {
        let value = if self.short { u64::from(value as u16) } else { value };
        let (prefix, digits) = match letter {
            'o' => ("0", format!("{value:o}")),
            'x' => ("0x", format!("{value:x}")),
            'X' => ("0X", format!("{value:X}")),
            _ => ("", value.to_string()),
        };
        self.integer(if self.alternate && value != 0 { prefix } else { "" }, digits)
    }

    fn integer(&self, prefix: &str, digits: String) -> String {
        let zeros = match self.precision {
            Some(precision) => precision,
            None if self.zero => self.width.saturating_sub(prefix.len()),
            None => 0,
        };
        self.filled(format!("{prefix}{digits:0>zeros$}"))
    }

    /// The text, filled up to the width, which counts bytes.
    fn filled(&self, text: String) -> String {
        let fill = self.width.saturating_sub(encode(&text).len());
        match (self.left, self.zero) {
            (true, _) => text + &" ".repeat(fill),
            (false, true) => "0".repeat(fill) + &text,
            (false, false) => " ".repeat(fill) + &text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::sprintf;
    use proptest::prelude::*;

    #[test]
    fn formats_are_those_of_c() {
        for (text, expected) in [
            ("\"%05x\" 127", "0007f"),
            ("'%5d|%-5d|%+d' 42 -7 3", "   42|-7   |+3"),
            ("%#o%#X 8 255", "0100XFF"),
            ("%hu 65537", "1"),
            ("%hhd 40000", "-25536"),
            ("%.3d 7", "007"),
            ("'%*.*s.' 6 2 abc", "    ab."),
            ("'%s %s%%' \"a b\" c", "a b c%"),
            ("plain", "plain"),
            ("%.0d|%05.3d|%-05d|%+05d 0 7 42 42", "0|00007|00042|+0042"),
            ("'%4s|%.1s' é é", "  é|\u{10f7c3}"),
            ("%05s|%-5s|%3% ab cd", "000ab|cd   |  %"),
            ("%x 0xffffffffffffffff", "ffffffffffffffff"),
        ] {
            assert_eq!(sprintf(text).unwrap().text(), expected, "{text}");
        }
        for text in ["%d", "%d x", "%", "%f 1", "%d 1 2", "%s", "%999999999999d 1"] {
            assert_eq!(sprintf(text).unwrap_err(), "syntax error", "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in any::<String>(), tricky in "%[-+ #0*.hlqdxsé0-9]{0,12} ?[-0-9]{0,6}") {
            let _ = (sprintf(&text), sprintf(&tricky));
        }
    }
}
