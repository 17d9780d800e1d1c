//! Element classes and which of them a name means where.

use std::collections::HashMap;
use std::rc::Rc;

use clickwork_source::{Diagnostic, Span, suggest};

use super::ClassNames;
use super::body::Body;

/// What an element is.
#[derive(Clone)]
pub(super) enum Class {
    /// A pseudo-element: wires go through it.
    Tunnel,
    /// A class that the caller knows, or one that was complained about.
    Primitive(Rc<str>),
    Compound(Rc<CompoundClass>),
}

impl Class {
    /// The name; empty for a compound class without one.
    pub fn name(&self) -> &str {
        match self {
            Class::Tunnel => "",
            Class::Primitive(name) => name,
            Class::Compound(class) => &class.name,
        }
    }
}

/// `{ ... || ... || ... }`: the alternatives and, for `...`, the class that it extends.
pub(super) struct CompoundClass {
    pub name: String,
    pub overloads: Vec<Rc<Body>>,
    pub extension: Option<Class>,
}

/// The classes in scope.
pub(super) struct ClassTable<'a> {
    known: Option<&'a dyn ClassNames>,
    /// Classes declared in the file and in the bodies around the current place, innermost last.
    scopes: Vec<HashMap<String, Class>>,
    /// How many more names may be compared with all others: a file that is no configuration has many that are wrong.
    suggestions: usize,
}

impl<'a> ClassTable<'a> {
    pub fn new(known: Option<&'a dyn ClassNames>) -> Self {
        ClassTable { known, scopes: vec![HashMap::new()], suggestions: 50 }
    }

    /// The classes declared outside of all others, in no order.
    pub fn outermost(&self) -> impl Iterator<Item = &Class> {
        self.scopes.first().into_iter().flat_map(HashMap::values)
    }

    pub fn enter(&mut self) {
        self.scopes.push(HashMap::new());
    }

    pub fn leave(&mut self) {
        self.scopes.pop();
    }

    pub fn declare(&mut self, name: &str, class: Class) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), class);
        }
    }

    /// Notes a class that nobody knows, so that one complaint about it is enough.
    pub fn assume(&mut self, name: &str) -> Class {
        let class = Class::Primitive(name.into());
        self.declare(name, class.clone());
        class
    }

    /// The class called `name`.
    pub fn find(&self, name: &str) -> Option<Class> {
        let declared = self.scopes.iter().rev().find_map(|scope| scope.get(name)).cloned();
        declared.or_else(|| self.known?.contains(name).then(|| Class::Primitive(name.into())))
    }

    /// The class called `name` where only a class can stand: one is made up if there is none, with an error if the
    /// classes are known.
    pub fn require(&mut self, name: &str, span: Span) -> (Class, Option<Diagnostic>) {
        if let Some(class) = self.find(name) {
            return (class, None);
        }
        let error = if self.known.is_some() { Some(self.unknown(name, span)) } else { None };
        (self.assume(name), error)
    }

    /// Whether an undeclared name should be taken for a class, there being no list of classes.
    pub fn guess(&self, name: &str, has_config: bool) -> bool {
        self.known.is_none() && (has_config || name.starts_with(|c: char| c.is_ascii_uppercase()))
    }

    fn unknown(&mut self, name: &str, span: Span) -> Diagnostic {
        let error = Diagnostic::error(span, format!("unknown element class '{name}'"));
        if name.contains("@@") {
            let hint = "a tool made this class, and wrote an archive that explains it: use that, not the configuration in it";
            return error.hint(hint);
        }
        match self.may_suggest().then(|| self.similar(name)).flatten() {
            Some(similar) => error.hint(format!("did you mean '{similar}'?")),
            None => error,
        }
    }

    /// Whether there is time to look for similar names once more.
    pub fn may_suggest(&mut self) -> bool {
        self.suggestions = self.suggestions.saturating_sub(1);
        self.suggestions > 0
    }

    /// The class whose name is most like `name`.
    pub fn similar(&self, name: &str) -> Option<String> {
        let declared = self.scopes.iter().flat_map(|scope| scope.keys().cloned());
        let mut names: Vec<String> =
            declared.chain(self.known.map_or(Vec::new(), ClassNames::names)).collect();
        names.sort();
        suggest(name, names.iter().map(String::as_str).filter(|n| *n != name)).map(str::to_owned)
    }
}
