//! Cost of forwarding, in nanoseconds per packet: small chains of elements, one thread, batched.
//!
//! Each figure is the difference of a long and a short run, divided by the packets between them, and the median of
//! several such. `cargo bench -p clickwork-elements --bench forwarding [FILTER]`

use clickwork_lang::{Options as LangOptions, elaborate};
use clickwork_router::{Driver, Options, build};
use clickwork_source::Sources;
use std::sync::Arc;
use std::time::{Duration, Instant};

const ROUNDS: usize = 7;
const SHORT: u64 = 200_000;
const LONG: u64 = 1_800_000;

fn run(config: &str, packets: u64) -> Duration {
    let registry = Arc::new(clickwork_elements::registry());
    let mut sources = Sources::default();
    let text = config.replace("$N", &packets.to_string());
    let file = sources.add("bench", text);
    let (graph, diagnostics) = elaborate(&mut sources, file, &LangOptions::new(&*registry));
    assert!(!diagnostics.has_errors(), "{config} is wrong");
    let (mut router, _) =
        build(&graph, &sources, &registry, Options::default()).expect("the configuration is right");
    for (handler, value) in [("arpq1.insert", "10.1.0.2 00:00:0c:00:00:03"), ("arpq0.insert", "10.0.0.2 00:00:0c:00:00:04")] {
        // Configurations without ARP have no such handlers.
        let _ = router.write(handler, value);
    }
    let start = Instant::now();
    Driver::default().run(&mut router);
    start.elapsed()
}

fn ns_per_packet(config: &str) -> f64 {
    let sample =
        || (run(config, LONG).as_secs_f64() - run(config, SHORT).as_secs_f64()) * 1e9 / (LONG - SHORT) as f64;
    let mut samples: Vec<f64> = (0..ROUNDS).map(|_| sample()).collect();
    samples.sort_by(f64::total_cmp);
    samples[ROUNDS / 2]
}

fn chain(middle: &str) -> String {
    format!("InfiniteSource(LENGTH 64, LIMIT $N, BURST 64, STOP true) -> {middle} Queue -> Discard(BURST 64)")
}

/// The two-interface IP router of TOCS 2000 Figure 8, fed from memory with 64-byte UDP packets from one to the other.
const IP_ROUTER: &str = include_str!("ip-router.click");

fn main() {
    let filter = std::env::args().skip(1).find(|a| !a.starts_with("--")).unwrap_or_default();
    let nulls = |n: usize| chain(&"Null -> ".repeat(n));
    let cases = [
        ("source to sink", "InfiniteSource(LENGTH 64, LIMIT $N, BURST 64, STOP true) -> Discard".to_string()),
        ("source, queue, sink", chain("")),
        ("with 1 Null", nulls(1)),
        ("with 16 Nulls", nulls(16)),
        ("IP router", IP_ROUTER.to_string()),
        ("with 16 Counters", chain(&"Counter -> ".repeat(16))),
    ];
    for (name, config) in cases.iter().filter(|(name, _)| name.contains(&filter)) {
        println!("{name:<24} {:6.2} ns/packet", ns_per_packet(config));
    }
}
