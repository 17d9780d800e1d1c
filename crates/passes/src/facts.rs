//! What passes know about element classes: the facts of the classes there are, and those that a configuration brings
//! with it in an element map.
//!
//! An element map can say that a class is a specialised form of another, its base (`FastClassifier@@c` of `Classifier`).
//! Then everything that is true of the base is true of it.

use clickwork_lang::archive::Archive;
use clickwork_router::Registry;
use clickwork_router::facts::{flows, processing_of};
use clickwork_router::{Class, Processing};

use crate::element_map::{ElementMap, Entry};

/// The facts about all classes.
pub struct Facts<'a> {
    registry: &'a Registry,
    map: ElementMap,
}

/// The facts about a class that passes need. The codes are those of [`Class`].
#[derive(Clone, Copy, Debug)]
pub struct ClassFacts<'a> {
    /// Processing code.
    pub processing: &'a str,
    /// Flow code.
    pub flow: &'a str,
    /// Click's element flags.
    pub flags: &'a str,
    /// All facts, if it is one of the classes there are.
    pub class: Option<&'static Class>,
}

impl<'a> Facts<'a> {
    /// The facts about the classes of `registry`, and those in the element map among `files`.
    pub fn new(registry: &'a Registry, files: &Archive) -> Facts<'a> {
        Facts { registry, map: ElementMap::of(files) }
    }

    /// Adds facts about a class of which there are none yet.
    pub fn add(&mut self, entry: Entry) {
        self.map.add(entry);
    }

    /// What the element map says about a class.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.map.get(name)
    }

    /// The class that a class is a specialised form of, over any number of steps; otherwise the class itself.
    pub fn base<'n>(&'n self, name: &'n str) -> &'n str {
        if self.registry.get(name).is_some() { name } else { self.map.base(name) }
    }

    /// The facts about `name`, a specialised form of the class `base` with its code in `source`, for an element map. The codes of
    /// the base are for programs that do not know what a base is.
    pub fn specialised(&self, name: &str, base: &str, source: &str) -> Entry {
        let known = [("name", name), ("base", base), ("sourcefile", source)];
        let codes = match (self.entry(base), self.of(base).class) {
            (Some(entry), _) => entry.attributes().collect(),
            (None, Some(class)) => vec![
                ("portcount", class.ports),
                ("processing", class.processing),
                ("flowcode", class.flow),
                ("flags", class.flags),
            ],
            (None, None) => Vec::new(),
        };
        let is_new = |name: &str| !known.iter().any(|(known, _)| *known == name);
        let codes = codes.into_iter().filter(|(name, value)| !value.is_empty() && is_new(name));
        Entry::new(&known.into_iter().chain(codes).collect::<Vec<_>>())
    }

    /// The facts about a class, or about its base. Of a class that nobody knows the least is said that can be: agnostic,
    /// and whatever comes in may go out anywhere.
    pub fn of(&self, name: &str) -> ClassFacts<'_> {
        if let Some(class) = self.registry.get(self.base(name)) {
            let Class { processing, flow, flags, .. } = *class;
            return ClassFacts { processing, flow, flags, class: Some(class) };
        }
        let entries = [self.map.get(name), self.map.get(self.base(name))];
        let get = |attribute, default| {
            let mut given = entries.iter().flatten().filter_map(|e| e.get(attribute));
            given.find(|value| !value.is_empty()).unwrap_or(default)
        };
        ClassFacts {
            processing: get("processing", "a/a"),
            flow: get("flowcode", "x/x"),
            flags: get("flags", ""),
            class: None,
        }
    }
}

impl ClassFacts<'_> {
    /// Whether a port is push or pull.
    pub fn processing(&self, is_output: bool, port: usize) -> Processing {
        processing_of(self.processing, is_output, port)
    }

    /// Whether packets that come in at an input may go out at an output.
    pub fn flows(&self, input: usize, output: usize) -> bool {
        flows(self.flow, input, output)
    }

    /// The value of a flag letter, 1 if it stands alone.
    pub fn flag(&self, letter: char) -> Option<i32> {
        let at = self.flags.find(letter)?;
        let digits: String = self.flags[at + 1..].chars().take_while(char::is_ascii_digit).collect();
        Some(digits.parse().unwrap_or(1))
    }

    /// The family of the class; empty if it is none of the classes there are.
    pub fn family(&self) -> &'static str {
        self.class.map_or("", |c| c.family)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts<'a>(registry: &'a Registry, entries: &[&[(&str, &str)]]) -> Facts<'a> {
        let mut facts = Facts::new(registry, &Archive::default());
        entries.iter().for_each(|entry| facts.add(Entry::new(entry)));
        facts
    }

    #[test]
    fn a_specialised_class_has_the_facts_of_its_base() {
        let registry = clickwork_elements::registry();
        let facts = facts(
            &registry,
            &[
                &[("name", "Fast@@c"), ("base", "Classifier"), ("processing", "a/a")],
                &[("name", "Fast@@c@@d"), ("base", "Fast@@c")],
                &[("name", "Queue"), ("base", "Classifier")],
                &[("name", "Own@@e"), ("base", "Own"), ("processing", "")],
                &[("name", "Own"), ("processing", "l/l")],
            ],
        );
        let of = |name| (facts.base(name).to_string(), facts.of(name).processing.to_string());
        for name in ["Fast@@c", "Fast@@c@@d"] {
            assert_eq!(of(name), ("Classifier".to_string(), "h/h".to_string()));
            assert_eq!(facts.of(name).class.map(|c| c.name), Some("Classifier"));
        }
        assert_eq!(of("Queue").0, "Queue");
        assert_eq!(of("Own@@e"), ("Own".to_string(), "l/l".to_string()));
        assert_eq!(of("Fast@@x"), ("Fast@@x".to_string(), "a/a".to_string()));
    }

    #[test]
    fn bases_may_run_in_a_circle() {
        let registry = Registry::new();
        let circle = [[("name", "A"), ("base", "B")], [("name", "B"), ("base", "A")]];
        let facts = facts(&registry, &[&circle[0], &circle[1], &[("name", "C"), ("base", "C")]]);
        assert_eq!((facts.base("C"), facts.of("A").processing), ("C", "a/a"));
    }
}
