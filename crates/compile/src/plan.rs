//! Which elements make segments: trees of elements with fast paths, from each input where packets come in from elsewhere.
//!
//! A tree goes on along push outputs as long as the next element has a fast path too. Where ways join, each has its own
//! copy in the tree (the text of both is one function), until there are too many: then a segment ends where ways join, so
//! that a plan is never much larger than its router. A way back to an element that the packet came through leaves the
//! segment, so that cycles stay deferred as they are. Where a packet may cause a handler to be written, each element is a
//! segment of its own. Pull paths are chains.

use clickwork_router::fast::FastCode;
use clickwork_router::router::Info;
use clickwork_router::segment::{Code, Exit, Node, Segment, Way};
use clickwork_router::{ElementId, Endpoint, Processing, Router};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// The most elements in one segment, counting copies.
const MOST_NODES: usize = 1000;
/// The most elements that one packet passes in a segment.
const MOST_DEPTH: usize = 100;
/// The most exits of one segment.
const MOST_EXITS: usize = 20_000;
/// How many elements all segments have together, counting copies, for each element of the router; then there are no more
/// copies. The first [`MOST_NODES`] do not count.
const MOST_PER_ELEMENT: usize = 8;

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
    let included = |id: &ElementId| takes_part(router.info(*id)) && exits_of(router.info(*id)) <= MOST_EXITS;
    let code = |id| router.fast_code(id).map(|code| (id, Arc::new(code)));
    let codes = router.ids().filter(included).filter_map(code).collect();
    let planner = Planner { router, codes, leads_to_calls: router.leads_to_calls() };
    let mut segments = planner.push_segments();
    segments.extend(planner.pull_segments());
    segments
}

/// The exits that an element has by itself.
fn exits_of(info: &Info) -> usize {
    1 + info.outputs.len()
}

struct Planner<'a> {
    router: &'a Router,
    codes: HashMap<ElementId, Arc<FastCode>>,
    /// By element: [`Router::leads_to_calls`].
    leads_to_calls: Vec<bool>,
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
        through && self.router.passes_on(id) && self.codes.contains_key(&id)
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
        let mut room = MOST_NODES + MOST_PER_ELEMENT * self.codes.len();
        while let Some(entry) = waiting.pop() {
            let mut tree = self.tree(entry, &mut room);
            segments.push(tree.segment());
            waiting.extend(tree.cut_off.into_iter().filter(|&id| begun.insert(id)));
        }
        segments
    }

    /// The tree that begins at an element; if it would be too large, without copies. What is tried takes of the room, too, so
    /// that planning takes no longer than its result is large.
    fn tree(&self, entry: ElementId, room: &mut usize) -> Tree<'_> {
        let may_copy = *room > 0;
        let is_alone = self.leads_to_calls[entry.0 as usize];
        let mut grow = |crosses_joins| {
            let mut tree = Tree::new(self, if is_alone { Kind::Alone } else { Kind::Push { crosses_joins } });
            tree.add(entry, &mut Vec::new());
            *room = room.saturating_sub(tree.nodes.len());
            tree
        };
        let tree = grow(may_copy);
        if tree.is_full && may_copy { grow(false) } else { tree }
    }

    fn joins(&self, to: Endpoint) -> bool {
        self.router.sources(to).len() > 1
    }

    fn pull_segments(&self) -> Vec<Segment> {
        let mut ends: Vec<ElementId> =
            self.router.ids().filter(|&id| self.pulled(id) && !self.next_is_pulled(id)).collect();
        ends.reverse();
        let mut segments = Vec::new();
        while let Some(end) = ends.pop() {
            let (chain, before) = self.chain(end);
            let mut tree = Tree::new(self, Kind::Pull);
            tree.add_chain(&chain);
            segments.push(tree.segment());
            ends.extend(before);
        }
        segments
    }

    fn next_is_pulled(&self, id: ElementId) -> bool {
        let next = self.router.targets(Endpoint { element: id, port: 0 }).first();
        next.is_some_and(|to| self.pulled(to.element))
    }

    /// The elements before `end` that it pulls through, the last one first, and the one before them if they are too many
    /// for one segment.
    fn chain(&self, end: ElementId) -> (Vec<ElementId>, Option<ElementId>) {
        let (mut chain, mut last) = (Vec::new(), Some(end));
        let mut exits = 0;
        while let Some(id) = last {
            exits += exits_of(self.router.info(id));
            if chain.len() == MOST_DEPTH || exits > MOST_EXITS {
                break;
            }
            chain.push(id);
            let from = self.router.sources(Endpoint { element: id, port: 0 }).first();
            last = from.map(|from| from.element).filter(|id| self.pulled(*id) && !chain.contains(id));
        }
        (chain, last)
    }
}

/// A segment under construction.
struct Tree<'a> {
    planner: &'a Planner<'a>,
    nodes: Vec<Node>,
    exits: Exit,
    /// Outputs of elements on the path at work that have no exit yet.
    open: usize,
    kind: Kind,
    /// Elements where the tree did not go on.
    cut_off: Vec<ElementId>,
    /// Whether that was for their number.
    is_full: bool,
}

/// What a tree is for.
#[derive(Clone, Copy)]
enum Kind {
    Pull,
    /// One element. What follows may be changed by handlers while packets that have passed it are delivered, one output
    /// after the other: the others must not have gone further by then.
    Alone,
    Push {
        /// Whether it goes on where ways join.
        crosses_joins: bool,
    },
}

impl<'a> Tree<'a> {
    fn new(planner: &'a Planner<'a>, kind: Kind) -> Tree<'a> {
        Tree { planner, nodes: Vec::new(), exits: 0, open: 0, kind, cut_off: Vec::new(), is_full: false }
    }

    fn segment(&mut self) -> Segment {
        let is_pull = matches!(self.kind, Kind::Pull);
        Segment { nodes: std::mem::take(&mut self.nodes), is_pull, code: Code::Elements }
    }

    fn next_exit(&mut self) -> Exit {
        self.exits += 1;
        self.exits - 1
    }

    /// Adds an element, whose number this returns; `way_on` says where each output leads.
    fn node(&mut self, element: ElementId, mut way_on: impl FnMut(&mut Self, u16) -> Option<usize>) -> usize {
        let (number, first) = (self.nodes.len(), self.next_exit());
        let code = Arc::clone(&self.planner.codes[&element]);
        self.nodes.push(Node { element, code, exits: first..first, ways: Vec::new() });
        let outputs = self.planner.router.info(element).outputs.len() as u16;
        self.open += usize::from(outputs);
        for output in 0..outputs {
            self.open -= 1;
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
        if path.contains(&next) || path.len() == MOST_DEPTH || !self.may_grow(to) {
            self.cut_off.push(next);
            return None;
        }
        Some(self.add(next, path))
    }

    /// Whether there may be one element more.
    fn may_grow(&mut self, to: Endpoint) -> bool {
        let Kind::Push { crosses_joins } = self.kind else { return false };
        if !crosses_joins && self.planner.joins(to) {
            return false;
        }
        let exits = usize::from(self.exits) + self.open + exits_of(self.planner.router.info(to.element));
        let has_room = self.nodes.len() < MOST_NODES && exits <= MOST_EXITS;
        self.is_full |= !has_room;
        has_room
    }

    /// Adds a chain, its last element first in the list.
    fn add_chain(&mut self, chain: &[ElementId]) -> Option<usize> {
        let (&element, rest) = chain.split_last()?;
        Some(self.node(element, |tree, output| if output == 0 { tree.add_chain(rest) } else { None }))
    }
}
