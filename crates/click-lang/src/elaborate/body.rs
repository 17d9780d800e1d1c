//! What stands between the braces of a compound element, or in the file: elements and wires.

use std::collections::HashMap;
use std::rc::Rc;

use clickwork_source::{Diagnostic, Diagnostics, Span};

use super::class::Class;
use crate::graph::{CompoundOrigin, Port};

/// Names of the pseudo-elements, by side.
pub(super) const PORT_NAMES: [&str; 2] = ["input", "output"];

/// The two sides of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Side {
    Input = 0,
    Output = 1,
}

impl Side {
    pub fn other(self) -> Side {
        if self == Side::Input { Side::Output } else { Side::Input }
    }

    /// `input` or `output`.
    pub fn name(self) -> &'static str {
        PORT_NAMES[self as usize]
    }
}

/// An element, primitive or still compound, or a pseudo-element.
#[derive(Clone)]
pub(super) struct Item {
    pub name: String,
    /// The name was made up and may still change to be unique.
    pub anonymous: bool,
    pub class: Class,
    pub config: String,
    pub span: Span,
    /// Ports in use on each side, counting up to the highest.
    pub ports: [usize; 2],
    /// The expanded compound elements around it, outermost first.
    pub compounds: Rc<[CompoundOrigin]>,
}

impl Item {
    pub fn new(name: String, class: Class, span: Span) -> Self {
        Item {
            name,
            anonymous: false,
            class,
            config: String::new(),
            span,
            ports: [0, 0],
            compounds: Rc::new([]),
        }
    }
}

/// A connection whose ends may be pseudo-elements or compound elements.
#[derive(Clone, Copy)]
pub(super) struct Wire {
    pub from: Port,
    pub to: Port,
    pub span: Span,
}

impl Wire {
    /// The end at the given side of an element: `from` is an output.
    pub fn end(&self, side: Side) -> Port {
        if side == Side::Output { self.from } else { self.to }
    }
}

/// A list of elements and the wires between them.
#[derive(Clone)]
pub(super) struct Body {
    /// The class; empty if it has no name.
    pub name: String,
    pub span: Span,
    /// Braces around it: 0 for the file.
    pub depth: usize,
    /// Parameters, with their keywords as values, then `define`d variables.
    pub variables: Vec<(String, String)>,
    /// How many of the variables are parameters.
    pub formals: usize,
    pub items: Vec<Item>,
    pub wires: Vec<Wire>,
    /// Numbers of inputs and outputs.
    pub ports: [usize; 2],
    names: HashMap<String, usize>,
    /// Pseudo-elements at the front that do not count for made-up names.
    uncounted: usize,
}

impl Body {
    /// An empty body. All but that of the file have the pseudo-elements `input` and `output`.
    pub fn new(name: String, span: Span, depth: usize) -> Self {
        let mut body = Body {
            name,
            span,
            depth,
            variables: Vec::new(),
            formals: 0,
            items: Vec::new(),
            wires: Vec::new(),
            ports: [0, 0],
            names: HashMap::new(),
            uncounted: 0,
        };
        if depth > 0 {
            for name in PORT_NAMES {
                body.add(Item::new(name.to_owned(), Class::Tunnel, span));
            }
            body.uncounted = body.items.len();
        }
        body
    }

    /// The name for messages.
    pub fn printable_name(&self) -> &str {
        if self.name.is_empty() { "<anonymous>" } else { &self.name }
    }

    pub fn find(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    /// Lets `name` mean element `index` (nothing, if `None`); returns what it meant before.
    pub fn rename(&mut self, name: &str, index: Option<usize>) -> Option<usize> {
        match index {
            Some(index) => self.names.insert(name.to_owned(), index),
            None => self.names.remove(name),
        }
    }

    /// All names in use.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    /// Adds an element; one with a name of its own can be found from then on.
    pub fn add(&mut self, item: Item) -> usize {
        let index = self.items.len();
        if !item.anonymous {
            self.names.insert(item.name.clone(), index);
        }
        self.items.push(item);
        index
    }

    /// A name for an element without one: its class and the number of elements so far.
    pub fn anonymous_name(&self, class: &str) -> String {
        format!("{class}@{}", self.items.len() - self.uncounted + 1)
    }

    /// Makes a made-up name final, with a higher number if it is taken.
    pub fn settle_name(&mut self, index: usize) {
        if !self.items[index].anonymous {
            return;
        }
        let mut name = self.items[index].name.clone();
        if self.names.contains_key(&name) {
            let (prefix, tail) = name.rsplit_once('@').unwrap_or((&name, ""));
            let digits = tail.bytes().take_while(u8::is_ascii_digit).count();
            let mut number: usize = tail[..digits].parse().unwrap_or(0);
            let prefix = prefix.to_owned();
            while self.names.contains_key(&name) {
                number += 1;
                name = format!("{prefix}@{number}");
            }
        }
        self.names.insert(name.clone(), index);
        self.items[index].name = name;
        self.items[index].anonymous = false;
    }

    pub fn connect(&mut self, wire: Wire) {
        for side in [Side::Input, Side::Output] {
            let end = wire.end(side);
            let ports = &mut self.items[end.element].ports[side as usize];
            *ports = (*ports).max(end.port + 1);
        }
        self.wires.push(wire);
    }

    /// Defines a variable; false if there is one of that name already.
    pub fn define(&mut self, name: &str, value: &str) -> bool {
        let new = !self.variables.iter().any(|(n, _)| n == name);
        if new {
            self.variables.push((name.to_owned(), value.to_owned()));
        }
        new
    }

    /// Defines a variable, in place of an older one if there is one.
    pub fn define_again(&mut self, name: &str, value: &str) {
        if !self.define(name, value) {
            self.variables.iter_mut().filter(|(n, _)| n == name).for_each(|(_, v)| value.clone_into(v));
        }
    }

    /// The keywords of the parameters: empty for positional ones.
    pub fn keywords(&self) -> Vec<&str> {
        self.variables[..self.formals].iter().map(|(_, keyword)| keyword.as_str()).collect()
    }

    /// Counts inputs and outputs and settles names, once all statements are in.
    pub fn finish(&mut self, diagnostics: &mut Diagnostics) {
        for side in [Side::Input, Side::Output] {
            let pseudo = side as usize;
            let place = Place { name: self.printable_name(), span: self.span, first_wire: 0 };
            self.ports[pseudo] = self.check_pseudo(pseudo, side, place, diagnostics);
        }
        for index in 0..self.items.len() {
            self.settle_name(index);
        }
    }

    /// Checks how the pseudo-element `input` or `output` (`side` says which) is used; returns its number of ports.
    pub fn check_pseudo(
        &self,
        pseudo: usize,
        side: Side,
        Place { name, span, first_wire }: Place<'_>,
        diagnostics: &mut Diagnostics,
    ) -> usize {
        let (kind, inner) = (side.name(), side.other());
        let item = &self.items[pseudo];
        if item.ports[side as usize] > 0 {
            let message = format!("'{name}' pseudoelement '{kind}' may only be used as {}", inner.name());
            diagnostics.push(Diagnostic::error(span, message));
        }
        let mut used = vec![false; item.ports[inner as usize]];
        for wire in self.wires[first_wire..].iter().filter(|w| w.end(inner).element == pseudo) {
            used[wire.end(inner).port] = true;
        }
        report_missing(
            &used,
            |which| Diagnostic::error(span, format!("'{name}' {kind} {which} missing")),
            diagnostics,
        );
        used.len()
    }
}

/// The compound element or group that a pseudo-element belongs to.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub name: &'a str,
    pub span: Span,
    /// The first wire that can lead to the pseudo-element.
    pub first_wire: usize,
}

/// At most this many missing ports of one pseudo-element are reported one by one.
const MISSING_SHOWN: usize = 8;

fn report_missing(used: &[bool], message: impl Fn(String) -> Diagnostic, diagnostics: &mut Diagnostics) {
    let missing: Vec<usize> = (0..used.len()).filter(|&port| !used[port]).collect();
    let (shown, rest) = missing.split_at(missing.len().min(MISSING_SHOWN));
    diagnostics.extend(shown.iter().map(|port| message(port.to_string())));
    if let (Some(first), Some(last)) = (rest.first(), rest.last()) {
        diagnostics.push(message(format!("{first} to {last}")));
    }
}
