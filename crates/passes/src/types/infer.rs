//! The inference: which states of packets reach each port, to a fixed point, and by which way they came.
//!
//! A port has a set of states, because packets that differ may share a path (a Queue before a device). An element that
//! sorts packets by what the check does not follow (CheckLength, a route lookup) has for its outputs the join of what
//! enters it: otherwise packets would be reported on outputs that they never take. Afterwards a search from the
//! sources finds the shortest way of every state; what no way leads to is not reported.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use clickwork_lang::{Connection, ElementDecl, Port};
use clickwork_router::facts::{flows, port_range};
use clickwork_router::packet_types::Change;

use super::site::{Fault, Site};
use super::state::State;
use crate::{ElementId, Facts, Network};

/// So many different states leave a port; more are joined.
const STATES: usize = 16;
/// So often is an element looked at, on average, before the check gives up and accepts everything.
const PATIENCE: usize = 200;

/// A packet in a state at a port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct At {
    pub port: Port,
    /// Whether it leaves by the port of that number, rather than entering.
    pub leaves: bool,
    pub state: State,
}

/// What an element does with the packets that reach it.
#[derive(Clone, Default)]
struct Effect {
    /// What leaves, and what it was when it entered; `None` if the element made it.
    leaving: BTreeSet<(At, Option<At>)>,
    faults: Vec<Mistake>,
}

/// A packet that an element does not expect.
#[derive(Clone, Debug)]
pub(super) struct Mistake {
    pub at: At,
    pub fault: Fault,
    /// Whether the element lets it pass without harm.
    pub lenient: bool,
}

/// All that is known after the inference.
pub(super) struct Inference<'a> {
    network: &'a Network,
    sites: BTreeMap<ElementId, Site<'a>>,
    effects: BTreeMap<ElementId, Effect>,
    /// The states that reach an output or input port, with the output they came from.
    ways: BTreeMap<At, Option<At>>,
}

impl<'a> Inference<'a> {
    /// Runs the inference; `None` if it takes too long.
    pub fn new(network: &'a Network, facts: &Facts<'_>) -> Option<Self> {
        let site = |(id, e): (ElementId, &'a ElementDecl)| {
            Some((id, Site::new(e, facts.of(&e.class).class?, network.output_count(id))?))
        };
        let sites = network.elements().filter_map(site).collect();
        let mut inference = Inference { network, sites, effects: BTreeMap::new(), ways: BTreeMap::new() };
        inference.settle()?;
        inference.search();
        Some(inference)
    }

    /// The element's facts, unless nothing is known of its class.
    pub fn site(&self, id: ElementId) -> Option<&Site<'a>> {
        self.sites.get(&id)
    }

    /// The mistakes that packets can really make, those with the shortest ways first.
    pub fn mistakes(&self) -> impl Iterator<Item = &Mistake> {
        let all = self.effects.values().flat_map(|e| &e.faults);
        all.filter(|mistake| self.ways.contains_key(&mistake.at))
    }

    /// The ports that a packet passed before it came here, from its source on; the last is that of `at` itself.
    pub fn way(&self, at: &At) -> Vec<At> {
        let mut way = vec![at.clone()];
        while let Some(Some(before)) = way.last().and_then(|last| self.ways.get(last)) {
            way.push(before.clone());
        }
        way.reverse();
        way
    }

    /// The states of the packets on a connection.
    pub fn on(&self, connection: &Connection) -> Vec<State> {
        let states = self.entering(connection.to).into_iter();
        let here = |state: &State| At { port: connection.to, leaves: false, state: state.clone() };
        states.filter(|s| self.ways.contains_key(&here(s))).collect()
    }

    /// Looks at elements until nothing changes.
    fn settle(&mut self) -> Option<()> {
        let mut waiting: VecDeque<ElementId> = self.network.elements().map(|(id, _)| id).collect();
        let mut queued: BTreeSet<ElementId> = waiting.iter().copied().collect();
        let mut patience = waiting.len() * PATIENCE;
        while let Some(id) = waiting.pop_front() {
            queued.remove(&id);
            patience = patience.checked_sub(1)?;
            let effect = self.effect(id);
            let left = |e: &Effect| e.leaving.iter().map(|(at, _)| at.clone()).collect::<BTreeSet<At>>();
            let before = self.effects.insert(id, effect);
            if before.as_ref().map(left) == self.effects.get(&id).map(left) {
                continue;
            }
            let next = self.network.outputs(id).into_iter().map(|c| c.to.element);
            waiting.extend(next.filter(|&n| queued.insert(n)));
        }
        Some(())
    }

    /// The states that enter an input.
    fn entering(&self, port: Port) -> BTreeSet<State> {
        let mut states = BTreeSet::new();
        for c in self.network.entering(port) {
            let leaving = self.effects.get(&c.from.element).map(|e| &e.leaving);
            let here = leaving.into_iter().flatten().filter(|(at, _)| at.port == c.from);
            states.extend(here.map(|(at, _)| at.state.clone()));
        }
        states
    }

    fn effect(&self, id: ElementId) -> Effect {
        let inputs = 0..self.network.input_count(id);
        let at_port =
            |port: Port| self.entering(port).into_iter().map(move |state| At { port, leaves: false, state });
        let entered = inputs.flat_map(|port| at_port(Port { element: id, port })).collect();
        match self.sites.get(&id) {
            Some(site) => self.effect_of(id, site, entered),
            None => self.unknown(id, entered),
        }
    }

    /// An element of which nothing is known may send anything anywhere.
    fn unknown(&self, id: ElementId, entered: Vec<At>) -> Effect {
        let mut effect = Effect::default();
        for port in (0..self.network.output_count(id)).map(|port| Port { element: id, port }) {
            let before = entered.iter().cloned().map(Some).chain([None]);
            let anything = At { port, leaves: true, state: State::default() };
            effect.leaving.extend(before.map(|b| (anything.clone(), b)));
        }
        effect
    }

    fn effect_of(&self, id: ElementId, site: &Site<'_>, entered: Vec<At>) -> Effect {
        let (mut good, mut refused, mut faults) = (Vec::new(), Vec::new(), Vec::new());
        let mut filters = false;
        for at in entered {
            let Some(expected) = site.types.input(at.port.port) else {
                good.push(at);
                continue;
            };
            match site.expect(&expected.packet_type, &at.state) {
                Ok(()) => good.push(at),
                Err(fault) => {
                    let lenient = expected.lenient;
                    faults.push(Mistake { at: at.clone(), fault, lenient });
                    filters |= expected.filters;
                    if lenient { good.push(at) } else { refused.push(at) }
                }
            }
        }
        let outputs = self.network.output_count(id);
        let sorts = port_range(site.class.ports.split('/').nth(1).unwrap_or_default()).1 > 1;
        // Then it tells good packets from others, which may be what it is there for.
        if sorts && outputs > 1 && !good.is_empty() {
            faults.retain(|f| f.lenient);
        } else {
            refused.clear();
            faults.iter_mut().for_each(|f| f.lenient |= filters && !good.is_empty());
        }
        let mut effect = Effect { leaving: BTreeSet::new(), faults };
        for port in (0..outputs).map(|port| Port { element: id, port }) {
            let leaving = leaving(site, port, self.network.input_count(id), &good, &refused, sorts);
            effect.leaving.extend(limited(leaving));
        }
        effect
    }

    /// Finds the shortest way of every state from where it is made.
    fn search(&mut self) {
        let made = self.effects.values().flat_map(|e| &e.leaving).filter(|(_, before)| before.is_none());
        let mut waiting: VecDeque<(At, Option<At>)> = made.map(|(at, _)| (at.clone(), None)).collect();
        while let Some((at, before)) = waiting.pop_front() {
            if self.ways.contains_key(&at) {
                continue;
            }
            self.ways.insert(at.clone(), before);
            for c in self.network.leaving(at.port) {
                let entered = At { port: c.to, leaves: false, state: at.state.clone() };
                if self.ways.contains_key(&entered) {
                    continue;
                }
                self.ways.insert(entered.clone(), Some(at.clone()));
                let leaving = self.effects.get(&c.to.element).map(|e| &e.leaving);
                let from_here =
                    leaving.into_iter().flatten().filter(|(_, before)| before.as_ref() == Some(&entered));
                waiting.extend(from_here.cloned());
            }
        }
    }
}

/// What leaves by one output.
fn leaving(
    site: &Site<'_>,
    port: Port,
    inputs: usize,
    good: &[At],
    refused: &[At],
    sorts: bool,
) -> Vec<(At, Option<At>)> {
    let feeds = |input: usize| flows(site.class.flow, input, port.port);
    let alternatives = site.types.output(port.port);
    let same = [vec![Change::Same]];
    let alternatives = if alternatives.is_empty() { &same[..] } else { alternatives };
    if !(0..inputs).any(feeds) {
        let made = alternatives.iter().filter_map(|a| site.apply(a, &State::default(), port.port));
        return made.map(|state| (At { port, leaves: true, state }, None)).collect();
    }
    let mut left = Vec::new();
    for changes in alternatives {
        let takes_refused =
            changes.iter().all(|c| matches!(c, Change::Same | Change::Filtered | Change::Classified));
        let more = if takes_refused { refused } else { &[] };
        let feeds = |at: &&At| feeds(at.port.port) && comes_in(site, changes, at.port.port);
        let from: Vec<&At> = good.iter().chain(more).filter(feeds).collect();
        let joined = State::join_all(from.iter().map(|at| &at.state));
        let joins = sorts && !changes.iter().any(is_followed);
        for at in from {
            let state = if joins { joined.as_ref().unwrap_or(&at.state) } else { &at.state };
            let Some(state) = site.apply(changes, state, port.port) else { continue };
            let made = matches!(changes.first(), Some(Change::New(_)));
            left.push((At { port, leaves: true, state }, (!made).then(|| at.clone())));
        }
    }
    left
}

/// Whether packets of an input are among those that the changes are made to.
fn comes_in(site: &Site<'_>, changes: &[Change<'_>], input: usize) -> bool {
    changes.iter().all(|c| match c {
        Change::From(n) => site.number(*n).is_none_or(|n| usize::try_from(n) == Ok(input)),
        _ => true,
    })
}

/// Whether the check knows by which output packets leave.
fn is_followed(change: &Change<'_>) -> bool {
    matches!(
        change,
        Change::Each
            | Change::Classified
            | Change::Only(_)
            | Change::PaintedAsOutput(_)
            | Change::PaintedAs(..)
            | Change::PaintedNot(..)
    )
}

/// Joins the states of a port if there are too many.
fn limited(mut leaving: Vec<(At, Option<At>)>) -> Vec<(At, Option<At>)> {
    let states: BTreeSet<&State> = leaving.iter().map(|(at, _)| &at.state).collect();
    if states.len() > STATES
        && let Some(joined) = State::join_all(states.into_iter())
    {
        leaving.iter_mut().for_each(|(at, _)| at.state.clone_from(&joined));
    }
    leaving
}
