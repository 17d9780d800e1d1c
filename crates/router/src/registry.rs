//! The element classes that a router can use.

use crate::facts::Class;
use clickwork_lang::ClassNames;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Classes by name, with aliases.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    classes: BTreeMap<Cow<'static, str>, &'static Class>,
}

impl Registry {
    /// No classes.
    pub fn new() -> Registry {
        Registry::default()
    }

    /// Adds classes under their own names.
    pub fn add(&mut self, classes: impl IntoIterator<Item = &'static Class>) {
        for class in classes {
            self.classes.insert(class.name.into(), class);
        }
    }

    /// Makes `alias` another name of `class`.
    pub fn alias(&mut self, alias: impl Into<Cow<'static, str>>, class: &'static Class) {
        self.classes.insert(alias.into(), class);
    }

    /// The class of that name or alias.
    pub fn get(&self, name: &str) -> Option<&'static Class> {
        self.classes.get(name).copied()
    }

    /// All names and aliases with their classes, sorted.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &'static Class)> {
        self.classes.iter().map(|(name, &class)| (&**name, class))
    }
}

impl ClassNames for Registry {
    fn contains(&self, name: &str) -> bool {
        self.classes.contains_key(name)
    }

    fn names(&self) -> Vec<String> {
        self.classes.keys().map(ToString::to_string).collect()
    }
}
