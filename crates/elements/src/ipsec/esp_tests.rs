//! Tests of both ends of a security association together.

use super::samples::{
    AUTH_KEY, CBC_KEY, CBC_TUNNEL, GCM_256_KEY, GCM_KEY, GCM_TRANSPORT, GCM_TUNNEL, INNER, INNER_6,
    TRANSPORT_6, TUNNEL_6, bytes,
};
use crate::ip::samples::ip;
use crate::testing::Harness;
use clickwork_packet::Packet;
use clickwork_packet::headers::{Header, Ipv4, Ipv4Mut, Ipv6Header};
use proptest::prelude::*;
use std::collections::HashSet;

const TUNNEL: &str = "SRC 192.0.2.1, DST 198.51.100.1";

/// Key arguments of both suites.
fn suites() -> [String; 2] {
    [GCM_KEY.to_string(), format!("{CBC_KEY}, CIPHER aes-cbc, AUTH_KEY {AUTH_KEY}")]
}

/// Both ends, with sinks behind them.
fn pair(send: &str, receive: &str) -> Harness {
    Harness::new(&format!(
        "s :: Source -> e :: IPsecESPEncrypt({send}) -> wire :: Sink; \
         r :: Source -> d :: IPsecESPDecrypt({receive}); d [0] -> k :: Sink; d [1] -> other :: Sink"
    ))
}

/// Gives packets to the sender, takes them off the wire.
fn sent(t: &mut Harness, packets: impl IntoIterator<Item = Packet>) -> Vec<Vec<u8>> {
    t.push("s", 0, packets);
    t.bytes("wire")
}

/// Gives bytes to the receiver, takes what comes out.
fn received(t: &mut Harness, packets: &[Vec<u8>]) -> Vec<Vec<u8>> {
    t.push("r", 0, packets.iter().map(|p| Packet::new(p)));
    t.bytes("k")
}

#[test]
fn packets_of_every_length_come_back_in_both_modes() {
    for keys in suites() {
        for (mode, send) in [("tunnel", TUNNEL), ("transport", "MODE transport")] {
            let mut t = pair(&format!("4096, {keys}, {send}"), &format!("4096, {keys}, MODE {mode}"));
            let clear: Vec<_> = (0..100)
                .chain([1400, 60_000])
                .map(|n| ip("10.1.0.2", "10.2.0.2").options(&[1; 3]).payload(17, &vec![n as u8; n]).bytes())
                .collect();
            let wire = sent(&mut t, clear.iter().map(|p| Packet::new(p)));
            for (packet, number) in wire.iter().zip(1u32..) {
                let outer = Ipv4::new(packet).unwrap();
                assert!(outer.checksum_is_right() && outer.protocol == 50);
                assert_eq!(usize::from(outer.total_len()), packet.len());
                assert_eq!(outer.payload()[..4], 4096u32.to_be_bytes());
                assert_eq!(outer.payload()[4..8], number.to_be_bytes());
                let from = if mode == "tunnel" { "192.0.2.1" } else { "10.1.0.2" };
                assert_eq!(outer.source().to_string(), from);
            }
            assert!(received(&mut t, &wire) == clear, "{mode} {keys}");
            assert_eq!(
                (t.read("e.seq"), t.read("d.seq"), t.read("d.count")),
                ("103".into(), "102".into(), "102".into())
            );
            assert_eq!((t.read("d.drops"), t.read("e.spi")), ("0".into(), "0x1000".into()));
        }
    }
}

#[test]
fn packets_of_another_implementation_are_read() {
    let cbc = format!("{CBC_KEY}, CIPHER aes-cbc, AUTH_KEY {AUTH_KEY}");
    for (receive, packet) in [
        (format!("0x1001, {GCM_KEY}"), GCM_TUNNEL),
        (format!("0x1002, {GCM_256_KEY}, MODE transport"), GCM_TRANSPORT),
        (format!("0x2001, {cbc}"), CBC_TUNNEL),
    ] {
        let mut t = pair(&format!("300, {CBC_KEY}00000000, {TUNNEL}"), &receive);
        assert_eq!(received(&mut t, &[bytes(packet)]), [bytes(INNER)]);
        assert_eq!(t.read("d.drops"), "0");
    }
}

/// An IPv6 packet with this much data behind its header.
fn ipv6(next_header: u8, payload: usize) -> Vec<u8> {
    let mut packet = vec![0; 40 + payload];
    let header = Ipv6Header::peek_mut(&mut packet).unwrap();
    header.set_class_and_flow(0x28, 5);
    header.set_payload_len(payload as u16);
    (header.next_header, header.hop_limit) = (next_header, 9);
    header.set_destination("2001:db8::9".parse().unwrap());
    packet
}

#[test]
fn ipv6_goes_through_tunnels_and_tunnels_go_over_ipv6() {
    const OVER_IPV6: &str = "SRC 2001:db8::1, DST 2001:db8::2, TTL 7";
    for keys in suites() {
        for (mode, send, outer) in
            [("tunnel", TUNNEL, 4), ("tunnel", OVER_IPV6, 6), ("transport", "MODE transport", 6)]
        {
            let mut t = pair(&format!("300, {keys}, {send}"), &format!("300, {keys}, MODE {mode}"));
            let clear: Vec<_> = (0..50).chain([1400]).map(|n| ipv6(17, n)).collect();
            let wire = sent(&mut t, clear.iter().map(|p| Packet::new(p)));
            for packet in &wire {
                assert_eq!(packet[0] >> 4, outer);
                if outer == 6 {
                    let header = Ipv6Header::peek(packet).unwrap();
                    assert_eq!((header.next_header, header.traffic_class()), (50, 0x28));
                    assert_eq!(usize::from(header.payload_len_field()), packet.len() - 40);
                    assert_eq!(header.hop_limit, if mode == "tunnel" { 7 } else { 9 });
                }
            }
            assert!(received(&mut t, &wire) == clear, "{mode} {outer}");
            assert!(received(&mut t, &wire).is_empty());
        }
    }
    let mut t = pair(&format!("300, {GCM_KEY}, {OVER_IPV6}"), &format!("300, {GCM_KEY}"));
    let clear = ip("10.1.0.2", "10.2.0.2").bytes();
    let wire = sent(&mut t, [Packet::new(&clear)]);
    assert_eq!(received(&mut t, &wire), [clear]);
    let cut: Vec<_> = (0..wire[0].len()).map(|n| wire[0][..n].to_vec()).collect();
    assert!(received(&mut t, &cut).is_empty());
}

#[test]
fn ipv6_packets_of_another_implementation_are_read() {
    for (receive, packet) in [("0x1004, KEY, MODE transport", TRANSPORT_6), ("0x1005, KEY", TUNNEL_6)] {
        let mut t = pair(&format!("300, {CBC_KEY}00000000, {TUNNEL}"), &receive.replace("KEY", GCM_KEY));
        assert_eq!(received(&mut t, &[bytes(packet)]), [bytes(INNER_6)]);
    }
}

#[test]
fn replayed_and_late_packets_are_dropped_and_the_window_moves() {
    for keys in suites() {
        let mut t = pair(&format!("300, {keys}, {TUNNEL}"), &format!("300, {keys}, WINDOW 32"));
        let wire = sent(&mut t, (0..100).map(|_| ip("10.1.0.2", "10.2.0.2").packet()));
        let send = |t: &mut Harness, numbers: &[usize]| {
            let packets: Vec<_> = numbers.iter().map(|&n| wire[n - 1].clone()).collect();
            received(t, &packets).len()
        };
        assert_eq!(send(&mut t, &[3, 1, 2, 3, 1, 2]), 3);
        assert_eq!(send(&mut t, &[50, 19, 18, 20, 19, 3]), 3);
        assert_eq!(send(&mut t, &[100, 68, 69]), 2);
        assert_eq!((t.read("d.replays"), t.read("d.seq")), ("7".into(), "100".into()));
        assert_eq!(t.read("d.drop_reasons"), "4\treplayed\n3\tsequence number too old\n");
        // Everything once more: nothing that came before comes through again.
        let again = send(&mut t, &(1..=100).collect::<Vec<_>>());
        assert_eq!(again, (70..100).count());
    }
}

#[test]
fn a_forged_packet_does_not_move_the_window() {
    for keys in suites() {
        let mut t = pair(&format!("300, {keys}, {TUNNEL}"), &format!("300, {keys}"));
        let wire = sent(&mut t, (0..2).map(|_| ip("10.1.0.2", "10.2.0.2").packet()));
        let mut forged = wire[0].clone();
        forged[24..28].copy_from_slice(&[0xff; 4]);
        assert_eq!(received(&mut t, &[forged, wire[0].clone(), wire[1].clone()]).len(), 2);
        assert_eq!((t.read("d.forged"), t.read("d.drop_reasons")), ("1".into(), "1\tnot authentic\n".into()));
    }
}

#[test]
fn cut_packets_and_fragments_are_dropped() {
    for keys in suites() {
        let mut t = pair(&format!("300, {keys}, {TUNNEL}"), &format!("300, {keys}"));
        let wire = sent(&mut t, [ip("10.1.0.2", "10.2.0.2").packet()]).remove(0);
        let resized = |len: usize, fragment: u16| {
            let mut packet = wire[..len].to_vec();
            let mut header = Ipv4Mut::new(&mut packet).unwrap();
            header.set_total_len(len as u16);
            header.set_fragment_field(fragment);
            header.fill_checksum();
            packet
        };
        let cut: Vec<_> = (20..wire.len()).map(|len| resized(len, 0)).collect();
        assert!(received(&mut t, &cut).is_empty());
        assert_eq!(
            received(&mut t, &(0..wire.len()).map(|len| wire[..len].to_vec()).collect::<Vec<_>>()),
            [[0; 0]; 0]
        );
        assert!(received(&mut t, &[resized(wire.len(), 0x2000), resized(wire.len(), 5)]).is_empty());
        assert!(t.read("d.drop_reasons").contains("2\tfragment\n"));
        assert_eq!(t.bytes("other").len(), 20, "what has no whole IP header is not ours");
        assert_eq!(received(&mut t, std::slice::from_ref(&wire)).len(), 1);
    }
}

#[test]
fn associations_stand_in_a_row() {
    let mut t = pair(&format!("300, {GCM_KEY}, {TUNNEL}"), &format!("301, {GCM_256_KEY}"));
    let clear = ip("10.1.0.2", "10.2.0.2").bytes();
    let wire = sent(&mut t, [Packet::new(&clear)]);
    assert!(received(&mut t, &[wire[0].clone(), clear.clone()]).is_empty());
    assert_eq!(t.bytes("other"), [wire[0].clone(), clear]);
    assert_eq!(t.read("d.drops"), "0");
    let mut alone =
        Harness::new(&format!("r :: Source -> d :: IPsecESPDecrypt(301, {GCM_256_KEY}) -> k :: Sink"));
    alone.push("r", 0, [Packet::new(&wire[0])]);
    assert_eq!(alone.read("d.drop_reasons"), "1\tanother SPI\n");
}

#[test]
fn sequence_numbers_and_ivs_end_before_they_repeat() {
    let mut t = pair(&format!("300, {GCM_KEY}, {TUNNEL}, SEQ 0xfffffffe"), &format!("300, {GCM_KEY}"));
    let wire = sent(&mut t, (0..5).map(|_| ip("10.1.0.2", "10.2.0.2").packet()));
    assert_eq!((wire.len(), t.read("e.drops")), (2, "3".into()));
    assert_eq!(t.printed(), "e: sequence numbers used up: no packet is sent until the keys change\n");
    assert_eq!(received(&mut t, &wire).len(), 2);
    // With 64 bits they go on.
    let keys = format!("300, {GCM_KEY}, ESN true");
    let mut t = pair(&format!("{keys}, {TUNNEL}, SEQ 0xfffffffe"), &keys);
    let wire = sent(&mut t, (0..5).map(|_| ip("10.1.0.2", "10.2.0.2").packet()));
    assert_eq!(wire.iter().map(|p| p[27]).collect::<Vec<_>>(), [0xfe, 0xff, 0, 1, 2]);
    assert_eq!(received(&mut t, &wire).len(), 5);
    assert_eq!(received(&mut t, &wire).len(), 0);
    assert_eq!((t.read("d.seq"), t.read("e.seq")), ("4294967298".into(), "4294967299".into()));
    let mut t = pair(&format!("{keys}, {TUNNEL}, SEQ 0xffffffffffffffff"), &keys);
    assert_eq!(sent(&mut t, (0..3).map(|_| ip("10.1.0.2", "10.2.0.2").packet())).len(), 1);
}

#[test]
fn a_hot_swap_continues_numbers_ivs_and_window() {
    let config = |keys: &str| {
        format!(
            "s :: Source -> e :: IPsecESPEncrypt(300, {keys}, {TUNNEL}) -> wire :: Sink; \
             r :: Source -> d :: IPsecESPDecrypt(300, {keys}); d -> k :: Sink; d [1] -> other :: Sink"
        )
    };
    for keys in suites() {
        let mut old = Harness::new(&config(&keys));
        let mut wire = sent(&mut old, (0..40).map(|_| ip("10.1.0.2", "10.2.0.2").packet()));
        received(&mut old, &wire[..39]);
        let mut new = Harness::new(&config(&keys));
        new.router.take_over(old.router);
        wire.extend(sent(&mut new, (0..40).map(|_| ip("10.1.0.2", "10.2.0.2").packet())));
        let numbers: Vec<u8> = wire.iter().map(|p| p[27]).collect();
        assert_eq!(numbers, (1..=80).collect::<Vec<_>>());
        let ivs: HashSet<_> = wire.iter().map(|p| p[28..36].to_vec()).collect();
        assert_eq!(ivs.len(), 80);
        assert_eq!(received(&mut new, &wire).len(), 41);
        // Other keys begin anew.
        let mut other = Harness::new(&config(&format!("{}{}", "11", &keys[2..])));
        other.router.take_over(new.router);
        assert_eq!(sent(&mut other, [ip("10.1.0.2", "10.2.0.2").packet()])[0][27], 1);
        assert_eq!(other.read("d.seq"), "0");
    }
}

#[test]
fn ivs_of_cbc_do_not_repeat_and_look_random() {
    let keys = &suites()[1];
    let mut t = pair(&format!("300, {keys}, {TUNNEL}"), &format!("300, {keys}"));
    let wire = sent(&mut t, (0..64).map(|_| ip("10.1.0.2", "10.2.0.2").packet()));
    let ivs: HashSet<_> = wire.iter().map(|p| &p[28..44]).collect();
    assert_eq!(ivs.len(), 64);
    let ones: u32 = ivs.iter().flat_map(|iv| iv.iter()).map(|b| b.count_ones()).sum();
    assert!((3600..4600).contains(&ones), "{ones} of 8192 bits");
}

#[test]
fn congestion_and_type_of_service_cross_the_tunnel() {
    let mut t = pair(&format!("300, {GCM_KEY}, {TUNNEL}"), &format!("300, {GCM_KEY}"));
    // (mark inside, mark put on the tunnel's packet, mark that leaves); RFC 6040 §4.2.
    let cases = [
        (0, None, Some(0)),
        (2, Some(3), Some(3)),
        (1, Some(3), Some(3)),
        (0, Some(3), None),
        (2, Some(1), Some(1)),
        (3, None, Some(3)),
    ];
    for (inside, outside, expected) in cases {
        let mut clear = ip("10.1.0.2", "10.2.0.2").bytes();
        let mut header = Ipv4Mut::new(&mut clear).unwrap();
        header.tos = 0x28 | inside;
        header.set_fragment_field(0x4000);
        header.fill_checksum();
        let mut wire = sent(&mut t, [Packet::new(&clear)]).remove(0);
        let mut outer = Ipv4Mut::new(&mut wire).unwrap();
        assert_eq!((outer.tos, outer.dont_fragment()), (0x28 | inside, true));
        outer.tos = outside.map_or(outer.tos, |mark| 0x28 | mark);
        outer.fill_checksum();
        let got = received(&mut t, &[wire]);
        let marks: Vec<u8> = got.iter().map(|p| p[1] & 3).collect();
        assert_eq!(marks, Vec::from_iter(expected), "{inside} {outside:?}");
        assert!(got.iter().all(|p| Ipv4::new(p).unwrap().checksum_is_right()));
    }
}

#[test]
fn what_cannot_be_protected_is_dropped() {
    let mut t = pair(&format!("300, {GCM_KEY}, {TUNNEL}"), &format!("300, {GCM_KEY}"));
    let mut lying = ip("1.0.0.1", "2.0.0.2").bytes();
    lying[2] = 9;
    let long = ip("1.0.0.1", "2.0.0.2").payload(17, &[0; 65_500]).packet();
    assert!(sent(&mut t, [Packet::new(b""), Packet::new(b"junk"), Packet::new(&lying), long]).is_empty());
    let reasons = "2\tno IP packet\n1\twrong length of IP packet\n1\ttoo long for IP\n";
    assert_eq!((t.read("e.drop_reasons"), t.read("e.seq")), (reasons.into(), "1".into()));
    let mut t = pair(&format!("300, {GCM_KEY}, MODE transport"), &format!("300, {GCM_KEY}"));
    assert!(sent(&mut t, [ip("1.0.0.1", "2.0.0.2").fragment(0x2000).packet()]).is_empty());
    assert!(sent(&mut t, [0, 43, 44, 60].map(|next| Packet::new(&ipv6(next, 8)))).is_empty());
    assert_eq!(t.read("e.drop_reasons"), "1\tfragment\n4\textension headers\n");
}

#[test]
fn a_shared_packet_stays_as_it_is() {
    let mut t = Harness::new(&format!(
        "s :: Source -> tee :: Tee; tee [0] -> e :: IPsecESPEncrypt(300, {GCM_KEY}, {TUNNEL}) -> wire :: Sink; tee [1] -> k :: Sink"
    ));
    let clear = ip("10.1.0.2", "10.2.0.2").bytes();
    t.push("s", 0, [Packet::new(&clear)]);
    assert_eq!((t.bytes("k"), t.bytes("wire").len()), (vec![clear], 1));
}

#[test]
fn mistakes_are_named() {
    let short = &GCM_KEY[2..];
    for (arguments, error) in [
        (format!("5, {GCM_KEY}, {TUNNEL}"), "SPI: 0 to 255 are reserved"),
        (format!("300, {short}, {TUNNEL}"), "KEY: 19 bytes, but AES-GCM needs 20, 28 or 36"),
        (
            "300, secret, SRC 1.0.0.1, DST 1.0.0.2".to_string(),
            "KEY: must be an even number of hexadecimal digits",
        ),
        (format!("300, {CBC_KEY}, CIPHER aes-cbc, {TUNNEL}"), "AUTH_KEY: missing"),
        (
            format!("300, {CBC_KEY}, CIPHER aes-cbc, AUTH_KEY 00, {TUNNEL}"),
            "AUTH_KEY: 1 bytes, but HMAC-SHA-256-128 needs 32",
        ),
        (format!("300, {GCM_KEY}, AUTH_KEY 00, {TUNNEL}"), "AUTH_KEY: AES-GCM needs none"),
        (format!("300, {GCM_KEY}, CIPHER des, {TUNNEL}"), "CIPHER: unknown value 'des'"),
        (format!("300, {GCM_KEY}, SRC 1.0.0.1"), "DST: missing, but needed in tunnel mode"),
        (format!("300, {GCM_KEY}, MODE transport, SRC 1.0.0.1"), "SRC: packets keep their addresses"),
        (
            format!("300, {GCM_KEY}, SRC 1.0.0.1, DST 2001:db8::1"),
            "DST: SRC and DST are of different IP versions",
        ),
        (format!("300, {GCM_KEY}, SRC host, DST 1.0.0.1"), "SRC: "),
        (format!("300, {GCM_KEY}, {TUNNEL}, SEQ 0x100000000"), "SEQ: sequence numbers begin with 1"),
    ] {
        let e = Harness::errors(&format!("Idle -> IPsecESPEncrypt({arguments}) -> Discard"));
        assert!(e.contains(error), "{arguments}: {e}");
        assert!(!e.contains("secret"), "keys are not repeated: {e}");
    }
    let e =
        Harness::errors(&format!("Idle -> IPsecESPDecrypt(300, {GCM_KEY}, ESN true, WINDOW 0) -> Discard"));
    assert!(e.contains("ESN needs a window"), "{e}");
}

#[test]
fn a_gcm_key_serves_one_association() {
    let both = |a: &str, b: &str| format!("Idle -> a :: {a} -> Discard; Idle -> b :: {b} -> Discard");
    let encrypt = |spi: u32| format!("IPsecESPEncrypt({spi}, {GCM_KEY}, {TUNNEL})");
    let decrypt = |spi: u32| format!("IPsecESPDecrypt({spi}, {GCM_KEY})");
    for (a, b) in [(encrypt(300), encrypt(301)), (encrypt(300), decrypt(301)), (encrypt(300), encrypt(300))] {
        let e = Harness::errors(&both(&a, &b));
        assert!(e.contains("KEY is that of 'a' too"), "{e}");
    }
    Harness::new(&both(&encrypt(300), &decrypt(300)));
}

#[test]
fn without_a_window_everything_authentic_passes() {
    let mut t = pair(&format!("300, {GCM_KEY}, {TUNNEL}"), &format!("300, {GCM_KEY}, WINDOW 0"));
    let wire = sent(&mut t, (0..3).map(|_| ip("10.1.0.2", "10.2.0.2").packet()));
    assert_eq!(received(&mut t, &[&wire[..], &wire].concat()).len(), 6);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever authentic peers put inside, nothing panics and every packet is accounted for.
    #[test]
    fn strange_content_of_authentic_packets_is_survived(
        content in prop::collection::vec(any::<u8>(), 0..80), version in 3u8..8, transport: bool
    ) {
        use super::cipher::{ICV_LEN, Nonce, Suite};
        let suite = Suite::gcm(&bytes(GCM_KEY)).unwrap();
        let mut text = content;
        text.resize(text.len().next_multiple_of(4).max(4), 4);
        text[0] = version << 4 | text[0] & 0xF;
        let mut esp = vec![0, 0, 1, 44, 0, 0, 0, 1];
        esp.extend([0; 8]);
        esp.extend(&text);
        esp.extend([0; ICV_LEN]);
        suite.seal(&mut esp, Nonce { salt: 0, counter: 1 }, None);
        let mode = if transport { "transport" } else { "tunnel" };
        let mut t = pair(&format!("300, {GCM_256_KEY}, {TUNNEL}"), &format!("300, {GCM_KEY}, MODE {mode}"));
        let got = received(&mut t, &[ip("1.0.0.1", "2.0.0.2").payload(50, &esp).bytes()]);
        let dropped: usize = t.read("d.drops").parse().unwrap();
        prop_assert_eq!(got.len() + dropped, 1);
    }
}
