//! What a packet costs in elements that remember addresses, with a thousand and with a hundred thousand of them: a frame
//! through EtherSwitch, a packet through ARPQuerier to a known host, and to hosts whose entries are too old. Likewise for
//! what a flood of single fragments costs IPReassembler with little and with much memory for them.
//!
//! The large tables do not fit into the nearest caches; a cost that grew with the number of entries would be a hundred times
//! as high.

use clickwork_elements::testing::Harness;
use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::checksum::Sum;
use clickwork_packet::{Batch, Packet};
use clickwork_router::Endpoint;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_main};
use std::time::Duration;

const BATCH: u32 = 64;
const SIZES: [u32; 2] = [1000, 100_000];

/// A router whose source is `s`, and a number for its next packet.
struct Lab {
    harness: Harness,
    input: Endpoint,
    next: u32,
}

impl Lab {
    fn new(config: &str) -> Lab {
        let harness = Harness::batched(config);
        let input = Endpoint { element: harness.router.find("s").expect("the source"), port: 0 };
        Lab { harness, input, next: 0 }
    }

    /// Sends a batch of packets that `make` makes of numbers below `limit` without a pattern.
    fn send(&mut self, limit: u32, make: impl Fn(u32) -> Packet) {
        let mut batch = Batch::with_array();
        for _ in 0..BATCH {
            self.next = self.next.wrapping_add(1);
            batch.push(make(self.next.wrapping_mul(2_654_435_761) % limit));
        }
        self.harness.router.push(self.input, batch);
    }
}

fn frame(n: u32) -> Packet {
    let mut bytes = [0; 60];
    bytes[1..5].copy_from_slice(&n.to_be_bytes());
    bytes[7..11].copy_from_slice(&n.to_be_bytes());
    Packet::new(&bytes)
}

fn packet(n: u32) -> Packet {
    let mut p = Packet::new(&[0x45; 64]);
    p.set_dst_ip(host(n));
    p
}

fn host(n: u32) -> Ipv4Address {
    Ipv4Address::from_bits(0x0A00_0000 + n)
}

/// The first fragment of a packet of its own.
fn fragment(n: u32) -> Packet {
    let [a, b, c, d] = n.to_be_bytes();
    let mut bytes = [0; 28];
    bytes[..10].copy_from_slice(&[0x45, 0, 0, 28, c, d, 0x20, 0, 64, 17]);
    bytes[12..20].copy_from_slice(&[10, 0, a, b, 10, 0, 0, 2]);
    let sum = Sum::new().bytes(&bytes[..20]).finish();
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    let mut p = Packet::new(&bytes);
    p.set_network_header(0, 20);
    p
}

fn arp(entries: u32) -> Lab {
    let mut lab = Lab::new(
        "s :: Source -> q :: ARPQuerier(9.0.0.1, 2:0:0:0:0:1, TIMEOUT 60, POLL_TIMEOUT 0) -> Discard;
         Idle -> [1] q; q [1] -> Discard",
    );
    for n in 0..entries {
        lab.harness.write(&format!("q.insert {} 2:0:0:0:0:2", host(n))).expect("the entry is written");
    }
    lab
}

fn tables(c: &mut Criterion) {
    let mut group = c.benchmark_group("tables");
    group.throughput(Throughput::Elements(BATCH.into()));
    for size in SIZES {
        let mut lab = Lab::new("s :: Source -> w :: EtherSwitch -> Discard; Idle -> [1] w [1] -> Discard");
        (0..size.div_ceil(BATCH) * 4).for_each(|_| lab.send(size, frame));
        group.bench_function(BenchmarkId::new("EtherSwitch", size), |b| b.iter(|| lab.send(size, frame)));
        let mut lab = arp(size);
        group.bench_function(BenchmarkId::new("ARPQuerier", size), |b| b.iter(|| lab.send(size, packet)));
        let mut lab = arp(size);
        lab.harness.run_for(Duration::from_secs(100));
        group.bench_function(BenchmarkId::new("ARPQuerier, old entries", size), |b| {
            b.iter(|| lab.send(size, packet));
        });
        let mut lab = Lab::new(&format!("s :: Source -> IPReassembler(HIMEM {}) -> Discard", size * 48));
        (0..size.div_ceil(BATCH)).for_each(|_| lab.send(u32::MAX, fragment));
        group.bench_function(BenchmarkId::new("IPReassembler, flood", size), |b| {
            b.iter(|| lab.send(u32::MAX, fragment));
        });
    }
}

fn all() {
    tables(&mut Criterion::default().configure_from_args());
}

criterion_main!(all);
