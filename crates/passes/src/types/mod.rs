//! The static type check of packets: what reaches each element of a configuration, and whether it expects that.
//!
//! What is not known is accepted. A mistake is a definite contradiction on a way that packets can take: Ethernet frames where
//! an IP header should be, a header that was never marked. Read first: `clickwork_router::packet_types` for what classes
//! say about packets, then `state` (what is known of a packet), `site` (what an element does to it), `infer` (the fixed
//! point), `explain` (the messages).

mod explain;
mod infer;
mod pattern;
mod site;
mod state;

use std::collections::BTreeSet;

use clickwork_lang::{Connection, Port};
use clickwork_source::Diagnostics;

use crate::{Facts, Network};
use infer::Inference;

/// Checks the packets on every connection. The configuration must be correct otherwise.
pub fn check(network: &Network, facts: &Facts<'_>) -> Diagnostics {
    let Some(inference) = Inference::new(network, facts) else { return Diagnostics::new() };
    let mut mistakes: Vec<_> = inference.mistakes().map(|m| (inference.way(&m.at), m)).collect();
    mistakes.sort_by_key(|(way, m)| (m.at.port, way.len()));
    // One way is enough, of one instance of a compound.
    let mut told = BTreeSet::new();
    mistakes.retain(|(_, m)| {
        let span = network.element(m.at.port.element).map(|e| e.span);
        let place = span
            .filter(|s| !s.is_none())
            .map_or((usize::MAX, m.at.port.element), |s| (s.start as usize, s.end as usize));
        told.insert((place, m.at.port.port, m.fault.clone()))
    });
    mistakes.iter().map(|(way, m)| explain::message(network, &inference, way, m)).collect()
}

/// What is known of the packets on each connection, a line for each.
pub fn describe(network: &Network, facts: &Facts<'_>) -> Vec<String> {
    let Some(inference) = Inference::new(network, facts) else { return Vec::new() };
    let name = |port: Port| network.element(port.element).map_or("", |e| e.name.as_str());
    let line = |c: &Connection| {
        let mut states: Vec<_> = Vec::new();
        // States that differ in what is not shown, such as colours, read the same.
        for state in inference.on(c).iter().map(explain::state) {
            if !states.contains(&state) {
                states.push(state);
            }
        }
        let known = if states.is_empty() { "no packets".to_string() } else { states.join("; or ") };
        format!("{} [{}] -> [{}] {}: {known}", name(c.from), c.from.port, c.to.port, name(c.to))
    };
    network.connections().map(line).collect()
}
