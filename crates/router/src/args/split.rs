//! Cutting a configuration string into arguments (at commas) and into words (at spaces).
//!
//! Quotes, comments and `\<...>` data hide commas and spaces, exactly as Click's `cp_argvec` and `cp_spacevec` do.
//! Escapes are not expanded here: that is [`unquote`](super::unquote), done once per value by the type that reads it.

use std::ops::Range;

/// One argument, or one word of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// The text with outer space removed and each comment replaced by one space.
    pub text: String,
    /// The bytes of the configuration string it was taken from.
    pub range: Range<usize>,
}

/// Splits `config` at unquoted commas; an empty last argument is dropped.
///
/// ```
/// # use clickwork_router::args::split_args;
/// assert_eq!(split_args(r#"a /* one */ b, "x, y", "#), ["a b", r#""x, y""#]);
/// ```
pub fn split_args(config: &str) -> Vec<String> {
    arguments(config).into_iter().map(|argument| argument.text).collect()
}

/// As [`split_args`], with the place of each argument.
pub fn arguments(config: &str) -> Vec<Argument> {
    let mut found = Vec::new();
    let mut start = 0;
    while start < config.len() {
        let (argument, end) = uncomment_from(config, start, true);
        if !argument.text.is_empty() || end < config.len() {
            found.push(argument);
        }
        start = end + 1;
    }
    found
}

/// Splits `text` at unquoted spaces and comments.
///
/// ```
/// # use clickwork_router::args::split_words;
/// assert_eq!(split_words("a  b, 'c d'"), ["a", "b,", "'c d'"]);
/// ```
pub fn split_words(text: &str) -> Vec<String> {
    words(text).into_iter().map(|word| word.text).collect()
}

/// As [`split_words`], with the place of each word.
pub fn words(text: &str) -> Vec<Argument> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = skip_blank(bytes, 0);
    while at < bytes.len() {
        let end = word_end(bytes, at);
        found.push(Argument { text: text[at..end].to_owned(), range: at..end });
        at = skip_blank(bytes, end);
    }
    found
}

/// Removes outer space and replaces each comment, with the space around it, by one space.
pub(super) fn uncomment(text: &str) -> String {
    uncomment_from(text, 0, false).0.text
}

/// The argument that begins at or after `from`, and where it ended (at a comma, or at the end of the text).
fn uncomment_from(text: &str, from: usize, stop_at_comma: bool) -> (Argument, usize) {
    let bytes = text.as_bytes();
    let start = skip_blank(bytes, from);
    let mut out = String::new();
    let (mut left, mut right, mut at) = (start, start, start);
    let mut after_comment = false;
    while at < bytes.len() && !(stop_at_comma && bytes[at] == b',') {
        if is_space(bytes[at]) {
            at += 1;
        } else if starts_comment(bytes, at) {
            at = skip_comment(bytes, at);
            after_comment = true;
        } else {
            if after_comment {
                out.push_str(&text[left..right]);
                out.push(' ');
                left = at;
                after_comment = false;
            }
            at = skip_piece(bytes, at);
            right = at;
        }
    }
    out.push_str(&text[left..right]);
    (Argument { text: out, range: start..right }, at)
}

/// The end of the word that begins at `at`: a space or comment outside quotes.
pub(super) fn word_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && !is_space(bytes[at]) && !starts_comment(bytes, at) {
        at = skip_piece(bytes, at);
    }
    at
}

/// Whether `byte` is white space in the C locale, which unlike Rust's ASCII white space includes the vertical tab.
pub(super) fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b'\x0b'
}

/// Past one byte, or past a whole quoted string or `\<...>`.
pub(super) fn skip_piece(bytes: &[u8], at: usize) -> usize {
    match bytes[at] {
        b'\'' => skip_single_quote(bytes, at),
        b'"' => skip_double_quote(bytes, at),
        b'\\' if bytes.get(at + 1) == Some(&b'<') => skip_backslash(bytes, at),
        _ => at + 1,
    }
}

fn skip_blank(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() {
        if is_space(bytes[at]) {
            at += 1;
        } else if starts_comment(bytes, at) {
            at = skip_comment(bytes, at);
        } else {
            break;
        }
    }
    at
}

pub(super) fn starts_comment(bytes: &[u8], at: usize) -> bool {
    bytes[at] == b'/' && matches!(bytes.get(at + 1), Some(b'/' | b'*'))
}

/// Past the comment at `at`; a `//` comment includes its line end.
pub(super) fn skip_comment(bytes: &[u8], at: usize) -> usize {
    let body = &bytes[at + 2..];
    let length = if bytes[at + 1] == b'*' {
        body.windows(2).position(|pair| pair == b"*/").map(|found| found + 2)
    } else {
        body.iter().position(|byte| matches!(byte, b'\n' | b'\r')).map(|found| {
            let is_pair = body[found..].starts_with(b"\r\n");
            found + if is_pair { 2 } else { 1 }
        })
    };
    length.map_or(bytes.len(), |length| at + 2 + length)
}

fn skip_single_quote(bytes: &[u8], at: usize) -> usize {
    let closing = bytes[at + 1..].iter().position(|byte| *byte == b'\'');
    closing.map_or(bytes.len(), |found| at + found + 2)
}

fn skip_double_quote(bytes: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at = skip_backslash(bytes, at),
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn skip_backslash(bytes: &[u8], at: usize) -> usize {
    let end = match bytes.get(at + 1) {
        Some(b'<') => return skip_hex_data(bytes, at + 2),
        Some(b'\r') if bytes.get(at + 2) == Some(&b'\n') => at + 3,
        _ => at + 2,
    };
    end.min(bytes.len())
}

fn skip_hex_data(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() {
        if bytes[at] == b'>' {
            return at + 1;
        }
        at = if starts_comment(bytes, at) { skip_comment(bytes, at) } else { at + 1 };
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn commas_separate_and_an_empty_last_argument_is_dropped() {
        assert_eq!(split_args(""), Vec::<String>::new());
        assert_eq!(split_args("  "), Vec::<String>::new());
        assert_eq!(split_args("a, b,c"), ["a", "b", "c"]);
        assert_eq!(split_args("a,"), ["a"]);
        assert_eq!(split_args(",a"), ["", "a"]);
        assert_eq!(split_args("a,,b"), ["a", "", "b"]);
        assert_eq!(split_args(","), [""]);
    }

    #[test]
    fn quotes_and_data_hide_commas() {
        assert_eq!(split_args(r#""a,\"b", 'c,"d', \<00,ff>"#), [r#""a,\"b""#, r#"'c,"d'"#, r"\<00,ff>"]);
        assert_eq!(split_args(r#""open, end"#), [r#""open, end"#]);
    }

    #[test]
    fn comments_become_one_space() {
        assert_eq!(split_args("a /* x, y */  b // z, w\n c, d"), ["a b c", "d"]);
        assert_eq!(split_args("a /* never closed"), ["a"]);
        assert_eq!(split_args("// only a comment"), Vec::<String>::new());
        assert_eq!(split_args("'/*' a   b"), ["'/*' a   b"]);
        assert_eq!(split_args("a //x\r\n, b"), ["a", "b"]);
    }

    #[test]
    fn each_argument_knows_its_place() {
        let config = "  one , /* c */ two words";
        let found: Vec<&str> = arguments(config).iter().map(|a| &config[a.range.clone()]).collect();
        assert_eq!(found, ["one", "two words"]);
    }

    #[test]
    fn words_end_at_spaces_and_comments() {
        assert_eq!(split_words(" a/b 'c d'e/*x*/f\t\"g h\" "), ["a/b", "'c d'e", "f", "\"g h\""]);
        assert_eq!(split_words("\x0b"), Vec::<String>::new());
    }

    proptest! {
        #[test]
        fn no_text_panics_and_places_lie_inside(text in r#"[ -~\n\ré,/*\\<>"']{0,40}"#) {
            for argument in arguments(&text) {
                prop_assert!(text.get(argument.range).is_some());
            }
            split_words(&text);
        }

        #[test]
        fn splitting_undoes_joining(words in prop::collection::vec("[a-z0-9][a-z0-9 ]{0,6}[a-z0-9]", 0..6)) {
            prop_assert_eq!(split_args(&words.join(", ")), words);
        }
    }
}
