//! The search itself: nodes are mapped one by one, in the order of the plan, and unmapped when nothing fits.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;

use clickwork_lang::{Connection, ElementDecl, Port};
use clickwork_source::Span;

use super::Index;
use super::fragment::{Fragment, Side, Step};
use crate::{ElementId, Network};

/// Says which elements may stand for which nodes, beyond class and connections.
pub trait Accept {
    /// What the pairs seen so far have in common, such as the values of wildcards.
    type Bindings: Clone + Default;

    /// Whether `element` may stand for `node` after what was `bound` before; and what is bound then.
    fn accept(&self, node: usize, element: &ElementDecl, bound: &Self::Bindings) -> Option<Self::Bindings>;
}

/// A place where a fragment occurs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match<B> {
    /// The element of each node.
    pub elements: Vec<ElementId>,
    /// The connections across the border, by side.
    pub crossings: [Vec<Crossing>; 2],
    /// What [`Accept`] gathered.
    pub bindings: B,
}

/// Connections between a port outside and what is inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// The port of `input` or `output` that they belong to.
    pub end: usize,
    /// The port outside.
    pub outside: Port,
    /// Where the first of them was written.
    pub span: Span,
}

/// Where to search, and for what.
#[derive(Debug)]
pub struct Search<'a, A> {
    /// What is sought.
    pub fragment: &'a Fragment,
    /// Where.
    pub network: &'a Network,
    /// The network's index.
    pub index: &'a Index,
    /// Which elements will do.
    pub accept: &'a A,
}

impl<A: Accept> Search<'_, A> {
    /// Hands the occurrences where node 0 is `root` to `found`, until it says that it has enough.
    /// Each pair of node and element that is looked at costs one of `effort`; the search ends when there is none left.
    pub fn at(
        &self,
        root: ElementId,
        effort: &mut usize,
        found: impl FnMut(Match<A::Bindings>) -> ControlFlow<()>,
    ) {
        if self.fragment.is_impossible() || !self.may_occur() {
            return;
        }
        let images = vec![ElementId::MAX; self.fragment.len()];
        let mut mapping = Mapping { search: self, images, nodes: HashMap::new(), effort, found };
        let _ = mapping.try_candidate(0, root, &A::Bindings::default());
    }
}

impl<A: Accept> Search<'_, A> {
    /// Whether there are elements of all classes, and each part that does not hang together with node 0 has an element to
    /// begin with: else all combinations of the parts before it would be tried in vain.
    fn may_occur(&self) -> bool {
        let loose = self.fragment.plan.iter().skip(1).filter(|step| step.anchor.is_none());
        self.fragment.nodes.iter().all(|node| self.index.has_class(&node.class))
            && loose.map(|step| step.node).all(|node| {
                let class = &self.fragment.nodes[node].class;
                self.index.of_class(class).any(|id| self.may_be(node, id))
            })
    }

    /// Whether an element may stand for a node, for all that can be seen of it alone.
    fn may_be(&self, node: usize, id: ElementId) -> bool {
        let Some(element) = self.network.element(id) else { return false };
        let accepted = || self.accept.accept(node, element, &A::Bindings::default()).is_some();
        let counts = [Side::Input, Side::Output].map(|side| connections(self.network, side, id).count());
        let least = |side| {
            let ports = self.fragment.nodes[node].ports.iter().filter(move |((s, _), _)| *s == side);
            ports.map(|(_, usage)| usage.inside + usize::from(usage.open)).sum::<usize>()
        };
        counts[0] >= least(Side::Input) && counts[1] >= least(Side::Output) && accepted()
    }
}

/// A part of a match.
struct Mapping<'a, A, F> {
    search: &'a Search<'a, A>,
    /// By node.
    images: Vec<ElementId>,
    nodes: HashMap<ElementId, usize>,
    effort: &'a mut usize,
    found: F,
}

impl<A: Accept, F: FnMut(Match<A::Bindings>) -> ControlFlow<()>> Mapping<'_, A, F> {
    /// Goes on with step `depth` of the plan.
    fn extend(&mut self, depth: usize, bound: &A::Bindings) -> ControlFlow<()> {
        let Some(step) = self.search.fragment.plan.get(depth) else { return self.complete(bound) };
        for candidate in self.candidates(step) {
            self.try_candidate(depth, candidate, bound)?;
        }
        ControlFlow::Continue(())
    }

    fn candidates(&self, step: &Step) -> Vec<ElementId> {
        let network = self.search.network;
        let class = &self.search.fragment.nodes[step.node].class;
        let Some(anchor) = step.anchor else { return self.search.index.of_class(class).collect() };
        let port = self.image(anchor.port);
        match anchor.side {
            Side::Output => {
                let fitting = network.leaving(port).filter(|c| c.to.port == anchor.own);
                fitting.map(|c| c.to.element).collect()
            }
            Side::Input => {
                let fitting = network.entering(port).filter(|c| c.from.port == anchor.own);
                fitting.map(|c| c.from.element).collect()
            }
        }
    }

    fn try_candidate(&mut self, depth: usize, candidate: ElementId, bound: &A::Bindings) -> ControlFlow<()> {
        let Some(effort) = self.effort.checked_sub(1) else { return ControlFlow::Break(()) };
        *self.effort = effort;
        let step = self.search.fragment.plan[depth];
        let Some(bound) = self.fits(&step, candidate, bound) else { return ControlFlow::Continue(()) };
        self.images[step.node] = candidate;
        self.nodes.insert(candidate, step.node);
        let result = self.extend(depth + 1, &bound);
        self.nodes.remove(&candidate);
        result
    }

    fn fits(&self, step: &Step, candidate: ElementId, bound: &A::Bindings) -> Option<A::Bindings> {
        let element = self.search.network.element(candidate)?;
        let right_class = element.class == self.search.fragment.nodes[step.node].class;
        if !right_class || self.nodes.contains_key(&candidate) {
            return None;
        }
        let bound = self.search.accept.accept(step.node, element, bound)?;
        self.is_wired(step, candidate).then_some(bound)
    }

    /// Whether a candidate has as many connections at each port as the node, and the same to elements already mapped.
    fn is_wired(&self, step: &Step, candidate: ElementId) -> bool {
        let mut counts: BTreeMap<(Side, usize), usize> = BTreeMap::new();
        let mut known = 0;
        let node_of =
            |id: ElementId| if id == candidate { Some(step.node) } else { self.nodes.get(&id).copied() };
        for side in [Side::Input, Side::Output] {
            for (own, other, _) in connections(self.search.network, side, candidate) {
                *counts.entry((side, own.port)).or_default() += 1;
                // A connection to itself is seen from both sides and counts once.
                let Some(node) =
                    node_of(other.element).filter(|_| side == Side::Output || own.element != other.element)
                else {
                    continue;
                };
                let ends = [Port { element: step.node, ..own }, Port { element: node, ..other }];
                if !self.search.fragment.wires.contains(&in_direction(side, ends)) {
                    return false;
                }
                known += 1;
            }
        }
        let ports = &self.search.fragment.nodes[step.node].ports;
        known == step.wires
            && counts.len() == ports.len()
            && ports.iter().all(|(port, usage)| match counts.get(port) {
                Some(&count) if usage.open => count > usage.inside,
                Some(&count) => count == usage.inside,
                None => false,
            })
    }

    fn complete(&mut self, bound: &A::Bindings) -> ControlFlow<()> {
        let (Some(entering), Some(leaving)) = (self.crossings(Side::Input), self.crossings(Side::Output))
        else {
            return ControlFlow::Continue(());
        };
        let (elements, crossings) = (self.images.clone(), [entering, leaving]);
        (self.found)(Match { elements, crossings, bindings: bound.clone() })
    }

    /// The connections across the border, if each belongs to a port of the border and each such port has one.
    fn crossings(&self, side: Side) -> Option<Vec<Crossing>> {
        let ends = self.search.fragment.ends(side);
        let mut crossings: BTreeMap<(usize, Port), Span> = BTreeMap::new();
        for (node, &image) in self.images.iter().enumerate() {
            for (own, outside, span) in connections(self.search.network, side, image) {
                if self.nodes.contains_key(&outside.element) {
                    continue;
                }
                let own = Port { element: node, ..own };
                let belongs =
                    |ports: &Vec<Port>| ports.contains(&own) && self.all_connected(side, ports, outside);
                let end = ends.iter().position(belongs)?;
                crossings.entry((end, outside)).or_insert(span);
            }
        }
        let used =
            |end: usize| crossings.range((end, FIRST_PORT)..).next().is_some_and(|((e, _), _)| *e == end);
        let complete = (0..ends.len()).all(used);
        let crossing = |((end, outside), span)| Crossing { end, outside, span };
        complete.then(|| crossings.into_iter().map(crossing).collect())
    }

    fn all_connected(&self, side: Side, ports: &[Port], outside: Port) -> bool {
        ports.iter().all(|&port| {
            let (from, to) = in_direction(side, [self.image(port), outside]);
            self.search.network.is_connected(from, to)
        })
    }

    fn image(&self, port: Port) -> Port {
        Port { element: self.images[port.element], ..port }
    }
}

const FIRST_PORT: Port = Port { element: 0, port: 0 };

/// The two ends of a connection, own and other, where the own is on side `side`, in the direction of packets.
fn in_direction(side: Side, [own, other]: [Port; 2]) -> (Port, Port) {
    match side {
        Side::Input => (other, own),
        Side::Output => (own, other),
    }
}

/// The connections on one side of an element: its own port, the other, and the place.
fn connections(network: &Network, side: Side, id: ElementId) -> impl Iterator<Item = (Port, Port, Span)> {
    let connections = match side {
        Side::Input => network.inputs(id),
        Side::Output => network.outputs(id),
    };
    connections.into_iter().map(move |Connection { from, to, span }| match side {
        Side::Input => (to, from, span),
        Side::Output => (from, to, span),
    })
}
