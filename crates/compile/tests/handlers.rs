//! Handlers written while packets pass, by elements on their way: what each write does, and to which packets it happens, is the
//! same interpreted and in segments, in ordered and in batch mode.

mod common;

use clickwork_compile::{Scope, plan};
use clickwork_packet::{Batch, Packet};
use clickwork_router::{Driver, Endpoint, Outcome, Reload, Router};
use common::{Running, difference, packets, start, start_reloading};
use std::time::Duration;

/// What is seen of a configuration that has run for a second, interpreted and in segments, which must be the same.
fn seen_both_ways(text: &str, ordered: bool, prepare: impl Fn(&mut Running)) -> String {
    let ways = [false, true].map(|in_segments| {
        let mut running = start(text, ordered).unwrap_or_else(|errors| panic!("{text}\n{errors}"));
        if in_segments {
            running.router.install(plan(&running.router, Scope::All));
            assert!(running.router.elements_in_segments() > 0, "{text}");
        }
        prepare(&mut running);
        Driver::default().run_for(&mut running.router, Duration::from_secs(1));
        running.seen()
    });
    let [plain, fused] = ways;
    if let Some(difference) = difference(&plain, &fused) {
        panic!("ordered {ordered}\n{text}\n{difference}");
    }
    plain
}

/// Runs a configuration in all ways; each of these lines is to be seen.
fn all_see(text: &str, lines: &[&str]) {
    for ordered in [false, true] {
        let seen = seen_both_ways(text, ordered, |_| {});
        for line in lines {
            assert!(seen.lines().any(|l| l == *line), "ordered {ordered}, no '{line}'\n{text}\n{seen}");
        }
    }
}

/// A hundred UDP packets with a TTL of 64.
const PACKETS: &str = "src :: InfiniteSource(DATA \\<4500001400000000 401166d70a0000010a000002>, LIMIT 100, \
                       BURST 100, STOP false)";

#[test]
fn a_handler_written_from_a_pull_path_loses_no_packet() {
    let text = format!(
        "{PACKETS} -> CheckIPHeader -> q :: Queue(200)
         -> s :: Script(TYPE PACKET, write d.active false, return 0)
         -> d :: DecIPTTL -> m :: MarkIPHeader -> u :: Unqueue(BURST 64) -> k :: Counter -> Discard"
    );
    all_see(&text, &["k.count = 100", "d.active = false"]);
}

#[test]
fn the_change_comes_before_the_packets_that_wait_for_it() {
    // The script has seen all packets of a pull before any passes the element that it changes.
    let text = format!(
        "{PACKETS} -> CheckIPHeader -> q :: Queue(200)
         -> s :: Script(TYPE PACKET, write d.active false, return 0)
         -> d :: DecIPTTL -> t :: CheckIPHeader -> Unqueue -> c :: IPClassifier(ip ttl 64, -)
         -> same :: Counter -> Discard; c[1] -> less :: Counter -> Discard"
    );
    all_see(&text, &["same.count = 100", "less.count = 0"]);
}

#[test]
fn elements_on_a_pull_path_can_be_given_new_arguments_from_it() {
    let text = format!(
        "{PACKETS} -> q :: Queue(200) -> s :: Script(TYPE PACKET, write p.color 2, write l.config 40, return 0)
         -> p :: Paint(1) -> l :: CheckLength(10) -> Null -> Unqueue -> c :: PaintSwitch
         -> Discard; c[1] -> one :: Counter -> Discard; c[2] -> two :: Counter -> Discard"
    );
    all_see(&text, &["one.count = 0", "two.count = 100"]);
}

#[test]
fn a_hot_swap_from_the_middle_of_a_pull_loses_no_packet() {
    let text = format!(
        "{PACKETS} -> q :: Queue(200) -> s :: Script(TYPE PACKET, write hotconfig Idle -> q :: Queue -> s :: MarkIPHeader
         -> d :: DecIPTTL -> u :: Unqueue -> k :: Counter -> Discard, return 0)
         -> m :: MarkIPHeader -> d :: DecIPTTL -> u :: Unqueue(BURST 64) -> k :: Counter -> Discard"
    );
    for (ordered, in_segments) in [(false, false), (false, true), (true, false), (true, true)] {
        let reload = move |_: &Router, text: &str| start(text, ordered).map(|running| running.router);
        let mut old =
            start_reloading(&text, ordered, Some(Reload::new(reload))).expect("it is correct").router;
        if in_segments {
            old.install(plan(&old, Scope::All));
        }
        assert_eq!(Driver::default().run(&mut old), Outcome::HotSwap);
        let made = old.read("src.count", "").expect("there is such a handler").text();
        let mut new = old.take_hot_swap().expect("there is one");
        new.take_over(old);
        Driver::default().run_for(&mut new, Duration::from_secs(1));
        let got = new.read("k.count", "").expect("there is such a handler").text();
        assert_eq!(got, made, "ordered {ordered}, in segments {in_segments}");
        assert_ne!(got, "0");
    }
}

#[test]
fn a_counter_on_a_pull_path_calls_when_the_pull_is_over() {
    let text = format!(
        "{PACKETS} -> q :: Queue(200) -> n :: Counter(COUNT_CALL 3 d.active false) -> CheckIPHeader -> d :: DecIPTTL
         -> Null -> Unqueue(BURST 10) -> k :: Counter -> Discard"
    );
    all_see(&text, &["k.count = 100", "d.active = false"]);
}

#[test]
fn pulls_through_a_scheduler_see_the_change_too() {
    let text = format!(
        "{PACKETS} -> tee :: Tee -> Queue(200) -> Script(TYPE PACKET, write d.active false, return 0) -> [0] r :: RoundRobinSched
         -> MarkIPHeader -> d :: DecIPTTL -> Null -> Unqueue -> k :: Counter -> Discard;
         tee[1] -> Queue(200) -> MarkIPHeader -> e :: DecIPTTL -> Script(TYPE PACKET, write e.active false, return 0) -> [1] r"
    );
    all_see(&text, &["k.count = 200", "d.active = false", "e.active = false"]);
}

/// Pushes some packets, painted by turns, into the element `in`.
fn push_painted(running: &mut Running) {
    let mut random = common::random::Random::new(5);
    let element = running.router.find("in").expect("there is an input");
    let painted = |n: usize| {
        let mut p = packets::packet(&mut random);
        p.set_paint((n % 3) as u8);
        p
    };
    let all: Vec<Packet> = (0..30).map(painted).collect();
    let size = if running.router.is_ordered() { 1 } else { 30 };
    let mut all = all.into_iter().peekable();
    while all.peek().is_some() {
        let batch: Batch = all.by_ref().take(size).collect();
        running.router.push(Endpoint { element, port: 0 }, batch);
    }
}

/// Ways of packets that divide; on one of them a handler of an element on another is written.
const PUSHED: &[&str] = &[
    // The packets for output 1 go first: by then those for output 0 must not have passed.
    "w :: PaintSwitch; in -> w; w[0] -> p :: Paint(7) -> Null -> Print(zero, PRINTANNO true) -> Discard;
     w[1] -> s :: Script(TYPE PACKET, write p.color 9, return 0) -> Discard; w[2] -> Null -> Discard",
    "w :: PaintSwitch; in -> w; w[0] -> p :: Paint(7) -> Null -> Print(zero, PRINTANNO true) -> Discard;
     w[1] -> Null -> c :: Counter(COUNT_CALL 1 p.color 9) -> Discard; w[2] -> p",
    // By way of a script that the counter calls.
    "w :: PaintSwitch; in -> w; w[0] -> p :: Paint(7) -> Null -> Print(zero, PRINTANNO true) -> Discard;
     s :: Script(TYPE PASSIVE, write p.color 9, return 0);
     w[1] -> Null -> c :: Counter(COUNT_CALL 1 s.run) -> Discard; w[2] -> p",
    // A handler before them in the same path.
    "in -> Null -> w :: CheckPaint(1) -> l :: CheckLength(40) -> Print(zero, PRINTANNO true) -> Discard;
     w[1] -> Script(TYPE PACKET, write w.config 2, write l.config 30, return 0) -> Discard; l[1] -> Print(long) -> Discard",
    // A circle through the script.
    "in -> n :: Null -> l :: CheckLength(20) -> Print(short) -> Discard;
     l[1] -> t :: Strip(7) -> s :: Script(TYPE PACKET, write t.config 9, return 0) -> n",
];

#[test]
fn a_handler_written_from_a_push_path_changes_what_comes_behind_it() {
    for rest in PUSHED {
        let text = format!("in :: Null; Idle -> in; {rest}");
        for ordered in [false, true] {
            seen_both_ways(&text, ordered, push_painted);
        }
    }
}

#[test]
fn a_call_that_is_made_known_while_the_router_runs_is_respected() {
    let text = "in :: Null; Idle -> in -> w :: PaintSwitch; w[0] -> p :: Paint(7) -> Null -> Print(zero, PRINTANNO true)
                -> Discard; w[1] -> Null -> c :: Counter -> Discard; w[2] -> p";
    for ordered in [false, true] {
        seen_both_ways(text, ordered, |running| {
            push_painted(running);
            running.router.write("c.count_call", "11 p.color 9").expect("there is such a handler");
            push_painted(running);
        });
    }
}

#[test]
fn paths_that_lead_to_no_writer_of_handlers_stay_whole() {
    let planned = |call: &str| {
        let text = format!(
            "in :: Null; Idle -> in -> Paint(1) -> p :: Paint(2) -> Counter({call}) -> Discard; s :: Script(TYPE PASSIVE)"
        );
        let running = start(&text, false).expect("it is correct");
        plan(&running.router, Scope::All).iter().map(|segment| segment.nodes.len()).max()
    };
    assert_eq!(planned(""), Some(3));
    assert_eq!(planned("COUNT_CALL 5 stop"), Some(3));
    assert_eq!(planned("COUNT_CALL 5 p.color 3"), Some(1));
    assert_eq!(planned("COUNT_CALL 5 s.run"), Some(1));
}
