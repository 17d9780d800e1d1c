//! Mappings outlive a new configuration.

use super::*;

const CLIENT: End = ("10.0.0.1", 1111);
const SERVER: End = ("9.9.9.9", 53);

fn swapped(before: &str, after: &str) -> Harness {
    let mut old = Harness::new(before);
    old.push("in", 0, [udp(CLIENT, SERVER, b"").packet(), tcp(CLIENT, SERVER, flag::ACK, b"x").packet()]);
    let mut new = Harness::new(after);
    new.router.take_over(old.router);
    new
}

#[test]
fn flows_go_on_if_their_input_says_the_same() {
    let config = |pattern: &str| with_two(&format!("IPRewriter(pattern {pattern} - - 0 1, drop)"));
    let mut t = swapped(&config("1.0.0.1 2000-2009#"), &config("1.0.0.1 2000-2009#"));
    assert_eq!((t.read("rw.nmappings"), t.read("rw.size")), ("2".into(), "2".into()));
    t.push(
        "back",
        0,
        [
            udp(SERVER, ("1.0.0.1", 2000), b"").packet(),
            tcp(SERVER, ("1.0.0.1", 2001), flag::ACK, b"x").packet(),
        ],
    );
    assert_eq!(out(&mut t, "b"), ["9.9.9.9:53 > 10.0.0.1:1111", "9.9.9.9:53 > 10.0.0.1:1111"]);
    // With data seen in both directions, one before and one after, the connection lasts for a day.
    assert!(t.read("rw.tcp_table").contains("exp86390"));
    // The sequence goes on.
    t.push("in", 0, [udp(("10.0.0.2", 1), SERVER, b"").packet()]);
    assert_eq!(out(&mut t, "a"), ["1.0.0.1:2002 > 9.9.9.9:53"]);
    let mut t = swapped(&config("1.0.0.1 2000-2009#"), &config("1.0.0.2 2000-2009#"));
    assert_eq!(t.read("rw.size"), "0");
}

#[test]
fn flows_go_on_under_other_timeouts_and_beside_others_too() {
    let rewriter =
        |more: &str| with_two(&format!("IPRewriter(pattern 1.0.0.1 2000-2009# - - 0 1, drop{more})"));
    let beside = "; o :: Source -> other :: UDPRewriter(keep 0 0, CAPACITY rw) -> a".to_string();
    for (before, after) in [
        (rewriter(""), rewriter(", UDP_TIMEOUT 100")),
        (rewriter("") + &beside, rewriter("")),
        (rewriter(""), rewriter("") + &beside),
        (rewriter(", CAPACITY 10"), rewriter(", CAPACITY 2")),
    ] {
        let mut t = swapped(&before, &after);
        assert_eq!((t.read("rw.nmappings"), t.read("rw.size")), ("2".into(), "2".into()));
        assert_eq!(t.read("rw.udp_table").lines().count(), 2);
        t.push("back", 0, [udp(SERVER, ("1.0.0.1", 2000), b"").packet()]);
        assert_eq!(out(&mut t, "b"), ["9.9.9.9:53 > 10.0.0.1:1111"], "{after}");
        t.write("rw.clear").unwrap();
        assert_eq!((t.read("rw.nmappings"), t.read("rw.size")), ("0".into(), "0".into()));
    }
}

#[test]
fn flows_must_find_their_outputs_and_room() {
    let keep = with_two("IPRewriter(keep 0 1, drop)");
    let fewer = "in :: Source -> rw :: IPRewriter(keep 0 0) -> a :: Sink";
    assert_eq!(swapped(&keep, fewer).read("rw.size"), "0");
    let small = with_two("IPRewriter(keep 0 1, drop, CAPACITY 1)");
    assert_eq!(swapped(&keep, &small).read("rw.size"), "1");
}

#[test]
fn named_patterns_and_mappers_go_on_where_they_were() {
    let named = format!(
        "IPRewriterPatterns(p 1.0.0.1 2000-2009# - -); {}",
        with_two("UDPRewriter(pattern p 0 1, drop)")
    );
    let mut t = swapped(&named, &named);
    t.push("in", 0, [udp(("10.0.0.2", 1), SERVER, b"").packet()]);
    assert_eq!(out(&mut t, "a"), ["1.0.0.1:2001 > 9.9.9.9:53"]);
    let mapped = format!(
        "m :: RoundRobinIPMapper(- - 7.0.0.1 - 0 1, - - 7.0.0.2 - 0 1, - - 7.0.0.3 - 0 1); {}",
        with_two("IPRewriter(m, drop)")
    );
    let mut t = swapped(&mapped, &mapped);
    t.push("in", 0, [udp(("10.0.0.2", 1), SERVER, b"").packet()]);
    assert_eq!(out(&mut t, "a"), ["10.0.0.2:1 > 7.0.0.3:53"]);
}
