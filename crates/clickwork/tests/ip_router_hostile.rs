//! The whole IP router under hostile packets: it never panics, and each packet is accounted for (what came in and what
//! it made is what left, what was dropped for a reason, and what waits).

#[path = "../../../fuzz/checks/ip_router.rs"]
mod ip_router;
#[allow(dead_code)]
#[path = "../src/demo"]
mod demo {
    pub mod frame;
    pub mod traffic;
}

use demo::frame::ETHER_HEADER;
use demo::traffic::{Frame, frames};
use ip_router::{Account, Bench};
use proptest::prelude::*;
use std::path::Path;
use std::time::Duration;

/// Makes the IP header checksum right, so that a damaged packet gets further.
fn with_checksum(mut frame: Vec<u8>) -> Vec<u8> {
    let Some(packet) = frame.get_mut(ETHER_HEADER..).filter(|p| !p.is_empty()) else { return frame };
    let length = usize::from(packet[0] & 0xf) * 4;
    if (20..=packet.len()).contains(&length) {
        packet[10..12].fill(0);
        let checksum = clickwork_packet::checksum::checksum(&packet[..length]);
        packet[10..12].copy_from_slice(&checksum.to_be_bytes());
    }
    frame
}

/// The demonstration's frames as the fuzz target reads them.
fn encoded(frames: &[Frame]) -> Vec<u8> {
    let one =
        |f: &Frame| [&[f.interface as u8][..], &(f.bytes.len() as u16).to_be_bytes(), &f.bytes].concat();
    frames.iter().flat_map(one).collect()
}

#[test]
fn every_class_of_packets_is_accounted_for() {
    for ordered in [false, true] {
        let mut bench = Bench::new(ordered);
        for f in frames() {
            bench.push(f.interface, [&f.bytes[..]]);
            bench.check();
        }
        let a = bench.account();
        assert_eq!(a.received, frames().len() as u64);
        // One ARP query, one copy for a redirect, three fragments more than packets that were cut; three replies learned.
        assert_eq!((a.made, a.learned), (5, 3), "{a:?}");
        assert!(a.held > 1 && a.dropped == 9, "{a:?}");
        bench.run(Duration::from_millis(10));
        let b = bench.account();
        assert_eq!(b, Account { held: 1, left: a.left + a.held - 1, ..a });
    }
}

#[test]
fn batches_and_single_packets_come_to_the_same() {
    let run = |ordered| {
        let mut bench = Bench::new(ordered);
        for interface in [0, 1] {
            let all = frames();
            bench.push(interface, all.iter().filter(|f| f.interface == interface).map(|f| &f.bytes[..]));
        }
        bench.run(Duration::from_millis(10));
        bench.check();
        bench.account()
    };
    assert_eq!(run(true), run(false));
}

#[test]
fn packets_that_wait_in_vain_are_dropped_for_a_reason() {
    let mut bench = Bench::new(false);
    let all = frames();
    // Without the ARP replies nothing can be sent at once.
    bench.push(0, all.iter().filter(|f| f.class > 2 && f.interface == 0).map(|f| &f.bytes[..]));
    bench.run(Duration::from_secs(1));
    let waiting = bench.account();
    assert!(waiting.held > 20, "{waiting:?}");
    bench.check();
    bench.run(Duration::from_secs(1000));
    bench.check();
    assert_eq!(bench.account().held, 0);
}

#[test]
fn every_truncation_is_accounted_for() {
    let all = frames();
    let mut bench = Bench::new(false);
    bench.push(0, [&all[0].bytes[..]]);
    bench.push(1, [&all[1].bytes[..]]);
    for frame in &all {
        let cuts: Vec<Vec<u8>> =
            (0..frame.bytes.len().min(130)).map(|length| frame.bytes[..length].to_vec()).collect();
        bench.push(frame.interface, cuts.iter().map(|cut| &cut[..]));
        let shortened = cuts.into_iter().map(|cut| with_checksum(with_length(cut)));
        let shortened: Vec<_> = shortened.collect();
        bench.push(frame.interface, shortened.iter().map(|cut| &cut[..]));
        bench.check();
        bench.run(Duration::from_millis(5));
    }
    bench.check();
}

/// Makes the IP length that of the frame.
fn with_length(mut frame: Vec<u8>) -> Vec<u8> {
    let length = frame.len().saturating_sub(ETHER_HEADER) as u16;
    if let Some(field) = frame.get_mut(ETHER_HEADER + 2..ETHER_HEADER + 4) {
        field.copy_from_slice(&length.to_be_bytes());
    }
    frame
}

#[test]
fn what_the_fuzz_target_reads_is_accounted_for() {
    let data = encoded(&frames());
    ip_router::check(&data);
    ip_router::check(&data[..data.len() / 2]);
    ip_router::check(&data[1..]);
}

#[test]
fn the_seeds_of_the_fuzz_target_pass() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/ip_router");
    let seeds = std::fs::read_dir(folder).expect("the seeds are there");
    let seeds: Vec<Vec<u8>> = seeds.map(|seed| std::fs::read(seed.unwrap().path()).unwrap()).collect();
    assert!(seeds.len() > 1);
    for seed in &seeds {
        ip_router::check(seed);
        for at in (0..seed.len()).step_by(97) {
            let mut neighbour = seed.clone();
            neighbour[at] ^= 0x41;
            ip_router::check(&neighbour);
        }
    }
}

/// A frame of the demonstration with some bytes changed, mostly in its headers, and perhaps cut or lengthened.
fn mutated() -> impl Strategy<Value = (usize, Vec<u8>)> {
    let all = frames();
    let changes = prop::collection::vec((prop_oneof![4 => 0usize..80, 1 => 0usize..1500], any::<u8>()), 0..6);
    let cut = prop_oneof![3 => Just(usize::MAX), 1 => 0usize..200];
    let more = prop::collection::vec(any::<u8>(), 0..40);
    (0..all.len(), any::<bool>(), changes, cut, more, any::<bool>()).prop_map(
        move |(index, other, changes, cut, more, repair)| {
            let mut bytes = all[index].bytes.clone();
            bytes.truncate(cut);
            bytes.extend(more);
            for (at, value) in changes {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = value;
                }
            }
            let interface = if other { 1 - all[index].interface } else { all[index].interface };
            (interface, if repair { with_checksum(bytes) } else { bytes })
        },
    )
}

/// A frame with a header that looks right and anything in it: options, fragments, addresses of both networks.
fn made_up() -> impl Strategy<Value = (usize, Vec<u8>)> {
    let address =
        prop_oneof![Just([10u8, 0, 0, 1]), Just([10, 1, 0, 2]), Just([10, 0, 0, 7]), any::<[u8; 4]>()];
    let options = prop::collection::vec(
        prop_oneof![Just(7u8), Just(68), Just(131), Just(4), Just(8), Just(1), any::<u8>()],
        0..40,
    );
    (0..2usize, address.clone(), address, options, any::<(u16, u8)>(), 0..3000usize, any::<bool>()).prop_map(
        |(interface, from, to, options, (fragment, ttl), data, broadcast)| {
            let options = &options[..options.len() / 4 * 4];
            let mut frame = vec![0, 0, 0x0c, 0, 0, interface as u8 + 1, 2, 0, 0, 0, 0, 9, 8, 0];
            if broadcast {
                frame[..6].fill(0xff);
            }
            let length = 20 + options.len() + data;
            frame.extend([0x45 + (options.len() / 4) as u8, 0, (length >> 8) as u8, length as u8, 0, 1]);
            frame.extend(fragment.to_be_bytes());
            frame.extend([ttl % 4, 17, 0, 0]);
            frame.extend([&from[..], &to, options].concat());
            frame.resize(ETHER_HEADER + length, 0x61);
            (interface, with_checksum(frame))
        },
    )
}

fn anything() -> impl Strategy<Value = (usize, Vec<u8>)> {
    (0..2usize, prop::collection::vec(any::<u8>(), 0..200))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn hostile_packets_are_accounted_for(
        packets in prop::collection::vec(prop_oneof![3 => mutated(), 2 => made_up(), 1 => anything()], 1..60),
        ordered in any::<bool>(),
        pause in 0u64..400_000,
    ) {
        let mut bench = Bench::new(ordered);
        for run in packets.chunk_by(|a, b| a.0 == b.0) {
            bench.push(run[0].0, run.iter().map(|(_, frame)| &frame[..]));
            bench.check();
            bench.run(Duration::from_millis(pause));
            bench.check();
        }
    }
}
