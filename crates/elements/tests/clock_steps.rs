//! The wall clock is set while routers run: nothing but timestamps may change. Every class's example, and configurations
//! that measure time, run three times: undisturbed, with the clock set back an hour, and set forward an hour.
#![allow(missing_docs)]

use clickwork_elements::registry;
use clickwork_lang::{Options as LangOptions, elaborate};
use clickwork_packet::Timestamp;
use clickwork_router::{Clock, Driver, Log, Options, Router, build};
use clickwork_source::{Sources, render_click};
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
    let shown = |d: clickwork_source::Diagnostics| -> String {
        d.iter().map(|d| render_click(&sources, d)).collect()
    };
    built.map_or_else(|d| panic!("{config}\n{}", shown(d)), |(router, _)| router)
}

/// What each element saw and dropped so far.
fn counts(router: &Router) -> String {
    let line = |id| {
        let info = router.info(id);
        format!("{} {} {:?}\n", info.name, info.packets, info.drops)
    };
    router.ids().map(line).collect()
}

/// What the handlers say that show a duration or a rate.
fn measured(router: &mut Router, handlers: &[&str]) -> String {
    let value = |name: &&str| router.read(name, "").map_or_else(|e| e.to_string(), |v| v.text());
    handlers.iter().map(value).collect::<Vec<_>>().join("\n")
}

/// How often is looked at the router, and how long it runs in between.
const LOOKS: usize = 40;
const BETWEEN: Duration = Duration::from_millis(50);

/// Runs a configuration whose wall clock is set after some looks; what was seen at each look.
fn run(config: &str, handlers: &[&str], ordered: bool, hours: i64) -> Vec<String> {
    let (mut router, mut driver) = (router(config, ordered), Driver::default());
    let look = |n| {
        driver.run_for(&mut router, BETWEEN);
        if n == LOOKS / 3 {
            router.clock().step_wall(Timestamp::new(hours * 3600, 0));
        }
        counts(&router) + &measured(&mut router, handlers)
    };
    let looks = (0..LOOKS).map(look).collect();
    router.cleanup();
    looks
}

fn compare(config: &str, handlers: &[&str]) {
    for ordered in [true, false] {
        let undisturbed = run(config, handlers, ordered, 0);
        for hours in [-1, 1] {
            let disturbed = run(config, handlers, ordered, hours);
            for (n, (expected, got)) in undisturbed.iter().zip(&disturbed).enumerate() {
                assert_eq!(expected, got, "{config}\nat look {n}, set by {hours} h, ordered {ordered}");
            }
        }
    }
}

/// Routers that wait, limit, measure or forget, and handlers that say what they measured.
const ROUTERS: &[(&str, &[&str])] = &[
    ("RatedSource(RATE 1000) -> Queue -> Shaper(200) -> Unqueue -> Discard", &[]),
    ("RatedSource(RATE 1000) -> Queue -> s :: Shaper(200) -> a :: Unqueue -> Discard; s[1] -> RatedUnqueue(300) -> Discard", &[]),
    ("RatedSource(RATE 1000) -> Queue -> BandwidthShaper(8000) -> Unqueue -> Discard", &[]),
    ("RatedSource(RATE 300) -> SetTimestamp -> Queue -> DelayUnqueue(0.2) -> Discard", &[]),
    ("RatedSource(RATE 300) -> Queue -> DelayUnqueue(0.02) -> Discard", &[]),
    ("RatedSource(RATE 300) -> SetTimestamp -> Queue -> DelayShaper(0.2) -> Unqueue -> Discard", &[]),
    (
        "RatedSource(RATE 300) -> SetTimestamp -> Queue -> DelayUnqueue(0.2) -> Queue -> DelayUnqueue(0.3) -> Discard",
        &[],
    ),
    ("RatedSource(RATE 1000) -> q :: Queue -> l :: LinkUnqueue(100ms, 40kBps) -> Discard", &["q.length", "l.size"]),
    ("RatedSource(RATE 1000) -> Queue -> TimedUnqueue(0.01, 3) -> Discard", &[]),
    ("RatedSource(RATE 1000) -> Queue -> Burster(0.02, 9) -> Discard", &[]),
    ("RatedSource(RATE 1000) -> Queue -> RatedUnqueue(300) -> Discard", &[]),
    ("RatedSource(RATE 1000) -> Queue -> BandwidthRatedUnqueue(9000) -> Discard", &[]),
    ("TimedSource(0.02) -> c :: Counter -> Discard", &["c.rate", "c.byte_rate"]),
    ("RatedSource(RATE 1000) -> m :: Meter(500); m[0] -> Discard; m[1] -> Discard", &["m.rate"]),
    ("RatedSource(RATE 1000) -> s :: RatedSplitter(500); s[0] -> Discard; s[1] -> Discard", &[]),
    ("RatedSource(RATE 1000) -> a :: AverageCounter -> Discard", &["a.rate"]),
    (
        "RatedSource(RATE 1200) -> SetTimestamp(FIRST true) -> q :: Queue(9000) -> c :: CoDel(0.005, 0.05) \
         -> RatedUnqueue(400) -> Discard",
        &["c.drops", "q.length"],
    ),
    ("RatedSource(RATE 1200) -> q :: FQCoDel -> RatedUnqueue(400) -> Discard", &[]),
    ("RatedSource(RATE 1200) -> p :: PIE -> RatedUnqueue(400) -> Discard", &[]),
    ("RatedSource(RATE 1200) -> r :: RED(5, 50, 0.02) -> Queue(200) -> RatedUnqueue(400) -> Discard", &[]),
    (
        "p :: ICMPPingSource(10.0.0.1, 10.0.0.2, INTERVAL 0.05) -> Queue -> DelayUnqueue(0.03) -> ICMPPingResponder \
         -> SetTimestamp -> Queue -> LinkUnqueue(10ms, 1MBps) -> p",
        &["p.rtt_avg", "p.rtt_max", "p.summary"],
    ),
    (
        "InfiniteSource(LENGTH 20) -> UDPIPEncap(10.0.0.1, 5, 10.0.0.2, 6) -> q :: Queue; q -> RatedUnqueue(100) \
         -> r :: IPRewriter(pattern 9.9.9.9 1024-65535 - - 0 0, UDP_TIMEOUT 1s) -> Discard",
        &["r.table_size"],
    ),
    (
        "FastUDPSource(500, -1, 60, 0:1:2:3:4:5, 10.0.0.1, 1234, 6:7:8:9:a:b, 10.0.0.2, 5678) -> Unqueue -> Discard",
        &[],
    ),
    (
        "RatedSource(RATE 100) -> EtherEncap(0x0800, 0:0:0:0:0:1, 0:0:0:0:0:2) -> SetTimestamp -> [0] s :: EtherSwitch(TIMEOUT 60);
         TimedSource(0.3) -> EtherEncap(0x0800, 0:0:0:0:0:2, 0:0:0:0:0:1) -> SetTimestamp -> [1] s;
         Idle -> [2] s; s[0] -> Discard; s[1] -> Discard; s[2] -> Discard",
        &[],
    ),
    (
        "RatedSource(RATE 50) -> EtherEncap(0x0800, 0:0:0:0:0:1, 0:0:0:0:0:2) -> rx :: RXStats -> Discard",
        &["rx.stats"],
    ),
    (
        "l :: LinkTable(IP 1.0.0.1, STALE 1); Script(write l.update_link 1.0.0.1 1.0.0.2 100 1 0); Idle -> Discard",
        &["l.links", "l.routes", "l.dijkstra_time"],
    ),
    (
        "TimedSource(0.001) -> SetTimestamp -> wi :: Null -> Discard; \
         wifi :: WirelessInfo(BSSID 0:0:0:0:0:1, INTERVAL 100); rates :: AvailableRates; \
         Idle -> BeaconSource(WIRELESS_INFO wifi, RT rates) -> SetTimestamp \
         -> t :: BeaconTracker(WIRELESS_INFO wifi, TRACK 5) -> Discard",
        &["t.stats"],
    ),
    (
        "f :: FromHandler(g.count); g :: Counter; f -> Discard; Idle -> g -> Discard; Script(write f.active true)",
        &["f.time"],
    ),
];

#[test]
fn durations_and_rates_do_not_notice_that_the_clock_is_set() {
    for (config, handlers) in ROUTERS {
        println!("{config}");
        compare(config, handlers);
    }
}

#[test]
fn examples_move_the_same_packets_whatever_the_clock_is_set_to() {
    let registry = registry();
    let classes = registry.iter().filter(|(name, class)| *name == class.name).map(|(_, class)| class);
    for class in classes.filter(|class| !class.example.is_empty()) {
        compare(class.example, &[]);
    }
}

/// A source that stamps by the wall clock still does.
#[test]
fn timestamps_follow_the_wall_clock() {
    let config = "TimedSource(0.1) -> SetTimestamp -> t :: TimestampAccum -> f :: TimeFilter(START 1000003600) -> c :: Counter -> Discard";
    let seen = |hours| run(config, &["c.count", "t.average_time"], true, hours).pop().unwrap_or_default();
    assert!(seen(0).contains("\n0\n"), "{}", seen(0));
    assert!(!seen(1).contains("\n0\n"), "{}", seen(1));
}
