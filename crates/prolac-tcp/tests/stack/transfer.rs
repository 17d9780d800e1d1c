//! Text both ways, with and without offloads; what readers and writers see.

use std::io::IoSlice;

use crate::pair::{DELAY, Pair, events, read_all, text, write_some};
use clickwork_packet::Packet;
use clickwork_prolac_tcp::{Config, Error, Event, Offload, Received, State};

const OFFLOADS: [Offload; 3] = [
    Offload { checksum: false, segmentation: 0 },
    Offload { checksum: true, segmentation: 0 },
    Offload { checksum: true, segmentation: 65_535 },
];

#[test]
fn every_byte_arrives_once_and_in_order() {
    for six in [false, true] {
        for offload in OFFLOADS {
            let mut pair = Pair::with(six, Config::default(), offload);
            let ends = pair.connected();
            let (there, back) = (text(1_000_003), text(700_001));
            let (to_server, to_client) = pair.exchange(ends, &there, &back);
            assert!(to_server == there && to_client == back, "{offload:?}");
            assert_eq!(pair.client.counters().dropped() + pair.server.counters().dropped(), 0);
            pair.run(1_000_000);
            assert_eq!(pair.client.queued(ends.0), Ok(0));
            assert_eq!(pair.client.segments_in_use() + pair.server.segments_in_use(), 0);
        }
    }
}

#[test]
fn offloads_may_change_while_text_is_on_its_way() {
    let mut pair = Pair::new(false);
    let ends = pair.connected();
    let there = text(3_000_000);
    let (mut rest, mut got) = (&there[..], Vec::new());
    let mut n = 0;
    // Every seventh packet is lost, so text that was given under one offload is sent again under another.
    pair.watch = Box::new(move |_, _| {
        n += 1;
        n % 97 != 0
    });
    for round in 0.. {
        pair.client.set_offload(OFFLOADS[round / 20 % 3]);
        write_some(&mut pair.client, pair.now, ends.0, &mut rest);
        read_all(&mut pair.server, pair.now, ends.1, &mut got);
        if got.len() == there.len() {
            break;
        }
        assert!(pair.step(u64::MAX - 1));
    }
    assert!(got == there);
    assert_eq!(pair.server.counters().drops.tcp_checksum, 0);
}

#[test]
fn packets_are_read_without_a_copy() {
    let mut pair = Pair::new(false);
    let (client, server) = pair.connected();
    let there = text(10_000);
    assert_eq!(pair.client.write(pair.now, client, &there), Ok(10_000));
    pair.run(20 * DELAY);
    let mut got = vec![0; 100];
    assert_eq!(pair.server.read(pair.now, server, &mut got), Ok(100));
    assert_eq!(pair.server.readable(server), Ok(9_900));
    while got.len() < there.len() {
        let packet = pair.server.read_packet(pair.now, server).unwrap().unwrap();
        // IP and TCP headers stand before the first of them as they came.
        assert!(packet.headroom() >= 40 && !packet.is_shared());
        got.extend_from_slice(packet.data());
    }
    assert!(got == there);
    assert_eq!(pair.server.read_packet(pair.now, server).map(|_| ()), Err(Error::WOULD_BLOCK));
    pair.client.close(pair.now, client);
    pair.run(5 * DELAY);
    assert!(matches!(pair.server.read_packet(pair.now, server), Ok(None)));
}

#[test]
fn peeking_leaves_everything_there() {
    let mut pair = Pair::new(true);
    let (client, server) = pair.connected();
    let there = text(5_000);
    assert_eq!(pair.server.peek(server, &mut [0; 9]), Err(Error::WOULD_BLOCK));
    pair.client.write(pair.now, client, &there).unwrap();
    pair.run(20 * DELAY);
    let mut got = vec![0; 4_500];
    assert_eq!(pair.server.peek(server, &mut got[..7]), Ok(7));
    assert_eq!(pair.server.peek(server, &mut got), Ok(4_500));
    assert!(got == there[..4_500]);
    assert_eq!(pair.server.readable(server), Ok(5_000));
    let mut got = Vec::new();
    assert!(!read_all(&mut pair.server, pair.now, server, &mut got));
    assert!(got == there);
    assert_eq!(pair.server.readable(server), Ok(0));
}

#[test]
fn closing_with_unread_text_resets_even_if_it_was_looked_at() {
    for peek in [false, true] {
        let mut pair = Pair::new(false);
        let (client, server) = pair.connected();
        pair.client.write(pair.now, client, b"hello").unwrap();
        pair.run(5 * DELAY);
        if peek {
            pair.server.peek(server, &mut [0; 1]).unwrap();
        }
        pair.server.close(pair.now, server);
        pair.run(5 * DELAY);
        assert_eq!(pair.client.state(client), Ok(State::Closed));
        assert_eq!(pair.client.take_error(client), Ok(Some(Error::RESET)));
        assert_eq!(pair.server.segments_in_use(), 0);
    }
}

#[test]
fn vectored_writes_of_odd_pieces_sum_up() {
    let mut pair = Pair::new(false);
    let (client, server) = pair.connected();
    let there = text(20_011);
    let (mut pieces, mut rest, mut length) = (Vec::new(), &there[..], 1);
    while !rest.is_empty() {
        let (piece, other) = rest.split_at(length.min(rest.len()));
        pieces.push(IoSlice::new(piece));
        pieces.push(IoSlice::new(&[]));
        (rest, length) = (other, length * 2 + 1);
    }
    assert_eq!(pair.client.write_vectored(pair.now, client, &pieces), Ok(there.len()));
    pair.run(200 * DELAY);
    let mut got = Vec::new();
    read_all(&mut pair.server, pair.now, server, &mut got);
    assert!(got == there);
    assert_eq!(pair.server.counters().dropped(), 0);
}

#[test]
fn a_full_send_buffer_says_so_and_says_when_there_is_room() {
    let mut pair = Pair::new(false);
    let (client, server) = pair.connected();
    pair.client.set_send_buffer(client, 30_000).unwrap();
    events(&mut pair.client);
    let there = text(100_000);
    assert_eq!(pair.client.write(pair.now, client, &there), Ok(30_000));
    assert_eq!(pair.client.write(pair.now, client, &there), Err(Error::WOULD_BLOCK));
    assert_eq!((pair.client.writable(client), pair.client.queued(client)), (Ok(0), Ok(30_000)));
    pair.run(100 * DELAY);
    assert_eq!(events(&mut pair.client), [Event::Writable(client)]);
    assert_eq!(pair.client.writable(client), Ok(30_000));
    // Nobody waits now, so there is no news.
    pair.client.write(pair.now, client, &there[..10]).unwrap();
    pair.run(100 * DELAY);
    assert_eq!(events(&mut pair.client), []);
    assert_eq!(pair.server.readable(server), Ok(30_010));
}

#[test]
fn a_send_buffer_grows_with_the_congestion_window() {
    let mut pair = Pair::new(false);
    let ends = pair.connected();
    let before = pair.client.send_buffer(ends.0).unwrap();
    let there = text(5_000_000);
    assert!(pair.exchange(ends, &there, b"").0 == there);
    let after = pair.client.send_buffer(ends.0).unwrap();
    assert!(after >= before && after <= 4 << 20, "{before} {after}");
}

#[test]
fn both_directions_are_shut_down_one_after_the_other() {
    let mut pair = Pair::new(false);
    let (client, server) = pair.connected();
    pair.client.write(pair.now, client, b"question").unwrap();
    pair.client.shutdown(pair.now, client).unwrap();
    assert_eq!(pair.client.write(pair.now, client, b"more"), Err(Error::BROKEN_PIPE));
    pair.run(5 * DELAY);
    let mut got = Vec::new();
    assert!(read_all(&mut pair.server, pair.now, server, &mut got));
    assert_eq!((got, pair.server.at_end(server)), (b"question".to_vec(), Ok(true)));
    pair.server.write(pair.now, server, b"answer").unwrap();
    pair.server.close(pair.now, server);
    pair.run(5 * DELAY);
    let mut got = Vec::new();
    assert!(read_all(&mut pair.client, pair.now, client, &mut got));
    assert_eq!(got, b"answer");
    assert_eq!(pair.client.state(client), Ok(State::TimeWait));
    assert_eq!(pair.server.connections().count(), 0);
}

#[test]
#[cfg_attr(feature = "unpooled", ignore = "there are no pools")]
fn a_large_buffer_with_little_text_is_not_kept() {
    let mut pair = Pair::new(false);
    let (client, server) = pair.connected();
    for (length, shrunk) in [(5, 0), (512, 0), (513, 1), (1400, 2)] {
        let there = text(length);
        pair.client.write(pair.now, client, &there).unwrap();
        let packet = pair.client.next_transmit().unwrap().into_packet();
        let large = Packet::with_room(0, packet.data(), 60_000);
        pair.server.receive(pair.now, large, Received::default());
        assert_eq!(pair.server.counters().activity.buffers_shrunk, shrunk);
        let packet = pair.server.read_packet(pair.now, server).unwrap().unwrap();
        assert_eq!(packet.data(), there);
        assert!(packet.buffer_len() <= 2048);
        pair.run(100 * DELAY);
    }
}

#[test]
fn merged_segments_are_counted_one_by_one() {
    let mut pair = Pair::with(false, Config::default(), OFFLOADS[2]);
    let ends = pair.connected();
    pair.exchange(ends, &text(1_000_000), b"");
    let activity = pair.server.counters().activity;
    assert!(activity.segments_in > 680 && activity.packets_in < activity.segments_in / 2, "{activity:?}");
    assert_eq!(activity.segments_in, pair.client.counters().activity.segments_out);
}
