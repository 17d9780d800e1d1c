//! Connections: elements are found or added to the current body, list by list, and wired.

use clickwork_source::{Diagnostic, Span, suggest};

use super::body::{Item, Side};
use super::class::Class;
use super::connect::{End, PortList};
use super::statements::Run;
use super::{Declarer, limits};
use crate::graph::Port;
use crate::syntax::ast::{self, Chain, Element, Name, Word};

/// An element of a list, read but not yet in the body.
struct Pending<'a> {
    name: PendingName<'a>,
    /// The class that the name stands for, if it is one.
    is_class: Option<Class>,
    /// The class after `::`.
    declared: Option<Class>,
    config: String,
    /// A name and nothing else, ports apart.
    bare: bool,
    span: Span,
    ports: [PortList; 2],
}

enum PendingName<'a> {
    Word(&'a str),
    /// A pseudo-element of this side.
    Implicit(Side),
    /// A group, already in the body.
    Group(usize),
    /// A compound element without a name.
    Anonymous,
}

impl Declarer<'_> {
    pub(super) fn chain(&mut self, chain: &Chain, run: &mut Run) {
        let mut left: Vec<End> = Vec::new();
        for (index, list) in chain.lists.iter().enumerate() {
            let place = ListPlace { first: index == 0, arrow_follows: chain.arrows.len() > index };
            let right = self.list(list, chain, place, run);
            match index.checked_sub(1).and_then(|before| chain.arrows.get(before)) {
                None => self.check_useless(&right, Side::Input, list),
                Some(&arrow) => self.connect_lists(&left, &right, arrow),
            }
            left = right;
        }
        if let Some(list) = chain.lists.last() {
            self.check_useless(&left, Side::Output, list);
        }
        run.ends_at_output = matches!(&left[..], [end] if Some(end.element) == self.body.find("output"));
    }

    /// Ports before the first arrow's elements or after the last one's lead nowhere.
    fn check_useless(&mut self, ends: &[End], side: Side, list: &[Element]) {
        if ends.iter().all(|end| end.ports[side as usize].is_empty()) {
            return;
        }
        let ports = |element: &Element| match side {
            Side::Input => element.inputs.as_ref().map(|p| p.span),
            Side::Output => element.outputs.as_ref().map(|p| p.span),
        };
        // Ports that a group has by itself do not lead anywhere either, but nobody wrote them: then the group is to blame.
        let span = list.iter().find_map(ports).or(list.first().map(|e| e.span)).unwrap_or(Span::NONE);
        let message = match side {
            Side::Input => "input ports ignored at start of chain",
            Side::Output => "output ports ignored at end of chain",
        };
        self.error(Diagnostic::error(span, message));
    }

    /// Reads a list of elements and adds the new ones to the body.
    fn list(&mut self, list: &[Element], chain: &Chain, place: ListPlace, run: &Run) -> Vec<End> {
        let mut pending: Vec<Pending<'_>> =
            list.iter().map(|element| self.pending(element, chain, place, run)).collect();
        let implicit = pending.iter().any(|p| matches!(p.name, PendingName::Implicit(_)));
        if implicit && !place.first && place.arrow_follows {
            let span = list.first().map_or(Span::NONE, |e| e.span);
            self.error(Diagnostic::error(span, "implicit ports used in the middle of a chain"));
        }
        if place.first && !place.arrow_follows && !implicit {
            share_declaration(&mut pending);
        }
        pending.into_iter().map(|p| self.declare(p)).collect()
    }

    fn pending<'e>(
        &mut self,
        element: &'e Element,
        chain: &Chain,
        place: ListPlace,
        run: &Run,
    ) -> Pending<'e> {
        let mut pending = Pending {
            name: PendingName::Anonymous,
            is_class: None,
            declared: None,
            config: String::new(),
            bare: false,
            span: element.span,
            ports: [PortList::default(), PortList::default()],
        };
        match &element.name {
            Name::Word(word) => {
                pending.name = PendingName::Word(&word.text);
                pending.is_class = self.classes.find(&word.text);
                pending.bare = element.class.is_none() && element.config.is_none();
            }
            Name::Compound(compound) => pending.is_class = Some(self.compound("", compound)),
            Name::Group(group) => {
                let (index, ports) = self.group(group);
                pending.name = PendingName::Group(index);
                pending.ports = ports.map(PortList::up_to);
            }
            Name::Implicit => return self.implicit(pending, element, chain, place, run),
        }
        for (side, written) in [&element.inputs, &element.outputs].into_iter().enumerate() {
            if let Some(written) = written {
                pending.ports[side] = self.port_list(written);
            }
        }
        pending.declared = self.declared_class(element);
        pending.config = self.config(element);
        pending
    }

    /// `[0] ->` at the start of a chain means `input [0] ->`, `-> [0]` at its end `-> [0] output`.
    fn implicit<'e>(
        &mut self,
        mut pending: Pending<'e>,
        element: &Element,
        chain: &Chain,
        place: ListPlace,
        run: &Run,
    ) -> Pending<'e> {
        let side = if place.first { Side::Input } else { Side::Output };
        pending.name = PendingName::Implicit(side);
        if let Some(ports) = &element.inputs {
            pending.ports[side.other() as usize] = self.port_list(ports);
        } else if place.first && !run.ends_at_output && place.arrow_follows {
            let arrow = if chain.arrows[0].double { "=>" } else { "->" };
            let message = format!("suggest 'input {arrow}' or '[0] {arrow}' to start connection");
            self.diagnostics.push(Diagnostic::warning(chain.arrows[0].span, message));
        }
        pending
    }

    fn declared_class(&mut self, element: &Element) -> Option<Class> {
        Some(match element.class.as_ref()? {
            ast::Class::Word(word) => self.class_word(word),
            ast::Class::Compound(compound) => self.compound("", compound),
            // The parser has complained.
            ast::Class::Missing => Class::Primitive("".into()),
        })
    }

    fn config(&mut self, element: &Element) -> String {
        let Some(config) = &element.config else { return String::new() };
        let reference = match &element.name {
            Name::Word(word) => self.body.find(&word.text).is_some(),
            Name::Group(_) => true,
            Name::Compound(_) | Name::Implicit => false,
        };
        if reference {
            let error = Diagnostic::error(config.span, "configuration string ignored on element reference");
            self.error(error.hint("give the configuration where the element is declared"));
        }
        config.text.clone()
    }

    /// Finds or adds the element that was read.
    fn declare(&mut self, pending: Pending<'_>) -> End {
        let index = match pending.name {
            PendingName::Group(index) => self.declare_group(index, &pending),
            PendingName::Implicit(side) => match self.body.find(side.name()) {
                Some(index) => index,
                None => self.declare_word(side.name(), &pending),
            },
            PendingName::Word(name) => self.declare_word(name, &pending),
            PendingName::Anonymous => {
                if pending.declared.is_some() {
                    self.error(Diagnostic::error(pending.span, "class '<anonymous>' used as element name"));
                }
                self.add("", true, pending.is_class.clone(), &pending)
            }
        };
        End { element: index, ports: pending.ports }
    }

    fn declare_group(&mut self, index: usize, pending: &Pending<'_>) -> usize {
        if pending.declared.is_some() {
            self.error(Diagnostic::error(pending.span, "redeclaration of element '<anonymous group>'"));
        }
        index
    }

    fn declare_word(&mut self, name: &str, pending: &Pending<'_>) -> usize {
        if let Some(class) = &pending.is_class {
            if pending.declared.is_some() {
                self.class_as_name(name, pending.span);
            }
            return self.add(name, true, Some(class.clone()), pending);
        }
        match (self.body.find(name), &pending.declared) {
            (Some(index), None) => index,
            (Some(index), Some(_)) => {
                self.redeclaration(name, pending.span, index);
                index
            }
            (None, Some(class)) => {
                if self.knows_no_class() && class.name() == name {
                    self.class_as_name(name, pending.span);
                }
                self.add(name, false, Some(class.clone()), pending)
            }
            (None, None) => {
                if !self.classes.guess(name, !pending.bare) {
                    let error = self.undeclared(name, pending.span);
                    self.error(error);
                }
                let class = self.classes.assume(name);
                self.add(name, true, Some(class), pending)
            }
        }
    }

    fn class_as_name(&mut self, name: &str, span: Span) {
        self.error(Diagnostic::error(span, format!("class '{name}' used as element name")));
    }

    fn redeclaration(&mut self, name: &str, span: Span, older: usize) {
        let mut error = Diagnostic::error(span, format!("redeclaration of element '{name}'"));
        let item = &self.body.items[older];
        if !matches!(item.class, Class::Tunnel) {
            error = error.label(item.span, format!("element '{name}' previously declared here"));
        }
        self.error(error);
    }

    fn undeclared(&mut self, name: &str, span: Span) -> Diagnostic {
        let error = Diagnostic::error(span, format!("undeclared element '{name}'"));
        let similar = self.classes.may_suggest().then(|| {
            let mut elements: Vec<&str> = self.body.names().collect();
            elements.sort_unstable();
            suggest(name, elements).map(str::to_owned).or_else(|| self.classes.similar(name))
        });
        error.hint(match similar.flatten() {
            Some(similar) => format!("did you mean '{similar}'?"),
            None => format!("declare it first: '{name} :: Class(...)'"),
        })
    }

    /// Adds an element to the body. `anonymous` ones get a made-up name of which `name` is the class.
    fn add(&mut self, name: &str, anonymous: bool, class: Option<Class>, pending: &Pending<'_>) -> usize {
        let full = if anonymous { self.body.anonymous_name(name) } else { name.to_owned() };
        if full.split('/').any(|part| part.bytes().all(|b| b.is_ascii_digit())) {
            let message = format!("element name '{full}' has all-digit component");
            self.error(Diagnostic::error(pending.span, message));
        }
        let class = class.unwrap_or_else(|| Class::Primitive(name.into()));
        let config = pending.config.clone();
        self.body.add(Item { anonymous, config, ..Item::new(full, class, pending.span) })
    }

    /// Reads port numbers.
    fn port_list(&mut self, written: &ast::Ports) -> PortList {
        let mut list = PortList { ports: Vec::new(), open: written.open };
        for (first, last) in &written.list {
            let start = self.port_number(first);
            let end = last.as_ref().map_or(start, |word| self.port_number(word));
            if end < start {
                let message = format!("port range '{start}-{end}' runs backwards");
                self.error(
                    Diagnostic::error(first.span, message)
                        .hint(format!("write '{end}-{start}' or list the ports")),
                );
            }
            list.ports.extend(start..=end.max(start));
        }
        if list.ports.is_empty() {
            list.ports.push(0);
        }
        list
    }

    fn port_number(&mut self, word: &Word) -> usize {
        match parse_integer(&word.text) {
            Some(port) if port < limits::PORTS => port,
            Some(_) => {
                let message = format!("port number {} too large", word.text);
                self.error(
                    Diagnostic::error(word.span, message)
                        .hint(format!("the last port is {}", limits::PORTS - 1)),
                );
                0
            }
            None => {
                self.error(Diagnostic::error(word.span, "syntax error: port number should be integer"));
                0
            }
        }
    }

    /// Adds one wire; false if there are too many.
    pub(super) fn wire(&mut self, from: Port, to: Port, span: Span) -> bool {
        self.wires += 1;
        if self.wires <= limits::WIRES {
            self.body.connect(super::body::Wire { from, to, span });
        } else if self.wires == limits::WIRES + 1 {
            self.error(Diagnostic::error(span, format!("more than {} connections", limits::WIRES)));
        }
        self.wires <= limits::WIRES
    }
}

/// Where a list stands in its chain.
#[derive(Clone, Copy)]
struct ListPlace {
    first: bool,
    arrow_follows: bool,
}

/// `a, b, c :: Class(config)` declares all three.
fn share_declaration(pending: &mut [Pending<'_>]) {
    let Some((last, rest)) = pending.split_last_mut() else { return };
    let ports = |p: &Pending<'_>| p.ports.iter().any(|ports| !ports.is_empty());
    if last.declared.is_none() || ports(last) || !rest.iter().all(|p| p.bare && !ports(p)) {
        return;
    }
    for p in rest {
        p.declared.clone_from(&last.declared);
        p.config.clone_from(&last.config);
    }
}

/// A number as in C: decimal, `0x` hexadecimal, or octal with a leading zero.
fn parse_integer(text: &str) -> Option<usize> {
    let (digits, radix) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&text[2..], 16),
        [b'0', _, ..] => (&text[1..], 8),
        _ => (text, 10),
    };
    match u64::from_str_radix(digits, radix) {
        Ok(number) => usize::try_from(number).ok(),
        Err(e) if *e.kind() == std::num::IntErrorKind::PosOverflow => Some(usize::MAX),
        Err(_) => None,
    }
}
