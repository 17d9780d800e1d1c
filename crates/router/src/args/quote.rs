//! Quoting and unquoting of configuration text.
//!
//! Inside double quotes a backslash starts a C-like escape; inside single quotes nothing is special; `\<48 65>` stands
//! for bytes in hexadecimal, inside double quotes and outside quotes. Because escapes can name any byte, the exact
//! result of unquoting is bytes; [`unquote`] is for values that are known to be text.

use clickwork_source::text;

use super::split::{skip_comment, starts_comment, uncomment};

/// Removes comments and one level of quotes, and expands escapes.
///
/// ```
/// # use clickwork_router::args::unquote_bytes;
/// assert_eq!(unquote_bytes(r#"\<00 ff>"a\n" 'b\n'"#), b"\x00\xffa\n b\\n");
/// ```
pub fn unquote_bytes(text: &str) -> Vec<u8> {
    let text = uncomment(text);
    let bytes = &*text::encode(&text);
    let mut out = Vec::with_capacity(bytes.len());
    let mut quote = None;
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        match (byte, quote) {
            (b'"' | b'\'', None) => quote = Some(byte),
            (_, Some(open)) if open == byte => quote = None,
            (b'\\', Some(b'"')) if at + 1 < bytes.len() => {
                at = expand_escape(bytes, at, &mut out);
                continue;
            }
            (b'\\', None) if bytes.get(at + 1) == Some(&b'<') => {
                at = expand_escape(bytes, at, &mut out);
                continue;
            }
            _ => out.push(byte),
        }
        at += 1;
    }
    out
}

/// As [`unquote_bytes`], as [text](clickwork_source::text).
pub fn unquote(text: &str) -> String {
    text::decode(unquote_bytes(text))
}

/// A double-quoted form of `text` in printable ASCII, such that unquoting gives `text` back.
///
/// ```
/// # use clickwork_router::args::{quote, unquote};
/// assert_eq!(quote("a\tb"), r#""a\tb""#);
/// assert_eq!(unquote(&quote("$é,")), "$é,");
/// ```
pub fn quote(text: &str) -> String {
    quote_bytes(&text::encode(text))
}

/// As [`quote`], for any bytes.
pub fn quote_bytes(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    out.push('"');
    for &byte in bytes {
        match byte {
            b'\\' | b'"' | b'$' => out.extend(['\\', byte as char]),
            b'\t' => out.push_str("\\t"),
            b'\r' => out.push_str("\\r"),
            b'\n' => out.push_str("\\n"),
            b' '..=b'~' => out.push(byte as char),
            _ => out.push_str(&format!("\\{byte:03o}")),
        }
    }
    out.push('"');
    out
}

/// Whether `text` is a Click word: one or more printable ASCII characters without quotes, backslash, comma or space.
pub fn is_word(text: &str) -> bool {
    let is_word_byte = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\'' | b'\\' | b',');
    !text.is_empty() && text.bytes().all(is_word_byte)
}

/// Expands the escape whose backslash is at `at`; returns the place after it.
fn expand_escape(bytes: &[u8], at: usize, out: &mut Vec<u8>) -> usize {
    let letter = bytes[at + 1];
    let plain = match letter {
        b'\r' => return at + if bytes.get(at + 2) == Some(&b'\n') { 3 } else { 2 },
        b'\n' => return at + 2,
        b'0'..=b'7' => return expand_octal(bytes, at + 1, out),
        b'x' => return expand_hex_number(bytes, at + 2, out),
        b'<' => return expand_hex_data(bytes, at + 2, out),
        b'a' => 0x07,
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0b,
        other => other,
    };
    out.push(plain);
    at + 2
}

/// Up to three octal digits; as in C, only the low eight bits count.
fn expand_octal(bytes: &[u8], start: usize, out: &mut Vec<u8>) -> usize {
    let digits = bytes[start..].iter().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
    let value = bytes[start..start + digits].iter().fold(0u8, |value, digit| (value << 3) | (digit - b'0'));
    out.push(value);
    start + digits
}

/// Any number of hexadecimal digits; only the low eight bits count.
fn expand_hex_number(bytes: &[u8], start: usize, out: &mut Vec<u8>) -> usize {
    let digits: Vec<u8> = bytes[start..].iter().map_while(|byte| hex_digit(*byte)).collect();
    out.push(digits.iter().fold(0u8, |value, digit| (value << 4) | digit));
    start + digits.len()
}

/// Pairs of hexadecimal digits up to `>`; spaces and comments between them are skipped.
fn expand_hex_data(bytes: &[u8], mut at: usize, out: &mut Vec<u8>) -> usize {
    let mut high = None;
    while at < bytes.len() && bytes[at] != b'>' {
        if starts_comment(bytes, at) {
            at = skip_comment(bytes, at);
            continue;
        }
        if let Some(digit) = hex_digit(bytes[at]) {
            match high.take() {
                Some(first) => out.push(first << 4 | digit),
                None => high = Some(digit),
            }
        }
        at += 1;
    }
    (at + 1).min(bytes.len())
}

fn hex_digit(byte: u8) -> Option<u8> {
    (byte as char).to_digit(16).map(|digit| digit as u8)
}

#[cfg(test)]
mod tests {
    use super::super::split_args;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escapes_expand_inside_double_quotes_only() {
        let cases: [(&str, &[u8]); 12] = [
            (r#""\a\b\f\n\r\t\v""#, b"\x07\x08\x0c\n\r\t\x0b"),
            (r#""\101\x42\1012""#, b"ABA2"),
            (r#""\$\"\\\'\,""#, b"$\"\\',"),
            ("\"a\\\nb\\\r\nc\"", b"abc"),
            (r"'\n'", b"\\n"),
            (r"\n", b"\\n"),
            (r"\<48656c6C 6f /* comment */ 21>", b"Hello!"),
            (r#""\<48 6>""#, b"H"),
            (r#"a"b"'c'"#, b"abc"),
            (r#""'""#, b"'"),
            (r#"" "  x // c"#, b"   x"),
            (r#""\<41"#, b"A"),
        ];
        for (text, expected) in cases {
            assert_eq!(unquote_bytes(text), expected, "{text}");
        }
    }

    #[test]
    fn a_backslash_at_the_end_stays() {
        assert_eq!(unquote_bytes("\"a\\"), b"a\\");
        assert_eq!(unquote_bytes("\\"), b"\\");
    }

    #[test]
    fn quoting_gives_printable_ascii() {
        assert_eq!(quote(""), r#""""#);
        assert_eq!(quote("a\"$\\\u{1}\u{e9}"), r#""a\"\$\\\001\303\251""#);
    }

    #[test]
    fn words_have_no_quotes_and_no_space() {
        for word in ["a", "a/b@1", "<>!"] {
            assert!(is_word(word), "{word}");
        }
        for other in ["", "a b", "a,b", "\"a\"", "a\\", "é"] {
            assert!(!is_word(other), "{other}");
        }
    }

    proptest! {
        #[test]
        fn unquote_undoes_quote(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            prop_assert_eq!(unquote_bytes(&quote_bytes(&bytes)), bytes);
        }

        #[test]
        fn a_quoted_string_is_one_argument(texts in prop::collection::vec(any::<String>(), 1..5)) {
            let quoted: Vec<String> = texts.iter().map(|text| quote(text)).collect();
            let back: Vec<String> = split_args(&quoted.join(", ")).iter().map(|text| unquote(text)).collect();
            prop_assert_eq!(back, texts);
        }

        #[test]
        fn no_text_panics(text in any::<String>(), tricky in r#"[\\"'<>/*x0-9 ]{0,20}"#) {
            unquote_bytes(&text);
            unquote_bytes(&tricky);
        }
    }
}
