//! Packets as another implementation reads them (`etherparse`), in and out.

use std::cell::RefCell;
use std::rc::Rc;

use crate::pair::{DELAY, Pair, addresses, text};
use clickwork_packet::Packet;
use clickwork_prolac_tcp::{Config, Offload, Options, Received, State, TcpStack, Transmit};
use etherparse::{NetSlice, PacketBuilder, SlicedPacket, TcpSlice, TransportSlice};

/// What is the same in each TCP packet, seen from outside: returns its TCP part and its addresses.
fn parts(data: &[u8]) -> (TcpSlice<'_>, NetSlice<'_>) {
    let sliced = SlicedPacket::from_ip(data).unwrap();
    let Some(TransportSlice::Tcp(tcp)) = sliced.transport else { panic!("not TCP") };
    (tcp, sliced.net.unwrap())
}

/// The checksum that belongs to a TCP packet.
fn right_checksum(data: &[u8]) -> u16 {
    let (tcp, net) = parts(data);
    let header = tcp.to_header();
    match net {
        NetSlice::Ipv4(ip) => header.calc_checksum_ipv4(&ip.header().to_header(), tcp.payload()).unwrap(),
        NetSlice::Ipv6(ip) => header.calc_checksum_ipv6(&ip.header().to_header(), tcp.payload()).unwrap(),
        _ => panic!("not IP"),
    }
}

fn check(transmit: &Transmit) {
    let joined = joined(transmit);
    let (tcp, net) = parts(&joined);
    match net {
        NetSlice::Ipv4(ip) => {
            let ip = ip.header().to_header();
            assert_eq!(ip.header_checksum, ip.calc_header_checksum());
            assert_eq!(usize::from(ip.total_len), joined.len());
            assert_eq!((ip.time_to_live, ip.dont_fragment, ip.more_fragments), (64, true, false));
            assert_eq!(transmit.tcp_offset, 20);
        }
        NetSlice::Ipv6(ip) => {
            let ip = ip.header().to_header();
            assert_eq!(usize::from(ip.payload_length) + 40, joined.len());
            assert_eq!(ip.hop_limit, 64);
            assert_eq!(transmit.tcp_offset, 40);
        }
        _ => panic!("not IP"),
    }
    let length = joined.len() - usize::from(transmit.tcp_offset);
    if transmit.checksum_partial {
        // The layer below sums what is there and stores the complement.
        let mut data = joined.clone();
        let at = usize::from(transmit.tcp_offset);
        let sum = clickwork_packet::checksum::checksum(&data[at..]);
        data[at + 16..at + 18].copy_from_slice(&sum.to_be_bytes());
        assert_eq!(right_checksum(&data), sum);
    } else {
        assert_eq!(tcp.checksum(), right_checksum(&joined));
    }
    assert!(length >= 20);
}

fn joined(transmit: &Transmit) -> Vec<u8> {
    let text = transmit.text.as_ref().map_or(&[][..], |text| text.data());
    [transmit.packet.data(), text].concat()
}

#[test]
fn packets_out_are_right_with_and_without_offloads() {
    for six in [false, true] {
        for (checksum, segmentation) in [(false, 0), (true, 0), (true, 65_535), (true, 9000)] {
            let mut pair = Pair::with(six, Config::default(), Offload { checksum, segmentation });
            let largest = Rc::new(RefCell::new((0, 0)));
            let seen = largest.clone();
            pair.watch = Box::new(move |_, transmit| {
                check(transmit);
                assert_eq!(transmit.checksum_partial, checksum);
                let mut seen = seen.borrow_mut();
                *seen = (seen.0.max(transmit.len()), seen.1.max(transmit.segment_size));
                true
            });
            let ends = pair.connected();
            let (there, back) = (text(300_001), text(300_000));
            assert!(pair.exchange(ends, &there, &back) == (there.clone(), back.clone()));
            let (largest, size) = *largest.borrow();
            match segmentation {
                0 => assert!(largest <= 1500 && size == 0),
                most => {
                    assert!(largest > 3000 && largest <= most as usize && size > 1300, "{largest} {size}")
                }
            }
        }
    }
}

#[test]
fn the_first_packets_of_either_end_are_full() {
    for six in [false, true] {
        let mut pair = Pair::new(six);
        let (client, server) = pair.connected();
        pair.client.write(pair.now, client, &text(10_000)).unwrap();
        pair.server.write(pair.now, server, &text(10_000)).unwrap();
        for stack in [&mut pair.client, &mut pair.server] {
            assert!((0..6).all(|_| stack.next_transmit().unwrap().len() == 1500));
        }
    }
}

#[test]
fn the_layer_below_may_keep_packets_and_retransmissions_are_right_too() {
    for six in [false, true] {
        let mut pair = Pair::new(six);
        let (mut n, mut random, mut kept) = (0, 1u32, Vec::new());
        let pieces = Rc::new(RefCell::new([0, 0]));
        let count = pieces.clone();
        pair.watch = Box::new(move |_, transmit| {
            check(transmit);
            count.borrow_mut()[usize::from(transmit.text.is_some())] += 1;
            // Clones stand for packets in a queue below.
            kept.push((transmit.packet.clone(), transmit.text.clone()));
            n += 1;
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            n < 5 || random >> 16 > 6_000
        });
        let ends = pair.connected();
        let there = text(200_001);
        assert!(pair.exchange(ends, &there, b"").0 == there);
        let [whole, split] = *pieces.borrow();
        assert!(whole > 100 && split > 3, "{whole} {split}");
    }
}

#[test]
fn identifications_count_packets_and_flow_labels_stay() {
    let mut pair = Pair::new(false);
    let seen = Rc::new(RefCell::new(Vec::new()));
    let list = seen.clone();
    pair.watch = Box::new(move |to_server, transmit| {
        let data = joined(transmit);
        let NetSlice::Ipv4(ip) = parts(&data).1 else { panic!() };
        if to_server {
            list.borrow_mut().push(ip.header().identification());
        }
        true
    });
    let ends = pair.connected();
    pair.exchange(ends, &text(20_000), b"");
    assert!(seen.borrow().windows(2).all(|w| w[1] == w[0].wrapping_add(1)) && seen.borrow().len() > 10);

    let mut pair = Pair::new(true);
    let seen = Rc::new(RefCell::new(std::collections::HashSet::new()));
    let labels = seen.clone();
    pair.watch = Box::new(move |to_server, transmit| {
        let data = joined(transmit);
        let NetSlice::Ipv6(ip) = parts(&data).1 else { panic!() };
        labels.borrow_mut().insert((to_server, ip.header().flow_label()));
        true
    });
    let ends = pair.connected();
    pair.exchange(ends, &text(20_000), b"");
    // A SYN-ACK is the connection's already.
    assert_eq!(seen.borrow().len(), 2);
}

/// A server in LISTEN, and SYNs made by another implementation.
fn server(six: bool) -> (TcpStack, PacketBuilderOf) {
    let (client, server) = addresses(six);
    let mut stack = TcpStack::new(Config::default());
    stack.add_address(server);
    stack.listen((server, 80).into(), 5, &Options::default()).unwrap();
    (stack, PacketBuilderOf { client, server })
}

struct PacketBuilderOf {
    client: std::net::IpAddr,
    server: std::net::IpAddr,
}

impl PacketBuilderOf {
    fn syn(&self, port: u16) -> Vec<u8> {
        use std::net::IpAddr::{V4, V6};
        let ip = match (self.client, self.server) {
            (V4(client), V4(server)) => PacketBuilder::ipv4(client.octets(), server.octets(), 9),
            (V6(client), V6(server)) => PacketBuilder::ipv6(client.octets(), server.octets(), 9),
            _ => unreachable!(),
        };
        let mut packet = Vec::new();
        ip.tcp(5000, port, 1000, 65535).syn().write(&mut packet, &[]).unwrap();
        packet
    }
}

fn receive(stack: &mut TcpStack, data: &[u8]) -> Option<Transmit> {
    stack.receive(1_000_000, Packet::new(data), Received::default());
    stack.next_transmit()
}

#[test]
fn packets_of_another_implementation_are_understood() {
    for six in [false, true] {
        let (mut stack, builder) = server(six);
        let answer = receive(&mut stack, &builder.syn(80)).unwrap();
        check(&answer);
        let answer = joined(&answer);
        let (tcp, _) = parts(&answer);
        assert!(tcp.syn() && tcp.ack() && tcp.acknowledgment_number() == 1001);
        assert_eq!((tcp.source_port(), tcp.destination_port()), (80, 5000));

        let refusal = joined(&receive(&mut stack, &builder.syn(81)).unwrap());
        let (tcp, _) = parts(&refusal);
        assert!(tcp.rst() && tcp.ack() && tcp.acknowledgment_number() == 1001);
        assert_eq!((tcp.source_port(), tcp.checksum()), (81, right_checksum(&refusal)));
        assert_eq!(stack.counters().dropped(), 0);
    }
}

#[test]
fn padding_of_the_link_is_no_text() {
    let (mut stack, builder) = server(false);
    let padded = [builder.syn(80), vec![0xAA; 6]].concat();
    let answer = joined(&receive(&mut stack, &padded).unwrap());
    assert_eq!(parts(&answer).0.acknowledgment_number(), 1001);
}

/// The packet with `extra` between its IP header and its TCP header, and the header changed by `change`.
fn with_between(packet: &[u8], header: usize, extra: &[u8], change: impl Fn(&mut Vec<u8>)) -> Vec<u8> {
    let mut data = [&packet[..header], extra, &packet[header..]].concat();
    change(&mut data);
    data
}

#[test]
fn options_of_ipv4_are_passed_over() {
    let (mut stack, builder) = server(false);
    let packet = with_between(&builder.syn(80), 20, &[7, 7, 4, 0, 0, 0, 0, 0], |data| {
        data[0] = 0x47;
        let length = data.len() as u16;
        data[2..4].copy_from_slice(&length.to_be_bytes());
        data[10..12].fill(0);
        let sum = clickwork_packet::checksum::checksum(&data[..28]);
        data[10..12].copy_from_slice(&sum.to_be_bytes());
    });
    assert!(receive(&mut stack, &packet).is_some());
    assert_eq!(stack.counters().dropped(), 0);
}

#[test]
fn extension_headers_of_ipv6_are_passed_over_but_those_of_fragments() {
    let destination_options = [6, 0, 1, 4, 0, 0, 0, 0];
    let hop_by_hop = [60, 0, 1, 4, 0, 0, 0, 0];
    let whole = [6, 0, 0, 0, 0, 0, 0, 1];
    let part = [6, 0, 0, 1, 0, 0, 0, 1];
    let route_done = [6, 0, 0, 0, 0, 0, 0, 0];
    let route_open = [6, 0, 0, 1, 0, 0, 0, 0];
    let authentication = [6, 2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1, 2, 3, 4];
    let cases: [(u8, Vec<u8>, bool); 7] = [
        (60, destination_options.to_vec(), true),
        (0, [hop_by_hop, destination_options].concat(), true),
        (44, whole.to_vec(), true),
        (44, part.to_vec(), false),
        (43, route_done.to_vec(), true),
        (43, route_open.to_vec(), false),
        (51, authentication.to_vec(), true),
    ];
    for (next, extra, good) in cases {
        let (mut stack, builder) = server(true);
        let packet = with_between(&builder.syn(80), 40, &extra, |data| {
            data[6] = next;
            let length = data.len() as u16 - 40;
            data[4..6].copy_from_slice(&length.to_be_bytes());
        });
        assert_eq!(receive(&mut stack, &packet).is_some(), good, "{next}");
        assert_eq!(stack.counters().dropped(), u64::from(!good));
    }
}

#[test]
fn what_is_wrong_with_a_packet_is_counted() {
    type Change = fn(&mut Vec<u8>);
    let fix_ip: fn(&mut Vec<u8>) = |data| {
        data[10..12].fill(0);
        let sum = clickwork_packet::checksum::checksum(&data[..20]);
        data[10..12].copy_from_slice(&sum.to_be_bytes());
    };
    let cases: [(&str, Change); 16] = [
        ("drop_version", |d| d[0] = 0x55),
        ("drop_truncated", |d| d.truncate(19)),
        ("drop_truncated", |d| d.truncate(39)),
        ("drop_ip_header", |d| d[0] = 0x44),
        ("drop_ip_header", |d| d[2..4].fill(0)),
        ("drop_ip_checksum", |d| d[10] ^= 1),
        ("drop_fragment", |d| d[6] = 0x20),
        ("drop_fragment", |d| d[7] = 1),
        ("drop_protocol", |d| d[9] = 17),
        ("drop_not_ours", |d| d[19] = 99),
        ("drop_address", |d| d[12] = 224),
        ("drop_address", |d| d[16..20].fill(255)),
        ("drop_tcp_header", |d| d[32] = 0x40),
        ("drop_tcp_header", |d| d[20..22].fill(0)),
        ("drop_tcp_header", |d| d[22..24].fill(0)),
        ("drop_tcp_checksum", |d| d[39] ^= 4),
    ];
    for (reason, change) in cases {
        let (mut stack, builder) = server(false);
        let mut packet = builder.syn(80);
        change(&mut packet);
        if packet.len() >= 20 && reason != "drop_ip_checksum" {
            fix_ip(&mut packet);
        }
        assert!(receive(&mut stack, &packet).is_none(), "{reason}");
        let counted: Vec<_> =
            stack.counters().iter().filter(|(name, n)| name.starts_with("drop") && *n > 0).collect();
        assert_eq!(counted, [(reason.to_owned(), 1)]);
        assert_eq!(stack.segments_in_use(), 0);
    }
}

#[test]
fn a_wrong_checksum_that_the_layer_below_has_seen_is_none_of_ours() {
    let (mut stack, builder) = server(false);
    let mut packet = builder.syn(80);
    packet[36] ^= 0xFF;
    stack.receive(0, Packet::new(&packet), Received { checksum_verified: true, segment_size: 0 });
    assert!(stack.next_transmit().is_some());
}

#[test]
fn small_writes_that_wait_share_a_segment() {
    for checksum in [false, true] {
        let mut pair = Pair::with(false, Config::default(), Offload { checksum, segmentation: 0 });
        let lengths = Rc::new(RefCell::new(Vec::new()));
        let (client, server) = pair.connected();
        let seen = lengths.clone();
        pair.watch = Box::new(move |to_server, transmit| {
            check(transmit);
            if to_server {
                seen.borrow_mut().push(parts(&joined(transmit)).0.payload().len());
            }
            true
        });
        let whole = text(999);
        for piece in whole.chunks(37) {
            assert_eq!(pair.client.write(pair.now, client, piece), Ok(37));
        }
        pair.run(100 * DELAY);
        let sent: Vec<usize> = lengths.borrow().iter().copied().filter(|n| *n > 0).collect();
        assert_eq!(sent, [37, 999 - 37]);
        let mut got = Vec::new();
        crate::pair::read_all(&mut pair.server, pair.now, server, &mut got);
        assert!(got == whole);
        assert_eq!(pair.server.state(server), Ok(State::Established));
    }
}

/// A segment with these flags (FIN 1, SYN 2, RST 4, ACK 16) from the client's port 5000.
fn segment(builder: &PacketBuilderOf, flags: u8, seqno: u32, ackno: u32) -> Vec<u8> {
    let mut packet = builder.syn(80);
    packet[24..28].copy_from_slice(&seqno.to_be_bytes());
    packet[28..32].copy_from_slice(&ackno.to_be_bytes());
    packet[33] = flags;
    packet
}

#[test]
fn what_connections_and_listeners_drop_is_counted() {
    let (mut stack, builder) = server(false);
    let mut give = |flags, seqno, ackno| {
        let before: Vec<_> = stack.counters().drops.iter().collect();
        let packet = Packet::new(&segment(&builder, flags, seqno, ackno));
        stack.receive(1_000_000, packet, Received { checksum_verified: true, segment_size: 0 });
        let iss = stack.next_transmit().map(|answer| parts(answer.packet.data()).0.sequence_number());
        let after = stack.counters().drops;
        let counted = after.iter().zip(before).filter(|(after, before)| after.1 > before.1);
        (counted.map(|(after, _)| after.0).collect::<Vec<_>>(), iss)
    };
    assert_eq!(give(4, 1, 1).0, ["listener"]);
    assert_eq!(give(1, 1, 1).0, ["listener"]);
    let (nothing, iss) = give(2, 1000, 0);
    assert!(nothing.is_empty());
    let ackno = iss.unwrap().wrapping_add(1);
    assert_eq!(give(4, 900_000, 0).0, ["reset"]);
    assert!(give(16, 1001, ackno).0.is_empty());
    assert_eq!(give(0, 1001, 0).0, ["no_ack"]);
    assert_eq!(give(4, 1005, 0).0, ["reset"]);
    // This one ends the connection.
    assert!(give(4, 1001, 0).0.is_empty());
    assert_eq!(stack.counters().activity.closed, 1);
}
