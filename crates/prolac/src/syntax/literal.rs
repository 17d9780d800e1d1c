//! What numbers, characters and strings stand for.

use super::ast::Builtin;

/// The value and type of an integer constant, by the rules of C with `int` of 32 and `long` of 64 bits; with suffix
/// `Q`, a `seqint`. The error is a message and a hint.
pub(super) fn integer(text: &str) -> Result<(u64, Builtin), (String, &'static str)> {
    let (digits, radix) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&text[2..], 16),
        [b'0', b'b' | b'B', ..] => (&text[2..], 2),
        [b'0', ..] => (text, 8),
        _ => (text, 10),
    };
    if radix != 16 && text.contains(['.', 'e', 'E']) || text.contains('.') {
        return Err((format!("`{text}` is a floating-point number"), "Prolac has integers only"));
    }
    let count = digits.bytes().take_while(|b| (*b as char).is_digit(radix)).count();
    let (digits, suffix) = digits.split_at(count);
    if digits.is_empty() || suffix.starts_with(|c: char| c.is_ascii_digit()) {
        let hint = match radix {
            8 => "a number that begins with 0 is octal",
            2 => "a number that begins with 0b is binary",
            _ => "a number that begins with 0x is hexadecimal",
        };
        return Err((format!("`{text}` is no number"), hint));
    }
    let bad_suffix = || (format!("`{suffix}` cannot follow a number"), "suffixes are `u`, `l`, `ll` and `Q`");
    let candidates = types(suffix, radix == 10).ok_or_else(bad_suffix)?;
    let value = u64::from_str_radix(digits, radix).ok();
    let fits = |ty: &&Builtin| value.is_some_and(|v| v <= largest(**ty));
    match (value, candidates.iter().find(fits)) {
        (Some(value), Some(ty)) => Ok((value, *ty)),
        _ => Err((format!("`{text}` is too large"), too_large_hint(candidates))),
    }
}

/// The types a constant may have, in the order in which C tries them.
fn types(suffix: &str, decimal: bool) -> Option<&'static [Builtin]> {
    use Builtin::{Int, Long, Seqint, Uint, Ulong};
    let known: &[Builtin] = match (&*suffix.to_ascii_lowercase(), decimal) {
        ("", true) => &[Int, Long],
        ("", false) => &[Int, Uint, Long, Ulong],
        ("u", _) => &[Uint, Ulong],
        ("l" | "ll", true) => &[Long],
        ("l" | "ll", false) => &[Long, Ulong],
        ("ul" | "ull" | "lu" | "llu", _) => &[Ulong],
        ("q", _) if suffix == "Q" => &[Seqint],
        _ => return None,
    };
    Some(known)
}

fn largest(ty: Builtin) -> u64 {
    match ty {
        Builtin::Int => i32::MAX as u64,
        Builtin::Uint | Builtin::Seqint => u64::from(u32::MAX),
        Builtin::Long => i64::MAX as u64,
        _ => u64::MAX,
    }
}

fn too_large_hint(candidates: &[Builtin]) -> &'static str {
    match candidates.last() {
        Some(Builtin::Seqint) => "a seqint has 32 bits",
        Some(Builtin::Long) => "a long has 63 bits and a sign; with the suffix `u` there are 64 bits",
        _ => "the longest integers have 64 bits",
    }
}

/// The byte of a character constant, given with its quotes.
pub(super) fn character(text: &str) -> Result<u8, String> {
    let inner = text.strip_prefix('\'').unwrap_or(text);
    let bytes = unescape(inner.strip_suffix('\'').unwrap_or(inner))?;
    match bytes[..] {
        [byte] => Ok(byte),
        [] => Err("a character constant must hold a character".into()),
        _ => Err("a character constant holds one byte".into()),
    }
}

/// The bytes of a string, given with its quotes.
pub(super) fn string(text: &str) -> Result<Vec<u8>, String> {
    let inner = text.strip_prefix('"').unwrap_or(text);
    unescape(inner.strip_suffix('"').unwrap_or(inner))
}

fn unescape(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c == '\\' {
            rest = escape(rest, &mut bytes)?;
        } else {
            bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
        }
    }
    Ok(bytes)
}

/// What follows a backslash; returns what follows that.
fn escape<'a>(text: &'a str, bytes: &mut Vec<u8>) -> Result<&'a str, String> {
    let Some(c) = text.chars().next() else { return Err("nothing follows the `\\`".into()) };
    let rest = &text[c.len_utf8()..];
    let simple = match c {
        'n' => b'\n',
        't' => b'\t',
        'r' => b'\r',
        'a' => 7,
        'b' => 8,
        'f' => 12,
        'v' => 11,
        '\\' | '\'' | '"' | '?' => c as u8,
        '0'..='7' => return byte_escape(text, 8, 3, bytes),
        'x' => return byte_escape(rest, 16, usize::MAX, bytes),
        'u' => return unicode_escape(rest, 4, bytes),
        'U' => return unicode_escape(rest, 8, bytes),
        '\n' => return Ok(rest),
        '\r' => return Ok(rest.strip_prefix('\n').unwrap_or(rest)),
        _ => return Err(format!("`\\{}` is no escape sequence", c.escape_debug())),
    };
    bytes.push(simple);
    Ok(rest)
}

fn byte_escape<'a>(text: &'a str, radix: u32, most: usize, bytes: &mut Vec<u8>) -> Result<&'a str, String> {
    let count = text.bytes().take(most).take_while(|b| (*b as char).is_digit(radix)).count();
    if count == 0 {
        return Err("`\\x` needs hexadecimal digits".into());
    }
    let digits = text[..count].trim_start_matches('0');
    let value = if digits.is_empty() { Some(0) } else { u8::from_str_radix(digits, radix).ok() };
    bytes.push(value.ok_or("this escape sequence is larger than a byte")?);
    Ok(&text[count..])
}

fn unicode_escape<'a>(text: &'a str, count: usize, bytes: &mut Vec<u8>) -> Result<&'a str, String> {
    let digits = text.get(..count).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
    let c = digits.and_then(|d| u32::from_str_radix(d, 16).ok()).and_then(char::from_u32);
    let c = c.ok_or_else(|| format!("`\\u` needs {count} hexadecimal digits that name a character"))?;
    bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
    Ok(&text[count..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_have_the_types_of_c() {
        use Builtin::*;
        let cases = [
            ("0", 0, Int),
            ("2147483647", 0x7fff_ffff, Int),
            ("2147483648", 0x8000_0000, Long),
            ("0xffffffff", 0xffff_ffff, Uint),
            ("0XFFFFFFFFu", 0xffff_ffff, Uint),
            ("4294967296", 1 << 32, Long),
            ("0x8000000000000000", 1 << 63, Ulong),
            ("18446744073709551615u", u64::MAX, Ulong),
            ("017", 15, Int),
            ("0b101", 5, Int),
            ("5l", 5, Long),
            ("5LLU", 5, Ulong),
            ("4294967295Q", 0xffff_ffff, Seqint),
            ("0xeQ", 14, Seqint),
        ];
        for (text, value, ty) in cases {
            assert_eq!(integer(text), Ok((value, ty)), "{text}");
        }
    }

    #[test]
    fn wrong_numbers_are_refused() {
        for text in ["1.5", ".5", "1e3", "1e+3", "08", "0x", "0b2", "5q", "5uu", "12ab", "1.", "0x1.8"] {
            assert!(integer(text).is_err(), "{text}");
        }
        for text in ["18446744073709551616u", "9223372036854775808", "4294967296Q", "99999999999999999999"] {
            assert!(integer(text).unwrap_err().0.contains("too large"), "{text}");
        }
    }

    #[test]
    fn escapes_are_those_of_c() {
        assert_eq!(string(r#""a\n\x41\102\0\?\"\u00e9""#), Ok(b"a\nAB\0?\"\xc3\xa9".to_vec()));
        assert_eq!(character(r"'\377'"), Ok(255));
        assert_eq!(character("'''"), Ok(b'\''));
        for text in ["''", "'ab'", r"'\q'", r"'\x'", r"'\400'", "'é'", r"'\'"] {
            assert!(character(text).is_err(), "{text}");
        }
    }
}
