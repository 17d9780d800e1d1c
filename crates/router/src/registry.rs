//! The element classes that a router can use.

use crate::facts::Class;
use clickwork_lang::ClassNames;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// What `require(NAME)` may name besides packages, because every program has it.
const FEATURES: &[&str] = &["int64", "userlevel", std::env::consts::OS];

/// Classes by name, with aliases.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    classes: BTreeMap<Cow<'static, str>, &'static Class>,
    packages: BTreeSet<&'static str>,
    left_out: &'static [&'static str],
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

    /// Adds the classes of a package, for configurations that say `require(package NAME)`.
    pub fn add_package(&mut self, name: &'static str, classes: &[&'static Class]) {
        self.packages.insert(name);
        self.add(classes.iter().copied());
    }

    /// Names classes that there are elsewhere, but which this program was made without.
    pub fn leave_out(&mut self, names: &'static [&'static str]) {
        self.left_out = names;
    }

    /// The packages whose classes are here.
    pub fn packages(&self) -> impl Iterator<Item = &'static str> {
        self.packages.iter().copied()
    }

    /// Whether something that a configuration requires is here. In names, `-` and `_` are the same, as they are in those of
    /// crates.
    pub fn provides(&self, requirement: &str) -> bool {
        let same = |name: &&str| name.replace('_', "-") == requirement.replace('_', "-");
        FEATURES.contains(&requirement) || self.packages.iter().any(same)
    }

    /// Why a class is not here, and what to do, if that is known.
    pub(crate) fn absence(&self, name: &str) -> Option<String> {
        let remedy = format!("make it again with 'clickwork mkmindriver -E {name}'");
        let hint = format!("this driver is minimal, and was made without '{name}': {remedy}");
        self.left_out.contains(&name).then_some(hint)
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
    /// Those that were left out may be mentioned: only an element of one is an error.
    fn contains(&self, name: &str) -> bool {
        self.classes.contains_key(name) || self.left_out.contains(&name)
    }

    fn names(&self) -> Vec<String> {
        self.classes.keys().map(ToString::to_string).collect()
    }
}
