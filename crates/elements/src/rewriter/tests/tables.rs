//! What handlers print, and what they are written with.

use super::*;

#[test]
fn mappings_are_printed_as_click_prints_them() {
    let mut t = Harness::new(&with_two("UDPRewriter(pattern 1.0.0.1 1024-65535# - - 0 1, drop)"));
    t.push("in", 0, [udp(("10.0.0.1", 1111), ("9.9.9.9", 53), b"").packet()]);
    let mut lines: Vec<String> = t.read("rw.table").lines().map(str::to_string).collect();
    lines.sort();
    assert_eq!(
        lines,
        [
            "(10.0.0.1, 1111, 9.9.9.9, 53) => (1.0.0.1, 1024, 9.9.9.9, 53) [*0 1] i0 exp290",
            "(9.9.9.9, 53, 1.0.0.1, 1024) => (9.9.9.9, 53, 10.0.0.1, 1111) [0 *1] i0 exp290",
        ]
    );
    assert_eq!(t.read("rw.mappings"), t.read("rw.table"));
    assert_eq!(t.read("rw.patterns"), "1.0.0.1 1024-65535 - - [1]\n<drop>\n");
    assert_eq!(
        (t.read("rw.pattern0"), t.read("rw.pattern1")),
        ("1.0.0.1 1024-65535 - - [1]\n".into(), "<drop>\n".into())
    );
    assert_eq!(
        (t.read("rw.nmappings"), t.read("rw.size"), t.read("rw.capacity")),
        ("1".into(), "1".into(), "2147483647".into())
    );
}

#[test]
fn other_rewriters_print_what_they_look_at() {
    for (rewriter, packet, expected) in [
        (
            "IPAddrRewriter(pattern 1.0.0.1 - 0 1, drop)",
            udp(("10.0.0.1", 1), ("9.9.9.9", 2), b"").packet(),
            ["0.0.0.0 => 0.0.0.0 [0 *1] i0 exp7190", "10.0.0.1 => 1.0.0.1 [*0 1] i0 exp7190"],
        ),
        (
            "IPAddrPairRewriter(pattern 1.0.0.1 2.0.0.2 0 1, drop)",
            udp(("10.0.0.1", 1), ("9.9.9.9", 2), b"").packet(),
            [
                "(10.0.0.1, 9.9.9.9) => (1.0.0.1, 2.0.0.2) [*0 1] i0 exp7190",
                "(2.0.0.2, 1.0.0.1) => (9.9.9.9, 10.0.0.1) [0 *1] i0 exp7190",
            ],
        ),
        (
            "ICMPPingRewriter(pattern 1.0.0.1 300 - - 0 1, drop)",
            echo("10.0.0.1", "9.9.9.9", 8, 7).marked(),
            [
                "(10.0.0.1, 9.9.9.9, 7) => (1.0.0.1, 9.9.9.9, 300) [*0 1] i0 exp290",
                // 300 is 0x012c, which a little-endian machine counts up to 0x022c; 7 becomes 0x0107.
                "(9.9.9.9, 1.0.0.1, 556) => (9.9.9.9, 10.0.0.1, 263) [0 *1] i0 exp290",
            ],
        ),
    ] {
        let mut t = Harness::new(&with_two(rewriter));
        t.push("in", 0, [packet]);
        let table = t.read("rw.table");
        let mut lines: Vec<&str> = table.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, expected);
    }
}

#[test]
fn mappings_are_listed_in_the_order_of_clicks_hash_table() {
    let mut t = Harness::new(&with_two("IPRewriter(keep 0 1, drop)"));
    // With all ports 0 the hash is the exclusive or of the source and the destination rotated by 31, both in memory order.
    let id = |n: u32| format!("0.{}.{}.{}", n >> 16 & 0xFF, n >> 8 & 0xFF, n & 0xFF);
    let hash = |from: u32, to: u32| {
        let to = u64::from(to.swap_bytes());
        u64::from(from.swap_bytes()) ^ (to << 31 | to >> 1)
    };
    let flows = [(1, 2), (77, 5), (1000, 3), (70_000, 9), (8, 8000)];
    t.push("in", 0, flows.map(|(from, to)| udp((&id(from), 0), (&id(to), 0), b"").packet()));
    // Independently: all entries by bucket, in each the latest first.
    let entries = flows.iter().flat_map(|&(from, to)| [(from, to), (to, from)]);
    let mut entries: Vec<_> =
        entries.enumerate().map(|(n, (from, to))| (hash(from, to) % 63, usize::MAX - n, from)).collect();
    entries.sort_unstable();
    let expected: Vec<String> = entries.iter().map(|(_, _, from)| format!("({}", id(*from))).collect();
    let listed = t.read("rw.udp_table");
    let listed: Vec<&str> = listed.lines().map(|line| line.split(',').next().unwrap()).collect();
    assert_eq!(listed, expected);
}

#[test]
fn a_flow_can_be_looked_up() {
    for (kind, handler) in [("TCPRewriter", "lookup"), ("IPRewriter", "tcp_lookup")] {
        let mut t = Harness::new(&with_two(&format!("{kind}(pattern 1.0.0.1 2000 - - 0 1, drop)")));
        t.push("in", 0, [tcp(("10.0.0.1", 5), ("9.9.9.9", 80), flag::SYN, b"").packet()]);
        assert_eq!(t.read(&format!("rw.{handler} 10.0.0.1 5 9.9.9.9 80")), "1.0.0.1 2000 9.9.9.9 80");
        assert_eq!(t.read(&format!("rw.{handler} 9.9.9.9 80 1.0.0.1 2000")), "9.9.9.9 80 10.0.0.1 5");
        assert_eq!(t.read(&format!("rw.{handler} 10.0.0.1 6 9.9.9.9 80")), "");
        assert!(t.read(&format!("rw.{handler} 10.0.0.1 6 9.9.9.9")).contains("DPORT"));
        let table = if kind == "TCPRewriter" { "rw.table" } else { "rw.tcp_table" };
        assert_eq!(t.read(table).lines().count(), 2);
    }
}

#[test]
fn an_input_can_be_given_another_specification() {
    let mut t = Harness::new(
        "in :: Source -> [0] rw :: IPRewriter(pattern 1.0.0.1 2000-2009# - - 0 1, keep 0 1); other :: Source -> [1] rw; \
         rw [0] -> a :: Sink; rw [1] -> b :: Sink",
    );
    t.push("in", 0, [udp(("10.0.0.1", 5), ("9.9.9.9", 80), b"").packet()]);
    t.push("other", 0, [udp(("10.0.0.7", 5), ("9.9.9.9", 80), b"").packet()]);
    t.write("rw.pattern0 pattern - - 7.7.7.7 - 1 0").unwrap();
    // The flows of the other input stay.
    assert_eq!(t.read("rw.patterns"), "- - 7.7.7.7 -\n<keep> [1]\n");
    t.push("in", 0, [udp(("10.0.0.1", 5), ("9.9.9.9", 80), b"").packet()]);
    assert_eq!(out(&mut t, "b"), ["10.0.0.1:5 > 7.7.7.7:80"]);
    let wrong = t.write("rw.pattern1 pattern 1.0.0.1 2 - - 0 9").unwrap_err();
    assert!(wrong.contains("input spec 1: output port out of range"), "{wrong}");
    assert_eq!(t.read("rw.patterns"), "- - 7.7.7.7 - [1]\n<keep> [1]\n");
    assert_eq!(t.read("rw.pattern2"), "no 'rw.pattern2' handler");
}

#[test]
fn what_is_wrong_with_a_configuration_is_said_in_clicks_words() {
    for (config, wrong) in [
        ("rw :: IPRewriter(drop, drop)", "need 1 arguments, one per input port"),
        ("rw :: IPRewriter(nonsense)", "input spec 0: unknown specification"),
        ("rw :: IPRewriter(drop it)", "input spec 0: syntax error, expected 'drop'"),
        ("rw :: IPRewriter(pass x)", "input spec 0: syntax error, expected 'nochange [OUTPUT]'"),
        ("rw :: IPRewriter(pass 1)", "input spec 0: output port out of range"),
        ("rw :: IPRewriter(keep 0 1)", "input spec 0: output port out of range"),
        ("rw :: IPRewriter(keep 0)", "input spec 0: bad forward port"),
        ("rw :: IPRewriter(keep 0 x)", "input spec 0: bad reply port"),
        ("rw :: IPRewriter(pattern 0 0)", "input spec 0: syntax error"),
        ("rw :: IPRewriter(pattern nobody 0 0)", "input spec 0: no such pattern 'nobody'"),
        ("rw :: IPRewriter(pattern 1.0.0.1 x - - 0 0)", "input spec 0: bad source port"),
        ("rw :: IPRewriter(i)", "input spec 0: element is not an IPMapper"),
        ("rw :: IPRewriter(drop, CAPACITY i)", "bad MAPPING_CAPACITY"),
        ("rw :: IPRewriter(drop, MAPPING_CAPACITY nobody)", "bad MAPPING_CAPACITY"),
        ("rw :: IPRewriter(drop, MAPPING_CAPACITY rw)", "bad MAPPING_CAPACITY"),
        ("rw :: IPRewriter(drop, REPLY_ANNO 48)", "REPLY_ANNO"),
        (
            "m :: RoundRobinIPMapper(- - 1.0.0.1 - 0 1, - - - - 0 0); rw :: IPRewriter(m)",
            "input spec 0: output port out of range in m :: RoundRobinIPMapper pattern 0",
        ),
        ("m :: RoundRobinIPMapper(); rw :: IPRewriter(m)", "no patterns given"),
        ("m :: SourceIPHashMapper(1); rw :: IPRewriter(m)", "no patterns given"),
        (
            "m :: SourceIPHashMapper(1, - - - - 0 0 1, - - - - 0 0 2); rw :: IPRewriter(m)",
            "requires 2 config params",
        ),
        (
            "m :: SourceIPHashMapper(1 2, - - - - 0 0 1, x); rw :: IPRewriter(m)",
            "bad server ID in pattern spec",
        ),
    ] {
        let e = Harness::errors(&format!("i :: Idle; {config}; i -> rw -> Discard"));
        assert!(e.contains(wrong), "{config}: {e}");
    }
}
