//! What can be wrong with a configuration string, as values that a caller can show with place and remedy.

use std::fmt;
use std::ops::Range;

/// One problem with an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgError {
    /// The keyword it is about, if it is about one argument.
    pub argument: Option<String>,
    /// What is wrong, in Click's words where Click has them.
    pub message: String,
    /// The bytes of the configuration string that are at fault, where known.
    pub range: Option<Range<usize>>,
    /// What to do about it.
    pub hint: Option<String>,
    /// Whether it is a mere remark, which Click would not make.
    pub remark: bool,
}

impl ArgError {
    /// A problem with the configuration as a whole.
    pub fn new(message: impl Into<String>) -> Self {
        Self { argument: None, message: message.into(), range: None, hint: None, remark: false }
    }

    /// The same problem, about argument `name`.
    pub fn about(mut self, name: impl Into<String>) -> Self {
        self.argument = Some(name.into());
        self
    }

    /// What Click's form begins with: the argument's name and a colon, or nothing.
    pub fn subject(&self) -> String {
        self.argument.as_ref().map(|name| format!("{name}: ")).unwrap_or_default()
    }

    /// The same problem, at these bytes of the configuration string.
    pub fn at(mut self, range: Option<Range<usize>>) -> Self {
        self.range = range;
        self
    }

    /// The same, as a mere remark.
    pub fn as_remark(mut self) -> Self {
        self.remark = true;
        self
    }

    /// The same problem, with a remedy.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for ArgError {
    /// Click's form: `NAME: message`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.subject(), self.message)
    }
}

/// All problems of one configuration string, in the order of the class's arguments; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgErrors(pub Vec<ArgError>);

impl fmt::Display for ArgErrors {
    /// One problem a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            let separator = if index > 0 { "\n" } else { "" };
            write!(f, "{separator}{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ArgError {}
impl std::error::Error for ArgErrors {}

/// Why a text is not a value of some type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadValue {
    /// It does not have the form of the type; the argument's declared type says what was expected.
    Mismatch,
    /// Something more particular, such as a number out of range.
    Because(String),
}

impl BadValue {
    /// A number beyond `bound`.
    pub fn out_of_range(bound: impl fmt::Display) -> Self {
        Self::Because(format!("out of range, bound {bound}"))
    }
}

impl From<String> for BadValue {
    fn from(reason: String) -> Self {
        Self::Because(reason)
    }
}

impl From<&str> for BadValue {
    fn from(reason: &str) -> Self {
        Self::Because(reason.to_owned())
    }
}

impl fmt::Display for BadValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mismatch => f.write_str("parse error"),
            Self::Because(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for BadValue {}
