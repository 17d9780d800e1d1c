//! Compound elements in the layout: each is laid out by itself, and is a node in the layout of what it stands in.
//!
//! A connection that enters or leaves a compound element passes through a gate on the box's upper or lower edge. All
//! connections to one port share the gate, as they share the lanes of a layout.

use super::layout::{self, Edge, Layout, Node, Piece, Pin, Point, PortAt, Route};
use super::measure;
use super::model::{FONT, Model, Wire};
use std::collections::HashMap;

/// Room between the box of a compound element and what is in it.
const PADDING: i64 = 16;
/// The same above and below, where connections pass: the layout leaves room there already.
const GATE_PADDING: i64 = 8;
const MARGIN: i64 = 20;
/// Distance between elements without connections.
const ISLAND_GAP: i64 = 24;

/// A box at its place.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    /// Upper left corner.
    pub at: Point,
    /// Size.
    pub width: i64,
    /// Size.
    pub height: i64,
}

/// A drawing, all places absolute.
#[derive(Debug)]
pub struct Picture {
    /// Size of the whole.
    pub width: i64,
    /// Size of the whole.
    pub height: i64,
    /// By element: upper left corner.
    pub parts: Vec<Point>,
    /// By compound element: its box.
    pub compounds: Vec<Area>,
    /// The connections.
    pub wires: Vec<Line>,
    /// Where connections pass through the edges of compound elements.
    pub gates: Vec<Point>,
}

/// A piece of one or several connections.
#[derive(Debug)]
pub struct Line {
    /// Where it goes.
    pub route: Route,
    /// Whether its end is at an element and gets an arrowhead.
    pub arrow: bool,
    /// Whether all these connections are missing elsewhere.
    pub missing: bool,
}

/// Lays a router out.
pub fn arrange(model: &Model) -> Picture {
    let mut nest = Nest::new(model);
    // Inner compounds stand behind the ones they are in, so they are laid out first.
    for scope in (0..model.compounds.len()).rev() {
        nest.lay_out(Some(scope));
    }
    nest.lay_out(None);
    nest.picture()
}

/// What a node of a layout stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Thing {
    Part(usize),
    Compound(usize),
    /// The gate through which connections to an element's input enter.
    In(Target),
    /// The gate through which connections to an element's input leave.
    Out(Target),
}

/// An element's input.
type Target = (usize, usize);
type Scope = Option<usize>;

/// The layout of what is directly in one scope.
struct Level {
    things: Vec<Thing>,
    layout: Layout,
    /// By edge of the layout: whether it is missing elsewhere.
    missing: Vec<bool>,
    width: i64,
    height: i64,
    /// Where things without connections begin.
    islands: Vec<(usize, Point)>,
    /// How far the layout is moved to the right, to stand in the middle.
    shift: i64,
}

/// The part of some connections that goes from thing to thing.
struct Stretch {
    from: (Thing, usize),
    to: (Thing, usize),
    missing: bool,
}

struct Nest<'a> {
    model: &'a Model,
    /// For each scope, the connections that go through it in part.
    wires: HashMap<Scope, Vec<Stretch>>,
    /// Gates of each compound: targets entering, targets leaving, in order of first use.
    gates: Vec<(Vec<Target>, Vec<Target>)>,
    levels: HashMap<Scope, Level>,
}

impl<'a> Nest<'a> {
    fn new(model: &'a Model) -> Nest<'a> {
        let gates = vec![(Vec::new(), Vec::new()); model.compounds.len()];
        let mut nest = Nest { model, wires: HashMap::new(), gates, levels: HashMap::new() };
        for wire in &model.wires {
            nest.split(wire);
        }
        nest
    }

    /// The scopes around an element, innermost first, the whole drawing last.
    fn scopes(&self, part: usize) -> Vec<Scope> {
        let mut list = Vec::new();
        let mut scope = self.model.parts[part].compound;
        while let Some(c) = scope {
            list.push(scope);
            scope = self.model.compounds[c].parent;
        }
        list.push(None);
        list
    }

    /// Cuts a connection at the compound elements that it leaves and enters.
    fn split(&mut self, &Wire { from, to, missing }: &Wire) {
        let (up, down) = (self.scopes(from.0), self.scopes(to.0));
        let meeting = *up.iter().find(|s| down.contains(s)).unwrap_or(&None);
        let mut source = (Thing::Part(from.0), from.1);
        for scope in up.iter().take_while(|s| **s != meeting) {
            self.add(*scope, Stretch { from: source, to: (Thing::Out(to), 0), missing });
            let Some(c) = *scope else { break };
            source = (Thing::Compound(c), gate(&mut self.gates[c].1, to));
        }
        let mut end = (Thing::Part(to.0), to.1);
        for scope in down.iter().take_while(|s| **s != meeting) {
            self.add(*scope, Stretch { from: (Thing::In(to), 0), to: end, missing });
            let Some(c) = *scope else { break };
            end = (Thing::Compound(c), gate(&mut self.gates[c].0, to));
        }
        self.add(meeting, Stretch { from: source, to: end, missing });
    }

    fn add(&mut self, scope: Scope, new: Stretch) {
        let wires = self.wires.entry(scope).or_default();
        match wires.iter_mut().find(|known| known.from == new.from && known.to == new.to) {
            Some(known) => known.missing &= new.missing,
            None => wires.push(new),
        }
    }

    /// Everything directly in a scope, elements and compounds in the order of the configuration.
    fn things(&self, scope: Scope) -> Vec<Thing> {
        let mut things = Vec::new();
        for (index, part) in self.model.parts.iter().enumerate() {
            let around = self.scopes(index);
            let at = around.iter().position(|s| *s == scope);
            let thing = match at {
                Some(0) if part.compound == scope => Thing::Part(index),
                Some(n) => match around[n - 1] {
                    Some(c) => Thing::Compound(c),
                    None => continue,
                },
                None => continue,
            };
            if !things.contains(&thing) {
                things.push(thing);
            }
        }
        if let Some(c) = scope {
            things.extend(self.gates[c].0.iter().map(|&t| Thing::In(t)));
            things.extend(self.gates[c].1.iter().map(|&t| Thing::Out(t)));
        }
        things
    }

    fn node(&self, thing: Thing) -> Node {
        match thing {
            Thing::Part(p) => {
                let part = &self.model.parts[p];
                Node {
                    width: part.width,
                    height: part.height,
                    inputs: part.inputs.iter().map(|p| p.at).collect(),
                    outputs: part.outputs.iter().map(|p| p.at).collect(),
                    pin: Pin::Free,
                }
            }
            Thing::Compound(c) => {
                let (width, height) = self.size(c);
                let xs = |list: &[Target], is_in: bool| {
                    list.iter().map(|&t| self.gate_place(c, t, is_in).x).collect()
                };
                let (ins, outs) = &self.gates[c];
                Node { width, height, inputs: xs(ins, true), outputs: xs(outs, false), pin: Pin::Free }
            }
            Thing::In(_) => Node { width: 2, height: 0, inputs: vec![], outputs: vec![1], pin: Pin::Top },
            Thing::Out(_) => Node { width: 2, height: 0, inputs: vec![1], outputs: vec![], pin: Pin::Bottom },
        }
    }

    /// The outer size of a compound's box.
    fn size(&self, compound: usize) -> (i64, i64) {
        let level = &self.levels[&Some(compound)];
        let title = measure::width(&self.model.compounds[compound].title, FONT, true) + 24;
        let (above, below) = self.padding(compound);
        ((level.width + 2 * PADDING).max(title), level.height + above + below)
    }

    /// Room above and below what is in a compound's box.
    fn padding(&self, compound: usize) -> (i64, i64) {
        let (ins, outs) = &self.gates[compound];
        let room = |gates: &[Target]| if gates.is_empty() { PADDING + 12 } else { GATE_PADDING };
        (room(ins), room(outs))
    }

    /// Where the inside of a compound's box begins.
    fn inside(&self, compound: usize) -> Point {
        let level = &self.levels[&Some(compound)];
        Point { x: (self.size(compound).0 - level.width) / 2, y: self.padding(compound).0 }
    }

    /// Where connections through a gate begin or end inside a compound's box.
    fn gate_place(&self, compound: usize, target: Target, is_in: bool) -> Point {
        let level = &self.levels[&Some(compound)];
        let thing = if is_in { Thing::In(target) } else { Thing::Out(target) };
        let number = level.things.iter().position(|&t| t == thing);
        let place = number.map_or(Point { x: 0, y: 0 }, |n| level.layout.places[n]);
        self.inside(compound).plus(place).plus(Point { x: level.shift + 1, y: 0 })
    }

    fn lay_out(&mut self, scope: Scope) {
        let wires = self.wires.remove(&scope).unwrap_or_default();
        let (things, islands): (Vec<Thing>, Vec<Thing>) = self
            .things(scope)
            .into_iter()
            .partition(|t| wires.iter().any(|w| w.from.0 == *t || w.to.0 == *t));
        let number: HashMap<Thing, usize> = things.iter().enumerate().map(|(n, &t)| (t, n)).collect();
        let end = |(thing, port): (Thing, usize)| PortAt { node: number[&thing], port };
        let edges: Vec<Edge> = wires.iter().map(|w| Edge { from: end(w.from), to: end(w.to) }).collect();
        let missing = wires.iter().map(|w| w.missing).collect();
        let nodes: Vec<Node> = things.iter().map(|&t| self.node(t)).collect();
        let layout = layout::layout(&nodes, &edges);
        let sizes: Vec<(i64, i64)> =
            islands.iter().map(|&t| self.node(t)).map(|n| (n.width, n.height)).collect();
        let (rows, width, height) = rows(&sizes, &layout);
        let shift = (width - layout.width) / 2;
        let first = things.len();
        let islands_at = rows.into_iter().enumerate().map(|(n, p)| (first + n, p)).collect();
        let things = things.into_iter().chain(islands).collect();
        self.levels
            .insert(scope, Level { things, layout, missing, width, height, islands: islands_at, shift });
    }

    fn picture(&self) -> Picture {
        let nowhere = Point { x: 0, y: 0 };
        let blank = Area { at: nowhere, width: 0, height: 0 };
        let mut picture = Picture {
            width: 0,
            height: 0,
            parts: vec![nowhere; self.model.parts.len()],
            compounds: vec![blank; self.model.compounds.len()],
            wires: Vec::new(),
            gates: Vec::new(),
        };
        self.place(None, Point { x: MARGIN, y: MARGIN }, &mut picture);
        let whole = &self.levels[&None];
        (picture.width, picture.height) = (whole.width + 2 * MARGIN, whole.height + 2 * MARGIN);
        picture
    }

    /// Puts what is in a scope into the picture, at `origin` and on.
    fn place(&self, scope: Scope, origin: Point, picture: &mut Picture) {
        let level = &self.levels[&scope];
        let moved = Point { x: origin.x + level.shift, y: origin.y };
        for route in &level.layout.routes {
            let arrow = route.arrives.is_some_and(|n| matches!(level.things[n], Thing::Part(_)));
            let missing = route.edges.iter().all(|&e| level.missing[e]);
            picture.wires.push(Line { route: route.moved(moved), arrow, missing });
        }
        let placed = level.layout.places.iter().enumerate().map(|(n, p)| (n, p.plus(moved)));
        let islands = level.islands.iter().map(|(n, p)| (*n, p.plus(origin)));
        for (n, at) in placed.chain(islands) {
            match level.things[n] {
                Thing::Part(p) => picture.parts[p] = at,
                Thing::Compound(c) => self.place_compound(c, at, picture),
                Thing::In(_) | Thing::Out(_) => {}
            }
        }
    }

    fn place_compound(&self, c: usize, at: Point, picture: &mut Picture) {
        let (width, height) = self.size(c);
        picture.compounds[c] = Area { at, width, height };
        let inside = self.inside(c).plus(at);
        self.place(Some(c), inside, picture);
        let (ins, outs) = &self.gates[c];
        for (targets, edge, is_in) in [(ins, at.y, true), (outs, at.y + height, false)] {
            for &t in targets {
                let inner = self.gate_place(c, t, is_in).plus(at);
                let outer = Point { x: inner.x, y: edge };
                let (start, end) = if is_in { (outer, inner) } else { (inner, outer) };
                let route = Route { start, pieces: vec![Piece::Line(end)], arrives: None, edges: Vec::new() };
                let missing = self.model.other.is_some() && self.all_missing(c, t, is_in);
                picture.wires.push(Line { route, arrow: false, missing });
                picture.gates.push(outer);
            }
        }
    }

    /// Whether all connections that pass through a gate are missing elsewhere.
    fn all_missing(&self, compound: usize, target: Target, is_in: bool) -> bool {
        let to_target = self.model.wires.iter().filter(|w| w.to == target);
        let mut passing = to_target.filter(|w| self.scopes(w.from.0).contains(&Some(compound)) != is_in);
        passing.all(|w| w.missing)
    }
}

/// The number of a target's gate.
fn gate(list: &mut Vec<Target>, target: Target) -> usize {
    list.iter().position(|&t| t == target).unwrap_or_else(|| {
        list.push(target);
        list.len() - 1
    })
}

/// Puts boxes without connections into rows below a layout. Returns their places and the size of the whole.
fn rows(sizes: &[(i64, i64)], layout: &Layout) -> (Vec<Point>, i64, i64) {
    let widest = sizes.iter().map(|s| s.0).max().unwrap_or(0);
    let width = layout.width.max(widest).max(if layout.width == 0 { 480 } else { 0 });
    let width = if sizes.is_empty() { layout.width } else { width };
    let (mut x, mut y, mut tallest) = (0, layout.height, 0);
    if layout.height > 0 && !sizes.is_empty() {
        y += 2 * ISLAND_GAP;
    }
    let mut places = Vec::new();
    for &(w, h) in sizes {
        if x > 0 && x + w > width {
            (x, y, tallest) = (0, y + tallest + ISLAND_GAP, 0);
        }
        places.push(Point { x, y });
        x += w + ISLAND_GAP;
        tallest = tallest.max(h);
    }
    (places, width, y + tallest)
}
