//! Name tables: what a view of a module shows.

use clickwork_source::Span;

use crate::program::{ExceptionId, FieldId, MethodId, ModuleId, ViewId};
use crate::{Map, Name};

/// A name table. Copies share the entries that are the same in both.
#[derive(Clone, Debug, Default)]
pub struct Space {
    entries: Map<Name, Entry>,
}

/// One name in a name table.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What it names.
    pub feature: Feature,
    /// Whether implicit search looks here. Of a namespace, what is in it counts.
    pub using: Using,
    /// The inline level preferred for calls through this name.
    pub level: Option<LevelId>,
    /// The module that introduced the feature.
    pub origin: ModuleId,
    /// Where it is defined, for messages.
    pub span: Span,
}

/// Whether a name is open for implicit search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Using {
    /// No.
    #[default]
    Closed,
    /// Opened by `using allstatic`, when it was not known yet whether what this implicit name stands for is static.
    IfStatic,
    /// Yes.
    Open,
}

/// What a name can stand for inside a module.
#[derive(Clone, Debug)]
pub enum Feature {
    /// The definition of a method that this module uses.
    Method(MethodId),
    /// The constructor, always under the name `constructor`.
    Constructor(MethodId),
    /// A field.
    Field(FieldId),
    /// An exception.
    Exception(ExceptionId),
    /// A namespace inside the module, with the name it was opened under.
    Space(Space, Name),
    /// The module itself, its parent, or an import.
    Module(Link),
    /// A name that the module does not define but uses: stands for a feature of a field or an import.
    Implicit(ImplicitId),
}

impl Feature {
    /// With its article, as messages call it.
    pub fn describe(&self) -> &'static str {
        match self {
            Feature::Method(_) => "a method",
            Feature::Constructor(_) => "the constructor",
            Feature::Field(_) => "a field",
            Feature::Exception(_) => "an exception",
            Feature::Space(..) => "a namespace",
            Feature::Module(_) => "a module",
            Feature::Implicit(_) => "an implicit method",
        }
    }
}

/// How a module came to have a name inside another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// The module's own name.
    Own,
    /// After `:>`.
    Parent,
    /// After `has`.
    Import,
}

/// A module named inside a module.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// How it came there.
    pub kind: LinkKind,
    /// Which module it is.
    pub module: ModuleId,
    /// The view of it. While names are being built, [`Link::UNKNOWN`].
    pub view: ViewId,
}

impl Link {
    /// No view yet.
    pub const UNKNOWN: ViewId = ViewId(u32::MAX);
}

/// An implicit name, in the tables of [`super::Names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImplicitId(pub u32);

/// An inline level, in the tables of [`super::Names`]: computed ones are known only after checking began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LevelId(pub u32);

impl Space {
    /// What `name` stands for.
    pub fn get(&self, name: &Name) -> Option<&Entry> {
        self.entries.get(name)
    }

    /// All names in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&Name, &Entry)> {
        self.entries.iter()
    }

    /// The namespace at `path`, outermost name first; the table itself for an empty path.
    pub fn at(&self, path: &[Name]) -> Option<&Space> {
        path.iter().try_fold(self, |space, name| match &space.get(name)?.feature {
            Feature::Space(inner, _) => Some(inner),
            _ => None,
        })
    }

    /// What the names of `path` lead to, one inside the other.
    pub fn find(&self, path: &[Name]) -> Option<&Entry> {
        let (last, outer) = path.split_last()?;
        self.at(outer)?.get(last)
    }

    /// The entry to change.
    pub fn get_mut(&mut self, name: &Name) -> Option<&mut Entry> {
        self.entries.get_mut(name)
    }

    /// Binds a name; what it stood for before.
    pub fn insert(&mut self, name: Name, entry: Entry) -> Option<Entry> {
        self.entries.insert(name, entry)
    }

    /// Removes a name; what it stood for.
    pub fn remove(&mut self, name: &Name) -> Option<Entry> {
        self.entries.remove(name)
    }

    /// The namespace at `path` to change.
    pub fn at_mut(&mut self, path: &[Name]) -> Option<&mut Space> {
        let Some((first, rest)) = path.split_first() else { return Some(self) };
        match &mut self.get_mut(first)?.feature {
            Feature::Space(inner, _) => inner.at_mut(rest),
            _ => None,
        }
    }

    /// Keeps the entries for which `keep` says yes, in namespaces inside too. A namespace that loses its last entry goes.
    pub fn retain(&mut self, keep: &mut impl FnMut(&Name, &Entry) -> bool) {
        let mut gone = Vec::new();
        let mut spaces = Vec::new();
        for (name, entry) in self.entries.iter() {
            match &entry.feature {
                Feature::Space(..) => spaces.push(name.clone()),
                _ if keep(name, entry) => {}
                _ => gone.push(name.clone()),
            }
        }
        for name in spaces {
            if let Some(inner) = self.at_mut(std::slice::from_ref(&name)) {
                inner.retain(keep);
                if inner.entries.is_empty() {
                    gone.push(name);
                }
            }
        }
        gone.iter().for_each(|name| drop(self.entries.remove(name)));
    }

    /// Removes namespaces without names.
    pub fn prune(&mut self) {
        if self.entries.iter().any(|(_, entry)| matches!(entry.feature, Feature::Space(..))) {
            self.retain(&mut |_, _| true);
        }
    }

    /// Calls `change` with every entry that is no namespace, in namespaces inside too.
    pub fn for_each_mut(&mut self, change: &mut impl FnMut(&Name, &mut Entry)) {
        let names: Vec<Name> = self.entries.iter().map(|(name, _)| name.clone()).collect();
        for name in names {
            if let Some(entry) = self.entries.get_mut(&name) {
                match &mut entry.feature {
                    Feature::Space(inner, _) => inner.for_each_mut(change),
                    _ => change(&name, entry),
                }
            }
        }
    }
}
