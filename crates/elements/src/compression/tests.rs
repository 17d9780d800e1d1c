//! Both ends of a link together: streams of packets over links that lose, repeat and reorder.

use super::samples::{ACK, PSH, Talker, datagram};
use crate::ip::samples::ip;
use crate::testing::Harness;
use clickwork_packet::Packet;
use clickwork_packet::headers::Ipv4;
use proptest::prelude::*;
use std::collections::HashSet;

/// Both ends, with sinks for what is sent, delivered, and asked for.
fn link(compress: &str, decompress: &str) -> Harness {
    Harness::new(&format!(
        "s :: Source -> c :: CompressIP({compress}) -> wire :: Sink; f :: Source -> [1] c; \
         r :: Source -> d :: DecompressIP({decompress}) -> k :: Sink; d [1] -> back :: Sink; d [2] -> peer :: Sink"
    ))
}

fn compressed(t: &mut Harness, packets: &[Vec<u8>]) -> Vec<Vec<u8>> {
    t.push("s", 0, packets.iter().map(|p| Packet::new(p)));
    t.bytes("wire")
}

fn restored(t: &mut Harness, packets: &[Vec<u8>]) -> Vec<Vec<u8>> {
    t.push("r", 0, packets.iter().map(|p| Packet::new(p)));
    t.bytes("k")
}

/// The bytes of headers that a stream sends, per packet, and without compression.
fn header_bytes(t: &mut Harness, packets: &[Vec<u8>], payload: usize) -> (f64, f64) {
    let wire = compressed(t, packets);
    let mean =
        |all: &[Vec<u8>]| all.iter().map(|p| p.len() - payload).sum::<usize>() as f64 / all.len() as f64;
    let result = (mean(&wire), mean(packets));
    assert_eq!(restored(t, &wire), packets);
    result
}

#[test]
fn headers_of_usual_streams_shrink_as_promised() {
    let mut bulk = Talker::new(1);
    let bulk: Vec<_> = (0..1000).map(|_| bulk.say(1460)).collect();
    let mut answers = Talker::new(2);
    let answers: Vec<_> = (0..1000)
        .map(|_| {
            answers.acknowledgment = answers.acknowledgment.wrapping_add(2920);
            answers.say(0)
        })
        .collect();
    let mut stamped = Talker { options: vec![1, 1, 8, 10, 0, 0, 0, 0, 0, 0, 0, 0], ..Talker::new(3) };
    let stamped: Vec<_> = (0..1000u32)
        .map(|n| {
            stamped.options[4..8].copy_from_slice(&n.to_be_bytes());
            stamped.say(1448)
        })
        .collect();
    let mut six = Talker { is_ipv6: true, ..Talker::new(4) };
    let six: Vec<_> = (0..1000).map(|_| six.say(1440)).collect();
    let voice: Vec<_> = (0..1000).map(|n| datagram(n * 37, 64, 0x1234 ^ n, 20)).collect();
    let plain: Vec<_> = (0..1000).map(|n| datagram(n, 64, 0, 20)).collect();
    // (stream, data in each packet, bytes of header at most, exact size before)
    for (packets, payload, most, before) in [
        (&bulk, 1460, 5.2, 40.0),
        (&answers, 0, 8.2, 40.0),
        (&stamped, 1448, 17.3, 52.0),
        (&six, 1440, 5.3, 60.0),
        (&voice, 20, 7.3, 28.0),
        (&plain, 20, 5.3, 28.0),
    ] {
        let (after, full) = header_bytes(&mut link("", ""), packets, payload);
        assert_eq!(full, before);
        assert!(after <= most, "{after} of {before}");
        let (after, _) = header_bytes(&mut link("FRAMING PPP", "FRAMING PPP"), packets, payload);
        assert!(after <= most + 1.01, "{after} of {before}");
    }
}

/// Changes to a talker before it says something, as dice choose.
fn change(talker: &mut Talker, dice: u32) -> usize {
    let n = dice >> 8;
    match dice % 32 {
        0 => talker.ttl ^= 1,
        1 => talker.tos ^= 0x20,
        2 => talker.tos ^= 3,
        3 => talker.id = n as u16,
        4 => talker.sequence = talker.sequence.wrapping_sub(n % 5000),
        5 => talker.reserved ^= 4,
        6 => (talker.flags, talker.urgent) = (ACK | 0x20, n as u16),
        7 => talker.flags = ACK | 0x01,
        8 => talker.flags = ACK | 0x02,
        9 => talker.options = vec![1; (n as usize % 4) * 4],
        10 | 11 => talker.options.iter_mut().for_each(|byte| *byte ^= 3),
        12 => talker.acknowledgment = n.wrapping_mul(9999),
        13 => talker.flags = ACK | 0xC0,
        14 | 15 => talker.window = n as u16,
        16 | 17 => {
            // The TCP checksum does not notice if such a packet is lost.
            talker.acknowledgment = talker.acknowledgment.wrapping_add(n % 3000);
            talker.window = talker.window.wrapping_sub((n % 3000) as u16);
            return 0;
        }
        18..=20 => {
            talker.acknowledgment = talker.acknowledgment.wrapping_add(1460);
            return 0;
        }
        21 => return 0,
        22 => talker.flags = ACK | PSH,
        23 => return n as usize % 300,
        24 => talker.id = talker.id.wrapping_add(5),
        _ => (talker.flags, talker.urgent) = (ACK, 0),
    }
    100
}

/// Packets of some streams with TCP and without, as dice choose.
fn mixed(dice: &[u32]) -> Vec<Vec<u8>> {
    let mut talkers: Vec<_> =
        (0..4).map(|n| Talker { is_ipv6: n == 3, ..Talker::new(n * 1000 + 1) }).collect();
    let one = |&dice: &u32| match dice >> 29 {
        0..5 => {
            let talker = &mut talkers[(dice >> 27) as usize % 4];
            let payload = change(talker, dice & 0xFF_FFFF);
            talker.say(payload)
        }
        5 => datagram(dice as u16, 64 - (dice >> 20) as u8 % 16 / 15, (dice as u16 / 7) | 1, 9),
        6 => datagram(dice as u16, 64, 0, 5),
        _ => {
            ip("10.0.0.1", "10.0.0.2").payload(1, &dice.to_be_bytes()).fragment(dice as u16 & 0x2000).bytes()
        }
    };
    dice.iter().map(one).collect()
}

/// What a link does to packets: loses, repeats and swaps some.
fn disturb(wire: &[Vec<u8>], dice: &[u32], per_cent: u32) -> Vec<Vec<u8>> {
    let mut out: Vec<Vec<u8>> = Vec::new();
    for (packet, dice) in wire.iter().zip(dice) {
        match dice % 100 {
            n if n < per_cent => {}
            n if n < per_cent + 3 => out.extend([packet.clone(), packet.clone()]),
            n if n < per_cent + 6 => {
                let at = out.len().saturating_sub((dice >> 8) as usize % 4);
                out.insert(at, packet.clone());
            }
            _ => out.push(packet.clone()),
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn over_a_faithful_link_every_packet_arrives_as_it_was(
        dice in prop::collection::vec(any::<u32>(), 1..300), ppp: bool, period in 1u32..40
    ) {
        let framing = if ppp { "FRAMING PPP" } else { "FRAMING BYTE" };
        let mut t = link(&format!("{framing}, TCP_SPACE 3, F_MAX_PERIOD {period}"), framing);
        let packets = mixed(&dice);
        let wire = compressed(&mut t, &packets);
        prop_assert_eq!(restored(&mut t, &wire), packets);
        prop_assert_eq!(t.read("d.drops"), "0");
    }

    /// Whatever the link does, what is delivered was sent.
    #[test]
    fn what_a_bad_link_delivers_was_sent(
        dice in prop::collection::vec(any::<u32>(), 1..400),
        fate in prop::collection::vec(any::<u32>(), 400),
        per_cent in 0u32..60,
    ) {
        let mut t = link("TCP_SPACE 3", "");
        let packets = mixed(&dice);
        let wire = compressed(&mut t, &packets);
        let arrived = disturb(&wire, &fate, per_cent);
        let sent: HashSet<_> = packets.into_iter().collect();
        for packet in restored(&mut t, &arrived) {
            prop_assert!(sent.contains(&packet), "{:02x?}", packet);
        }
    }

    #[test]
    fn hostile_packets_are_survived_and_accounted_for(
        dice in prop::collection::vec(any::<u32>(), 1..60),
        changes in prop::collection::vec((any::<u16>(), any::<u8>(), any::<u8>()), 60),
        junk in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..70), 30),
        ppp: bool,
    ) {
        let framing = if ppp { "FRAMING PPP" } else { "FRAMING BYTE" };
        let mut t = link(framing, framing);
        let mut wire = compressed(&mut t, &mixed(&dice));
        for (packet, (at, to, cut)) in wire.iter_mut().zip(&changes) {
            let at = usize::from(*at) % packet.len();
            packet[at] = *to;
            packet.truncate(packet.len().saturating_sub(usize::from(cut % 16)));
        }
        wire.extend(junk.iter().enumerate().map(|(n, rest)| {
            let prefix: &[u8] = if ppp { &[n as u8 & 0x20, 0x61 + (n as u8 & 6)] } else { &[(n as u8 % 7) | (n as u8 & 1) << 7] };
            [prefix, rest].concat()
        }));
        let total = wire.len();
        t.push("r", 0, wire.iter().map(|p| Packet::new(p)));
        t.push("f", 0, wire.iter().map(|p| Packet::new(p)));
        let (delivered, requests) = (t.bytes("k").len(), t.bytes("peer").len());
        let dropped: usize = t.read("d.drops").parse().unwrap();
        prop_assert_eq!(delivered + requests + dropped, total);
    }
}

/// A stream of data of which some packets get lost; gives how many are delivered.
fn delivered_without(t: &mut Harness, packets: &[Vec<u8>], lost: impl Fn(usize) -> bool) -> Vec<usize> {
    let wire = compressed(t, packets);
    let arrived: Vec<_> = wire.into_iter().enumerate().filter(|(n, _)| !lost(*n)).map(|(_, p)| p).collect();
    let got = restored(t, &arrived);
    got.iter().map(|p| packets.iter().position(|sent| sent == p).expect("it was sent")).collect()
}

fn bulk(count: usize) -> Vec<Vec<u8>> {
    let mut talker = Talker::new(9);
    (0..count).map(|_| talker.say(1000)).collect()
}

#[test]
fn a_few_lost_packets_of_a_regular_stream_cost_no_others() {
    for burst in 1..=3 {
        let mut t = link("", "");
        let got = delivered_without(&mut t, &bulk(100), |n| (50..50 + burst).contains(&n));
        let expected: Vec<_> = (0..100).filter(|n| !(50..50 + burst).contains(n)).collect();
        assert_eq!(
            (got, t.read("d.repairs"), t.read("d.drops")),
            (expected, "1".into(), "0".into()),
            "{burst}"
        );
    }
    // As the RFC has it, by trial.
    let mut t = link("FRAMING PPP", "FRAMING PPP");
    let got = delivered_without(&mut t, &bulk(100), |n| n == 50 || n == 51);
    assert_eq!((got.len(), t.read("d.repairs")), (98, "1".into()));
}

#[test]
fn after_a_long_loss_a_whole_header_comes_within_the_period() {
    for framing in ["FRAMING BYTE", "FRAMING PPP"] {
        let mut t = link(&format!("{framing}, F_MAX_PERIOD 64"), framing);
        let got = delivered_without(&mut t, &bulk(400), |n| (100..110).contains(&n));
        let missing = (100..400).filter(|n| !got.contains(n)).count();
        assert!(missing <= 10 + 64, "{missing} of 300 missing");
        assert_eq!(got.last(), Some(&399));
    }
}

#[test]
fn after_a_loss_a_whole_header_comes_when_asked_for() {
    for framing in ["FRAMING BYTE", "FRAMING PPP"] {
        let mut t = link(framing, framing);
        let packets = bulk(200);
        let wire = compressed(&mut t, &packets[..100]);
        restored(&mut t, &wire[..60]);
        assert!(restored(&mut t, &wire[75..]).is_empty());
        let requests = t.bytes("back");
        assert_eq!((requests.len(), t.read("d.requests")), (1, "1".into()), "one is enough for a while");
        // Over the link back: the peer's DecompressIP hands it to its CompressIP.
        t.push("r", 0, [Packet::new(&requests[0])]);
        let handed = t.bytes("peer");
        assert_eq!(handed, requests);
        t.push("f", 0, [Packet::new(&handed[0])]);
        let wire = compressed(&mut t, &packets[100..]);
        assert_eq!(restored(&mut t, &wire), packets[100..]);
        assert!(t.read("c.kinds").contains("2\tfull header"), "{}", t.read("c.kinds"));
    }
}

#[test]
fn a_retransmission_sets_the_context_right() {
    let mut t = link("", "");
    let mut packets = bulk(100);
    packets.extend(packets[60..70].to_vec());
    let wire = compressed(&mut t, &packets);
    restored(&mut t, &wire[..60]);
    let got = restored(&mut t, &wire[80..]);
    assert_eq!(got, packets[100..]);
}

#[test]
fn without_tcp_whole_headers_come_at_growing_distances() {
    let mut t = link("F_MAX_PERIOD 8", "");
    let packets: Vec<_> = (0..40).map(|n| datagram(n, 64, 7, 4)).collect();
    let wire = compressed(&mut t, &packets);
    let whole: Vec<_> = (0..40).filter(|&n| wire[n][0] == 1).collect();
    assert_eq!(whole, [0, 2, 5, 10, 19, 28, 37]);
    // A change of the context begins anew, and packets of the old generation are no longer restored.
    let changed: Vec<_> = (0..4).map(|n| datagram(n, 63, 7, 4)).collect();
    let new = compressed(&mut t, &changed);
    assert_eq!(new.iter().map(|p| p[0]).collect::<Vec<_>>(), [1, 4, 1, 4]);
    restored(&mut t, &wire);
    assert!(restored(&mut t, &new[1..2]).is_empty());
    assert_eq!(t.read("d.drop_reasons"), "1\tanother generation of the context\n");
    assert_eq!(restored(&mut t, &new), changed);
    assert!(restored(&mut t, &wire[39..]).is_empty());
}

#[test]
fn whole_headers_come_with_time() {
    let config = "s :: Source -> c :: CompressIP(F_MAX_TIME 5) -> wire :: Sink; Script(wait 6s)";
    let mut t = Harness::new(config);
    let mut talker = Talker::new(5);
    t.push_batch("s", 0, [Packet::new(&datagram(1, 64, 7, 4)), Packet::new(&talker.say(10))]);
    // Six seconds have passed.
    t.push_batch("s", 0, [Packet::new(&datagram(2, 64, 7, 4)), Packet::new(&talker.say(10))]);
    t.push_batch("s", 0, [Packet::new(&datagram(3, 64, 7, 4)), Packet::new(&talker.say(10))]);
    assert_eq!(t.bytes("wire").iter().map(|p| p[0]).collect::<Vec<_>>(), [1, 1, 1, 1, 4, 0x83]);
}

#[test]
fn generations_do_not_come_again_too_soon() {
    let mut t = link("", "");
    let packets: Vec<_> = (0..100).map(|n| datagram(n, 1 + n as u8, 7, 4)).collect();
    let wire = compressed(&mut t, &packets);
    assert_eq!(wire.iter().filter(|p| p[0] == 1).count(), 64);
    assert_eq!(wire.iter().filter(|p| p[0] == 0).count(), 36);
    assert_eq!(restored(&mut t, &wire), packets);
}

#[test]
fn streams_beyond_the_contexts_take_turns() {
    let mut t = link("TCP_SPACE 3, NON_TCP_SPACE 3", "TCP_SPACE 3, NON_TCP_SPACE 3");
    let mut talkers: Vec<_> = (0..40).map(Talker::new).collect();
    let packets: Vec<_> = (0..400).map(|n| talkers[n % 40].say(n % 7)).collect();
    let wire = compressed(&mut t, &packets);
    assert_eq!((restored(&mut t, &wire), t.read("c.contexts")), (packets, "4 0".into()));
    let mut t = link("TCP_SPACE 9", "TCP_SPACE 3");
    let packets: Vec<_> = (0..10).map(|n| talkers[n].say(1)).collect();
    let wire = compressed(&mut t, &packets);
    assert_eq!(restored(&mut t, &wire).len(), 4);
    assert_eq!(t.read("d.drop_reasons"), "6\tcontext number too high\n");
}

#[test]
fn numbers_of_two_bytes_are_understood() {
    // RFC 2507 §5.3.2 and §6: a full header names context 0x1234 of generation 5, then a packet of it.
    let packet = datagram(1, 64, 0x7777, 6);
    let mut full = packet.clone();
    full[2..4].copy_from_slice(&[0x85, 0]);
    full[24..26].copy_from_slice(&[0x12, 0x34]);
    let next = datagram(2, 64, 0x8888, 6);
    let compressed = [&[4, 0x12, 0x85, 0x34][..], &next[4..6], &next[26..]].concat();
    let mut t = link("", "NON_TCP_SPACE 65535");
    assert_eq!(restored(&mut t, &[[&[1][..], &full].concat(), compressed]), [packet, next]);
}

/// RFC 1144's encodings, byte by byte: what a packet looks like on a PPP link.
#[test]
fn compressed_tcp_is_as_the_rfc_has_it() {
    let mut t = link("FRAMING PPP", "FRAMING PPP");
    let mut talker = Talker::new(7);
    let mut packets = vec![talker.say(10)];
    packets.push(talker.say(10)); // as much as before: special "D"
    packets.push(talker.say(3)); // the same, for the one before had 10
    (talker.window, talker.flags) = (talker.window + 300, ACK | PSH);
    talker.acknowledgment += 5;
    packets.push(talker.say(0)); // S 3, A 5, W 300 and push
    talker.flags = ACK;
    talker.sequence += 9;
    talker.id += 1;
    packets.push(talker.say(1)); // S 9, I 2
    let wire = compressed(&mut t, &packets);
    let sum = |n: usize| Ipv4::new(&packets[n]).unwrap().payload()[16..18].to_vec();
    assert_eq!(wire[0][..2], [0x00, 0x61]);
    assert_eq!(wire[0][4..6], [1, wire[1][2]], "the packet's number, and the context's");
    assert_eq!(wire[1][..6], [&[0x00, 0x63, wire[1][2], 0x0f][..], &sum(1)].concat());
    assert_eq!(wire[1].len(), 6 + 10);
    assert_eq!(wire[2][3], 0x0f);
    assert_eq!(wire[3][3..], [&[0x1e][..], &sum(3), &[0, 1, 44, 5, 3]].concat());
    assert_eq!(wire[4][3..], [&[0x28][..], &sum(4), &[9, 2], &packets[4][40..]].concat());
    assert_eq!(restored(&mut t, &wire), packets);
}

#[test]
fn a_hot_swap_keeps_the_contexts() {
    let mut old = link("", "");
    let packets = bulk(20);
    let wire = compressed(&mut old, &packets[..10]);
    restored(&mut old, &wire);
    let mut new = link("", "");
    new.router.take_over(old.router);
    let wire = compressed(&mut new, &packets[10..]);
    assert!(wire.iter().all(|p| p[0] & 0x80 != 0));
    assert_eq!(restored(&mut new, &wire), packets[10..]);
}

#[test]
fn mistakes_are_named() {
    let e = Harness::errors("Idle -> CompressIP(TCP_SPACE 2) -> DecompressIP(FRAMING X) -> Discard");
    assert!(e.contains("TCP_SPACE: out of range") && e.contains("FRAMING: unknown value 'X'"), "{e}");
}
