//! Arguments of elements: a configuration string, read against the table of arguments of the element's class.
//!
//! Not the configuration language: splitting a file into elements, and substituting `$variables`, is done before.
//! Not name resolution of elements and handlers either: those are returned as names.
//!
//! Start with [`Args`], then [`ArgSpec`] for the table, then [`FromArg`] for the types. Formats and wording follow
//! Click's `Args`; the difference is that an error carries its place and a remedy, and that all errors are reported.
#![forbid(unsafe_code)]

mod address;
mod annotation;
mod error;
mod int;
mod live;
mod matching;
mod names;
mod quote;
mod real;
mod reference;
mod secret;
mod services;
mod spec;
mod split;
mod units;
mod value;

pub use address::HostOrPrefix;
pub use annotation::AnnoOfSize;
pub use error::{ArgError, ArgErrors, BadValue};
pub use int::{Bounded, IntBase};
pub(crate) use live::with_argument;
pub use names::{DeviceAddresses, NameValue, Names};
pub use quote::{is_word, quote, quote_bytes, unquote, unquote_bytes};
pub use real::{Real2, Real10, SignedReal2, SignedReal10, format_real2, format_real10};
pub use reference::{ElementRef, HandlerCall, HandlerOwner, HandlerRef};
pub use secret::{DataKey, HIDDEN, HexKey, hide_keys, keys_in, texts_of_keys, without_comments};
pub use services::{IpProto, TcpPort, UdpPort};
pub use spec::{ArgKind, ArgSpec, ArgType};
pub use split::{Argument, arguments, split_args, split_words, words};
pub use units::{Bandwidth, Rate, SecondsIn, format_seconds, unparse_bandwidth};
pub use value::{ArgParser, Choice, Filename, FromArg, Word, unparse_bool};

use std::marker::PhantomData;
use std::ops::Range;

use matching::{Given, Matched};
use value::Plain;

/// The arguments given to one element, matched with the table of its class.
///
/// ```
/// use clickwork_router::args::{ArgSpec, ArgType, Args, Names};
///
/// const SPECS: &[ArgSpec] = &[
///     ArgSpec::positional("LABEL", ArgType::String, "", "text printed before each packet"),
///     ArgSpec::positional("MAXLENGTH", ArgType::I32, "24", "bytes printed; -1 for all"),
///     ArgSpec::keyword("ACTIVE", ArgType::Bool, "true", "whether anything is printed"),
/// ];
///
/// let mut args = Args::new(SPECS, "hello, ACTIVE no", &Names::default());
/// let label = args.get::<String>("LABEL").unwrap_or_default();
/// let (mut max_length, mut active) = (24, true);
/// args.read("MAXLENGTH", &mut max_length).read("ACTIVE", &mut active);
/// assert!(args.finish().is_ok());
/// assert_eq!((label.as_str(), max_length, active), ("hello", 24, false));
///
/// let errors = Args::new(SPECS, "hello, ACTVE no", &Names::default()).finish().unwrap_err();
/// assert_eq!(errors.to_string(), "ACTVE: unknown argument");
/// assert_eq!(errors.0[0].hint.as_deref(), Some("did you mean 'ACTIVE'?"));
/// ```
#[derive(Debug)]
pub struct Args {
    specs: &'static [ArgSpec],
    given: Vec<Option<Given>>,
    rest: Vec<String>,
    rest_ranges: Vec<Range<usize>>,
    names: Names,
    errors: Vec<(Order, ArgError)>,
    warnings: Vec<ArgError>,
}

/// Where an error stands in the report: by argument, then the element's own, then what was left over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Order {
    Argument(usize),
    Element,
    LeftOver,
}

impl Args {
    /// Splits `config` and matches it with `specs`. Problems are kept for [`Args::finish`].
    ///
    /// Matching follows Click: each entry of the table in turn takes the last argument that begins with its keyword;
    /// else, if it may be positional, the first argument not yet taken, provided that no keyword came before it and it
    /// does not itself look like a keyword (unless the entry is mandatory). Keywords that the table names before all
    /// positional entries may stand anywhere.
    /// An empty argument stands for one that is not given.
    pub fn new(specs: &'static [ArgSpec], config: &str, names: &Names) -> Self {
        Self::matched(specs, arguments(config), names)
    }

    /// As [`Args::new`], for text whose arguments are separated by spaces, such as the input of a handler or one entry
    /// of a routing table. Such arguments are given by position only.
    pub fn from_words(specs: &'static [ArgSpec], text: &str, names: &Names) -> Self {
        Self::matched(specs, words(text), names)
    }

    fn matched(specs: &'static [ArgSpec], arguments: Vec<Argument>, names: &Names) -> Self {
        let Matched { given, rest, missing, left_over, warnings } =
            matching::match_arguments(specs, arguments);
        let missing = missing.into_iter().map(|(index, error)| (Order::Argument(index), error));
        let left_over = left_over.into_iter().map(|error| (Order::LeftOver, error));
        let (rest, rest_ranges) = rest.into_iter().map(|argument| (argument.text, argument.range)).unzip();
        Self {
            specs,
            given,
            rest,
            rest_ranges,
            names: names.clone(),
            errors: missing.chain(left_over).collect(),
            warnings,
        }
    }

    /// The value of argument `name`; none if it is absent or malformed. The latter is an error for [`Args::finish`].
    pub fn get<T: FromArg>(&mut self, name: &str) -> Option<T> {
        self.get_with(name, Plain(PhantomData))
    }

    /// As [`Args::get`], read by a parser with parameters.
    pub fn get_with<P: ArgParser>(&mut self, name: &str, parser: P) -> Option<P::Value> {
        let Some(index) = self.index(name) else {
            self.error(format!("{name}: not an argument of this class"));
            return None;
        };
        let given = self.given[index].as_ref()?;
        match parser.parse(&given.text, &self.names) {
            Ok(value) => Some(value),
            Err(reason) => {
                let error = self.bad_value(index, given, reason);
                self.errors.push((Order::Argument(index), error));
                None
            }
        }
    }

    /// Stores the value of argument `name` into `slot`, or leaves `slot` as it is.
    pub fn read<T: FromArg>(&mut self, name: &str, slot: &mut T) -> &mut Self {
        self.read_with(name, Plain(PhantomData), slot)
    }

    /// As [`Args::read`], read by a parser with parameters.
    pub fn read_with<P: ArgParser>(&mut self, name: &str, parser: P, slot: &mut P::Value) -> &mut Self {
        if let Some(value) = self.get_with(name, parser) {
            *slot = value;
        }
        self
    }

    /// The text of argument `name` as written, without comments but still quoted.
    pub fn raw(&self, name: &str) -> Option<&str> {
        let given = self.given[self.index(name)?].as_ref()?;
        Some(&given.text)
    }

    /// Whether argument `name` was given.
    pub fn has(&self, name: &str) -> bool {
        self.raw(name).is_some()
    }

    /// The arguments that no other entry of the table took, for a table with an [`ArgKind::Rest`] entry: as written,
    /// without comments but still quoted.
    pub fn rest(&self) -> &[String] {
        &self.rest
    }

    /// The names that arguments may use.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// Records an error about the configuration as a whole.
    pub fn error(&mut self, message: impl Into<String>) {
        self.errors.push((Order::Element, ArgError::new(message)));
    }

    /// Records an error about the value of argument `name`.
    pub fn error_in(&mut self, name: &str, message: impl Into<String>) {
        let index = self.index(name);
        let range = index.and_then(|index| Some(self.given[index].as_ref()?.range.clone()));
        let order = index.map_or(Order::Element, Order::Argument);
        self.errors.push((order, ArgError::new(message).about(name).at(range)));
    }

    /// Records an error about `rest()[index]`. The message is shown without prefix.
    pub fn error_in_rest(&mut self, index: usize, message: impl Into<String>) {
        let range = self.rest_ranges.get(index).cloned();
        self.errors.push((Order::Element, ArgError::new(message).at(range)));
    }

    /// As [`Args::error_in_rest`], for a problem that has a remedy, or its place within the argument.
    pub fn report_in_rest(&mut self, index: usize, error: ArgError) {
        let error = self.placed_in_rest(index, error);
        self.errors.push((Order::Element, error));
    }

    /// Records a warning about `rest()[index]`; its place, if any, is within the argument.
    pub fn warn_in_rest(&mut self, index: usize, warning: ArgError) {
        let warning = self.placed_in_rest(index, warning);
        self.warnings.push(warning);
    }

    /// The error with its place counted from the start of the configuration string.
    fn placed_in_rest(&self, index: usize, error: ArgError) -> ArgError {
        let Some(argument) = self.rest_ranges.get(index) else { return error.at(None) };
        let shift = |at: usize| (argument.start + at).min(argument.end);
        let range = error.range.as_ref().map_or(argument.clone(), |r| shift(r.start)..shift(r.end));
        error.at(Some(range))
    }

    /// Records a warning.
    pub fn warn(&mut self, message: impl Into<String>) {
        self.warnings.push(ArgError::new(message));
    }

    /// The warnings so far, which are then forgotten.
    pub fn take_warnings(&mut self) -> Vec<ArgError> {
        std::mem::take(&mut self.warnings)
    }

    /// Whether all went well; else all errors so far, which are then forgotten.
    pub fn finish(&mut self) -> Result<(), ArgErrors> {
        let mut errors = std::mem::take(&mut self.errors);
        if errors.is_empty() {
            return Ok(());
        }
        errors.sort_by_key(|(order, _)| *order);
        Err(ArgErrors(errors.into_iter().map(|(_, error)| error).collect()))
    }

    fn index(&self, name: &str) -> Option<usize> {
        self.specs.iter().position(|spec| spec.name == name)
    }

    fn bad_value(&self, index: usize, given: &Given, reason: BadValue) -> ArgError {
        let spec = &self.specs[index];
        let error = ArgError::new(reason.to_string()).about(spec.name).at(Some(given.range.clone()));
        let expectation = spec.ty.expectation();
        // What looks like a keyword may be a part of the key.
        let suspected_keyword = given.suspected_keyword.as_ref().filter(|_| spec.secret_from.is_none());
        match (suspected_keyword, reason) {
            (Some(word), _) if self.index(word).is_some() => {
                let name = spec.name;
                error.hint(format!("'{word}' is a keyword; give {name} before it, or as '{name} VALUE'"))
            }
            (Some(word), _) => {
                let advice = matching::keyword_advice(self.specs, word);
                error.hint(format!("{expectation}; if '{word}' is a keyword, {advice}"))
            }
            (None, BadValue::Mismatch) => error.hint(expectation),
            (None, BadValue::Because(_)) => error,
        }
    }
}

#[cfg(test)]
mod tests;
