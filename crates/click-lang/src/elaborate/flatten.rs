//! The third stage: wires through pseudo-elements become connections between elements.
//!
//! A wire into port `p` of a compound element goes on from port `p` of its `input`; a wire into port `p` of its `output`
//! goes on from port `p` of the compound element. Circles of pseudo-elements lead nowhere and vanish, as in Click.

use std::collections::{HashMap, HashSet};

use clickwork_source::{Diagnostic, Diagnostics};

use super::body::{Body, Item, Side};
use super::class::Class;
use super::expansion::Expanded;
use super::limits;
use crate::graph::{Connection, ElementDecl, Graph, Port};

/// Pairs of pseudo-elements: what goes into the first comes out of the second.
pub(super) struct Tunnels {
    exits: HashMap<usize, usize>,
}

impl Tunnels {
    /// The tunnels of a body's groups.
    pub fn of_groups(body: &Body) -> Self {
        let mut tunnels = Tunnels { exits: HashMap::new() };
        tunnels.copy_groups(body, &(0..body.items.len()).collect::<Vec<_>>());
        tunnels
    }

    /// Adds the two tunnels of a compound element or group.
    pub fn add(&mut self, compound: usize, input: usize, output: usize) {
        self.exits.insert(compound, input);
        self.exits.insert(output, compound);
    }

    /// Adds the tunnels of a body's groups, whose elements are found at `map` now. A group's three pseudo-elements
    /// stand one after the other.
    pub fn copy_groups(&mut self, body: &Body, map: &[usize]) {
        let own = if body.depth > 0 { 2 } else { 0 };
        let pseudo: Vec<usize> =
            (own..body.items.len()).filter(|&i| matches!(body.items[i].class, Class::Tunnel)).collect();
        for group in pseudo.chunks_exact(3) {
            self.add(map[group[0]], map[group[1]], map[group[2]]);
        }
    }
}

/// Fills a graph from an expanded body.
pub(super) fn flatten(expanded: Expanded, graph: &mut Graph, diagnostics: &mut Diagnostics) {
    let flattener = Flattener::new(expanded);
    flattener.check(diagnostics);
    let connections = flattener.connections(diagnostics);
    let numbers = number(&flattener.body.items);
    let port = |p: Port| Port { element: numbers[p.element], ..p };
    graph.connections =
        connections.into_iter().map(|c| Connection { from: port(c.from), to: port(c.to), ..c }).collect();
    graph.elements = flattener.body.items.into_iter().filter(|i| !is_pseudo(i)).map(element).collect();
    graph.connections.sort_by_key(|c| (c.to, c.from));
    graph.connections.dedup_by_key(|c| (c.to, c.from));
}

/// The place of each element once pseudo-elements are gone.
fn number(items: &[Item]) -> Vec<usize> {
    let mut real = 0;
    let place = |item: &Item| {
        let place = real;
        real += usize::from(!is_pseudo(item));
        place
    };
    items.iter().map(place).collect()
}

fn is_pseudo(item: &Item) -> bool {
    matches!(item.class, Class::Tunnel)
}

fn element(item: Item) -> ElementDecl {
    let class = item.class.name().to_owned();
    ElementDecl {
        name: item.name,
        class,
        config: item.config,
        span: item.span,
        compounds: item.compounds.to_vec(),
    }
}

struct Flattener {
    body: Body,
    exits: HashMap<usize, usize>,
    entries: HashMap<usize, usize>,
    /// The wires out of and into each port of pseudo-elements.
    wires: [HashMap<Port, Vec<usize>>; 2],
}

impl Flattener {
    fn new(expanded: Expanded) -> Self {
        let Expanded { body, tunnels: Tunnels { exits } } = expanded;
        let entries = exits.iter().map(|(&entry, &exit)| (exit, entry)).collect();
        let mut wires = [HashMap::<Port, Vec<usize>>::new(), HashMap::new()];
        for (index, wire) in body.wires.iter().enumerate() {
            for side in [Side::Input, Side::Output] {
                let end = wire.end(side);
                if is_pseudo(&body.items[end.element]) {
                    wires[side as usize].entry(end).or_default().push(index);
                }
            }
        }
        Flattener { body, exits, entries, wires }
    }

    fn used(&self, side: Side, port: Port) -> bool {
        self.wires[side as usize].contains_key(&port)
    }

    /// Complains about pseudo-elements used on the wrong side, and about tunnels with wires at one end only.
    fn check(&self, diagnostics: &mut Diagnostics) {
        let mut seen = HashSet::new();
        for wire in &self.body.wires {
            for side in [Side::Output, Side::Input] {
                let end = wire.end(side);
                if is_pseudo(&self.body.items[end.element]) {
                    diagnostics.extend(self.check_end(end, side, &mut seen));
                }
            }
        }
    }

    /// `end` is where a wire meets a pseudo-element: on its output side if the wire starts there.
    fn check_end(&self, end: Port, side: Side, seen: &mut HashSet<(Port, Side)>) -> Option<Diagnostic> {
        let partners = if side == Side::Output { &self.entries } else { &self.exits };
        let Some(&partner) = partners.get(&end.element) else {
            let item = &self.body.items[end.element];
            return Some(Diagnostic::error(item.span, format!("'{}' used as {}", item.name, side.name())));
        };
        let other = Port { element: partner, port: end.port };
        if self.used(side.other(), other) || !seen.insert((end, side)) {
            return None;
        }
        let (entry, exit) =
            if side == Side::Output { (partner, end.element) } else { (end.element, partner) };
        Some(self.one_ended(entry, exit, end.port, side))
    }

    /// The tunnel from `entry` to `exit` has a wire at port `port` on the given side of one of them, but no other end.
    fn one_ended(&self, entry: usize, exit: usize, port: usize, side: Side) -> Diagnostic {
        let items = &self.body.items;
        let compound_input = items[exit].name == format!("{}/input", items[entry].name);
        let (compound, kind) =
            if compound_input { (&items[entry], Side::Input) } else { (&items[exit], Side::Output) };
        let name = &compound.name;
        let inside = (side == Side::Output) == compound_input;
        let message = match inside {
            true => format!("'{name}' {} {port} unused", kind.name()),
            false => format!("'{name}' has no {} {port}", kind.name()),
        };
        Diagnostic::error(compound.span, message)
    }

    /// Follows every wire that starts at an element to the elements it leads to.
    fn connections(&self, diagnostics: &mut Diagnostics) -> Vec<Connection> {
        let mut connections = Vec::new();
        let mut known: HashMap<Port, Vec<Port>> = HashMap::new();
        for wire in self.body.wires.iter().filter(|w| !is_pseudo(&self.body.items[w.from.element])) {
            for &to in known.entry(wire.to).or_insert_with(|| self.targets(wire.to)).iter() {
                if connections.len() == limits::WIRES {
                    let message = format!("configuration expands to more than {} connections", limits::WIRES);
                    diagnostics.push(Diagnostic::error(wire.span, message));
                    return connections;
                }
                connections.push(Connection { from: wire.from, to, span: wire.span });
            }
        }
        connections
    }

    /// The ports of elements that a wire into `port` leads to.
    fn targets(&self, port: Port) -> Vec<Port> {
        if !is_pseudo(&self.body.items[port.element]) {
            return vec![port];
        }
        let mut targets = Vec::new();
        let mut seen = HashSet::from([port]);
        let mut waiting = vec![port];
        while let Some(port) = waiting.pop() {
            if !is_pseudo(&self.body.items[port.element]) {
                targets.push(port);
                continue;
            }
            let Some(&exit) = self.exits.get(&port.element) else { continue };
            let exit = Port { element: exit, port: port.port };
            for &wire in self.wires[Side::Output as usize].get(&exit).into_iter().flatten() {
                let next = self.body.wires[wire].to;
                if seen.insert(next) {
                    waiting.push(next);
                }
            }
        }
        targets
    }
}
