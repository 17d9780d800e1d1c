//! No element lets a packet vanish: each one that comes in goes out, is dropped with a count, or is held.
//!
//! Batches are watched by their type ([`clickwork_packet::custody`]). Single packets are not, as many have a right to end
//! where they are: this asks every class instead, one packet at a time.
#![cfg(debug_assertions)] // who holds packets is counted in such builds only
#![allow(missing_docs)]

mod odd;

use clickwork_elements::registry;
use clickwork_lang::{Graph, Options as LangOptions, elaborate};
use clickwork_packet::{Batch, Timestamp, buffers_in_use};
use clickwork_router::{Class, Clock, Driver, ElementId, Endpoint, Log, Options, Processing, Router, build};
use clickwork_source::Sources;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

/// Classes in which packets end, and where they go.
const ENDS: &[(&str, &str)] = &[
    ("Discard", "it is their end"),
    ("DiscardNoFree", "it is their end"),
    ("ICMPPingSource", "they are answers"),
    ("Reframe", "they are bytes of a stream"),
];

fn graph(text: &str) -> Option<(Graph, Sources)> {
    let (registry, mut sources) = (registry(), Sources::default());
    let file = sources.add("config", text);
    let (graph, diagnostics) = elaborate(&mut sources, file, &LangOptions::new(&registry));
    (!diagnostics.has_errors()).then_some((graph, sources))
}

fn router(text: &str, ordered: bool) -> Option<Router> {
    let (graph, sources) = graph(text)?;
    let clock = Clock::simulated(Timestamp::new(1_000_000_000, 0));
    let (log, output) = (Log::buffer(), Log::buffer());
    let options = Options { ordered, clock, log, output, seed: Some(1), ..Options::default() };
    build(&graph, &sources, &Arc::new(registry()), options).ok().map(|(router, _)| router)
}

/// The element of the class's example by itself, as `e`. Its outputs lead to `out0`, `out1` and so on; where it pulls, it pulls
/// from `in0`, `in1` and so on.
fn alone(class: &Class) -> Option<String> {
    let (graph, _) = graph(class.example)?;
    let at = graph.elements.iter().position(|e| e.class == class.name)?;
    let ports = |ports: &mut dyn Iterator<Item = usize>| ports.map(|port| port + 1).max().unwrap_or(0);
    let to_me = &mut graph.connections.iter().filter(|c| c.to.element == at).map(|c| c.to.port);
    let from_me = &mut graph.connections.iter().filter(|c| c.from.element == at).map(|c| c.from.port);
    let mut text = format!("e :: {}({});\n", class.name, graph.elements[at].config);
    let (inputs, outputs) = class.processing.split_once('/').unwrap_or((class.processing, class.processing));
    for n in 0..ports(to_me) {
        let from = if pulls(inputs, n) { format!("in{n} :: Queue(9999)") } else { "Idle".to_string() };
        let _ = writeln!(text, "{from} -> [{n}] e;");
    }
    for n in 0..ports(from_me) {
        let pull = if pulls(outputs, n) { "Unqueue -> " } else { "" };
        let _ = writeln!(text, "e [{n}] -> {pull}out{n} :: Discard;");
    }
    Some(text)
}

/// Whether a port is pull, by the processing code of its side.
fn pulls(code: &str, port: usize) -> bool {
    let kinds: Vec<char> = code.chars().collect();
    kinds.get(port).or(kinds.last()) == Some(&'l')
}

/// Where packets can be brought into the element: by its push inputs and by the queues that it pulls from.
fn entries(router: &Router) -> Vec<Endpoint> {
    let element = router.find("e").expect("it was declared");
    let inputs = (0..).zip(&router.info(element).inputs);
    let entry = |(port, kind): (u16, &Processing)| match kind {
        Processing::Push => Some(Endpoint { element, port }),
        _ => router.find(&format!("in{port}")).map(|queue| Endpoint { element: queue, port: 0 }),
    };
    inputs.filter_map(entry).collect()
}

/// Packets that a router still has, has let go and has dropped.
fn accounted(router: &Router) -> i64 {
    let is_end = |id: &ElementId| router.info(*id).name.starts_with("out");
    let out: u64 = router.ids().filter(is_end).map(|id| router.info(id).packets).sum();
    buffers_in_use() + (out + router.total_drops()) as i64
}

/// The packets that vanish in an element, if it can be asked.
fn lost(class: &Class, ordered: bool) -> Option<Vec<String>> {
    let mut router = router(&alone(class)?, ordered)?;
    let entries = entries(&router);
    let mut lost = Vec::new();
    for &to in &entries {
        for p in odd::odd_packets() {
            let before = accounted(&router);
            let text = format!("{:02x?}", &p.data()[..p.len().min(60)]);
            router.push(to, Batch::one(p));
            Driver::default().run_for(&mut router, Duration::from_millis(1));
            // It is held before it is pushed, too.
            if accounted(&router) < before {
                lost.push(text);
            }
        }
    }
    router.cleanup();
    (!entries.is_empty()).then_some(lost)
}

#[test]
fn every_packet_that_comes_in_goes_out_is_dropped_or_held() {
    let (mut asked, mut wrong) = (0, String::new());
    let all = registry();
    for (name, class) in all.iter().filter(|(name, class)| *name == class.name) {
        let is_end = ENDS.iter().any(|(end, _)| *end == name);
        for ordered in [true, false] {
            let Some(lost) = lost(class, ordered) else { continue };
            asked += 1;
            if lost.is_empty() == is_end {
                let (count, first) = (lost.len(), lost.first());
                let _ =
                    writeln!(wrong, "{name}, ordered {ordered}: {count} packets vanish, such as {first:?}");
            }
        }
    }
    assert!(wrong.is_empty(), "{asked} asked\n{wrong}");
    assert!(asked > 400, "{asked}");
}
