//! How the text of one argument becomes a value: the two traits, and the plain types (truth values, text, data, files).

use clickwork_source::text::to_path;
use std::path::PathBuf;

use super::split::{is_space, skip_piece};
use super::{BadValue, Names, unquote_bytes};

/// A type that can be read from the text of one argument.
pub trait FromArg: Sized {
    /// Reads `text`, which has neither outer space nor comments; names in it are looked up in `names`.
    fn from_arg(text: &str, names: &Names) -> Result<Self, BadValue>;
}

/// A reader with parameters, such as bounds or a number of fraction bits.
pub trait ArgParser {
    /// What it reads.
    type Value;

    /// Reads `text`, which has neither outer space nor comments; names in it are looked up in `names`.
    fn parse(&self, text: &str, names: &Names) -> Result<Self::Value, BadValue>;
}

/// The parser that reads any [`FromArg`] type in its usual form.
pub(super) struct Plain<T>(pub std::marker::PhantomData<T>);

impl<T: FromArg> ArgParser for Plain<T> {
    type Value = T;

    fn parse(&self, text: &str, names: &Names) -> Result<T, BadValue> {
        T::from_arg(text, names)
    }
}

impl FromArg for bool {
    fn from_arg(text: &str, _: &Names) -> Result<Self, BadValue> {
        match text {
            "1" | "true" | "yes" | "t" | "y" => Ok(true),
            "0" | "false" | "no" | "f" | "n" => Ok(false),
            _ => Err(BadValue::Mismatch),
        }
    }
}

/// Data: one quoted or unquoted string, as bytes.
impl FromArg for Vec<u8> {
    fn from_arg(text: &str, _: &Names) -> Result<Self, BadValue> {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() && !is_space(bytes[at]) {
            at = skip_piece(bytes, at);
        }
        let is_one_string = at > 0 && at == bytes.len();
        if is_one_string { Ok(unquote_bytes(text)) } else { Err(BadValue::Mismatch) }
    }
}

/// One quoted or unquoted string; spaces only inside quotes.
impl FromArg for String {
    fn from_arg(text: &str, names: &Names) -> Result<Self, BadValue> {
        let bytes = Vec::from_arg(text, names)?;
        Ok(clickwork_source::text::decode(bytes))
    }
}

/// A string without spaces, quotes, backslashes or commas.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Word(pub String);

impl FromArg for Word {
    fn from_arg(text: &str, names: &Names) -> Result<Self, BadValue> {
        let word = String::from_arg(text, names)?;
        if super::is_word(&word) { Ok(Word(word)) } else { Err(BadValue::Mismatch) }
    }
}

/// The name of a file. `~/` at its start is the home directory; repeated slashes count as one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Filename(pub PathBuf);

impl FromArg for Filename {
    fn from_arg(text: &str, names: &Names) -> Result<Self, BadValue> {
        let mut name = String::from_arg(text, names)?;
        if name.is_empty() {
            return Err(BadValue::Mismatch);
        }
        while let Some(at) = name.find("//") {
            name.remove(at);
        }
        let home = std::env::home_dir().filter(|_| name == "~" || name.starts_with("~/"));
        Ok(Filename(match home {
            Some(home) => home.join(to_path(name[1..].trim_start_matches('/'))),
            None => to_path(&name),
        }))
    }
}

/// One of several words, each standing for a value.
///
/// ```
/// # use clickwork_router::args::{ArgParser, Choice, Names};
/// let encapsulation = Choice(&[("IP", 1), ("ETHER", 2)]);
/// assert_eq!(encapsulation.parse("ETHER", &Names::default()), Ok(2));
/// ```
pub struct Choice<T: 'static>(pub &'static [(&'static str, T)]);

impl<T: Clone> ArgParser for Choice<T> {
    type Value = T;

    fn parse(&self, text: &str, names: &Names) -> Result<T, BadValue> {
        let word = String::from_arg(text, names)?;
        match self.0.iter().find(|(name, _)| *name == word) {
            Some((_, value)) => Ok(value.clone()),
            None => {
                let known: Vec<&str> = self.0.iter().map(|(name, _)| *name).collect();
                Err(format!("unknown value '{word}', expected one of {}", known.join(", ")).into())
            }
        }
    }
}

/// `true` or `false`, as Click prints them.
pub fn unparse_bool(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T: FromArg>(text: &str) -> Result<T, BadValue> {
        T::from_arg(text, &Names::default())
    }

    #[test]
    fn truth_has_five_spellings_each() {
        for text in ["1", "true", "yes", "t", "y"] {
            assert_eq!(read(text), Ok(true), "{text}");
        }
        for text in ["0", "false", "no", "f", "n"] {
            assert_eq!(read(text), Ok(false), "{text}");
        }
        for text in ["", "True", "2", "on", "true "] {
            assert_eq!(read::<bool>(text), Err(BadValue::Mismatch), "{text}");
        }
        assert_eq!(unparse_bool(true), "true");
    }

    #[test]
    fn strings_are_unquoted_and_have_spaces_only_in_quotes() {
        assert_eq!(read("abc"), Ok("abc".to_owned()));
        assert_eq!(read(r#""a b"'c d'"#), Ok("a bc d".to_owned()));
        assert_eq!(read(r#""""#), Ok(String::new()));
        assert_eq!(read::<String>(""), Err(BadValue::Mismatch));
        assert_eq!(read::<String>("a b"), Err(BadValue::Mismatch));
        assert_eq!(read(r"\<ff>"), Ok(clickwork_source::text::decode(*b"\xff")));
    }

    #[test]
    fn data_may_hold_any_byte() {
        assert_eq!(read(r"\<00 ff>"), Ok(vec![0, 0xff]));
        assert_eq!(read(r#""a\000""#), Ok(vec![b'a', 0]));
        assert_eq!(read::<Vec<u8>>(r"\<00> \<01>"), Err(BadValue::Mismatch));
    }

    #[test]
    fn words_are_not_text() {
        assert_eq!(read("'a'"), Ok(Word("a".to_owned())));
        assert_eq!(read::<Word>("'a b'"), Err(BadValue::Mismatch));
    }

    #[test]
    fn file_names_lose_double_slashes() {
        assert_eq!(read("'/a//b///c'"), Ok(Filename("/a/b/c".into())));
        assert_eq!(read("-"), Ok(Filename("-".into())));
        assert_eq!(read(r"\<41 e9>"), Ok(Filename(to_path("A\u{10f7e9}"))));
        assert_eq!(read("a~/b"), Ok(Filename("a~/b".into())));
        assert_eq!(read::<Filename>("''"), Err(BadValue::Mismatch));
    }

    #[test]
    fn a_wrong_choice_names_the_right_ones() {
        let choice = Choice(&[("IP", 1), ("ETHER", 2)]);
        let error = choice.parse("TCP", &Names::default()).unwrap_err();
        assert_eq!(error.to_string(), "unknown value 'TCP', expected one of IP, ETHER");
    }
}
