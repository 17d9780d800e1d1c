//! Errors and warnings of both pattern languages, as values with a place.
//!
//! Not a diagnostic renderer: the caller knows in which file the argument stands and shifts the byte range
//! there.

use std::fmt;
use std::ops::Range;

/// How serious a [`FilterError`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The patterns cannot be used.
    Error,
    /// The patterns work, but probably not as meant.
    Warning,
}

/// Something wrong with one configuration argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterError {
    /// Error or warning.
    pub severity: Severity,
    /// Index of the argument, from 0.
    pub argument: usize,
    /// The bytes of the argument that are at fault; empty at the end of the text when something is missing
    /// there.
    pub range: Range<usize>,
    /// What is wrong, in Click's words where Click has some.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl FilterError {
    /// An error without a hint.
    pub fn error(argument: usize, range: Range<usize>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, argument, range, message: message.into(), hint: None }
    }

    /// A warning without a hint.
    pub fn warning(argument: usize, range: Range<usize>, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(argument, range, message) }
    }

    /// The same with a remedy.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Whether this forbids using the patterns.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.severity == Severity::Warning {
            f.write_str("warning: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for FilterError {}
