//! Packets that nobody should send: of every length, with every byte changed, and of chance.

use crate::pair::{DELAY, Pair, addresses};
use clickwork_packet::Packet;
use clickwork_prolac_tcp::{Config, Options, Received, TcpStack};
use proptest::prelude::*;

const RECEIVED: [Received; 3] = [
    Received { checksum_verified: false, segment_size: 0 },
    Received { checksum_verified: true, segment_size: 0 },
    Received { checksum_verified: true, segment_size: 1 },
];

/// A stack that listens and one that has connections in some states; and packets that the peers would send.
fn stacks_and_packets(six: bool) -> (Pair, Vec<Vec<u8>>) {
    let mut pair = Pair::new(six);
    let packets = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
    let seen = packets.clone();
    pair.watch = Box::new(move |to_server, transmit| {
        let text = transmit.text.as_ref().map_or(&[][..], |text| text.data());
        if to_server {
            seen.borrow_mut().push([transmit.packet.data(), text].concat());
        }
        true
    });
    let (client, server) = pair.connected();
    pair.client.write(pair.now, client, &[0x55; 100]).unwrap();
    pair.run(5 * DELAY);
    pair.server.read(pair.now, server, &mut [0; 30]).unwrap();
    pair.client.close(pair.now, client);
    pair.run(5 * DELAY);
    let packets = packets.borrow().clone();
    (pair, packets)
}

#[test]
fn packets_cut_off_anywhere_do_no_harm() {
    for six in [false, true] {
        let (mut pair, packets) = stacks_and_packets(six);
        for packet in &packets {
            for length in 0..=packet.len() {
                for received in RECEIVED {
                    pair.server.receive(pair.now, Packet::new(&packet[..length]), received);
                }
            }
        }
        pair.run(1_000_000);
    }
}

#[test]
fn packets_with_any_byte_changed_do_no_harm() {
    for six in [false, true] {
        let (mut pair, packets) = stacks_and_packets(six);
        for packet in &packets {
            for at in 0..packet.len() {
                for change in [1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80, 0xFF] {
                    let mut changed = packet.clone();
                    changed[at] ^= change;
                    if !six {
                        let length = (usize::from(changed[0] & 15) * 4).clamp(12, changed.len());
                        changed[10..12].fill(0);
                        let sum = clickwork_packet::checksum::checksum(&changed[..length]);
                        changed[10..12].copy_from_slice(&sum.to_be_bytes());
                    }
                    pair.server.receive(pair.now, Packet::new(&changed), RECEIVED[1]);
                }
            }
            pair.run(1000);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn bytes_of_chance_do_no_harm(
        six: bool,
        mut data in proptest::collection::vec(any::<u8>(), 0..200),
        protocol in prop::sample::select(vec![6u8, 6, 6, 1, 58, 0, 43, 44, 51, 60, 17]),
        which in 0usize..3,
    ) {
        let (client, server) = addresses(six);
        let mut stack = TcpStack::new(Config::default());
        stack.listen((server, 80).into(), 5, &Options::default()).unwrap();
        let _ = client;
        let header = if six { 40 } else { 20 };
        if data.len() >= header + 4 {
            let length = data.len() as u16;
            if six {
                data[0] = 0x60;
                data[4..6].copy_from_slice(&(length - 40).to_be_bytes());
                data[6] = protocol;
                data[24] = 0xfd;
            } else {
                data[0] = 0x45;
                data[2..4].copy_from_slice(&length.to_be_bytes());
                data[6..8].fill(0);
                data[9] = protocol;
                data[12] &= 0x7F;
                data[16..20].copy_from_slice(&[10, 0, 0, 2]);
                data[10..12].fill(0);
                let sum = clickwork_packet::checksum::checksum(&data[..20]);
                data[10..12].copy_from_slice(&sum.to_be_bytes());
            }
            data[header + 2..header + 4].copy_from_slice(&80u16.to_be_bytes());
        }
        for now in 0..3 {
            stack.receive(now, Packet::new(&data), RECEIVED[which]);
        }
        while stack.next_transmit().is_some() {}
    }
}
