//! What is sought: elements, the connections between them, and those across the border. Worked out once, searched often.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use clickwork_lang::{CompoundClass, Port};

use super::Index;
use crate::{ElementId, Network};

/// The two sides of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// Where packets enter.
    Input,
    /// Where packets leave.
    Output,
}

/// Elements and connections that are sought in a network. Its elements are called nodes here, and numbered from 0; a
/// [`Port`] of a fragment names one.
#[derive(Clone, Debug)]
pub struct Fragment {
    pub(super) nodes: Vec<Node>,
    pub(super) wires: BTreeSet<(Port, Port)>,
    /// By side and port number of the border: the ports inside.
    ends: [Vec<Vec<Port>>; 2],
    /// Whether packets pass from `input` straight to `output`: then it occurs nowhere.
    straight: bool,
    pub(super) plan: Vec<Step>,
    /// How far, in connections, the other nodes are from node 0; `None` if not all hang together.
    radius: Option<usize>,
}

/// One element of a fragment.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub class: String,
    /// The ports in use.
    pub ports: BTreeMap<(Side, usize), Use>,
}

/// What a port of a fragment is connected to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Use {
    /// Connections to nodes.
    pub inside: usize,
    /// Whether there are connections across the border.
    pub open: bool,
}

/// One step of the search: the node to map next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub node: usize,
    /// A connection to a node that is mapped already, by which candidates are found.
    pub anchor: Option<Anchor>,
    /// How many connections there are to nodes already mapped, and from the node to itself.
    pub wires: usize,
}

/// Candidates for a node are behind `port`, on its side `side`, at their port `own`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Anchor {
    pub port: Port,
    pub side: Side,
    pub own: usize,
}

impl Fragment {
    /// What a compound class consists of. The nodes are its elements, in order.
    pub fn new(class: &CompoundClass) -> Fragment {
        let elements = class.graph.elements.iter().skip(2);
        let nodes = elements.map(|e| Node { class: e.class.clone(), ports: BTreeMap::new() }).collect();
        let ends = class.ports.map(|count| vec![Vec::new(); count]);
        let mut fragment =
            Fragment { nodes, wires: BTreeSet::new(), ends, straight: false, plan: Vec::new(), radius: None };
        for c in &class.graph.connections {
            fragment.add(c.from, c.to);
        }
        fragment.plan = fragment.make_plan();
        fragment.radius = fragment.measure();
        fragment
    }

    /// Takes in a connection of the class.
    fn add(&mut self, from: Port, to: Port) {
        let node = |p: Port| Port { element: p.element - 2, ..p };
        match (from.element == CompoundClass::INPUT, to.element == CompoundClass::OUTPUT) {
            (true, true) => self.straight = true,
            (true, false) => self.open(Side::Input, from.port, node(to)),
            (false, true) => self.open(Side::Output, to.port, node(from)),
            (false, false) => {
                let (from, to) = (node(from), node(to));
                self.wires.insert((from, to));
                self.usage(Side::Output, from).inside += 1;
                self.usage(Side::Input, to).inside += 1;
            }
        }
    }

    fn open(&mut self, side: Side, end: usize, port: Port) {
        self.ends[side as usize][end].push(port);
        self.usage(side, port).open = true;
    }

    fn usage(&mut self, side: Side, port: Port) -> &mut Use {
        self.nodes[port.element].ports.entry((side, port.port)).or_default()
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Whether it occurs in no network whatever: it has no elements, or a packet passes straight through.
    pub fn is_impossible(&self) -> bool {
        self.is_empty() || self.straight
    }

    /// The ports inside that a port of `input` leads to, or that lead to a port of `output`.
    pub(super) fn ends(&self, side: Side) -> &[Vec<Port>] {
        &self.ends[side as usize]
    }

    /// The class of the element that searches begin with.
    pub fn root_class(&self) -> &str {
        self.nodes.first().map_or("", |node| &node.class)
    }

    /// Node 0 first; then, always, the first node that is connected to one before it; where there is none, the first.
    fn make_plan(&self) -> Vec<Step> {
        let mut plan: Vec<Step> = Vec::new();
        let mut left: BTreeSet<usize> = (0..self.nodes.len()).collect();
        while let Some(&first) = left.first() {
            let anchored = left.iter().find_map(|&node| Some((node, Some(self.anchor(node, &left)?))));
            let (node, anchor) = anchored.unwrap_or((first, None));
            left.remove(&node);
            let known = |port: Port| !left.contains(&port.element);
            let here = |&&(from, to): &&(Port, Port)| {
                (from.element == node && known(to)) || (to.element == node && known(from))
            };
            plan.push(Step { node, anchor, wires: self.wires.iter().filter(here).count() });
        }
        plan
    }

    /// A connection between `node` and one that is not `left`.
    fn anchor(&self, node: usize, left: &BTreeSet<usize>) -> Option<Anchor> {
        self.wires.iter().find_map(|&(from, to)| {
            if to.element == node && !left.contains(&from.element) {
                Some(Anchor { port: from, side: Side::Output, own: to.port })
            } else if from.element == node && !left.contains(&to.element) {
                Some(Anchor { port: to, side: Side::Input, own: from.port })
            } else {
                None
            }
        })
    }

    fn measure(&self) -> Option<usize> {
        let mut distance = vec![None; self.nodes.len()];
        let mut waiting = VecDeque::from([(0, 0)]);
        while let Some((node, far)) = waiting.pop_front() {
            let Some(place @ None) = distance.get_mut(node) else { continue };
            *place = Some(far);
            for (from, to) in &self.wires {
                if from.element == node {
                    waiting.push_back((to.element, far + 1));
                } else if to.element == node {
                    waiting.push_back((from.element, far + 1));
                }
            }
        }
        distance.into_iter().collect::<Option<Vec<_>>>()?.into_iter().max()
    }

    /// The elements that node 0 may be mapped to in occurrences that contain one of the `changed` elements: those that
    /// are new, or whose connections are.
    pub fn roots_near(&self, network: &Network, index: &Index, changed: &[ElementId]) -> BTreeSet<ElementId> {
        let concerned = |id: ElementId| {
            network.element(id).is_some_and(|e| self.nodes.iter().any(|node| node.class == e.class))
        };
        let start: BTreeSet<ElementId> = changed.iter().copied().filter(|&id| concerned(id)).collect();
        let Some(radius) = self.radius else {
            return if start.is_empty() { start } else { index.of_class(self.root_class()).collect() };
        };
        let mut reached = start.clone();
        let mut border = start;
        for _ in 0..radius {
            let next = border.iter().flat_map(|&id| neighbours(network, id));
            border = next.filter(|&id| concerned(id) && !reached.contains(&id)).collect();
            reached.extend(&border);
        }
        reached.retain(|&id| network.element(id).is_some_and(|e| e.class == self.root_class()));
        reached
    }
}

fn neighbours(network: &Network, id: ElementId) -> impl Iterator<Item = ElementId> {
    let after = network.outputs(id).into_iter().map(|c| c.to.element);
    after.chain(network.inputs(id).into_iter().map(|c| c.from.element))
}
