//! Flow-based router context (SOSP '99 §3.3): what lies upstream or downstream of a port, following the paths that
//! packets can take.
//!
//! A walk visits each port once, so cycles end it. Whether a packet can cross an element from one port to another is
//! said by the class's flow code.

use crate::facts::{Processing, flows};
use crate::notify::{NotifierId, NotifierKind, Search, Signal};
use crate::router::{ElementId, Endpoint, Router};
use std::collections::{HashSet, VecDeque};

/// A port that a walk has reached.
pub struct Visit {
    /// The port: an input when walking downstream, an output when walking upstream.
    pub at: Endpoint,
    /// Connections crossed so far, from 1.
    pub distance: usize,
}

/// Walks downstream (`down`) from the element's outputs or upstream from its inputs, from port `port` or all of them,
/// breadth first. `visit` says whether to go on through the element it was shown.
pub fn walk(
    router: &Router,
    start: ElementId,
    down: bool,
    port: Option<usize>,
    visit: &mut dyn FnMut(&Visit) -> bool,
) {
    let mut seen = HashSet::new();
    let mut queue: VecDeque<(Endpoint, usize)> = VecDeque::new();
    let first: Vec<usize> = match port {
        Some(p) => vec![p],
        None => (0..port_count(router, start, down)).collect(),
    };
    queue.extend(first.into_iter().map(|p| (Endpoint { element: start, port: p as u16 }, 0)));
    while let Some((from, distance)) = queue.pop_front() {
        let far = if down { router.targets(from) } else { router.sources(from) };
        for &at in far {
            if seen.insert(at) && visit(&Visit { at, distance: distance + 1 }) {
                queue.extend(exits(router, at, down).map(|e| (e, distance + 1)));
            }
        }
    }
}

fn port_count(router: &Router, id: ElementId, outputs: bool) -> usize {
    let base = if outputs { &router.output_base } else { &router.input_base };
    (base[id.index() + 1] - base[id.index()]) as usize
}

/// The ports by which packets can leave an element they entered at `at` (walking downstream), or can have entered one
/// that they leave at `at` (walking upstream).
fn exits(router: &Router, at: Endpoint, down: bool) -> impl Iterator<Item = Endpoint> + use<> {
    let code = router.info(at.element).class.flow;
    let crosses = move |other: usize| {
        let (input, output) = if down { (at.port as usize, other) } else { (other, at.port as usize) };
        flows(code, input, output)
    };
    let others = 0..port_count(router, at.element, down);
    others.filter(move |&p| crosses(p)).map(move |p| Endpoint { element: at.element, port: p as u16 })
}

/// What a search for notifiers found.
pub(crate) struct Found {
    /// Active if there may be something to do.
    pub signal: Signal,
    /// Whoever waits for the signal looks again when one of these becomes active.
    pub wakers: Vec<NotifierId>,
}

/// Looks for the notifiers of a kind. The signal is derived from the nearest on each path, since one that says "continue
/// and wake" speaks for those behind it; they only wake. Where a path reaches something that may move packets without
/// telling, the signal is always active.
pub(crate) fn notifiers(
    router: &Router,
    start: ElementId,
    down: bool,
    port: usize,
    kind: NotifierKind,
) -> Found {
    let search = |behind| search(router, start, down, port, kind, behind);
    let signal = search(false);
    let wakers = if signal.is_always_active() { Vec::new() } else { search(true).notifiers().to_vec() };
    Found { signal, wakers }
}

/// The notifiers of readers that can be reached downstream, along all ways.
pub(crate) fn readers(router: &Router, start: ElementId, port: usize) -> Signal {
    let mut readers = Signal::idle();
    for &n in search(router, start, true, port, NotifierKind::Reader, true).notifiers() {
        readers.add(n);
    }
    readers
}

/// The signal of the notifiers that a walk meets, with or without those behind one that says "continue and wake".
fn search(
    router: &Router,
    start: ElementId,
    down: bool,
    port: usize,
    kind: NotifierKind,
    behind: bool,
) -> Signal {
    let mut signal = Signal::idle();
    walk(router, start, down, Some(port), &mut |v| {
        let notifiers = &router.exports[v.at.element.index()].notifiers;
        let exported = notifiers.iter().find(|n| n.kind == kind && n.port.is_none_or(|p| p == v.at.port));
        if let Some(n) = exported {
            signal.add(n.id);
            return n.search == Search::Continue || (behind && n.search == Search::ContinueWake);
        }
        if is_active_port(router, v.at, !down) || makes_packets(router, v.at, down) {
            signal.join(&Signal::busy());
            return false;
        }
        true
    });
    signal
}

/// Whether the element at this port acts of its own accord there: it pushes out of the output, or pulls at the input.
fn is_active_port(router: &Router, at: Endpoint, is_output: bool) -> bool {
    let info = router.info(at.element);
    let (ports, active) =
        if is_output { (&info.outputs, Processing::Push) } else { (&info.inputs, Processing::Pull) };
    ports.get(at.port as usize) == Some(&active)
}

/// Whether the path ends at an element that may make (or take) packets itself. Flag `S0` says it does not.
fn makes_packets(router: &Router, at: Endpoint, down: bool) -> bool {
    exits(router, at, down).next().is_none() && router.info(at.element).class.flag('S') != Some(0)
}
