//! What strangers may try.

use super::*;
use clickwork_packet::Batch;
use clickwork_router::Endpoint;
use std::time::Duration;

const SERVER: End = ("9.9.9.9", 80);

#[test]
fn spoofed_answers_reach_nobody() {
    for kind in ["IPRewriter", "UDPRewriter", "TCPRewriter"] {
        let mut t = Harness::new(&with_two(&format!("{kind}(pattern 1.0.0.1 2000-2009# - - 0 1, drop)")));
        let make =
            |from, to| if kind == "TCPRewriter" { tcp(from, to, flag::ACK, b"") } else { udp(from, to, b"") };
        t.push("in", 0, [make(("10.0.0.1", 5), SERVER).packet()]);
        // Another host, another port of the server, another port of ours, the inside address itself.
        let spoofed = [
            make(("9.9.9.8", 80), ("1.0.0.1", 2000)),
            make(("9.9.9.9", 81), ("1.0.0.1", 2000)),
            make(SERVER, ("1.0.0.1", 2001)),
            make(SERVER, ("10.0.0.1", 5)),
        ];
        t.push("back", 0, spoofed.iter().map(Made::packet));
        assert_eq!((t.bytes("b").len(), t.bytes("a").len(), t.read("rw.nmappings")), (0, 1, "1".into()));
        assert_eq!(t.read("rw.drop_reasons"), "4\tno mapping\n");
    }
}

#[test]
fn fragments_without_ports_and_odd_packets_are_dropped_unless_they_may_pass() {
    let packets = || {
        let mut short = tcp(("10.0.0.1", 5), SERVER, flag::SYN, b"");
        short.transport.truncate(7);
        [
            udp(("10.0.0.1", 5), SERVER, b"data").fragment(3).packet(),
            udp(("10.0.0.1", 5), SERVER, b"data").fragment(0x2001).packet(),
            short.packet(),
            echo("10.0.0.1", "9.9.9.9", 8, 1).marked(),
        ]
    };
    let mut t = Harness::new(&with_two("IPRewriter(pattern 1.0.0.1 2000 - - 0 1, pass 1)"));
    t.push("in", 0, packets());
    assert_eq!((t.bytes("a").len(), t.read("rw.nmappings")), (0, "0".into()));
    assert_eq!(
        t.read("rw.drop_reasons"),
        "2\tfragment without ports\n1\tshort transport header\n1\tother protocol\n"
    );
    t.push("back", 0, packets().into_iter().chain([Packet::new(b"no header")]));
    assert_eq!((t.take("b").len(), t.router.total_drops()), (4, 5));
    // The first fragment has ports, and is rewritten.
    t.push("in", 0, [udp(("10.0.0.1", 5), SERVER, b"data").fragment(0x2000).packet()]);
    assert_eq!(t.take("a").len(), 1);
}

#[test]
fn a_tcp_header_cut_behind_its_ports_is_rewritten_as_far_as_it_goes() {
    for length in 8..20 {
        let mut t = Harness::new(&with_two("IPRewriter(pattern 1.0.0.1 2000 - - 0 1, drop)"));
        let mut cut = tcp(("10.0.0.1", 5), SERVER, flag::SYN, b"");
        cut.transport.truncate(length);
        t.push("in", 0, [cut.packet()]);
        let bytes = t.bytes("a").remove(0);
        assert_eq!(Ipv4::new(&bytes).unwrap().source().to_string(), "1.0.0.1");
        assert!(Ipv4::new(&bytes).unwrap().checksum_is_right());
    }
}

#[test]
fn a_flood_of_flows_stays_within_the_capacity_and_spares_who_is_talking() {
    let mut t = Harness::batched(&with_two(
        "IPRewriter(pattern 1.0.0.1 1024-65535 - - 0 1, drop, CAPACITY 1000, UDP_GUARANTEE 2)",
    ));
    let id = t.router.find("in").unwrap();
    let send = |t: &mut Harness, host: &str| {
        let p = udp((host, 5), SERVER, b"").packet();
        t.router.push(Endpoint { element: id, port: 0 }, Batch::one(p));
    };
    send(&mut t, "10.0.0.1");
    let source = t.take("a")[0].data()[20..22].to_vec();
    for second in 1..=30 {
        (0..2000).for_each(|n| send(&mut t, &format!("10.{second}.{}.{}", n >> 8, n & 0xFF)));
        send(&mut t, "10.0.0.1");
        t.run_for(Duration::from_secs(1));
        assert_eq!(t.read("rw.size"), "1000");
    }
    let answers = t.take("a");
    let ours = answers.iter().filter(|p| p.data()[20..22] == source[..]).count();
    assert!(ours >= 30, "{ours}");
    assert!(t.read("rw.mapping_failures").parse::<u32>().unwrap() > 30_000);
    let back = Made::new(SERVER, ("1.0.0.1", u16::from_be_bytes([source[0], source[1]])), 17, &[0, 8, 1, 1]);
    t.push("back", 0, [back.packet()]);
    assert!(out(&mut t, "b")[0].contains("> 10.0.0.1:5"));
}

#[test]
fn when_ports_are_exhausted_a_flood_costs_little_and_a_freed_port_is_found() {
    let mut t = Harness::batched(&with_two(
        "UDPRewriter(pattern 1.0.0.1 1024-65535 - - 0 1, drop, TIMEOUT 20, REAP_INTERVAL 30)",
    ));
    let id = t.router.find("in").unwrap();
    let push = |t: &mut Harness, host: u32, to: End| {
        let from = format!("10.{}.{}.{}", host >> 16, host >> 8 & 0xFF, host & 0xFF);
        let p = udp((&from, 80), to, b"").packet();
        t.router.push(Endpoint { element: id, port: 0 }, Batch::one(p));
    };
    (0..64_512).for_each(|host| push(&mut t, host, SERVER));
    assert_eq!((t.read("rw.size"), t.take("a").len()), ("64512".into(), 64_512));
    // Had each looked at all ports, it would be more than a thousand million lookups: minutes.
    (70_000..90_000).for_each(|host| push(&mut t, host, SERVER));
    assert_eq!(t.read("rw.mapping_failures"), "20000");
    // For other servers the same ports are free.
    push(&mut t, 90_000, ("9.9.9.8", 80));
    assert_eq!(t.take("a").len(), 1);
    t.run_for(Duration::from_secs(40));
    assert_eq!(t.read("rw.size"), "0");
    push(&mut t, 90_001, SERVER);
    assert_eq!(t.take("a").len(), 1);
}

#[test]
fn each_port_that_becomes_free_is_found_and_others_are_not_refused() {
    // Many sources, each with ports of its own, and the same with pings, whose identifiers are told apart otherwise.
    for (rewriter, is_ping) in [
        ("UDPRewriter(pattern - 2000-2003# - - 0 1, drop, GUARANTEE 0, TIMEOUT 25, REAP_INTERVAL 1)", false),
        (
            "ICMPPingRewriter(pattern 1.0.0.1 2000-2003# - - 0 1, drop, GUARANTEE 0, TIMEOUT 25, REAP_INTERVAL 1)",
            true,
        ),
    ] {
        let mut t = Harness::new(&with_two(rewriter));
        let packet = |port: u16, server: &str| match is_ping {
            true => echo("10.0.0.1", server, 8, port).marked(),
            false => udp(("10.0.0.1", port), (server, 80), b"").packet(),
        };
        t.push("in", 0, (1..=6).map(|port| packet(port, "9.9.9.9")));
        assert_eq!((t.take("a").len(), t.read("rw.mapping_failures")), (4, "2".into()), "{rewriter}");
        // Another server has all ports, and another source too if sources are kept.
        t.push("in", 0, [packet(1, "9.9.9.8")]);
        if !is_ping {
            t.push("in", 0, [udp(("10.0.0.2", 1), ("9.9.9.9", 80), b"").packet()]);
        }
        let passed = t.take("a").len();
        assert_eq!(passed, if is_ping { 1 } else { 2 });
        // Two of the first are used again, at 20 or 30 seconds; the others end, and their ports are given again.
        let mut t = Harness::new(&with_two(rewriter));
        t.push("in", 0, (1..=5).map(|port| packet(port, "9.9.9.9")));
        t.push("in", 0, [packet(1, "9.9.9.9"), packet(3, "9.9.9.9")]);
        t.run_for(Duration::from_secs(7));
        assert_eq!(t.read("rw.size"), "2");
        t.take("a");
        t.push("in", 0, (11..=13).map(|port| packet(port, "9.9.9.9")));
        let mut ports: Vec<String> =
            out(&mut t, "a").iter().map(|o| o.split([':', ' ']).nth(1).unwrap().into()).collect();
        ports.sort();
        assert_eq!(
            (ports, t.read("rw.mapping_failures")),
            (vec!["2001".into(), "2003".to_string()], "2".into())
        );
    }
}

#[test]
fn reaping_a_large_table_lets_packets_through_in_between() {
    let mut t =
        Harness::batched(&with_two("UDPRewriter(keep 0 1, drop, TIMEOUT 5, GUARANTEE 1, REAP_INTERVAL 20)"));
    let id = t.router.find("in").unwrap();
    for n in 0..20_000u32 {
        let p = udp((&format!("10.0.{}.{}", n >> 8, n & 0xFF), 1), SERVER, b"").packet();
        t.router.push(Endpoint { element: id, port: 0 }, Batch::one(p));
    }
    t.run_for(Duration::from_millis(19_990));
    let sizes: Vec<u32> = (0..50)
        .map(|_| {
            t.run_for(Duration::from_millis(1));
            t.read("rw.size").parse().unwrap()
        })
        .collect();
    assert!(sizes.iter().any(|size| (1..20_000).contains(size)), "{sizes:?}");
    assert_eq!(t.read("rw.size"), "0");
}
