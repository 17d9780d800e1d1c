//! What ICMP messages do to connections.

use std::net::IpAddr;

use crate::pair::{DELAY, Pair, events, read_all, text};
use clickwork_packet::Packet;
use clickwork_prolac_tcp::{Error, Event, Received, State};
use etherparse::{IcmpEchoHeader, Icmpv4Type, Icmpv6Type, PacketBuilder};

/// An ICMP message of this type and code from a router, about a packet.
fn message(pair: &Pair, kind: u8, code: u8, mtu: u32, about: &[u8]) -> Vec<u8> {
    let mut packet = Vec::new();
    let rest = mtu.to_be_bytes();
    match pair.client_address {
        IpAddr::V4(to) => {
            let kind = Icmpv4Type::Unknown { type_u8: kind, code_u8: code, bytes5to8: rest };
            let builder = PacketBuilder::ipv4([10, 0, 0, 254], to.octets(), 9).icmpv4(kind);
            builder.write(&mut packet, about).unwrap();
        }
        IpAddr::V6(to) => {
            let kind = Icmpv6Type::Unknown { type_u8: kind, code_u8: code, bytes5to8: rest };
            let from: std::net::Ipv6Addr = "fd00::ff".parse().unwrap();
            let builder = PacketBuilder::ipv6(from.octets(), to.octets(), 9).icmpv6(kind);
            builder.write(&mut packet, about).unwrap();
        }
    }
    packet
}

fn give(pair: &mut Pair, data: &[u8]) {
    pair.client.receive(pair.now, Packet::new(data), Received::default());
}

#[test]
fn an_error_ends_a_connection_that_is_being_made() {
    let v4 = [
        (3, 0, 101),
        (3, 1, 113),
        (3, 2, 92),
        (3, 3, 111),
        (3, 5, 95),
        (3, 6, 101),
        (3, 7, 112),
        (3, 8, 64),
        (3, 9, 101),
        (3, 10, 113),
        (3, 11, 101),
        (3, 12, 113),
        (3, 13, 113),
        (11, 0, 113),
        (12, 0, 71),
    ];
    let v6 =
        [(1, 0, 101), (1, 1, 13), (1, 2, 113), (1, 3, 113), (1, 4, 111), (1, 5, 13), (3, 0, 113), (4, 0, 71)];
    for (six, cases) in [(false, &v4[..]), (true, &v6[..])] {
        for &(kind, code, errno) in cases {
            let mut pair = Pair::new(six);
            let client = pair.connect();
            let syn = pair.client.next_transmit().unwrap().into_packet();
            let about = &syn.data()[..if six { 48 } else { 28 }];
            let icmp = message(&pair, kind, code, 0, about);
            give(&mut pair, &icmp);
            assert_eq!(pair.client.state(client), Ok(State::Closed), "{kind} {code}");
            assert_eq!(pair.client.take_error(client), Ok(Some(Error(errno))), "{kind} {code}");
            assert_eq!(pair.client.counters().activity.icmp_in, 1);
        }
    }
}

#[test]
fn an_established_connection_survives_and_tells() {
    let mut pair = Pair::new(false);
    let (client, _) = pair.connected();
    events(&mut pair.client);
    pair.client.write(pair.now, client, b"x").unwrap();
    let sent = pair.client.next_transmit().unwrap().into_packet();
    let icmp = message(&pair, 3, 1, 0, sent.data());
    give(&mut pair, &icmp);
    assert_eq!(events(&mut pair.client), [Event::Error(client)]);
    assert_eq!(pair.client.state(client), Ok(State::Established));
    assert_eq!(pair.client.take_error(client), Ok(Some(Error::HOST_UNREACHABLE)));
    assert_eq!(pair.client.take_error(client), Ok(None));
}

#[test]
fn messages_about_nothing_of_ours_are_dropped_and_counted() {
    let mut pair = Pair::new(false);
    let (client, _) = pair.connected();
    pair.client.write(pair.now, client, b"x").unwrap();
    let sent = pair.client.next_transmit().unwrap().into_packet();
    let good = message(&pair, 3, 1, 0, sent.data());
    let changed = |at: usize| {
        let mut about = sent.data().to_vec();
        about[at] ^= 1;
        about
    };
    // An old sequence number: the TCP ignores it.
    let old = message(&pair, 3, 1, 0, &changed(24));
    give(&mut pair, &old);
    // Another port, another protocol, another version.
    for at in [21, 9, 0] {
        let icmp = message(&pair, 3, 1, 0, &changed(at));
        give(&mut pair, &icmp);
    }
    // Cut off at each byte.
    for length in 20..28 {
        let icmp = message(&pair, 3, 1, 0, &sent.data()[..length - 1]);
        give(&mut pair, &icmp);
    }
    let mut wrong = good.clone();
    wrong[25] ^= 1;
    give(&mut pair, &wrong);
    let mut echo = Vec::new();
    let request = Icmpv4Type::EchoRequest(IcmpEchoHeader { id: 1, seq: 1 });
    PacketBuilder::ipv4([10, 0, 0, 254], [10, 0, 0, 1], 9).icmpv4(request).write(&mut echo, b"ping").unwrap();
    give(&mut pair, &echo);
    let drops = pair.client.counters().drops;
    assert_eq!(drops.icmp_unknown, 1);
    assert_eq!(drops.protocol, 1);
    assert_eq!(pair.client.counters().dropped(), 2 + 2 + 8 + 1);
    assert_eq!(pair.client.take_error(client), Ok(None));
}

#[test]
fn text_still_arrives_after_a_message_about_the_mtu() {
    for six in [false, true] {
        let mut pair = Pair::new(six);
        let (client, server) = pair.connected();
        let there = text(100_000);
        pair.client.write(pair.now, client, &there).unwrap();
        let sent = pair.client.next_transmit().unwrap().into_packet();
        let (kind, code) = if six { (2, 0) } else { (3, 4) };
        let icmp = message(&pair, kind, code, 1300, &sent.data()[..60]);
        give(&mut pair, &icmp);
        let mut got = Vec::new();
        for _ in 0..100 {
            pair.run(100 * DELAY);
            read_all(&mut pair.server, pair.now, server, &mut got);
        }
        assert!(got == there, "{six}: {} of {}", got.len(), there.len());
    }
}
