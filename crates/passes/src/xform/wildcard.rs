//! Wildcards in configuration strings: what they match, and putting what they matched into a replacement.
//!
//! - `$x` as an argument stands for any one argument; as a word of an argument, for any one word. The same wildcard stands
//!   for the same text everywhere in a pattern.
//! - `$x...` as an argument stands for any number of arguments; as the last word of an argument, for the words left, at
//!   least one. A parameter `__REST__ $x` of the pattern says the same of `$x` everywhere.
//! - A parameter `ADDRESSES $x` of the pattern says that `$x` stands for IP addresses only, one or several.
//!
//! All else must be equal, letter by letter, after comments and space around arguments are taken away.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use clickwork_lang::config::{split_args, split_words};
use clickwork_lang::expand::{Variables, expand};

/// What wildcards stand for, by name without `$`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bindings {
    values: BTreeMap<String, String>,
}

impl Bindings {
    /// Lets a wildcard stand for a text, unless it stands for another.
    fn bind(&mut self, name: &str, value: &str) -> bool {
        match self.values.get(name) {
            Some(known) => known == value,
            None => {
                self.values.insert(name.to_string(), value.to_string());
                true
            }
        }
    }
}

impl Bindings {
    /// A text with the values of the wildcards in it.
    fn put_into(&self, text: &str) -> String {
        let without_dots =
            |text: String, name: &String| text.replace(&format!("${name}..."), &format!("${{{name}}}"));
        let text = self.values.keys().fold(text.to_string(), without_dots);
        expand(&text, self, false).unwrap_or(text)
    }
}

impl Variables for Bindings {
    fn value(&self, name: &str) -> Option<String> {
        self.values.get(name).cloned()
    }

    fn complete(&self) -> bool {
        false
    }

    fn nested(&self) -> bool {
        false
    }
}

/// What the parameters of a pattern say about its wildcards.
#[derive(Clone, Debug, Default)]
pub(super) struct Kinds {
    /// Those that stand for any number of arguments without saying so.
    pub rest: BTreeSet<String>,
    /// Those that stand for IP addresses.
    pub addresses: BTreeSet<String>,
}

/// A configuration string with wildcards.
#[derive(Clone, Debug)]
pub(super) struct Config {
    text: String,
    args: Vec<Arg>,
}

/// An argument with wildcards.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Arg {
    Text(String),
    One(String),
    /// One argument, or word, that is a list of IP addresses.
    Addresses(String),
    Rest(String),
    /// Several words, among them wildcards; `Rest` only at the end.
    Words(Vec<Arg>),
}

impl Config {
    /// Takes a configuration string apart.
    pub fn new(text: &str, kinds: &Kinds) -> Config {
        let args = split_args(text).iter().map(|arg| Arg::new(arg, kinds)).collect();
        Config { text: text.to_string(), args }
    }

    /// Whether more than one wildcard stands for any number of arguments, so that nobody knows which stands for what.
    pub fn is_ambiguous(&self) -> bool {
        self.args.iter().filter(|arg| matches!(arg, Arg::Rest(_))).count() > 1
    }

    /// Whether `config` is like this; and what the wildcards stand for then.
    pub fn matches(&self, config: &str, bound: &Bindings) -> Option<Bindings> {
        let args = split_args(config);
        let mut bound = bound.clone();
        match_list(&self.args, &args, ", ", &mut bound).then_some(bound)
    }

    /// The names of the wildcards, and of other variables.
    pub fn variables(&self) -> BTreeSet<String> {
        let names = Names::default();
        // Nothing is replaced, so the text cannot grow too long.
        let _ = expand(&self.text, &names, false);
        names.0.into_inner()
    }

    /// The configuration with what the wildcards stand for.
    pub fn fill(&self, bound: &Bindings) -> String {
        if !self.text.contains('$') {
            return self.text.clone();
        }
        let args = split_args(&self.text);
        let filled = args.iter().zip(&self.args).filter_map(|(text, arg)| arg.fill(text, bound));
        filled.collect::<Vec<_>>().join(", ")
    }
}

impl Arg {
    fn new(text: &str, kinds: &Kinds) -> Arg {
        let words = split_words(text);
        match words.as_slice() {
            [] => Arg::Text(text.to_string()),
            [word] => Arg::word(word, kinds),
            [first @ .., last] => {
                let text_only = |arg: Arg| match arg {
                    Arg::Rest(name) => Arg::Text(format!("${name}...")),
                    other => other,
                };
                let none = Kinds { addresses: kinds.addresses.clone(), ..Kinds::default() };
                let mut args: Vec<Arg> = first.iter().map(|word| text_only(Arg::word(word, &none))).collect();
                args.push(Arg::word(last, kinds));
                match args.iter().all(|arg| matches!(arg, Arg::Text(_))) {
                    true => Arg::Text(text.to_string()),
                    false => Arg::Words(args),
                }
            }
        }
    }

    fn word(word: &str, kinds: &Kinds) -> Arg {
        let Some(name) = word.strip_prefix('$') else { return Arg::Text(word.to_string()) };
        let (name, dots) = name.strip_suffix("...").map_or((name, false), |name| (name, true));
        let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        match is_name {
            false => Arg::Text(word.to_string()),
            true if dots || kinds.rest.contains(name) => Arg::Rest(name.to_string()),
            true if kinds.addresses.contains(name) => Arg::Addresses(name.to_string()),
            true => Arg::One(name.to_string()),
        }
    }

    fn matches(&self, text: &str, bound: &mut Bindings) -> bool {
        match self {
            Arg::Text(own) => own == text,
            Arg::One(name) | Arg::Rest(name) => bound.bind(name, text),
            Arg::Addresses(name) => are_addresses(text) && bound.bind(name, text),
            Arg::Words(words) => {
                let given = split_words(text);
                given.len() >= words.len() && match_list(words, &given, " ", bound)
            }
        }
    }

    /// What comes of `text`, which this argument is made of; `None` if that is no argument at all.
    fn fill(&self, text: &str, bound: &Bindings) -> Option<String> {
        match self {
            Arg::Text(_) | Arg::Words(_) => Some(bound.put_into(text)),
            Arg::One(name) | Arg::Addresses(name) => {
                Some(bound.value(name).unwrap_or_else(|| text.to_string()))
            }
            Arg::Rest(name) => {
                Some(bound.value(name).unwrap_or_else(|| text.to_string())).filter(|v| !v.is_empty())
            }
        }
    }
}

fn are_addresses(text: &str) -> bool {
    let words = split_words(text);
    !words.is_empty() && words.iter().all(|word| word.parse::<Ipv4Addr>().is_ok())
}

/// Whether a list is like its patterns, at most one of which stands for any number.
fn match_list(patterns: &[Arg], texts: &[String], joint: &str, bound: &mut Bindings) -> bool {
    let each = |patterns: &[Arg], texts: &[String], bound: &mut Bindings| {
        patterns.len() == texts.len() && patterns.iter().zip(texts).all(|(p, text)| p.matches(text, bound))
    };
    let rest = patterns.iter().position(|p| matches!(p, Arg::Rest(_)));
    let Some((at, Arg::Rest(name))) = rest.map(|at| (at, &patterns[at])) else {
        return each(patterns, texts, bound);
    };
    let after = patterns.len() - at - 1;
    let Some(end) = texts.len().checked_sub(after).filter(|&end| end >= at) else { return false };
    each(&patterns[..at], &texts[..at], bound)
        && bound.bind(name, &texts[at..end].join(joint))
        && each(&patterns[at + 1..], &texts[end..], bound)
}

/// Gathers the names of variables.
#[derive(Default)]
struct Names(RefCell<BTreeSet<String>>);

impl Variables for Names {
    fn value(&self, name: &str) -> Option<String> {
        self.0.borrow_mut().insert(name.to_string());
        None
    }

    fn complete(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the replacement `into` becomes if `config` is like `pattern`.
    fn rewritten(pattern: &str, config: &str, into: &str) -> Option<String> {
        let kinds = Kinds { addresses: ["ip".to_string()].into(), ..Kinds::default() };
        let bound = Config::new(pattern, &kinds).matches(config, &Bindings::default())?;
        Some(Config::new(into, &kinds).fill(&bound))
    }

    #[test]
    fn wildcards_stand_for_arguments() {
        let cases = [
            ("$a, 2, $b", "x y, 2, \"p, q\"", "$b, $a, $c", Some("\"p, q\", x y, $c")),
            ("$a, $a", "1, 1", "$a", Some("1")),
            ("$a, $a", "1, 2", "$a", None),
            ("$a", "", "$a", None),
            ("$a", "1, 2", "$a", None),
            ("", " /* nothing */ ", "/* kept */", Some("/* kept */")),
            ("1 /*c*/", "1", "", Some("")),
            ("$x$y", "a", "", None),
            ("$x$y", "$x$y", "same", Some("same")),
        ];
        for (pattern, config, into, expected) in cases {
            assert_eq!(rewritten(pattern, config, into).as_deref(), expected, "{pattern} on {config}");
        }
    }

    #[test]
    fn wildcards_stand_for_words_and_for_what_is_left() {
        let cases = [
            ("$ip $eth", "1.0.0.1 0:0:0:0:0:1", "0x800, $eth", Some("0x800, 0:0:0:0:0:1")),
            ("$ip $eth", "1.0.0.1", "", None),
            ("$ip $eth", "1.0.0.1 2 3", "", None),
            ("LIMIT $n", "LIMIT 5", "-$n-", Some("-5-")),
            ("NETS $n...", "NETS a b", "ALL $n... \"$n\"", Some("ALL a b \"a b\"")),
            ("NETS $n...", "NETS a b", "ALL $n...", Some("ALL a b")),
            ("NETS $n...", "NETS", "", None),
            ("$a, $r...", "1, 2, 3", "$r..., $a", Some("2, 3, 1")),
            ("$a, $r...", "1", "$r..., $a", Some("1")),
            ("$r..., $z", "1, 2", "$r, $z", Some("1, 2")),
            ("$r..., $z", "", "", None),
            ("A $r... $b", "A $r... 2", "$b", Some("2")),
        ];
        for (pattern, config, into, expected) in cases {
            assert_eq!(rewritten(pattern, config, into).as_deref(), expected, "{pattern} on {config}");
        }
        assert!(Config::new("$a..., $b...", &Kinds::default()).is_ambiguous());
        let kinds = Kinds { rest: ["a".to_string()].into(), ..Kinds::default() };
        let rest = Config::new("1, $a", &kinds).matches("1, 2, 3", &Bindings::default()).unwrap();
        assert_eq!(Config::new("$a", &kinds).fill(&rest), "2, 3");
    }

    #[test]
    fn addresses_are_nothing_else() {
        let cases = [
            ("$ip", "1.0.0.1", "BAD $ip", Some("BAD 1.0.0.1")),
            ("$ip", "1.0.0.1 1.0.0.2 /* three */ 1.0.0.3", "$ip", Some("1.0.0.1 1.0.0.2 1.0.0.3")),
            ("$ip, $x", "1.0.0.1, 14", "$x, $ip", Some("14, 1.0.0.1")),
            ("$ip", "14", "", None),
            ("$ip", "OFFSET 14", "", None),
            ("$ip", "1.0.0.1 OFFSET", "", None),
            ("$ip $x", "1.0.0.1 2", "$x", Some("2")),
            ("$ip $x", "1 2", "$x", None),
            ("$ip", "", "", None),
        ];
        for (pattern, config, into, expected) in cases {
            assert_eq!(rewritten(pattern, config, into).as_deref(), expected, "{pattern} on {config}");
        }
    }

    #[test]
    fn names_of_wildcards_are_known() {
        let names = Config::new("$a, B ${b} \"$c\" '$d', $e...", &Kinds::default()).variables();
        assert_eq!(names.into_iter().collect::<String>(), "abce");
    }
}
