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

use clickwork_router::Registry;
use clickwork_source::Diagnostics;

use crate::Network;
use infer::Inference;

/// Checks the packets on every connection. The configuration must be correct otherwise.
pub fn check(network: &Network, registry: &Registry) -> Diagnostics {
    let Some(inference) = Inference::new(network, registry) else { return Diagnostics::new() };
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

/// What is known of the packets on each connection that packets can take, in words.
pub fn describe(network: &Network, registry: &Registry) -> Vec<(clickwork_lang::Connection, Vec<String>)> {
    let inference = Inference::new(network, registry);
    let known = |c: &clickwork_lang::Connection| inference.as_ref().map_or(Vec::new(), |i| i.on(c));
    network.connections().map(|c| (*c, known(c).iter().map(explain::state).collect())).collect()
}
