//! Which elements make segments: trees of elements with fast paths, from each input where packets come in from elsewhere.
//!
//! A tree goes on along push outputs as long as the next element has a fast path too. Where ways join, each has its own
//! copy in the tree (the text of both is one function). A way back to an element that the packet came through leaves
//! the segment, so that cycles stay deferred as they are. Pull paths are chains.

use clickwork_router::fast::FastCode;
use clickwork_router::router::Info;
use clickwork_router::segment::{Code, Exit, Node, Segment, Way};
use clickwork_router::{ElementId, Endpoint, Processing, Router};
use std::collections::{BTreeSet, HashMap};

/// The most elements in one segment, counting copies.
const MOST_NODES: usize = 1000;
/// The most elements that one packet passes in a segment.
const MOST_DEPTH: usize = 100;

/// Which elements take part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// All that have fast paths.
    All,
    /// Those that a tool has specialised: their class is a name with `@@` for another class.
    Specialised,
}

impl Scope {
    fn includes(self, info: &Info) -> bool {
        self == Scope::All || info.class_name.contains("@@")
    }
}

/// The segments of a router, with the elements themselves for code: to be compiled, or installed as they are.
pub fn plan(router: &Router, scope: Scope) -> Vec<Segment> {
    plan_of(router, |info| scope.includes(info))
}

/// The segments of a router without elements whose code is likely to change while it runs.
pub fn plan_lasting(router: &Router, scope: Scope) -> Vec<Segment> {
    let changes = |info: &Info| info.class.fast.is_some_and(|fast| fast.changes());
    plan_of(router, |info| scope.includes(info) && !changes(info))
}

fn plan_of(router: &Router, takes_part: impl Fn(&Info) -> bool) -> Vec<Segment> {
    let codes = router.ids().filter(|&id| takes_part(router.info(id)));
    let codes = codes.filter_map(|id| router.fast_code(id).map(|code| (id, code))).collect();
    let planner = Planner { router, codes };
    let mut segments = planner.push_segments();
    segments.extend(planner.pull_segments());
    segments
}

struct Planner<'a> {
    router: &'a Router,
    codes: HashMap<ElementId, FastCode>,
}

impl Planner<'_> {
    /// The element, if packets that are pushed into `to` can go through its code.
    fn pushed(&self, to: Endpoint) -> Option<ElementId> {
        let info = self.router.info(to.element);
        let one_push_input = info.inputs.as_slice() == [Processing::Push];
        (one_push_input && self.codes.contains_key(&to.element)).then_some(to.element)
    }

    fn pulled(&self, id: ElementId) -> bool {
        let info = self.router.info(id);
        let through =
            info.inputs.as_slice() == [Processing::Pull] && info.outputs.first() == Some(&Processing::Pull);
        through && self.codes.contains_key(&id)
    }

    /// Segments begin where packets come from elements without code, and where other segments end.
    fn push_segments(&self) -> Vec<Segment> {
        let is_entry = |&id: &ElementId| {
            let here = Endpoint { element: id, port: 0 };
            let from_elsewhere =
                |from: &Endpoint| self.pushed(Endpoint { element: from.element, port: 0 }).is_none();
            self.pushed(here).is_some() && self.router.sources(here).iter().any(from_elsewhere)
        };
        let mut waiting: Vec<ElementId> = self.router.ids().filter(is_entry).collect();
        waiting.reverse();
        let mut begun: BTreeSet<ElementId> = waiting.iter().copied().collect();
        let mut segments = Vec::new();
        while let Some(entry) = waiting.pop() {
            let mut tree = Tree::new(self, false);
            tree.add(entry, &mut Vec::new());
            segments.push(tree.segment());
            waiting.extend(tree.cut_off.into_iter().filter(|&id| begun.insert(id)));
        }
        segments
    }

    fn pull_segments(&self) -> Vec<Segment> {
        let ends = self.router.ids().filter(|&id| self.pulled(id) && !self.next_is_pulled(id));
        ends.map(|end| self.pull_segment(end)).collect()
    }

    fn next_is_pulled(&self, id: ElementId) -> bool {
        let next = self.router.targets(Endpoint { element: id, port: 0 }).first();
        next.is_some_and(|to| self.pulled(to.element))
    }

    fn pull_segment(&self, end: ElementId) -> Segment {
        let mut chain = vec![end];
        while let Some(from) =
            chain.last().and_then(|&id| self.router.sources(Endpoint { element: id, port: 0 }).first())
            && self.pulled(from.element)
            && chain.len() < MOST_DEPTH
            && !chain.contains(&from.element)
        {
            chain.push(from.element);
        }
        let mut tree = Tree::new(self, true);
        tree.add_chain(&chain);
        tree.segment()
    }
}

/// A segment under construction.
struct Tree<'a> {
    planner: &'a Planner<'a>,
    nodes: Vec<Node>,
    exits: Exit,
    is_pull: bool,
    /// Elements where the tree was too large to go on.
    cut_off: Vec<ElementId>,
}

impl<'a> Tree<'a> {
    fn new(planner: &'a Planner<'a>, is_pull: bool) -> Tree<'a> {
        Tree { planner, nodes: Vec::new(), exits: 0, is_pull, cut_off: Vec::new() }
    }

    fn segment(&mut self) -> Segment {
        Segment { nodes: std::mem::take(&mut self.nodes), is_pull: self.is_pull, code: Code::Elements }
    }

    fn next_exit(&mut self) -> Exit {
        self.exits += 1;
        self.exits - 1
    }

    /// Adds an element, whose number this returns; `way_on` says where each output leads.
    fn node(&mut self, element: ElementId, mut way_on: impl FnMut(&mut Self, u16) -> Option<usize>) -> usize {
        let (number, first) = (self.nodes.len(), self.next_exit());
        let code = self.planner.codes[&element].clone();
        self.nodes.push(Node { element, code, exits: first..first, ways: Vec::new() });
        let outputs = self.planner.router.info(element).outputs.len() as u16;
        for output in 0..outputs {
            let first = self.exits;
            let node = way_on(self, output);
            if node.is_none() {
                self.next_exit();
            }
            let way = Way { exits: first..self.exits, node };
            self.nodes[number].ways.push(way);
        }
        self.nodes[number].exits = first..self.exits;
        number
    }

    /// Adds an element and what follows it; `path` leads to it.
    fn add(&mut self, element: ElementId, path: &mut Vec<ElementId>) -> usize {
        path.push(element);
        let number = self.node(element, |tree, output| tree.follow(Endpoint { element, port: output }, path));
        path.pop();
        number
    }

    fn follow(&mut self, from: Endpoint, path: &mut Vec<ElementId>) -> Option<usize> {
        let to = *self.planner.router.targets(from).first()?;
        let next = self.planner.pushed(to)?;
        let room = self.nodes.len() < MOST_NODES && path.len() < MOST_DEPTH;
        if !room || path.contains(&next) {
            self.cut_off.push(next);
            return None;
        }
        Some(self.add(next, path))
    }

    /// Adds a chain, its last element first in the list.
    fn add_chain(&mut self, chain: &[ElementId]) -> Option<usize> {
        let (&element, rest) = chain.split_last()?;
        Some(self.node(element, |tree, output| if output == 0 { tree.add_chain(rest) } else { None }))
    }
}
