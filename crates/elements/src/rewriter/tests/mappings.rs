//! What becomes of packets, forward and back.

use super::*;

const CLIENT: End = ("10.0.0.1", 1111);
const SERVER: End = ("9.9.9.9", 53);

#[test]
fn packets_go_out_changed_and_answers_come_back_as_they_should() {
    for (kind, make) in [
        ("IPRewriter", udp as fn((&str, u16), (&str, u16), &[u8]) -> Made),
        ("UDPRewriter", udp),
        ("IPRewriter", |from, to, data| tcp(from, to, flag::ACK, data)),
        ("TCPRewriter", |from, to, data| tcp(from, to, flag::ACK, data)),
        ("UDPRewriter", |from, to, data| tcp(from, to, flag::ACK, data)),
    ] {
        for (pattern, outside, server) in [
            ("1.0.0.1 2000-2010# - -", ("1.0.0.1", 2000), SERVER),
            ("1.0.0.1 2000 - -", ("1.0.0.1", 2000), SERVER),
            ("- - 7.7.7.7 8080", CLIENT, ("7.7.7.7", 8080)),
            ("1.0.0.1 5 7.7.7.7 6", ("1.0.0.1", 5), ("7.7.7.7", 6)),
            ("- - - -", CLIENT, SERVER),
        ] {
            let mut t = Harness::new(&with_two(&format!("{kind}(pattern {pattern} 0 1, drop)")));
            // Payloads of both parities, and many sums.
            for n in 0..40u8 {
                let data = vec![n.wrapping_mul(37); usize::from(n)];
                t.push("in", 0, [make(CLIENT, SERVER, &data).packet()]);
                assert_eq!(t.bytes("a"), [make(outside, server, &data).bytes()], "{kind} {pattern} {n}");
                t.push("back", 0, [make(server, outside, &data).packet()]);
                assert_eq!(t.bytes("b"), [make(SERVER, CLIENT, &data).bytes()], "{kind} {pattern} {n}");
            }
        }
    }
}

#[test]
fn keep_makes_mappings_that_change_nothing_and_pass_makes_none() {
    let mut t = Harness::new(&with_two("IPRewriter(keep 0 1, pass 0)"));
    let (packet, answer) = (udp(CLIENT, SERVER, b"x"), udp(SERVER, CLIENT, b"y"));
    t.push("back", 0, [answer.packet()]);
    assert_eq!((t.bytes("a"), t.read("rw.nmappings")), (vec![answer.bytes()], "0".into()));
    t.push("in", 0, [packet.packet()]);
    t.push("back", 0, [answer.packet()]);
    assert_eq!((t.bytes("a"), t.bytes("b")), (vec![packet.bytes()], vec![answer.bytes()]));
    assert_eq!(t.read("rw.patterns"), "<keep> [1]\n<nochange>\n");
}

#[test]
fn tcp_and_udp_have_tables_of_their_own_in_an_ip_rewriter_only() {
    for (kind, mappings) in [("IPRewriter", "2"), ("UDPRewriter", "1")] {
        let mut t = Harness::new(&with_two(&format!("{kind}(pattern 1.0.0.1 2000-2010# - - 0 1, drop)")));
        t.push("in", 0, [udp(CLIENT, SERVER, b"x").packet(), tcp(CLIENT, SERVER, flag::SYN, b"").packet()]);
        assert_eq!(t.read("rw.nmappings"), mappings);
        let second = if kind == "IPRewriter" { 2001 } else { 2000 };
        assert_eq!(
            out(&mut t, "a"),
            ["1.0.0.1:2000 > 9.9.9.9:53".to_string(), format!("1.0.0.1:{second} > 9.9.9.9:53")]
        );
    }
}

#[test]
fn a_packet_without_udp_checksum_has_none_afterwards() {
    let mut t = Harness::new(&with_two("UDPRewriter(pattern 1.0.0.1 2000 - - 0 1, drop)"));
    let without = |from, to| {
        let mut packet = udp(from, to, b"data");
        packet.transport[6..8].fill(0);
        packet
    };
    t.push("in", 0, [without(CLIENT, SERVER).packet()]);
    assert_eq!(t.bytes("a"), [without(("1.0.0.1", 2000), SERVER).bytes()]);
}

#[test]
fn a_udp_checksum_never_becomes_zero() {
    let mut t = Harness::new(&with_two("UDPRewriter(pattern 1.0.0.1 2000 - - 0 1, drop)"));
    // Among all values of one word of payload is one for which the sum is 0, to be written as 0xFFFF.
    let all: Vec<Made> = (0..=u16::MAX).map(|word| udp(CLIENT, SERVER, &word.to_be_bytes())).collect();
    let mut special = 0;
    for chunk in all.chunks(64) {
        t.push("in", 0, chunk.iter().map(Made::packet));
        for bytes in t.bytes("a") {
            assert!(!told(&bytes).contains("checksum"));
            assert_ne!(bytes[26..28], [0, 0]);
            special += u32::from(bytes[26..28] == [0xFF, 0xFF]);
        }
    }
    assert_eq!(special, 1);
}

#[test]
fn hosts_get_addresses_of_a_prefix_and_all_protocols_pass() {
    let mut t = Harness::new(&with_two("IPAddrRewriter(pattern 1.0.0.0/29# - 0 1, drop)"));
    let made = |from, to, fragment| {
        [
            udp((from, 5), (to, 6), b"abc").fragment(fragment),
            tcp((from, 5), (to, 6), flag::ACK, b"").fragment(fragment),
        ]
    };
    // Fragments without ports have the same addresses; their bytes are no checksum to be changed.
    for fragment in [0, 0x2000, 3] {
        t.push("in", 0, made("10.0.0.1", "9.9.9.9", fragment).map(|m| m.packet()));
        t.push("back", 0, made("8.8.8.8", "1.0.0.1", fragment).map(|m| m.packet()));
        assert_eq!(t.bytes("a"), made("1.0.0.1", "9.9.9.9", fragment).map(|m| m.bytes()));
        assert_eq!(t.bytes("b"), made("8.8.8.8", "10.0.0.1", fragment).map(|m| m.bytes()));
    }
    t.push("in", 0, (2..=9).map(|n| echo(&format!("10.0.0.{n}"), "9.9.9.9", 8, 1).marked()));
    assert_eq!(out(&mut t, "a").len(), 5);
    assert_eq!((t.read("rw.mapping_failures"), t.read("rw.size")), ("3".into(), "6".into()));
    assert_eq!(t.read("rw.drop_reasons"), "3\tno free port or address\n");
}

#[test]
fn pairs_of_hosts_can_share_an_address() {
    let mut t = Harness::new(&with_two("IPAddrPairRewriter(pattern 1.0.0.1-1.0.0.2# - 0 1, drop)"));
    let packets =
        [("10.0.0.1", "9.9.9.9"), ("10.0.0.2", "9.9.9.9"), ("10.0.0.3", "9.9.9.8"), ("10.0.0.4", "9.9.9.9")];
    t.push("in", 0, packets.map(|(from, to)| udp((from, 5), (to, 6), b"").packet()));
    assert_eq!(out(&mut t, "a"), ["1.0.0.1:5 > 9.9.9.9:6", "1.0.0.2:5 > 9.9.9.9:6", "1.0.0.1:5 > 9.9.9.8:6"]);
    t.push(
        "back",
        0,
        [("9.9.9.8", "1.0.0.1"), ("9.9.9.9", "1.0.0.1")]
            .map(|(from, to)| udp((from, 6), (to, 5), b"").packet()),
    );
    assert_eq!(out(&mut t, "b"), ["9.9.9.8:6 > 10.0.0.3:5", "9.9.9.9:6 > 10.0.0.1:5"]);
}

#[test]
fn pings_are_told_apart_by_identifiers() {
    let mut t = Harness::new(&with_two("ICMPPingRewriter(pattern 1.0.0.1 300-301# - - 0 1, drop)"));
    t.push("in", 0, [echo("10.0.0.1", "9.9.9.9", 8, 7).marked(), echo("10.0.0.2", "9.9.9.9", 8, 7).marked()]);
    assert_eq!(out(&mut t, "a"), ["1.0.0.1:300 > 9.9.9.9:1", "1.0.0.1:301 > 9.9.9.9:1"]);
    t.push("back", 0, [301, 300, 302].map(|id| echo("9.9.9.9", "1.0.0.1", 0, id).marked()));
    assert_eq!(out(&mut t, "b"), ["9.9.9.9:7 > 10.0.0.2:1", "9.9.9.9:7 > 10.0.0.1:1"]);
    // All identifiers are taken for this host, and not for another.
    t.push("in", 0, [echo("10.0.0.3", "9.9.9.9", 8, 7).marked(), echo("10.0.0.3", "9.9.9.8", 8, 7).marked()]);
    assert_eq!(out(&mut t, "a"), ["1.0.0.1:300 > 9.9.9.8:1"]);
    assert_eq!(t.read("rw.drop_reasons"), "1\tno mapping\n1\tno free port or address\n");
    // Unknown replies and other messages pass if the input says so.
    let mut t = Harness::new("in :: Source -> rw :: ICMPPingRewriter(nochange 0) -> a :: Sink");
    t.push("in", 0, [echo("9.9.9.9", "1.0.0.1", 0, 1).marked(), echo("9.9.9.9", "1.0.0.1", 3, 1).marked()]);
    assert_eq!(t.take("a").len(), 2);
}

#[test]
fn mappers_take_turns_or_go_by_source() {
    let servers = "- - 10.0.0.1 - 0 1 0, - - 10.0.0.2 - 0 1 1";
    let turns = "m :: RoundRobinIPMapper(- - 10.0.0.1 - 0 1, - - 10.0.0.2 - 0 1);".to_string();
    let hashed = format!("m :: SourceIPHashMapper(50 3, {servers});");
    for (mapper, in_turn) in [(turns, true), (hashed, false)] {
        let mut t = Harness::new(&(mapper + &with_two("IPRewriter(m, drop)")));
        let port_of =
            |host: u8| udp((&format!("5.0.0.{}", host % 20), u16::from(host)), ("1.0.0.1", 80), b"").packet();
        t.push("in", 0, (0..100).map(port_of));
        let servers: Vec<bool> = out(&mut t, "a").iter().map(|o| o.contains("> 10.0.0.1:")).collect();
        match in_turn {
            true => assert!((0..100).all(|i| servers[i] == (i % 2 == 0))),
            false => {
                assert!((20..100).all(|i| servers[i] == servers[i - 20]));
                assert!(servers.contains(&true) && servers.contains(&false));
                // Click prints these lines. 5.0.0.0 is 5 in memory order; its key is 5 + (5 * 5 << 24).
                let printed = t.printed();
                assert_eq!(printed.lines().count(), 100);
                assert!(printed.starts_with("0x19000005 -> "), "{printed}");
            }
        }
        assert_eq!(t.read("rw.patterns"), "<mapper> [100]\n<drop>\n");
    }
}

#[test]
fn a_mapper_goes_on_to_the_next_pattern_when_one_has_nothing_free() {
    let mapper = "m :: RoundRobinIPMapper(1.0.0.1 10-11# - - 0 1, 1.0.0.2 20-21# - - 0 1);";
    let mut t = Harness::new(&format!("{mapper} {}", with_two("IPRewriter(m, drop)")));
    t.push("in", 0, (1..=5).map(|port| udp(("10.0.0.1", port), SERVER, b"").packet()));
    let expected =
        ["1.0.0.1:10", "1.0.0.2:20", "1.0.0.1:11", "1.0.0.2:21"].map(|from| format!("{from} > 9.9.9.9:53"));
    assert_eq!((out(&mut t, "a"), t.read("rw.mapping_failures")), (expected.to_vec(), "1".into()));
}

#[test]
fn annotations_are_set_as_asked_for() {
    let dst = |t: &mut Harness, sink| t.take(sink).iter().map(|p| p.dst_ip().to_string()).collect::<Vec<_>>();
    for (kind, anno, forward, back) in [
        ("UDPRewriter", "", "7.7.7.7", "10.0.0.1"),
        ("UDPRewriter", ", DST_ANNO false", "0.0.0.0", "0.0.0.0"),
    ] {
        let mut t =
            Harness::new(&with_two(&format!("{kind}(pattern 1.0.0.1 2000 7.7.7.7 - 0 1, drop{anno})")));
        t.push("in", 0, [udp(CLIENT, SERVER, b"").packet()]);
        t.push("back", 0, [udp(("7.7.7.7", 53), ("1.0.0.1", 2000), b"").packet()]);
        assert_eq!((dst(&mut t, "a"), dst(&mut t, "b")), (vec![forward.to_string()], vec![back.to_string()]));
    }
    // Sources only are changed forward, so the destination is not said.
    let mut t = Harness::new(&with_two("IPAddrRewriter(pattern 1.0.0.1 - 0 1, drop)"));
    t.push("in", 0, [udp(CLIENT, SERVER, b"").packet()]);
    t.push("back", 0, [udp(SERVER, ("1.0.0.1", 1), b"").packet()]);
    assert_eq!(
        (dst(&mut t, "a"), dst(&mut t, "b")),
        (vec!["0.0.0.0".to_string()], vec!["10.0.0.1".to_string()])
    );
}

#[test]
fn answers_get_the_annotation_that_the_first_packet_had() {
    let mut t = Harness::new(&with_two("IPRewriter(keep 0 1, drop, REPLY_ANNO PAINT)"));
    let painted = |colour, packet: Made| {
        let mut p = packet.packet();
        p.set_paint(colour);
        p
    };
    t.push("in", 0, [painted(7, udp(CLIENT, SERVER, b"")), painted(8, udp(CLIENT, SERVER, b""))]);
    t.push("back", 0, [painted(1, udp(SERVER, CLIENT, b""))]);
    let colours = |t: &mut Harness, sink| t.take(sink).iter().map(Packet::paint).collect::<Vec<_>>();
    assert_eq!((colours(&mut t, "a"), colours(&mut t, "b")), (vec![7, 8], vec![7]));
}

#[test]
fn a_flow_between_equal_ends_is_its_own_answer() {
    let mut t = Harness::new(&with_two("IPRewriter(keep 0 1, drop)"));
    let same = || udp(("1.1.1.1", 5), ("1.1.1.1", 5), b"").packet();
    t.push("in", 0, [same(), same()]);
    // As in Click: the entry of the answers replaces that of the flow.
    assert_eq!((t.take("a").len(), t.take("b").len()), (1, 1));
    assert_eq!(t.read("rw.udp_table").lines().count(), 1);
    t.write("rw.clear").unwrap();
    assert_eq!((t.read("rw.size"), t.read("rw.udp_table")), ("0".into(), String::new()));
}

#[test]
fn a_mapping_whose_answers_another_wants_is_replaced() {
    let mut t = Harness::new(&with_two("IPRewriter(pattern 1.0.0.1 2000 - - 0 1, drop)"));
    t.push("in", 0, [udp(("10.0.0.1", 1), SERVER, b"").packet(), udp(("10.0.0.2", 1), SERVER, b"").packet()]);
    t.push("back", 0, [udp(SERVER, ("1.0.0.1", 2000), b"").packet()]);
    assert_eq!(
        (out(&mut t, "b"), t.read("rw.nmappings")),
        (vec!["9.9.9.9:53 > 10.0.0.2:1".to_string()], "1".into())
    );
}

#[test]
fn batches_and_single_packets_are_treated_alike() {
    let config = with_two("IPRewriter(pattern 1.0.0.1 2000-2031# - - 0 1, drop)");
    let packets = || (0..60u16).map(|n| udp(("10.0.0.1", n % 40), SERVER, &[n as u8]).packet());
    let (mut one, mut many) = (Harness::new(&config), Harness::batched(&config));
    one.push("in", 0, packets());
    many.push_batch("in", 0, packets());
    let (expected, got) = (one.bytes("a"), many.bytes("a"));
    assert_eq!((expected.len(), &expected), (52, &got));
    assert_eq!(one.read("rw.udp_table"), many.read("rw.udp_table"));
}
