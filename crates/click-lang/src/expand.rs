//! Variables in configuration strings: `$x`, `${x}`, `${x-default}`, `${x[1]}`, and `$(...)` for those who can call.
//!
//! A variable inside double quotes is replaced by its value with backslashes put in, so that the quoted string keeps its
//! end; inside single quotes and comments nothing is replaced. What is not defined stays as it is written, for the
//! handlers that know more at run time.

use crate::config;
use crate::syntax::lexer::{is_space, is_variable};

/// Who knows the variables.
pub trait Variables {
    /// The value of a variable, or `None` if there is no such variable. `name` may be `?`, `#` or `$`.
    fn value(&self, name: &str) -> Option<String>;

    /// The value of `$(text)`; by default there is none.
    fn call(&self, _text: &str) -> Option<String> {
        None
    }

    /// Whether a variable without a value will never have one, so that `${x-default}` can be replaced.
    fn complete(&self) -> bool {
        true
    }

    /// Whether variables in values are replaced in turn.
    fn nested(&self) -> bool {
        true
    }
}

/// The expansion grew beyond all reason: variables that mention others many times over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

impl std::fmt::Display for TooLong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "variables expand to more than {} KiB", MAX_WORK / 1024)
    }
}

impl std::error::Error for TooLong {}

/// How many bytes may be written on the way, and how deep values may mention other variables.
const MAX_WORK: usize = 1 << 20;
const MAX_DEPTH: usize = 10;

/// Replaces the variables of a configuration string. `quote_values` puts double quotes around each value that stands
/// outside quotes.
pub fn expand(text: &str, variables: &dyn Variables, quote_values: bool) -> Result<String, TooLong> {
    if !text.contains('$') {
        return Ok(text.to_owned());
    }
    let mut expansion = Expansion { variables, quote_values, work: MAX_WORK.max(text.len() * 2) };
    expansion.text(text, 0)
}

struct Expansion<'a> {
    variables: &'a dyn Variables,
    quote_values: bool,
    /// Bytes that may still be written.
    work: usize,
}

/// How a variable is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    Braces,
    Call,
}

/// A reference at some place: its form, the text inside, and its length with `$` and braces.
struct Reference<'a> {
    form: Form,
    inside: &'a str,
    len: usize,
}

impl Expansion<'_> {
    fn text(&mut self, text: &str, depth: usize) -> Result<String, TooLong> {
        let bytes = text.as_bytes();
        let mut out = String::new();
        let (mut copied, mut at, mut quote) = (0, 0, 0);
        while at < bytes.len() {
            match bytes[at] {
                b'\\' if quote == b'"' => at += 1,
                b @ (b'\'' | b'"') if quote == 0 => quote = b,
                b @ (b'\'' | b'"') if quote == b => quote = 0,
                b'/' if quote == 0 => at += config::skip_space(&bytes[at..]).saturating_sub(1),
                b'$' if quote != b'\'' && depth <= MAX_DEPTH => match reference(&text[at..]) {
                    Ok(Some(reference)) => {
                        self.spend(at - copied)?;
                        out.push_str(&text[copied..at]);
                        self.replace(&text[at..at + reference.len], &reference, quote, depth, &mut out)?;
                        at += reference.len;
                        copied = at;
                        continue;
                    }
                    Ok(None) => {}
                    Err(Unfinished) => break,
                },
                _ => {}
            }
            at += 1;
        }
        self.spend(text.len() - copied)?;
        out.push_str(&text[copied..]);
        Ok(out)
    }

    /// Appends the value of a reference, or, if it has none, what was `written`.
    fn replace(
        &mut self,
        written: &str,
        reference: &Reference<'_>,
        quote: u8,
        depth: usize,
        out: &mut String,
    ) -> Result<(), TooLong> {
        self.spend(1)?;
        let mut inside = reference.inside.to_owned();
        let indirect = reference.form != Form::Plain && inside.contains('$');
        if indirect {
            inside = self.text(&inside, depth + 1)?;
        }
        let start = out.len();
        match self.value(reference.form, &inside, depth)? {
            Some(value) if quote == b'"' => out.push_str(&config::escape(&value)),
            // What stands inside another reference is not text yet, but part of a name or a call.
            Some(value) if self.quote_values && depth == 0 => out.push_str(&config::quote(&value)),
            Some(value) => out.push_str(&value),
            None if indirect => {
                out.push_str(&written[..2]);
                out.push_str(&inside);
                out.push_str(&written[written.len() - 1..]);
            }
            None => out.push_str(written),
        }
        self.spend(out.len() - start)
    }

    fn value(&mut self, form: Form, inside: &str, depth: usize) -> Result<Option<String>, TooLong> {
        match form {
            Form::Plain => self.variable(inside, depth),
            Form::Call => Ok(self.variables.call(inside)),
            Form::Braces => {
                let braces = Braces::read(inside);
                let value = match self.variable(braces.name, depth)? {
                    Some(value) => Some(value),
                    None if !self.variables.complete() => None,
                    None => return braces.default.map(|d| self.nested(d, depth)).transpose(),
                };
                Ok(value.map(|value| match braces.index {
                    None => value,
                    Some(index) => config::split_words(&value).into_iter().nth(index).unwrap_or_default(),
                }))
            }
        }
    }

    fn variable(&mut self, name: &str, depth: usize) -> Result<Option<String>, TooLong> {
        self.variables.value(name).map(|value| self.nested(&value, depth)).transpose()
    }

    fn nested(&mut self, value: &str, depth: usize) -> Result<String, TooLong> {
        if self.variables.nested() { self.text(value, depth + 1) } else { Ok(value.to_owned()) }
    }

    fn spend(&mut self, bytes: usize) -> Result<(), TooLong> {
        self.work = self.work.checked_sub(bytes).ok_or(TooLong)?;
        Ok(())
    }
}

/// A `${` or `$(` without end: nothing after it is replaced.
struct Unfinished;

/// The reference at the start of `text`, which is a `$`.
fn reference(text: &str) -> Result<Option<Reference<'_>>, Unfinished> {
    let rest = &text[1..];
    let reference = |form, inside, len| Ok(Some(Reference { form, inside, len }));
    match rest.bytes().next() {
        Some(b'{') => {
            let end = rest.find('}').ok_or(Unfinished)?;
            reference(Form::Braces, &rest[1..end], end + 2)
        }
        Some(b'(') => {
            let end = call_end(rest.as_bytes()).ok_or(Unfinished)?;
            reference(Form::Call, &rest[1..end], end + 2)
        }
        Some(b'?' | b'#' | b'$') => reference(Form::Plain, &rest[..1], 2),
        Some(b) if is_variable(b) => {
            let len = rest.bytes().take_while(|&b| is_variable(b)).count();
            reference(Form::Plain, &rest[..len], len + 1)
        }
        _ => Ok(None),
    }
}

/// Where the parenthesis at the start of `text` closes.
fn call_end(text: &[u8]) -> Option<usize> {
    let (mut depth, mut quote, mut at) = (0, 0, 0);
    while at < text.len() {
        match text[at] {
            b'(' if quote == 0 => depth += 1,
            b')' if quote == 0 => depth -= 1,
            b @ (b'"' | b'\'') if quote == 0 => quote = b,
            b @ (b'"' | b'\'') if quote == b => quote = 0,
            b'\\' if quote != b'\'' => at += 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// The parts of `${name[index]-default}`.
struct Braces<'a> {
    name: &'a str,
    index: Option<usize>,
    default: Option<&'a str>,
}

impl<'a> Braces<'a> {
    fn read(inside: &'a str) -> Self {
        let trim = |text: &'a str| text.trim_start_matches(|c: char| c.is_ascii() && is_space(c as u8));
        let text = trim(inside);
        let (name, rest) = text.split_at(text.bytes().take_while(|&b| is_variable(b)).count());
        let (index, rest) = match trim(rest).strip_prefix('[').and_then(|r| r.split_once(']')) {
            Some((digits, after)) => match trim(digits).parse() {
                Ok(index) => (Some(index), trim(after)),
                Err(_) => (None, trim(rest)),
            },
            None => (None, trim(rest)),
        };
        Braces { name, index, default: rest.strip_prefix('-') }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    struct Table(HashMap<&'static str, &'static str>);

    impl Variables for Table {
        fn value(&self, name: &str) -> Option<String> {
            self.0.get(name).map(|v| (*v).to_owned())
        }
        fn call(&self, text: &str) -> Option<String> {
            text.strip_prefix("say ").map(str::to_owned)
        }
    }

    fn expanded(text: &str) -> String {
        let table = [
            ("x", "1 two \"3 4\""),
            ("y", "<$x>"),
            ("q", "a\"b"),
            ("loop", "($loop)"),
            ("name", "x"),
            ("?", "7"),
        ];
        expand(text, &Table(table.into()), false).unwrap()
    }

    #[test]
    fn forms_of_references() {
        assert_eq!(expanded("$x, ${x}y"), "1 two \"3 4\", 1 two \"3 4\"y");
        assert_eq!(expanded("${x[1]} ${x[2]} ${x[9]}."), "two \"3 4\" .");
        assert_eq!(expanded("${z-none} ${z} $z ${z[1]-$name}"), "none ${z} $z x");
        assert_eq!(expanded("${ x [ 0]}${$name}"), "11 two \"3 4\"");
        assert_eq!(expanded("$(say (hi)) $(shout) $(say $name) $?"), "(hi) $(shout) x 7");
        assert_eq!(expanded("$y ${$z} $ x$"), "<1 two \"3 4\"> ${$z} $ x$");
        assert_eq!(expanded("$name ${x"), "x ${x");
    }

    #[test]
    fn quotes_and_comments() {
        assert_eq!(expanded("'$q' \"$q\" $q"), "'$q' \"a\\\"b\" a\"b");
        assert_eq!(expanded("\"\\$q\" /* $q */ $name // $q"), "\"\\$q\" /* $q */ x // $q");
        assert_eq!(
            expand("$(say $name)", &Table([("name", "x y")].into()), true).unwrap(),
            "\"x y\"",
            "only the whole value is quoted"
        );
        assert_eq!(expand("é$n", &Table([("n", "ü")].into()), true).unwrap(), "é\"\\303\\274\"");
    }

    #[test]
    fn endless_and_exponential_definitions_end() {
        assert!(expanded("$loop").starts_with("((((((((((("));
        struct Doubling;
        impl Variables for Doubling {
            fn value(&self, _: &str) -> Option<String> {
                Some("$a$a$a$a$a$a$a$a$a$a".into())
            }
        }
        assert_eq!(expand("$a", &Doubling, false), Err(TooLong));
    }
}
