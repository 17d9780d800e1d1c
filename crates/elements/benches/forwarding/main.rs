//! Cost of forwarding, in nanoseconds per packet: chains of elements and the IP router, one thread, batched.
//!
//! Each figure is the difference of a long and a short run, divided by the packets between them, and the median of
//! several such. `cargo bench -p clickwork-elements --bench forwarding [FILTER]`
#![allow(missing_docs)]

mod replay;
mod static_loop;

use clickwork_lang::{Options as LangOptions, elaborate};
use clickwork_packet::Timestamp;
use clickwork_router::{Driver, Options, Router, build};
use clickwork_source::Sources;
use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

const ROUNDS: usize = 7;
const SHORT: u64 = 200_000;
const LONG: u64 = 1_800_000;

/// The two-interface IP router of TOCS 2000 Figure 8, fed from memory with 64-byte UDP packets from one to the other.
const IP_ROUTER: &str = include_str!("../../../../bench/ip-router-mem.click");

fn router(config: &str, ordered: bool, packets: u64) -> Router {
    let mut registry = clickwork_elements::registry();
    registry.add([&replay::SOURCE, &replay::SINK]);
    let registry = Arc::new(registry);
    let mut sources = Sources::default();
    let file = sources.add("bench", config);
    let defines = vec![("N".to_string(), packets.to_string()), ("BURST".to_string(), "32".to_string())];
    let options = LangOptions { defines, ..LangOptions::new(&*registry) };
    let (graph, diagnostics) = elaborate(&mut sources, file, &options);
    assert!(!diagnostics.has_errors(), "{config} is wrong");
    let built = build(&graph, &sources, &registry, Options { ordered, ..Options::default() });
    built.expect("the configuration is right").0
}

/// Runs a configuration in batches; `prepare` writes the handlers it needs.
fn run(config: &str, prepare: &dyn Fn(&mut Router), packets: u64) -> Duration {
    drive(router(config, false, packets), prepare, packets)
}

fn drive(mut router: Router, prepare: &dyn Fn(&mut Router), packets: u64) -> Duration {
    prepare(&mut router);
    let start = Instant::now();
    Driver::default().run(&mut router);
    let elapsed = start.elapsed();
    if let Ok(count) = router.read("cnt.count", "") {
        assert_eq!(count.text(), packets.to_string(), "every packet came through");
    }
    elapsed
}

/// Nanoseconds per packet of something that takes a number of packets.
fn ns_per_packet(run: impl Fn(u64) -> Duration) -> f64 {
    let sample = || (run(LONG).as_secs_f64() - run(SHORT).as_secs_f64()) * 1e9 / (LONG - SHORT) as f64;
    let mut samples: Vec<f64> = (0..ROUNDS).map(|_| sample()).collect();
    samples.sort_by(f64::total_cmp);
    samples[ROUNDS / 2]
}

fn chain(middle: &str) -> String {
    format!("InfiniteSource(LENGTH 64, LIMIT $N, BURST 64, STOP true) -> {middle} Queue -> Discard(BURST 64)")
}

fn resolve(r: &mut Router) {
    r.write("arpq1.insert", "10.1.0.2 00:00:0c:00:00:03").expect("arpq1 takes entries");
}

/// The routes and the next hop of the run out of cache.
fn resolve_and_route(r: &mut Router) {
    resolve(r);
    let mut routes = String::new();
    for n in 0..replay::ROUTES {
        let _ = writeln!(routes, "set {}/24 10.1.0.2 2", replay::network(n));
    }
    r.write("rt.ctrl", &routes).expect("the table takes routes");
}

/// The router with its source replaced by one that circulates many packets.
fn out_of_cache() -> String {
    let start = IP_ROUTER.find("src :: ").expect("the router has a source");
    let end = start + IP_ROUTER[start..].find(';').expect("which ends");
    let text = format!("{}src :: StockSource($N){}", &IP_ROUTER[..start], &IP_ROUTER[end..]);
    let sink = "out1 :: Queue(1024) -> cnt :: Counter -> d1 :: Discard(BURST 32);";
    assert!(text.contains(sink));
    text.replace(sink, "out1 :: Null -> cnt :: Counter -> StockSink;")
}

fn static_loop(packets: u64) -> Duration {
    let start = Instant::now();
    let through = static_loop::run(packets, 64, Timestamp::new(1, 0));
    assert_eq!(through, packets / 64 * 64);
    start.elapsed()
}

fn main() {
    let filter = std::env::args().skip(1).find(|a| !a.starts_with("--")).unwrap_or_default();
    let report = |name: &str, measure: &dyn Fn() -> f64| {
        if name.contains(&filter) {
            println!("{name:<36} {:6.2} ns/packet", measure());
        }
    };
    let plain = |config: String| move || ns_per_packet(|n| run(&config, &|_| (), n));
    let no_queue = "InfiniteSource(LENGTH 64, LIMIT $N, BURST 64, STOP true) -> Discard";
    report("source, sink", &plain(no_queue.to_string()));
    report("source, queue, sink", &plain(chain("")));
    report("... with 16 Nulls", &plain(chain(&"Null -> ".repeat(16))));
    report("... with 16 Counters", &plain(chain(&"Counter -> ".repeat(16))));
    report("IP path, hand-written loop", &|| ns_per_packet(static_loop));
    report("IP router", &|| ns_per_packet(|n| run(IP_ROUTER, &resolve, n)));
    let in_order = |n| drive(router(IP_ROUTER, true, n), &resolve, n);
    report("IP router, one packet at a time", &|| ns_per_packet(in_order));
    let cold = out_of_cache();
    report("IP router, 142 MB and 256 K routes", &|| ns_per_packet(|n| run(&cold, &resolve_and_route, n)));
}
