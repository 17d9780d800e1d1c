//! Dead code of a configuration: what no packet reaches, what leads no packet anywhere, and what does nothing.
//!
//! In this order, until nothing changes: static switches and nulls are bypassed ([`bypass`]), elements that lie on no way
//! from a source to a sink are removed ([`live`]), and schedulers and tees lose the ports that this left free
//! ([`ports`]). What must keep a port that leads nowhere then gets an Idle. Elements that others call by name stay.
//!
//! The packets that come out are the same, in the same order. What is gone is seen from outside in four ways: removed
//! elements have no handlers, a removed sink writes no file, a source that sends while there is room no longer looks
//! for it behind outputs that a static switch never takes, and what pulls by the clock (TimedUnqueue) may do so at other
//! moments, since it sleeps while there can be nothing upstream, which is known better without dead queues and schedulers.
//!
//! Otherwise than Click's tool: elements that others call by name stay, as do those that print, capture or stand for a
//! device; a queue keeps who empties it and a DRRSched its inputs, as something would change without; and what is removed
//! is told, with the reason.

mod bypass;
mod live;
mod ports;
mod room;

use std::collections::BTreeMap;

use clickwork_lang::Port;
use clickwork_source::{Diagnostic, Diagnostics, Span};

use crate::facts::Facts;
use crate::kinds::Kinds;
use crate::mentions::mentions;
use crate::{ElementId, Network};

/// Removes dead code. The messages are notes about what was removed and why, and warnings about what could not be judged.
/// What is added has `place`.
pub fn undead(network: &mut Network, facts: &Facts<'_>, place: Span) -> Diagnostics {
    let mentioned = mentions(network, facts);
    let ports =
        network.elements().map(|(id, _)| (id, (network.input_count(id), network.output_count(id)))).collect();
    let mut pass = Undead { network, facts, mentioned, ports, weak: None, messages: Diagnostics::new() };
    pass.explain_mentioned();
    pass.remove_idles();
    while pass.bypass_static() | pass.remove_dead() | pass.free_ports() {}
    pass.fill_blanks(place);
    pass.messages
}

struct Undead<'a> {
    network: &'a mut Network,
    facts: &'a Facts<'a>,
    /// Elements that must stay because another one, given here, calls them by name.
    mentioned: BTreeMap<ElementId, ElementId>,
    /// How many inputs and outputs each element must have in the end.
    ports: BTreeMap<ElementId, (usize, usize)>,
    /// The kinds of the ports if nothing made its neighbours pull that may be bypassed. They stay while connections go past
    /// elements, but not when elements are removed with their connections.
    weak: Option<Kinds>,
    messages: Diagnostics,
}

fn port(element: ElementId, port: usize) -> Port {
    Port { element, port }
}

impl Undead<'_> {
    /// `'name :: Class'`, with the configuration if it is short.
    fn declaration(&self, id: ElementId) -> String {
        let Some(e) = self.network.element(id) else { return String::new() };
        let config = if e.config.is_empty() || e.config.len() > 40 {
            String::new()
        } else {
            format!("({})", e.config)
        };
        format!("'{} :: {}{config}'", e.name, e.class)
    }

    fn span(&self, id: ElementId) -> Span {
        self.network.element(id).map_or(Span::NONE, |e| e.span)
    }

    fn note(&mut self, id: ElementId, what: &str, why: &str) {
        let message = format!("{what} {}: {why}", self.declaration(id));
        self.messages.push(Diagnostic::note(self.span(id), message));
    }

    /// Removes an element and says why.
    fn remove(&mut self, id: ElementId, why: &str) {
        self.note(id, "removed", why);
        self.network.remove(id);
    }

    /// The elements of a class that may be removed.
    fn removable(&self, class: &str) -> Vec<ElementId> {
        let mut ids = self.network.of_class(class);
        ids.retain(|id| !self.mentioned.contains_key(id));
        ids
    }

    /// Says something, unless it was said.
    fn push_once(&mut self, message: Diagnostic) {
        if !self.messages.iter().any(|m| *m == message) {
            self.messages.push(message);
        }
    }

    fn explain_mentioned(&mut self) {
        for (id, by) in self.mentioned.clone() {
            let by = self.declaration(by);
            self.note(id, "left alone", &format!("{by} may call it by name"));
        }
    }

    fn remove_idles(&mut self) {
        for class in ["Idle", "SimpleIdle"] {
            self.removable(class).into_iter().for_each(|id| self.remove(id, "no packets come from it"));
        }
    }

    /// Connects ports that must be there but lead nowhere to one new Idle.
    fn fill_blanks(&mut self, place: Span) {
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for (id, _) in self.network.elements() {
            let (ins, outs) = self.ports.get(&id).copied().unwrap_or_default();
            inputs
                .extend((0..ins).map(|p| port(id, p)).filter(|&p| self.network.entering(p).next().is_none()));
            outputs
                .extend((0..outs).map(|p| port(id, p)).filter(|&p| self.network.leaving(p).next().is_none()));
        }
        if inputs.is_empty() && outputs.is_empty() {
            return;
        }
        let idle = self.network.add_new("Idle@undead", "Idle", "", place);
        inputs.into_iter().enumerate().for_each(|(n, to)| self.network.connect(port(idle, n), to, place));
        outputs
            .into_iter()
            .enumerate()
            .for_each(|(n, from)| self.network.connect(from, port(idle, n), place));
        self.note(idle, "added", "it stands where ports must be connected but lead nowhere");
    }
}
