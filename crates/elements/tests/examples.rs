//! The examples of the manuals show what they are about: packets reach the element, and it does not merely drop them.
#![allow(missing_docs)]

use clickwork_elements::registry;
use clickwork_lang::{Options as LangOptions, elaborate};
use clickwork_packet::Timestamp;
use clickwork_router::{Class, Clock, Driver, Endpoint, Log, Options, Router, build};
use clickwork_source::Sources;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

fn router(config: &str, ordered: bool) -> Router {
    let registry = Arc::new(registry());
    let mut sources = Sources::default();
    let file = sources.add("config", config);
    let (graph, _) = elaborate(&mut sources, file, &LangOptions::new(&*registry));
    let clock = Clock::simulated(Timestamp::new(1_000_000_000, 0));
    let options = Options { ordered, clock, log: Log::buffer(), seed: Some(1), ..Options::default() };
    let built = build(&graph, &sources, &registry, options);
    built.unwrap_or_else(|_| panic!("it is correct:\n{config}")).0
}

/// What elements of a class did in its example: packets that came in or, of elements that make some, went out, and those that they
/// dropped.
fn seen(class: &Class, ordered: bool) -> (u64, u64) {
    let mut r = router(class.example, ordered);
    Driver::default().run_for(&mut r, Duration::from_secs(3));
    let mut seen = (0, 0);
    for id in r.ids().filter(|&id| r.info(id).class.manual == class.manual) {
        let info = r.info(id);
        let outputs = (0..info.outputs.len() as u16).map(|port| Endpoint { element: id, port });
        let behind = outputs.flat_map(|from| r.targets(from).iter().map(|to| r.info(to.element).packets));
        seen.0 += if info.packets > 0 { info.packets } else { behind.sum() };
        seen.1 += info.drops.iter().map(|(_, n)| n).sum::<u64>();
    }
    r.cleanup();
    seen
}

#[test]
fn the_elements_of_examples_see_and_treat_packets() {
    let registry = registry();
    let mut wrong = String::new();
    let mut without: BTreeMap<&str, &str> = WITHOUT.iter().copied().collect();
    let (mut count, mut excused) = (0, 0);
    for (name, class) in
        registry.iter().filter(|(name, class)| *name == class.name && !class.example.is_empty())
    {
        if class.ports == "0/0" {
            continue; // it is no way for packets
        }
        let excuse = without.remove(name);
        for ordered in [true, false] {
            let (packets, dropped) = seen(class, ordered);
            let shows = packets > 0 && packets > dropped;
            count += usize::from(shows);
            excused += usize::from(!shows);
            if shows == excuse.is_some() {
                let _ = writeln!(wrong, "{name}, ordered {ordered}: {packets} packets, {dropped} dropped");
            }
        }
    }
    assert!(wrong.is_empty() && without.is_empty(), "{wrong}not needed: {without:?}");
    assert!(count > 8 * excused, "{count} show, {excused} are excused");
}

/// Classes whose examples cannot show packets at work here, with the reason.
const WITHOUT: &[(&str, &str)] = &[
    ("DriverManager", "no packets pass"),
    ("FromSocket", "nobody sends to the socket"),
    ("Idle", "it makes no packets and takes none"),
    ("Script", "no packets pass"),
    ("SimpleIdle", "it makes no packets and takes none"),
    ("TCPAck", "it is a part of a TCP, and there is no other"),
    ("TCPDemux", "it is a part of a TCP, and there is no other"),
    ("TCPReflector", "it answers a TCP, and there is none"),
];
