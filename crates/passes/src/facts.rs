//! What passes know about element classes: the facts of the classes there are, and those that a configuration brings
//! with it in an element map.

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

    /// The facts about a class. Of a class that nobody knows the least is said that can be: agnostic, and whatever comes
    /// in may go out anywhere.
    pub fn of(&self, name: &str) -> ClassFacts<'_> {
        if let Some(class) = self.registry.get(name) {
            let Class { processing, flow, flags, .. } = *class;
            return ClassFacts { processing, flow, flags, class: Some(class) };
        }
        let entry = self.map.get(name);
        let get = |attribute, default| {
            entry.and_then(|e| e.get(attribute)).filter(|v| !v.is_empty()).unwrap_or(default)
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
