//! Which argument belongs to which entry of the table. [`Args::new`](super::Args::new) states the rules.

use std::ops::Range;

use clickwork_source::suggest;

use super::split::is_space;
use super::{ArgError, ArgKind, ArgSpec, Argument};

/// What was given for one entry.
#[derive(Debug)]
pub(super) struct Given {
    /// The value, without its keyword.
    pub text: String,
    /// Where the value lies in the configuration string.
    pub range: Range<usize>,
    /// The word before the value, if it was taken by position although it looks like a keyword.
    pub suspected_keyword: Option<String>,
    /// Where another value for the entry lies, which does not count.
    pub superseded: Option<Range<usize>>,
}

/// The outcome for all entries.
pub(super) struct Matched {
    /// What each entry of the table got.
    pub given: Vec<Option<Given>>,
    /// What the entry for the rest got.
    pub rest: Vec<Argument>,
    /// Mandatory entries that got nothing.
    pub missing: Vec<(usize, ArgError)>,
    /// Arguments that no entry wanted.
    pub left_over: Vec<ArgError>,
    /// Doubtful but accepted.
    pub warnings: Vec<ArgError>,
}

pub(super) fn match_arguments(specs: &[ArgSpec], arguments: Vec<Argument>) -> Matched {
    let mut pool = Pool::new(arguments);
    let mut missing = Vec::new();
    let mut given = Vec::new();
    for (index, spec) in specs.iter().enumerate() {
        let found = if spec.kind == ArgKind::Rest { None } else { pool.take(spec) };
        // An empty argument holds a place, and leaves the value as it is.
        let is_empty = found.as_ref().is_some_and(|given| given.text.is_empty());
        let found = found.filter(|_| !is_empty);
        let may_lack = !spec.is_mandatory() || is_empty && !spec.default.is_empty();
        if found.is_none() && !may_lack {
            let error = ArgError::new("required argument missing").about(spec.name);
            missing.push((index, error.hint(spec.ty.expectation())));
        }
        given.push(found);
    }
    let wants_rest = specs.iter().any(|spec| spec.kind == ArgKind::Rest);
    let left_over = if wants_rest { Vec::new() } else { pool.left_over(specs) };
    let rest = if wants_rest { pool.rest() } else { Vec::new() };
    Matched { given, rest, missing, left_over, warnings: pool.warnings }
}

/// What to say about a word that is not a keyword of the class.
pub(super) fn keyword_advice(specs: &[ArgSpec], word: &str) -> String {
    let known: Vec<&str> =
        specs.iter().filter(|spec| spec.kind != ArgKind::Rest).map(|spec| spec.name).collect();
    match suggest(word, known.iter().copied()) {
        Some(near) => format!("did you mean '{near}'?"),
        None if known.is_empty() => "this class takes no arguments".to_owned(),
        None => format!("the keywords are {}", known.join(", ")),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Not taken; begins with a possible keyword of so many bytes, or 0.
    Free(usize),
    ByPosition,
    ByKeyword,
    /// By a keyword that may stand before positional arguments.
    Before,
}

/// The arguments and who took them.
struct Pool {
    arguments: Vec<Argument>,
    states: Vec<State>,
    warnings: Vec<ArgError>,
    /// How a keyword takes its arguments: `Before` as long as the table has named keywords alone.
    by_keyword: State,
}

impl Pool {
    fn new(arguments: Vec<Argument>) -> Self {
        let states = arguments.iter().map(|argument| State::Free(keyword_length(&argument.text))).collect();
        Self { arguments, states, warnings: Vec::new(), by_keyword: State::Before }
    }

    fn take(&mut self, spec: &ArgSpec) -> Option<Given> {
        if spec.is_positional() {
            self.by_keyword = State::ByKeyword;
        }
        let by_keyword = self.take_keyword(spec);
        let by_position = self.position(spec, by_keyword.is_some()).filter(|_| spec.is_positional());
        if let Some((index, _)) = by_position {
            self.states[index] = State::ByPosition;
        }
        if by_keyword.is_some() && by_position.is_some() {
            self.warn_twice(spec.name);
        }
        // The later one counts, as with two keywords.
        match (by_keyword, by_position) {
            (Some((index, length)), Some((position, _))) if index > position => {
                let superseded = Some(self.arguments[position].range.clone());
                Some(Given { superseded, ..self.value(index, length) })
            }
            (Some((index, length)), None) => Some(self.value(index, length)),
            (_, Some((position, suspected))) => Some(self.whole(position, suspected)),
            (None, None) => None,
        }
    }

    /// Takes all arguments that begin with the entry's keyword; returns the last and the keyword's length.
    fn take_keyword(&mut self, spec: &ArgSpec) -> Option<(usize, usize)> {
        let mut last = None;
        for index in 0..self.arguments.len() {
            let State::Free(length) = self.states[index] else { continue };
            let word = &self.arguments[index].text[..length];
            let is_alias = spec.aliases.contains(&word);
            if length == 0 || !(is_alias || word == spec.name) {
                continue;
            }
            if is_alias {
                let warning = ArgError::new("argument deprecated").about(word);
                let range = Some(self.arguments[index].range.clone());
                self.warnings.push(warning.at(range).hint(format!("use '{}'", spec.name)));
            }
            self.states[index] = self.by_keyword;
            if last.replace((index, length)).is_some() {
                self.warn_twice(spec.name);
            }
        }
        last
    }

    /// The argument that the entry would take by position, and the length of what may be a keyword in it.
    fn position(&self, spec: &ArgSpec, has_value: bool) -> Option<(usize, usize)> {
        let is_over = |state: &State| matches!(state, State::ByPosition | State::Before);
        let index = self.states.iter().position(|state| !is_over(state))?;
        match self.states[index] {
            State::Free(0) => Some((index, 0)),
            State::Free(length) if spec.is_mandatory() && !has_value => Some((index, length)),
            _ => None,
        }
    }

    fn value(&self, index: usize, keyword_length: usize) -> Given {
        let Argument { text, range } = &self.arguments[index];
        let value = text[keyword_length..].trim_start_matches(|c: char| c.is_ascii() && is_space(c as u8));
        // With a comment inside, text and place have different lengths: then the place is the whole argument.
        let is_verbatim = text.len() == range.len();
        let start = if is_verbatim { range.end - value.len() } else { range.start };
        Given { text: value.to_owned(), range: start..range.end, suspected_keyword: None, superseded: None }
    }

    fn whole(&self, index: usize, suspected: usize) -> Given {
        let Argument { text, range } = &self.arguments[index];
        let suspected_keyword = (suspected > 0).then(|| text[..suspected].to_owned());
        Given { text: text.clone(), range: range.clone(), suspected_keyword, superseded: None }
    }

    fn warn_twice(&mut self, name: &str) {
        let remark = ArgError::new("given more than once; the last value counts").about(name);
        self.warnings.push(remark.as_remark());
    }

    fn rest(&self) -> Vec<Argument> {
        let free =
            self.arguments.iter().zip(&self.states).filter(|(_, state)| matches!(state, State::Free(_)));
        free.map(|(argument, _)| argument.clone()).collect()
    }

    /// One error for each unknown keyword, then one for all surplus positional arguments.
    fn left_over(&self, specs: &[ArgSpec]) -> Vec<ArgError> {
        let mut errors = Vec::new();
        let mut surplus = None;
        for (argument, state) in self.arguments.iter().zip(&self.states) {
            match *state {
                State::Free(0) => surplus = surplus.or(Some(argument.range.clone())),
                State::Free(length) => {
                    let word = &argument.text[..length];
                    let range = argument.range.start..argument.range.start + length;
                    let error = ArgError::new("unknown argument").about(word).at(Some(range));
                    errors.push(error.hint(keyword_advice(specs, word)));
                }
                State::ByPosition | State::ByKeyword | State::Before => {}
            }
        }
        let surplus =
            surplus.map(|range| ArgError::new("too many arguments").at(Some(range)).hint(usage(specs)));
        errors.extend(surplus);
        errors
    }
}

/// How many positional arguments the class takes, and which.
fn usage(specs: &[ArgSpec]) -> String {
    let positional: Vec<&str> =
        specs.iter().filter(|spec| spec.is_positional()).map(|spec| spec.name).collect();
    match positional.as_slice() {
        [] if specs.is_empty() => "this class takes no arguments".to_owned(),
        [] => "this class takes arguments only by keyword".to_owned(),
        names => format!("without keyword, in this order and before any keyword: {}", names.join(", ")),
    }
}

/// The length of the word that `text` begins with, if it could be a keyword and is followed by space and a value. A
/// keyword does not begin with a digit: lists of addresses and numbers may be given by position.
pub(super) fn keyword_length(text: &str) -> usize {
    if !text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
        return 0;
    }
    let is_keyword_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"_:.?!".contains(&byte);
    let length = text.bytes().take_while(|byte| is_keyword_byte(*byte)).count();
    let has_value = text.as_bytes().get(length).is_some_and(|byte| is_space(*byte));
    if has_value { length } else { 0 }
}
