//! Push and pull: which kind each port of a network is.
//!
//! As in the router, push and pull ports fix the kind of what is connected to them, also through agnostic elements.
//! Here nothing is reported; where push meets pull, either may come out.

use std::collections::BTreeMap;

use clickwork_lang::Port;
use clickwork_router::Processing;

use crate::facts::{ClassFacts, Facts};
use crate::{ElementId, Network};

/// The kinds of the connected ports.
#[derive(Debug, Default)]
pub struct Kinds {
    known: BTreeMap<(Port, bool), Processing>,
}

impl Kinds {
    /// Finds out the kinds of all ports. Classes may be given another processing code than their own.
    pub fn new(network: &Network, facts: &Facts<'_>, code: impl Fn(&str) -> Option<&'static str>) -> Kinds {
        let facts_of = |id: ElementId| {
            let class = network.element(id).map_or("", |e| e.class.as_str());
            let known = facts.of(class);
            ClassFacts { processing: code(facts.base(class)).unwrap_or(known.processing), ..known }
        };
        let mut kinds = Kinds::default();
        let mut queue = Vec::new();
        for c in network.connections() {
            for (port, is_output) in [(c.from, true), (c.to, false)] {
                let kind = facts_of(port.element).processing(is_output, port.port);
                kinds.learn(port, is_output, kind, &mut queue);
            }
        }
        while let Some((port, is_output, kind)) = queue.pop() {
            for c in if is_output {
                network.leaving(port).collect::<Vec<_>>()
            } else {
                network.entering(port).collect()
            } {
                let (other, other_is_output) = if is_output { (c.to, false) } else { (c.from, true) };
                kinds.learn(other, other_is_output, kind, &mut queue);
            }
            kinds.cross(network, &facts_of(port.element), (port, is_output, kind), &mut queue);
        }
        kinds
    }

    fn learn(
        &mut self,
        port: Port,
        is_output: bool,
        kind: Processing,
        queue: &mut Vec<(Port, bool, Processing)>,
    ) {
        if kind != Processing::Agnostic && !self.known.contains_key(&(port, is_output)) {
            self.known.insert((port, is_output), kind);
            queue.push((port, is_output, kind));
        }
    }

    /// What an agnostic port tells the agnostic ports on the other side of its element.
    fn cross(
        &mut self,
        network: &Network,
        facts: &ClassFacts<'_>,
        (port, is_output, kind): (Port, bool, Processing),
        queue: &mut Vec<(Port, bool, Processing)>,
    ) {
        let agnostic = |is_output, port| facts.processing(is_output, port) == Processing::Agnostic;
        if !agnostic(is_output, port.port) {
            return;
        }
        let id = port.element;
        let count = if is_output { network.input_count(id) } else { network.output_count(id) };
        for other in (0..count).filter(|&other| agnostic(!is_output, other)) {
            let (input, output) = if is_output { (other, port.port) } else { (port.port, other) };
            if facts.flows(input, output) {
                self.learn(Port { element: id, port: other }, !is_output, kind, queue);
            }
        }
    }

    /// The kind of an input (or output), if something fixes it.
    pub fn decided(&self, port: Port, is_output: bool) -> Option<Processing> {
        self.known.get(&(port, is_output)).copied()
    }

    /// The kind of an input (or output), connected or not: as its connections have it, or else its class. What nothing
    /// fixes pushes.
    pub fn resolved(&self, network: &Network, facts: &Facts<'_>, port: Port, is_output: bool) -> Processing {
        let class = || network.element(port.element).map(|e| facts.of(&e.class));
        let kind = self
            .decided(port, is_output)
            .or_else(|| class().map(|facts| facts.processing(is_output, port.port)));
        kind.filter(|&kind| kind != Processing::Agnostic).unwrap_or(Processing::Push)
    }

    /// The kind of an input; push if nothing fixes it.
    pub fn input(&self, port: Port) -> Processing {
        self.known.get(&(port, false)).copied().unwrap_or(Processing::Push)
    }

    /// The kind of an output; push if nothing fixes it.
    pub fn output(&self, port: Port) -> Processing {
        self.known.get(&(port, true)).copied().unwrap_or(Processing::Push)
    }
}
