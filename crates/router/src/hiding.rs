//! What is shown to those who may not see keys.
//!
//! Keys are hidden where class facts say that they stand, and where the same characters are repeated elsewhere: in a script,
//! in a handler's value, in an error. A script that would write the configuration of an element with keys, or a whole one,
//! is not shown at all, since it may hold other keys.

use crate::args::{HIDDEN, hide_keys, texts_of_keys, without_comments};
use crate::handler::HandlerError;
use crate::pieces::Pieces;
use crate::router::{Info, Router};
use clickwork_source::text;
use std::collections::{BTreeMap, BTreeSet};

/// Shorter keys are not looked for in texts: they stand there by chance. So do somewhat longer ones in values.
const SHORTEST: usize = 4;
const SHORTEST_IN_VALUES: usize = 8;

/// Hides the keys of a router. It takes time for the text, however many keys there are.
#[derive(Debug)]
pub(crate) struct Hider {
    /// Keys by their first word; of those that begin alike, the longest first.
    keys: BTreeMap<String, Vec<String>>,
    /// The names of elements that have keys, without those of compounds, and of the handlers that keys are written to.
    elements: BTreeSet<String>,
    handlers: BTreeSet<&'static str>,
}

impl Hider {
    /// Hides the keys that there are at present.
    pub fn new(router: &Router) -> Hider {
        let mut hider =
            Hider { keys: BTreeMap::new(), elements: BTreeSet::new(), handlers: BTreeSet::from(["config"]) };
        for info in router.shown.secret().iter().map(|id| router.info(*id)) {
            hider.elements.extend(info.name.rsplit('/').next().map(str::to_string));
            let secret = info.class.handlers.iter().filter(|h| h.secret && h.write.is_some());
            hider.handlers.extend(secret.map(|h| h.name));
            texts_of_keys(info.class.args, &info.config).iter().for_each(|key| hider.add(key));
        }
        for alike in hider.keys.values_mut() {
            alike.sort_by_key(|key| (std::cmp::Reverse(key.len()), key.clone()));
            alike.dedup();
        }
        hider
    }

    fn add(&mut self, key: &str) {
        let key = key.trim_matches(|c| !is_inner(c));
        if key.len() >= SHORTEST {
            let first = &key[..key.find(|c| !is_inner(c)).unwrap_or(key.len())];
            self.keys.entry(first.to_string()).or_default().push(key.to_string());
        }
    }

    /// An element's configuration string.
    pub fn config(&self, info: &Info, config: &str) -> String {
        if self.writes_keys(config) {
            return HIDDEN.to_string();
        }
        self.text(&hide_keys(info.class.args, &without_comments(config)), SHORTEST)
    }

    /// A handler's value, or why it has none.
    pub fn outcome(&self, outcome: Result<Pieces, HandlerError>) -> Result<Pieces, HandlerError> {
        let said = |text: &str| self.text(text, SHORTEST_IN_VALUES);
        match outcome {
            Ok(value) => Ok(Pieces::from(said(&text::decode(value.to_vec())))),
            Err(HandlerError::Failed(why)) => Err(HandlerError::Failed(said(&why))),
            Err(other) => Err(other),
        }
    }

    /// Whether a text names a handler that keys are written to.
    fn writes_keys(&self, text: &str) -> bool {
        let is_name = |c: char| is_inner(c) || c == '@';
        let named = |(at, _)| {
            let (before, behind): (&str, &str) = (&text[..at], &text[at + 1..]);
            let name = &before[before.trim_end_matches(is_name).len()..];
            let handler = &behind[..behind.len() - behind.trim_start_matches(is_inner).len()];
            self.handlers.contains(handler) && self.elements.contains(name)
        };
        text.match_indices('.').any(named) || words(text).any(|at| word(&text[at..]) == "hotconfig")
    }

    fn text(&self, text: &str, shortest: usize) -> String {
        let (mut shown, mut end) = (String::new(), 0);
        for at in words(text) {
            if let Some(key) = self.key_at(&text[at..], shortest).filter(|_| at >= end) {
                shown.push_str(&text[end..at]);
                shown.push_str(HIDDEN);
                end = at + key.len();
            }
        }
        shown + &text[end..]
    }

    /// The key that a text begins with.
    fn key_at(&self, text: &str, shortest: usize) -> Option<&String> {
        let begins = |key: &&String| {
            key.len() >= shortest && text.starts_with(&***key) && !text[key.len()..].starts_with(is_inner)
        };
        self.keys.get(word(text))?.iter().find(begins)
    }
}

fn is_inner(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The word that a text begins with.
fn word(text: &str) -> &str {
    &text[..text.len() - text.trim_start_matches(is_inner).len()]
}

/// Where the words of a text begin.
fn words(text: &str) -> impl Iterator<Item = usize> + '_ {
    let mut was_inner = false;
    text.char_indices().filter_map(move |(at, c)| {
        let begins = is_inner(c) && !was_inner;
        was_inner = is_inner(c);
        begins.then_some(at)
    })
}
