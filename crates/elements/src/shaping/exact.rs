//! Tests: everything that meters, shapes or delays does so to the packet, in simulated time.

use crate::testing::Harness;
use std::time::Duration;

fn number(t: &mut Harness, name: &str) -> i64 {
    t.read(name).parse().unwrap_or_else(|_| panic!("{name}: {}", t.read(name)))
}

/// Packets that pass `elements` from a queue that is never empty, in each of several windows after the first second.
fn passed(elements: &str, length: usize, batched: bool) -> Vec<(f64, i64)> {
    let config =
        format!("InfiniteSource(LENGTH {length}) -> Queue(5000) -> {elements} -> c :: Counter -> Discard");
    let mut t = if batched { Harness::batched(&config) } else { Harness::new(&config) };
    t.run_for(Duration::from_secs(1));
    let mut before = number(&mut t, "c.count");
    let mut windows = Vec::new();
    for millis in [1000, 4000] {
        t.run_for(Duration::from_millis(millis));
        let count = number(&mut t, "c.count");
        windows.push((millis as f64 / 1000.0, count - before));
        before = count;
    }
    windows
}

/// Checks that `per_second` packets pass, give or take one and those that go at the same moment.
fn check(elements: &str, length: usize, per_second: f64, at_once: f64) {
    for batched in [false, true] {
        for (seconds, count) in passed(elements, length, batched) {
            let expected = seconds * per_second;
            assert!(
                (count as f64 - expected).abs() <= 1.0 + at_once,
                "{elements}: {count} packets in {seconds} s, not {expected} (batched: {batched})"
            );
        }
    }
}

const RATES: [f64; 6] = [1.0, 7.0, 99.0, 333.0, 1000.0, 9999.0];

#[test]
fn shapers_are_exact() {
    for rate in RATES {
        check(&format!("Shaper({rate}) -> Unqueue"), 60, rate, 0.0);
    }
    for (bandwidth, bytes) in
        [("8kbps", 1000.0), ("99kBps", 99_000.0), ("1Mbps", 125_000.0), ("10MBps", 10_000_000.0)]
    {
        check(&format!("BandwidthShaper({bandwidth}) -> Unqueue"), 500, bytes / 500.0, 0.0);
    }
}

#[test]
fn rated_unqueues_are_exact() {
    for rate in RATES {
        // Tokens come in once a millisecond.
        let at_once = f64::max(rate / 1000.0, 0.0).floor();
        check(&format!("RatedUnqueue({rate})"), 60, rate, at_once);
        check(&format!("RatedUnqueue({rate}, BURST_SIZE 40)"), 60, rate, at_once);
    }
    for (bandwidth, bytes) in
        [("8kbps", 1000.0), ("99kBps", 99_000.0), ("1Mbps", 125_000.0), ("10MBps", 10_000_000.0)]
    {
        let per_second: f64 = bytes / 500.0;
        check(&format!("BandwidthRatedUnqueue({bandwidth})"), 500, per_second, (per_second / 1000.0).floor());
    }
}

#[test]
fn links_are_exact() {
    for (bandwidth, bytes) in
        [("8kbps", 1000.0), ("99kBps", 99_000.0), ("1Mbps", 125_000.0), ("10MBps", 10_000_000.0)]
    {
        check(&format!("LinkUnqueue(10ms, {bandwidth})"), 500, bytes / 500.0, 0.0);
    }
}

#[test]
fn splitters_are_exact() {
    // A packet every 0.1 ms goes in.
    for (splitter, per_second) in [
        ("RatedSplitter(7, BURST_SIZE 1)", 7.0),
        ("RatedSplitter(99)", 99.0),
        ("RatedSplitter(1500, BURST_SIZE 2)", 1500.0),
        ("RatedSplitter(9000)", 9000.0),
        ("BandwidthRatedSplitter(100kBps)", 1000.0),
    ] {
        let config = format!(
            "TimedSource(0.0001, \\<{}>) -> r :: {splitter}; r[0] -> c :: Counter -> Discard; r[1] -> d :: Counter -> Discard",
            "00".repeat(100)
        );
        let mut t = Harness::new(&config);
        t.run_for(Duration::from_secs(1));
        let before = [number(&mut t, "c.count"), number(&mut t, "d.count")];
        t.run_for(Duration::from_secs(5));
        let [passed, rest] = [number(&mut t, "c.count") - before[0], number(&mut t, "d.count") - before[1]];
        assert_eq!(passed + rest, 50_000);
        let at_once = (per_second / 1000.0_f64).floor();
        assert!((passed as f64 - 5.0 * per_second).abs() <= 1.0 + at_once, "{splitter}: {passed}");
    }
}

#[test]
fn meters_change_over_at_the_packet_that_the_average_says() {
    // (packets per second, threshold): the average after n milliseconds is rate (1 - (15/16)^n).
    for (rate, threshold) in
        [(1000.0, 500.0), (2000.0, 1900.0), (10_000.0, 1000.0), (10_000.0, 9000.0), (500.0, 1000.0)]
    {
        let interval = 1.0 / rate;
        let bytes = 100.0;
        for (meter, scale) in [
            (format!("Meter({threshold})"), 1.0),
            (format!("BandwidthMeter({}Bps)", threshold * bytes), bytes),
        ] {
            let config = format!(
                "TimedSource({interval}, \\<{}>, LIMIT 4000) -> m :: {meter}; m[0] -> c :: Counter -> Discard; m[1] -> d :: Counter -> Discard",
                "00".repeat(100)
            );
            let mut t = Harness::new(&config);
            t.run();
            let (below, above) = (number(&mut t, "c.count"), number(&mut t, "d.count"));
            assert_eq!(below + above, 4000);
            if rate < threshold {
                assert_eq!(above, 0, "{meter} at {rate}");
                continue;
            }
            let per_milli = rate / 1000.0;
            let mut average = 0.0;
            let mut millis = 0.0;
            while average < (threshold * scale / 1000.0 * 1024.0_f64).floor() / 1024.0 {
                average += (per_milli * scale - average) / 16.0;
                millis += 1.0;
            }
            // The average is looked at from the first packet of the next millisecond on.
            let expected = millis * per_milli;
            let allowed = 1.0 + 0.02 * expected;
            assert!((below as f64 - expected).abs() <= allowed, "{meter} at {rate}: {below}, not {expected}");
        }
    }
}

#[test]
fn meters_and_shapers_in_a_row_agree() {
    // What a shaper lets pass at 900 a second stays below a meter of 1000, and at 1100 goes above it.
    for (rate, below) in [(900, true), (1100, false)] {
        let mut t = Harness::new(&format!(
            "InfiniteSource -> Queue -> Shaper({rate}) -> Unqueue -> m :: Meter(1000); \
             m[0] -> c :: Counter -> Discard; m[1] -> d :: Counter -> Discard"
        ));
        t.run_for(Duration::from_secs(2));
        let before = [number(&mut t, "c.count"), number(&mut t, "d.count")];
        t.run_for(Duration::from_secs(10));
        let counts = [number(&mut t, "c.count") - before[0], number(&mut t, "d.count") - before[1]];
        let (mine, other) = if below { (counts[0], counts[1]) } else { (counts[1], counts[0]) };
        assert!((mine - 10 * rate).abs() <= 1 && other == 0, "{counts:?} at {rate}");
    }
}

#[test]
fn delays_are_exact() {
    for elements in ["DelayShaper(0.0375) -> Unqueue", "DelayUnqueue(0.0375)", "LinkUnqueue(37.5ms, 1GBps)"] {
        let mut t = Harness::new(&format!(
            "TimedSource(0.005, a, LIMIT 200) -> SetTimestamp(FIRST true) -> SetTimestamp -> Queue -> {elements} \
             -> SetTimestamp -> k :: Sink"
        ));
        t.run();
        let packets = t.take("k");
        assert_eq!(packets.len(), 200);
        for p in packets {
            let sent = p.anno_bytes(clickwork_packet::anno::FIRST_TIMESTAMP);
            let sent = i64::from_ne_bytes(sent.try_into().unwrap());
            let took = (p.timestamp().nanos() - sent) as f64 / 1e6;
            assert!((37.5..37.6).contains(&took), "{elements}: {took} ms");
        }
    }
}
