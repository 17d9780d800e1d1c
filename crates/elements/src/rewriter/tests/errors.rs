//! ICMP errors about packets that were rewritten.

use super::*;
use clickwork_packet::headers::Ipv4;

const CLIENT: End = ("10.0.0.1", 1111);
const OUTSIDE: End = ("1.0.0.1", 2000);
const SERVER: End = ("9.9.9.9", 53);

/// An error about a packet, of which `bytes` are quoted.
fn error(from: &str, to: &str, icmp_type: u8, about: &[u8], bytes: usize) -> Sample {
    icmp(from, to, &[&[icmp_type, 1, 0, 0, 0, 0, 0, 0], &about[..bytes.min(about.len())]].concat())
}

fn config(rewriter: &str) -> String {
    format!("{}; e :: Source -> ICMPRewriter(rw) -> k :: Sink", with_two(rewriter))
}

#[test]
fn errors_about_packets_of_every_rewriter_come_back_to_the_sender() {
    let ports = "pattern 1.0.0.1 2000 - - 0 1, drop";
    let addresses = "pattern 1.0.0.1 - 0 1, drop";
    let ping = |from| echo(from, SERVER.0, 8, 7).bytes();
    let pinged = |from| echo(from, SERVER.0, 8, 300).bytes();
    let (u, t) =
        (|from| udp(from, SERVER, b"question").bytes(), |from| tcp(from, SERVER, flag::SYN, b"data").bytes());
    let other = (OUTSIDE.0, CLIENT.1);
    for (rewriter, sent, changed) in [
        (format!("IPRewriter({ports})"), u(CLIENT), u(OUTSIDE)),
        (format!("IPRewriter({ports})"), t(CLIENT), t(OUTSIDE)),
        (format!("UDPRewriter({ports})"), u(CLIENT), u(OUTSIDE)),
        (format!("TCPRewriter({ports})"), t(CLIENT), t(OUTSIDE)),
        (format!("IPAddrRewriter({addresses})"), u(CLIENT), u(other)),
        (format!("IPAddrPairRewriter({addresses})"), t(CLIENT), t(other)),
        ("ICMPPingRewriter(pattern 1.0.0.1 300 - - 0 1, drop)".into(), ping(CLIENT.0), pinged(OUTSIDE.0)),
    ] {
        let mut r = Harness::new(&config(&rewriter));
        let mut p = Packet::new(&sent);
        p.set_network_header(0, 20);
        r.push("in", 0, [p]);
        assert_eq!(r.bytes("a"), std::slice::from_ref(&changed), "{rewriter}");
        // All of the packet comes back, or the 8 bytes that RFC 792 asks for.
        for quoted in [28, 38, 100] {
            for icmp_type in [3, 4, 5, 11, 12] {
                r.push("e", 0, [error("7.7.7.7", OUTSIDE.0, icmp_type, &changed, quoted).marked()]);
                let got = r.bytes("k");
                assert_eq!(
                    got,
                    [error("7.7.7.7", CLIENT.0, icmp_type, &sent, quoted).bytes()],
                    "{rewriter} {quoted}"
                );
            }
        }
    }
}

#[test]
fn errors_of_the_sender_about_answers_go_out_to_the_server() {
    let mut t = Harness::new(&config("UDPRewriter(pattern 1.0.0.1 2000 7.7.7.7 80 0 1, drop)"));
    t.push("in", 0, [udp(CLIENT, SERVER, b"").packet()]);
    let (told, asked) =
        (udp(SERVER, CLIENT, b"answer").bytes(), udp(("7.7.7.7", 80), OUTSIDE, b"answer").bytes());
    t.push("e", 0, [error(CLIENT.0, SERVER.0, 3, &told, 100).marked()]);
    assert_eq!(t.bytes("k"), [error(CLIENT.0, "7.7.7.7", 3, &asked, 100).bytes()]);
}

#[test]
fn what_is_no_error_or_about_no_mapping_is_dropped_and_counted() {
    let mut t = Harness::new(&config("UDPRewriter(pattern 1.0.0.1 2000 - - 0 1, drop)"));
    t.push("in", 0, [udp(CLIENT, SERVER, b"").packet()]);
    let changed = udp(OUTSIDE, SERVER, b"").bytes();
    let not_first = udp(OUTSIDE, SERVER, b"").fragment(5).bytes();
    t.push(
        "e",
        0,
        [
            udp(CLIENT, SERVER, b"").packet(),
            echo("7.7.7.7", OUTSIDE.0, 0, 1).marked(),
            error("7.7.7.7", OUTSIDE.0, 3, &udp(("1.0.0.1", 2001), SERVER, b"").bytes(), 100).marked(),
            error("7.7.7.7", OUTSIDE.0, 3, &tcp(OUTSIDE, ("9.9.9.9", 54), 0, b"").bytes(), 100).marked(),
            error("7.7.7.7", OUTSIDE.0, 3, &changed, 19).marked(),
            error("7.7.7.7", OUTSIDE.0, 3, &changed, 27).marked(),
            error("7.7.7.7", OUTSIDE.0, 3, &not_first, 100).marked(),
            Packet::new(b"none"),
        ],
    );
    assert_eq!(t.bytes("k"), [[0u8; 0]; 0]);
    let id = t.router.ids().find(|&id| t.router.info(id).class.name == "ICMPRewriter").unwrap();
    let name = t.router.info(id).name.clone();
    assert_eq!(
        t.read(&format!("{name}.drop_reasons")),
        "1\tnot ICMP\n2\tnot an ICMP error\n4\tno mapping\n1\tno IP header\n"
    );
}

#[test]
fn what_is_not_rewritten_leaves_by_a_second_output_unless_it_is_a_mappings() {
    let unmapped = || error("7.7.7.7", OUTSIDE.0, 3, &udp(("1.0.0.1", 2001), SERVER, b"").bytes(), 100);
    let others = || {
        [udp(CLIENT, SERVER, b"").packet(), echo("7.7.7.7", OUTSIDE.0, 0, 1).marked(), unmapped().marked()]
    };
    let rewriter = with_two("UDPRewriter(pattern 1.0.0.1 2000 - - 0 1, drop)");
    for (maps, left) in [("rw", 2), ("rw:0", 0)] {
        let mut t = Harness::new(&format!(
            "{rewriter}; e :: Source -> i :: ICMPRewriter({maps}) -> k :: Sink; i[1] -> l :: Sink"
        ));
        t.push("e", 0, others());
        assert_eq!((t.take("k").len(), t.take("l").len()), (0, left), "{maps}");
    }
}

#[test]
fn forged_quotations_are_survived_and_fit_the_outer_packet_only_if_they_should() {
    let mut t = Harness::new(&config("UDPRewriter(pattern 1.0.0.1 2000 - - 0 1, drop)"));
    t.push("in", 0, [udp(CLIENT, SERVER, b"").packet()]);
    t.take("a");
    let good = error("7.7.7.7", OUTSIDE.0, 3, &udp(OUTSIDE, SERVER, b"").bytes(), 100).bytes();
    // Each byte of the message and of what it quotes, each value of those that are lengths.
    let mut packets = Vec::new();
    for at in 20..good.len() {
        for value in [0, 1, 0x0F, 0x45, 0x4F, 0xFF] {
            let mut bytes = good.clone();
            bytes[at] = value;
            for cut in [bytes.len(), at] {
                let mut p = Packet::new(&bytes[..cut]);
                p.set_network_header(0, 20);
                packets.push(p);
            }
        }
    }
    t.push("e", 0, packets);
    // What came out has a right outer header, and is for the client.
    let all = t.bytes("k");
    assert!(!all.is_empty());
    for bytes in all {
        let mut ip = bytes.clone();
        ip.resize(ip.len().max(usize::from(u16::from_be_bytes([bytes[2], bytes[3]]))), 0);
        let ip = Ipv4::new(&ip).unwrap();
        assert!(ip.checksum_is_right());
        assert_eq!(ip.destination().to_string(), CLIENT.0);
    }
    // An error for someone else keeps its destination, even if it quotes our flow.
    t.push("e", 0, [error("7.7.7.7", "6.6.6.6", 3, &udp(OUTSIDE, SERVER, b"").bytes(), 100).marked()]);
    assert!(out(&mut t, "k")[0].contains("> 6.6.6.6"));
}

#[test]
fn several_rewriters_are_asked_in_turn_and_outputs_told_apart() {
    let mut t = Harness::new(
        "su :: Source -> u :: UDPRewriter(keep 0 1) -> a :: Sink; u[1] -> a; \
         st :: Source -> t :: TCPRewriter(keep 1 0) -> a; t[1] -> a; \
         e :: Source -> r :: ICMPRewriter(u t:1, DST_ANNO false) => k0 :: Sink, k1 :: Sink, k2 :: Sink",
    );
    let (u, c) = (udp(CLIENT, SERVER, b""), tcp(CLIENT, SERVER, flag::SYN, b""));
    t.push("su", 0, [u.packet()]);
    t.push("st", 0, [c.packet()]);
    t.push(
        "e",
        0,
        [
            error("7.7.7.7", CLIENT.0, 3, &u.bytes(), 100).marked(),
            error("7.7.7.7", CLIENT.0, 3, &c.bytes(), 100).marked(),
            error(CLIENT.0, SERVER.0, 3, &tcp(SERVER, CLIENT, 0, b"").bytes(), 100).marked(),
        ],
    );
    assert_eq!(["k0", "k1", "k2"].map(|k| t.take(k).len()), [1, 1, 1]);
}

#[test]
fn only_rewriters_can_be_asked() {
    for (maps, wrong) in [
        ("", "MAPS"),
        ("i", "i not an IP rewriter"),
        ("nobody", "nobody not an IP rewriter"),
        ("rw:x", "rw:x not an IP rewriter"),
        ("rw:1", "rw:1 port offset requires more than 1 output"),
    ] {
        let e = Harness::errors(&format!(
            "i :: Idle; i -> rw :: IPRewriter(drop) -> Discard; i -> ICMPRewriter({maps}) -> Discard"
        ));
        assert!(e.contains(wrong), "{maps}: {e}");
    }
}
