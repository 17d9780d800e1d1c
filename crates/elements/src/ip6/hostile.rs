//! Hostile IPv6 packets and frames: nothing panics, and each packet comes out, waits, or is counted as dropped.

use super::samples::ip6;
use crate::hostile::{Hostile, account, hostile};
use crate::testing::Harness;
use clickwork_packet::Packet;
use proptest::prelude::*;

/// Elements, the outputs that they have, and whether each packet leaves once.
const ELEMENTS: &[(&str, usize, bool)] = &[
    ("CheckIP6Header(::, 3)", 2, true),
    ("MarkIP6Header(5)", 1, true),
    ("GetIP6Address(24)", 1, true),
    ("DecIP6HLIM", 2, true),
    ("IP6Fragmenter(60)", 2, true),
    ("IP6Fragmenter(60, FRAGMENT true)", 2, false),
    ("IP6Mirror", 1, true),
    ("SetIP6DSCP(3)", 1, true),
    ("SetIP6Address(::1)", 1, true),
    ("IP6Encap(41, ::1, DST_ANNO)", 1, true),
    ("UDPIP6Encap(::1, 1, ::2, 2)", 1, true),
    ("ICMP6Error(::1, 3, 0)", 1, true),
    ("ICMP6Error(::1, 137, 0, MTU 60)", 1, true),
    ("ICMP6PingResponder", 2, true),
    ("LookupIP6Route(::/0 ::1 0, ::ffff:0.0.0.0/96 1)", 2, true),
    ("ProtocolTranslator64", 1, true),
    ("IP6NDAdvertiser(::/0 2:0:0:0:0:1)", 1, true),
    ("IP6Print(x, CONTENTS true)", 1, true),
];

/// Chains of extension headers of all kinds, right and wrong, in front of something.
fn chain() -> impl Strategy<Value = (u8, Vec<u8>)> {
    let kind = prop_oneof![
        Just(0u8),
        Just(43),
        Just(44),
        Just(51),
        Just(60),
        Just(6),
        Just(17),
        Just(58),
        any::<u8>()
    ];
    let header = (kind.clone(), prop_oneof![4 => Just(0u8), 1 => any::<u8>()], any::<[u8; 6]>());
    let headers = proptest::collection::vec(header, 0..5);
    (headers, kind, proptest::collection::vec(any::<u8>(), 0..120)).prop_map(|(headers, last, payload)| {
        let mut bytes = Vec::new();
        let mut first = last;
        // From the last to the first, each says what follows.
        for (kind, len, rest) in headers {
            bytes = [&[first, len][..], &rest, &bytes].concat();
            first = kind;
        }
        (first, [bytes, payload].concat())
    })
}

fn well_formed() -> impl Strategy<Value = Vec<u8>> {
    let address = prop_oneof![
        Just("::ffff:1.2.3.4".to_string()),
        Just("2001:db8::1".to_string()),
        Just("ff02::1".to_string()),
        Just("::".to_string()),
    ];
    let message = (any::<u8>(), any::<u8>(), proptest::collection::vec(any::<u8>(), 0..80));
    (address.clone(), address, chain(), proptest::option::of(message), any::<u8>()).prop_map(
        |(source, destination, (next_header, payload), message, hop_limit)| {
            let sample = ip6(&source, &destination).hop_limit(hop_limit);
            match message {
                Some((icmp_type, code, body)) => sample.icmp6(icmp_type, code, &body).bytes(),
                None => sample.payload(next_header, &payload).bytes(),
            }
        },
    )
}

/// Neighbour discovery messages in frames, whose checksums are right until they are damaged.
fn discovery() -> impl Strategy<Value = Vec<u8>> {
    let source = prop_oneof![Just("::"), Just("2001:db8::9"), Just("ff02::1")];
    let options = proptest::collection::vec(any::<u8>(), 0..24);
    let option = (any::<bool>(), options, prop_oneof![Just(1u8), Just(2)]);
    (source, prop_oneof![Just(135u8), Just(136)], any::<u32>(), option).prop_map(
        |(source, icmp_type, flags, (whole, options, kind))| {
            let target = "2001:db8::2".parse::<std::net::Ipv6Addr>().expect("an address").octets();
            let options = if whole { vec![kind, 1, 2, 0, 0, 0, 0, 9] } else { options };
            let body = [&flags.to_be_bytes()[..], &target, &options].concat();
            let packet = ip6(source, "2001:db8::1").hop_limit(255).icmp6(icmp_type, 0, &body).bytes();
            [&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, 0x86, 0xdd][..], &packet].concat()
        },
    )
}

fn several(of: impl Strategy<Value = Hostile>) -> impl Strategy<Value = Vec<Hostile>> {
    proptest::collection::vec(of, 1..64)
}

/// What comes out of an element with two inputs, is lost in it, or waits.
fn accounted(t: &mut Harness, packets: &[Hostile], port: u16) -> usize {
    let before = t.router.total_drops() as usize;
    t.push_batch("e", port, packets.iter().map(Hostile::packet));
    let out: usize = ["a", "b"].map(|sink| t.take(sink).len()).iter().sum();
    out + t.router.total_drops() as usize - before
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_packet_is_accounted_for(packets in several(hostile(well_formed(), 40))) {
        account(ELEMENTS, &packets)?;
    }

    #[test]
    fn every_translated_packet_is_accounted_for(packets in several(hostile(well_formed(), 40))) {
        for config in ["0, true, true, false, 2001:db8::7 1 9", "1, false, ::ffff:1.2.3.4 ::9, true, false, true, ::8"] {
            let mut t = Harness::batched(&format!(
                "Idle -> e :: AddressTranslator({config}) -> a :: Sink; Idle -> [1] e [1] -> b :: Sink"
            ));
            for port in [0, 1, 0] {
                prop_assert_eq!(accounted(&mut t, &packets, port), packets.len());
            }
        }
    }

    #[test]
    fn no_message_of_neighbours_does_harm(
        messages in several(hostile(discovery(), 40)),
        packets in several(hostile(well_formed(), 40)),
    ) {
        let mut t = Harness::batched(
            "Idle -> e :: IP6NDSolicitor(2001:db8::1, 2:0:0:0:0:1, CAPACITY 4, ENTRY_CAPACITY 2) -> a :: Sink; \
             Idle -> [1] e [1] -> b :: Sink",
        );
        let mut wanted = Packet::new(b"x");
        wanted.set_dst_ip6("2001:db8::2".parse().expect("an address"));
        t.push("e", 0, [wanted]);
        t.push_batch("e", 1, messages.iter().map(Hostile::packet));
        t.push_batch("e", 0, packets.iter().map(Hostile::packet));
        let entries: usize = t.read("e.count").parse().expect("a number");
        prop_assert!(entries <= 6, "{}", entries);
        // Only the true message can have taught anything: who has the address asked for.
        let table = t.read("e.table");
        let known = table.lines().filter(|line| line.contains(" 1 "));
        prop_assert!(known.clone().all(|line| line.starts_with("2001:db8::2 1 ")), "{}", table);
        account(&[("IP6NDAdvertiser(::/0 2:0:0:0:0:1)", 1, true)], &messages)?;
    }
}
