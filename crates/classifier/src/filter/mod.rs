//! The filter language of `IPFilter` and `IPClassifier`.
//!
//! An `IPFilter` argument is an action and an expression (`allow src net 10.0.0.0/8 && tcp`), an
//! `IPClassifier` argument only an expression. Here the arguments are taken apart; `parser` reads
//! expressions, `primitive` checks their smallest parts, `lower` turns these into word tests.
//!
//! Two readings of Click's that surprise: `port != 80`, `port < 80` and `port <= 80` ask it of *both* ports,
//! as negations of `port = 80`, `port >= 80` and `port > 80`, which ask it of either; and a test on a
//! transport header is false for later fragments and other protocols even if negated by its operator, but not
//! if negated by `not`. Read first: the manual pages of Click's `IPClassifier` and `IPFilter`.

mod brackets;
mod lexer;
mod lower;
pub mod names;
mod parser;
mod primitive;
mod relation;
mod vocabulary;

pub use names::{Names, NoNames, NumberKind};

use crate::Compiled;
use crate::diagram::Target;
use crate::error::FilterError;
use crate::expr::Expr;
use crate::pattern::unused_outputs;
use crate::program::Program;
use lexer::{Word, words};
use parser::Parser;

/// Compiles `ACTION EXPRESSION` rules for an element with `outputs` output ports; the first rule that a
/// packet satisfies decides.
///
/// Actions: an output port number, `allow`, `pass` or `permit` (port 0), `deny` or `drop`. A missing
/// expression, `-`, `any` and `all` match every packet. Unlike Click, `pass` and `permit` are understood, and
/// so are port ranges `1-1024` and `1024:2000`.
///
/// # Errors
/// Everything that is wrong with any of the rules, and the warnings found on the way.
pub fn ip_filter<S: AsRef<str>>(
    rules: &[S],
    outputs: usize,
    names: &dyn Names,
) -> Result<Compiled, Vec<FilterError>> {
    let mut messages = Vec::new();
    let mut compiled = Vec::with_capacity(rules.len());
    for (argument, rule) in rules.iter().enumerate() {
        let text = rule.as_ref();
        let words = words(text);
        let mut report = Report { argument, end: text.len(), messages: &mut messages };
        let Some((first, rest)) = words.split_first() else {
            let message = format!("empty pattern {argument}");
            let hint = "write an action and an expression, for example 'allow tcp' or 'deny all'";
            report.messages.push(FilterError::error(argument, 0..text.len(), message).with_hint(hint));
            continue;
        };
        let decision = action(first, outputs, &mut report);
        compiled.push((expression(rest, names, &mut report), decision));
    }
    finish(&compiled, messages)
}

/// Compiles one expression per output port; a packet leaves by the first that it satisfies. `-`, `any`, `all`
/// and the empty expression match every packet.
///
/// # Errors
/// Everything that is wrong with any of the expressions, and the warnings found on the way.
pub fn ip_classifier<S: AsRef<str>>(patterns: &[S], names: &dyn Names) -> Result<Compiled, Vec<FilterError>> {
    let mut messages = Vec::new();
    let mut compiled = Vec::with_capacity(patterns.len());
    for (argument, pattern) in patterns.iter().enumerate() {
        let text = pattern.as_ref();
        let mut report = Report { argument, end: text.len(), messages: &mut messages };
        compiled.push((expression(&words(text), names, &mut report), Target::Output(argument as u32)));
    }
    let mut result = finish(&compiled, messages)?;
    let unused = unused_outputs(&result.program, patterns);
    result.warnings.extend(unused);
    Ok(result)
}

fn finish(rules: &[(Expr, Target)], messages: Vec<FilterError>) -> Result<Compiled, Vec<FilterError>> {
    if messages.iter().any(FilterError::is_error) {
        return Err(messages);
    }
    Ok(Compiled { program: Program::from_rules(rules), warnings: messages })
}

fn action(word: &Word<'_>, outputs: usize, report: &mut Report<'_>) -> Target {
    match word.text {
        "allow" | "pass" | "permit" => {
            if outputs == 0 {
                report.error(
                    word,
                    format!("'{}' is meaningless, element has zero outputs", word.text),
                    "connect output 0",
                );
            }
            Target::Output(0)
        }
        "deny" => {
            if outputs > 1 {
                let message = "meaning of 'deny' has changed (now it means 'drop')";
                report.warn(word, message, "write 'drop', or the number of an output port");
            }
            Target::Drop
        }
        "drop" => Target::Drop,
        number => match lexer::integer(number) {
            Some(port) if (0..outputs as i64).contains(&port) => Target::Output(port as u32),
            Some(port) => {
                report.error(
                    word,
                    format!("slot '{port}' out of range"),
                    format!("the element has {outputs} outputs"),
                );
                Target::Drop
            }
            None => {
                let hint = "begin with allow, deny, drop or the number of an output port";
                report.error(word, format!("unknown slot ID '{number}'"), hint);
                Target::Drop
            }
        },
    }
}

fn expression(words: &[Word<'_>], names: &dyn Names, report: &mut Report<'_>) -> Expr {
    match words {
        [] => Expr::Always(true),
        [only] if matches!(only.text, "-" | "any" | "all") => Expr::Always(true),
        [only] if only.text == "none" => Expr::Always(false),
        _ => Parser::new(words, names, report).parse(),
    }
}

/// Collects what is wrong with one argument.
pub(crate) struct Report<'a> {
    argument: usize,
    /// Length of the argument's text: the place of something that is missing at the end.
    end: usize,
    messages: &'a mut Vec<FilterError>,
}

impl Report<'_> {
    fn error(&mut self, at: &Word<'_>, message: impl AsRef<str>, hint: impl Into<String>) {
        let message = format!("pattern {}: {}", self.argument, message.as_ref());
        self.messages.push(FilterError::error(self.argument, at.range(), message).with_hint(hint));
    }

    fn warn(&mut self, at: &Word<'_>, message: impl AsRef<str>, hint: impl Into<String>) {
        let message = format!("pattern {}: {}", self.argument, message.as_ref());
        self.messages.push(FilterError::warning(self.argument, at.range(), message).with_hint(hint));
    }

    /// An error at the words from `first` to `last`.
    fn error_over(
        &mut self,
        first: &Word<'_>,
        last: &Word<'_>,
        message: impl AsRef<str>,
        hint: impl Into<String>,
    ) {
        self.error(first, message, hint);
        self.widen_to(last);
    }

    /// A warning at the words from `first` to `last`.
    fn warn_over(
        &mut self,
        first: &Word<'_>,
        last: &Word<'_>,
        message: impl AsRef<str>,
        hint: impl Into<String>,
    ) {
        self.warn(first, message, hint);
        self.widen_to(last);
    }

    fn widen_to(&mut self, last: &Word<'_>) {
        if let Some(message) = self.messages.last_mut() {
            message.range.end = message.range.end.max(last.range().end);
        }
    }

    /// A word for the end of the text.
    fn end(&self) -> Word<'static> {
        Word { text: "", start: self.end }
    }
}
