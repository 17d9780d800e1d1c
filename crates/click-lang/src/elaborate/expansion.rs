//! The second stage: every compound element becomes the elements of its body.

use std::rc::Rc;

use clickwork_source::{Diagnostic, Diagnostics, Span};

use super::body::{Body, Item, Wire};
use super::class::Class;
use super::overload::{self, Resolved};
use super::{flatten::Tunnels, limits};
use crate::config;
use crate::expand::{self, Variables};
use crate::graph::{CompoundOrigin, Port};

/// A file's body without compound elements, and which pseudo-elements lead where.
pub(super) struct Expanded {
    pub body: Body,
    pub tunnels: Tunnels,
}

/// Expands every compound element of the file's body. `end` is the end of the file; `complete` says whether the body has
/// all global variables there will be.
pub(super) fn expand(top: Body, complete: bool, end: Span, diagnostics: &mut Diagnostics) -> Expanded {
    let scope = Rc::new(Scope { depth: 0, variables: top.variables.clone(), parent: None, complete });
    expand_in(top, scope, end, diagnostics)
}

/// Expands every compound element of a class's body. Its variables may get more values later.
pub(super) fn expand_alone(
    class: Body,
    globals: &[(String, String)],
    diagnostics: &mut Diagnostics,
) -> Expanded {
    let outer = Scope { depth: 0, variables: globals.to_vec(), parent: None, complete: false };
    let variables = class.variables.clone();
    let scope = Scope { depth: class.depth, variables, parent: Some(Rc::new(outer)), complete: false };
    let end = class.span;
    expand_in(class, Rc::new(scope), end, diagnostics)
}

/// Finishes names and configurations of a body, but leaves compound elements and parameters as they are.
pub(super) fn fill_in(body: &mut Body, globals: &[(String, String)], diagnostics: &mut Diagnostics) {
    let complete = body.depth == 0;
    let outer = Scope { depth: 0, variables: globals.to_vec(), parent: None, complete };
    let variables = body.variables[body.formals..].to_vec();
    let scope = Scope { depth: body.depth, variables, parent: Some(Rc::new(outer)), complete };
    for index in 0..body.items.len() {
        body.settle_name(index);
        let item = &mut body.items[index];
        match expand::expand(&item.config, &scope, false) {
            Ok(config) => item.config = config,
            Err(error) => diagnostics.push(Diagnostic::error(item.span, error.to_string())),
        }
    }
}

fn expand_in(top: Body, scope: Rc<Scope>, end: Span, diagnostics: &mut Diagnostics) -> Expanded {
    let tunnels = Tunnels::of_groups(&top);
    let (elements, wires) = (top.items.len(), top.wires.len());
    let mut expander =
        Expander { body: top, end, tunnels, diagnostics, text: 0, wires, full: false, nesting: 0 };
    for index in 0..elements {
        expander.element(index, &scope);
    }
    Expanded { body: expander.body, tunnels: expander.tunnels }
}

/// Variables of a body, with those of the bodies around its definition.
struct Scope {
    depth: usize,
    variables: Vec<(String, String)>,
    parent: Option<Rc<Scope>>,
    /// No variables will be added later.
    complete: bool,
}

impl Scope {
    /// The scope around a body of the given depth that is used in this scope.
    fn around(self: &Rc<Self>, depth: usize) -> Option<Rc<Scope>> {
        let mut scope = Some(Rc::clone(self));
        while let Some(inner) = &scope {
            if inner.depth < depth {
                break;
            }
            scope = inner.parent.clone();
        }
        scope
    }
}

impl Variables for Scope {
    fn value(&self, name: &str) -> Option<String> {
        let here = self.variables.iter().find(|(n, _)| n == name);
        match (here, &self.parent) {
            (Some((_, value)), _) => Some(value.clone()),
            (None, Some(parent)) => parent.value(name),
            (None, None) => None,
        }
    }

    fn complete(&self) -> bool {
        self.complete
    }
}

struct Expander<'a> {
    body: Body,
    /// The end of the file, which is where Click says the pseudo-elements of compound elements are.
    end: Span,
    tunnels: Tunnels,
    diagnostics: &'a mut Diagnostics,
    /// Bytes of names and configuration strings made so far.
    text: usize,
    /// Wires, those copied included.
    wires: usize,
    /// A limit was reached; nothing more is expanded.
    full: bool,
    /// Compound elements being expanded, one inside the other.
    nesting: usize,
}

impl Expander<'_> {
    /// Finishes one element: its name, its configuration, and, if it is compound, what is in it.
    fn element(&mut self, index: usize, scope: &Rc<Scope>) {
        self.body.settle_name(index);
        if matches!(self.body.items[index].class, Class::Tunnel) {
            return;
        }
        self.configuration(index, scope);
        let item = &self.body.items[index];
        let Class::Compound(class) = item.class.clone() else { return };
        let args = config::split_args(&item.config);
        match overload::resolve(&class, item, &args, self.diagnostics) {
            Resolved::Class(class) => self.body.items[index].class = class,
            Resolved::Nothing => self.body.items[index].class = Class::Primitive(class.name.as_str().into()),
            Resolved::Body(body, values) => self.compound(index, &body, values, scope),
        }
    }

    fn configuration(&mut self, index: usize, scope: &Rc<Scope>) {
        let item = &self.body.items[index];
        match expand::expand(&item.config, &**scope, false) {
            Ok(config) => {
                self.text += config.len();
                self.body.items[index].config = config;
            }
            Err(error) => {
                let error = Diagnostic::error(item.span, error.to_string());
                self.diagnostics
                    .push(error.hint("a variable mentions itself, or others that mention many others"));
            }
        }
    }

    fn compound(&mut self, index: usize, body: &Body, values: Vec<String>, scope: &Rc<Scope>) {
        let span = self.body.items[index].span;
        if self.full || !self.fits(body, span) {
            return;
        }
        let inner = Rc::new(self.parameters(body, values, scope, span));
        let elements = self.copy(index, body);
        self.nesting += 1;
        for element in elements.into_iter().skip(2) {
            self.element(element, &inner);
        }
        self.nesting -= 1;
    }

    /// Checks the limits of an expansion.
    fn fits(&mut self, body: &Body, span: Span) -> bool {
        let message = if self.nesting >= limits::NESTING {
            format!("compound elements nested more than {} deep", limits::NESTING)
        } else if self.body.items.len() + body.items.len() > limits::ELEMENTS {
            format!("configuration expands to more than {} elements", limits::ELEMENTS)
        } else if self.wires + body.wires.len() > limits::WIRES {
            format!("configuration expands to more than {} connections", limits::WIRES)
        } else if self.text > limits::TEXT {
            format!("names and configuration strings take more than {} MiB", limits::TEXT >> 20)
        } else {
            self.wires += body.wires.len();
            return true;
        };
        self.full = true;
        self.diagnostics.push(Diagnostic::error(span, message));
        false
    }

    /// The variables of a body: its parameters, then what it defines.
    fn parameters(&mut self, body: &Body, values: Vec<String>, scope: &Rc<Scope>, span: Span) -> Scope {
        let (formals, defines) = body.variables.split_at(body.formals);
        let parent = scope.around(body.depth);
        let variables = formals.iter().map(|(name, _)| name.clone()).zip(values).collect();
        let mut inner = Scope { depth: body.depth, variables, parent, complete: scope.complete };
        for (name, value) in defines {
            match expand::expand(value, &inner, false) {
                Ok(value) => inner.variables.push((name.clone(), value)),
                Err(error) => self.diagnostics.push(Diagnostic::error(span, error.to_string())),
            }
        }
        inner
    }

    /// Puts copies of a body's elements and wires next to the element they replace. Returns the elements' places, in
    /// the order of the body: first its two pseudo-elements.
    fn copy(&mut self, index: usize, body: &Body) -> Vec<usize> {
        let name = self.body.items[index].name.clone();
        let compounds = self.origins(index);
        self.body.items[index].class = Class::Tunnel;
        let mut map = Vec::with_capacity(body.items.len());
        for item in &body.items {
            let full = format!("{name}/{}", item.name);
            self.text += full.len();
            let span = if matches!(item.class, Class::Tunnel) { self.end } else { item.span };
            let copy =
                Item { name: full, span, ports: [0, 0], compounds: Rc::clone(&compounds), ..item.clone() };
            map.push(self.add(copy, index));
        }
        self.tunnels.add(index, map[0], map[1]);
        self.tunnels.copy_groups(body, &map);
        for wire in &body.wires {
            let moved = |port: Port| Port { element: map[port.element], ..port };
            self.body.connect(Wire { from: moved(wire.from), to: moved(wire.to), ..*wire });
        }
        map
    }

    fn origins(&self, index: usize) -> Rc<[CompoundOrigin]> {
        let item = &self.body.items[index];
        let origin =
            CompoundOrigin { name: item.name.clone(), class: item.class.name().to_owned(), span: item.span };
        item.compounds.iter().cloned().chain([origin]).collect()
    }

    /// Adds a copied element. Its name can be taken only by an element declared with slashes in its name.
    fn add(&mut self, item: Item, compound: usize) -> usize {
        if let Some(older) = self.body.find(&item.name) {
            let place = self.body.items[compound].span;
            let message = format!("redeclaration of element '{}'", item.name);
            let remark = format!("'{}' previously declared here", item.name);
            self.diagnostics
                .push(Diagnostic::error(place, message).label(self.body.items[older].span, remark));
        }
        self.body.add(item)
    }
}
