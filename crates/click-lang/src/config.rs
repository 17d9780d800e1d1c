//! Configuration strings: arguments, words, quotes and backslashes, by Click's rules.
//!
//! `Class(a b, "c, d" /* no */)` has two arguments, `a b` and `"c, d"`. Splitting removes comments but no quotes;
//! [`unquote`] removes one level of them. What an argument means is not known here.

use clickwork_source::text;

use crate::syntax::lexer::{comment, is_space, protected};

/// Length of the white space and comments at the start of `text`.
pub(crate) fn skip_space(text: &[u8]) -> usize {
    let mut at = 0;
    while at < text.len() {
        if is_space(text[at]) {
            at += 1;
        } else if let Some(len) = comment(&text[at..]) {
            at += len;
        } else {
            break;
        }
    }
    at
}

/// Reads up to a comma (if `commas`) or to the end: the text without outer white space, comments inside replaced by one
/// space, and the length read.
fn uncommented(text: &str, commas: bool) -> (String, usize) {
    let bytes = text.as_bytes();
    let mut at = skip_space(bytes);
    let (mut left, mut right, mut after_comment) = (at, at, false);
    let mut out = String::new();
    while at < bytes.len() {
        if is_space(bytes[at]) {
            at += 1;
        } else if let Some(len) = comment(&bytes[at..]) {
            at += len;
            after_comment = true;
        } else if bytes[at] == b',' && commas {
            break;
        } else {
            if after_comment {
                out.push_str(&text[left..right]);
                out.push(' ');
                left = at;
                after_comment = false;
            }
            at += protected(&bytes[at..]);
            right = at;
        }
    }
    out.push_str(&text[left..right]);
    (out, at)
}

/// The text without comments and outer white space.
pub fn uncomment(text: &str) -> String {
    uncommented(text, false).0
}

/// The arguments of a configuration string: split at commas outside quotes, comments removed, trimmed. An empty last
/// argument does not count.
pub fn split_args(text: &str) -> Vec<String> {
    let mut args = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let (arg, len) = uncommented(&text[at..], true);
        at += len;
        if !arg.is_empty() || at < text.len() {
            args.push(arg);
        }
        at += 1;
    }
    args
}

/// Splits off the first word: the word, still quoted, and the rest.
pub fn split_word(text: &str) -> (&str, &str) {
    let text = &text[skip_space(text.as_bytes())..];
    let (word, rest) = text.split_at(word_length(text.as_bytes()));
    (word, &rest[skip_space(rest.as_bytes())..])
}

/// The words of an argument: split at white space outside quotes. The words keep their quotes.
pub fn split_words(mut text: &str) -> Vec<String> {
    let mut words = Vec::new();
    loop {
        let (word, rest) = split_word(text);
        if word.is_empty() {
            return words;
        }
        words.push(word.to_owned());
        text = rest;
    }
}

fn word_length(text: &[u8]) -> usize {
    let mut at = 0;
    while at < text.len() && !is_space(text[at]) && comment(&text[at..]).is_none() {
        at += protected(&text[at..]);
    }
    at
}

/// As [`unquote`], as text.
pub fn unquote_text(text: &str) -> String {
    text::decode(unquote(text))
}

/// Removes comments and one level of quotes and backslashes. The result is bytes, because `\<ff>` and `\377` are.
pub fn unquote(text: &str) -> Vec<u8> {
    let text = uncomment(text);
    let bytes = &*text::encode(&text);
    let mut out = Vec::with_capacity(bytes.len());
    let mut quote = 0;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if quote == b'"' || (quote == 0 && bytes.get(at + 1) == Some(&b'<')) => {
                at += backslash(&bytes[at..], &mut out);
                continue;
            }
            b @ (b'"' | b'\'') if quote == 0 => quote = b,
            b if b == quote && quote != 0 => quote = 0,
            b => out.push(b),
        }
        at += 1;
    }
    out
}

/// Appends what the backslash sequence at the start of `text` stands for; returns its length.
fn backslash(text: &[u8], out: &mut Vec<u8>) -> usize {
    let Some(&letter) = text.get(1) else {
        out.push(b'\\');
        return 1;
    };
    match letter {
        b'\r' if text.get(2) == Some(&b'\n') => return 3,
        b'\r' | b'\n' => {}
        b'a' => out.push(0x07),
        b'b' => out.push(0x08),
        b'f' => out.push(0x0c),
        b'n' => out.push(b'\n'),
        b'r' => out.push(b'\r'),
        b't' => out.push(b'\t'),
        b'v' => out.push(0x0b),
        b'0'..=b'7' => return number(&text[1..text.len().min(4)], 8, out) + 1,
        b'x' => return number(&text[2..], 16, out) + 2,
        b'<' => {
            let len = protected(text);
            hex_bytes(&text[2..len], out);
            return len;
        }
        other => out.push(other),
    }
    2
}

/// Appends the low byte of the number at the start of `bytes`; returns how many digits it has.
fn number(bytes: &[u8], radix: u32, out: &mut Vec<u8>) -> usize {
    let digits = bytes.iter().map_while(|&b| char::from(b).to_digit(radix));
    let (value, count) =
        digits.fold((0u8, 0), |(v, n), d| (v.wrapping_mul(radix as u8).wrapping_add(d as u8), n + 1));
    out.push(value);
    count
}

/// Appends the bytes of pairs of hex digits; white space, comments and anything else between the digits is ignored.
fn hex_bytes(text: &[u8], out: &mut Vec<u8>) {
    let mut high = None;
    let mut at = 0;
    while at < text.len() {
        if let Some(len) = comment(&text[at..]) {
            at += len;
            continue;
        }
        if let Some(digit) = char::from(text[at]).to_digit(16) {
            match high.take() {
                None => high = Some(digit),
                Some(first) => out.push((first << 4 | digit) as u8),
            }
        }
        at += 1;
    }
}

/// A double-quoted string that [`unquote`] turns back into `bytes`.
pub fn quote_bytes(bytes: &[u8]) -> String {
    format!("\"{}\"", escape_bytes(bytes))
}

/// As [`quote_bytes`], of a text.
pub fn quote(text: &str) -> String {
    quote_bytes(&text::encode(text))
}

/// The inside of [`quote`].
pub(crate) fn escape(text: &str) -> String {
    escape_bytes(&text::encode(text))
}

fn escape_bytes(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for &b in bytes {
        match b {
            b'\\' | b'"' | b'$' => out.extend(['\\', char::from(b)]),
            b'\t' => out.push_str("\\t"),
            b'\r' => out.push_str("\\r"),
            b'\n' => out.push_str("\\n"),
            b' '..=b'~' => out.push(char::from(b)),
            _ => out.push_str(&format!("\\{b:03o}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_split_at_bare_commas() {
        assert_eq!(split_args("a, b, c"), ["a", "b", "c"]);
        assert_eq!(split_args("  a /*?*/ b,  c, "), ["a b", "c"]);
        assert_eq!(split_args("\"x, y\" // ?"), ["\"x, y\""]);
        assert_eq!(split_args("a,,b"), ["a", "", "b"]);
        assert_eq!(split_args("'a,' \\<2c, 2c> x\\,y"), ["'a,' \\<2c, 2c> x\\", "y"]);
        assert_eq!(split_args(" /* none */ "), Vec::<String>::new());
        assert_eq!(split_args("a // b\n c"), ["a c"]);
    }

    #[test]
    fn words_split_at_bare_space() {
        assert_eq!(split_words("a  b, c"), ["a", "b,", "c"]);
        assert_eq!(split_words("  'a /*?*/ b'c/*x*/d"), ["'a /*?*/ b'c", "d"]);
        assert_eq!(split_word("$x 1 2"), ("$x", "1 2"));
    }

    #[test]
    fn unquoting() {
        assert_eq!(unquote("\"\\n\" abc /* 123 */ '/* def */'"), b"\n abc /* def */");
        assert_eq!(unquote("\\<48656c6C 6f 2 /* And */ 1>"), b"Hello!");
        assert_eq!(unquote("\"ab\\\ncd\\x0041\\7\\q\\\"\""), b"abcdA\x07q\"");
        assert_eq!(unquote("a\\b '\\n'"), b"a\\b \\n");
        assert_eq!(unquote("\"\\<ff>\\377\""), [0xff, 0xff]);
        assert_eq!(unquote("\"\\1234\""), b"S4");
        let raw = text::decode(*b"\"a\xe9\xff\\<f4 8f 9f a9>b\"");
        assert_eq!(unquote(&raw), b"a\xe9\xff\xf4\x8f\x9f\xa9b");
    }

    #[test]
    fn quoting_is_undone_by_unquoting() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(unquote(&quote_bytes(&all)), all);
        assert_eq!(quote("a$\"b"), "\"a\\$\\\"b\"");
    }
}
