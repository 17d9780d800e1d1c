//! What it costs to rewrite a packet of an established flow, with a thousand and with a million mappings, forward and back,
//! in batches of 64 packets of random flows; and what a new flow costs, with room and in a full table.
//!
//! The packets are written anew for each pass, since the rewriter changed them: "no rewriter" is the cost of that and of
//! the way, to be subtracted.

use clickwork_elements::testing::Harness;
use clickwork_packet::checksum::Sum;
use clickwork_packet::{Batch, Packet};
use clickwork_router::Endpoint;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_main, measurement::WallTime};

const BATCH: usize = 64;
/// Batches in one pass.
const BATCHES: usize = 256;
/// The port range begins here: `1024-65535#`.
const FIRST_PORT: u32 = 1024;
const PORTS: u32 = 65_536 - FIRST_PORT;

/// Numbers without a pattern, always the same (xorshift, Marsaglia 2003).
struct Numbers(u32);

impl Numbers {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }
}

/// Source and destination of flow number `n` with their ports: hosts inside, and so many servers that ports suffice.
fn forward(n: u32) -> [u8; 12] {
    ends(0x0A00_0000 + n / 16, 0x0909_0000 + n / PORTS, (n % 16 + 5000) as u16, 80)
}

/// The same of the answers to it, to the ports that flows get one after the other.
fn reply(n: u32) -> [u8; 12] {
    ends(0x0909_0000 + n / PORTS, 0x0100_0001, 80, (FIRST_PORT + n % PORTS) as u16)
}

fn ends(source: u32, destination: u32, from: u16, to: u16) -> [u8; 12] {
    let mut bytes = [0; 12];
    bytes[..4].copy_from_slice(&source.to_be_bytes());
    bytes[4..8].copy_from_slice(&destination.to_be_bytes());
    bytes[8..10].copy_from_slice(&from.to_be_bytes());
    bytes[10..].copy_from_slice(&to.to_be_bytes());
    bytes
}

/// A UDP packet of 64 bytes with a right IP checksum.
fn template() -> Packet {
    let mut bytes = [0u8; 64];
    bytes[..10].copy_from_slice(&[0x45, 0, 0, 64, 0, 1, 0, 0, 64, 17]);
    bytes[24..28].copy_from_slice(&[0, 44, 1, 1]);
    let sum = Sum::new().bytes(&bytes[..20]).finish();
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    let mut p = Packet::new(&bytes);
    p.set_network_header(0, 20);
    p
}

/// A router with a rewriter between a source and a sink, and packets that go round.
struct Lab {
    harness: Harness,
    stock: Vec<Packet>,
    inputs: [Endpoint; 2],
}

impl Lab {
    fn new(rewriter: &str) -> Lab {
        let config = format!(
            "a :: Source -> [0] rw :: {rewriter}; b :: Source -> [1] rw; rw [0] -> k :: Sink; rw [1] -> k"
        );
        let harness = Harness::batched(&config);
        let input = |name| Endpoint { element: harness.router.find(name).expect("the source"), port: 0 };
        let inputs = [input("a"), input("b")];
        Lab { harness, stock: (0..BATCH).map(|_| template()).collect(), inputs }
    }

    /// Sends one batch of packets with these ends into an input, and takes them back.
    fn send(&mut self, input: usize, mut ends: impl FnMut() -> [u8; 12]) {
        let mut batch = Batch::with_array();
        for mut p in self.stock.drain(..) {
            let (data, ends) = (p.data_mut(), ends());
            data[12..20].copy_from_slice(&ends[..8]);
            data[20..24].copy_from_slice(&ends[8..]);
            batch.push(p);
        }
        self.harness.router.push(self.inputs[input], batch);
        self.stock = self.harness.take("k");
        self.stock.resize_with(BATCH, template);
    }

    /// Makes flows 0 to `count` known.
    fn establish(&mut self, count: u32) {
        let mut n = 0..;
        (0..count.div_ceil(BATCH as u32)).for_each(|_| self.send(0, || forward(n.next().unwrap_or(0))));
    }
}

fn measure(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, mut pass: impl FnMut(&mut Numbers)) {
    let mut numbers = Numbers(0x9E37_79B9);
    group.throughput(Throughput::Elements((BATCH * BATCHES) as u64)).sample_size(20);
    group.bench_function(name, |b| b.iter(|| (0..BATCHES).for_each(|_| pass(&mut numbers))));
}

fn established(c: &mut Criterion) {
    for (size, flows) in [("1K", 1000), ("1M", 1_000_000)] {
        let mut group = c.benchmark_group(format!("established flow, {size}"));
        let mut bare = Lab::new("{ input [0] -> [0] output; input [1] -> [1] output }");
        measure(&mut group, "no rewriter", |x| bare.send(0, || forward(x.next() % flows)));
        let mut lab = Lab::new("IPRewriter(pattern 1.0.0.1 1024-65535# - - 0 1, drop, CAPACITY 2000000)");
        lab.establish(flows);
        assert_eq!(lab.harness.read("rw.mapping_failures"), "0");
        measure(&mut group, "forward", |x| lab.send(0, || forward(x.next() % flows)));
        measure(&mut group, "back", |x| lab.send(1, || reply(x.next() % flows)));
        assert!(lab.harness.read("rw.size").parse::<u32>().is_ok_and(|size| size < flows + BATCH as u32));
    }
}

fn new_flows(c: &mut Criterion) {
    let mut group = c.benchmark_group("new flow");
    let mut n = 0u32;
    for (name, capacity) in [("table of 1M, full", 1_000_000), ("table of 1K, full", 1000)] {
        let mut lab = Lab::new(&format!("IPRewriter(keep 0 1, drop, CAPACITY {capacity}, UDP_GUARANTEE 0)"));
        lab.establish(capacity);
        measure(&mut group, name, |_| {
            lab.send(0, || {
                n += 1;
                forward(10_000_000 + n)
            });
        });
    }
}

/// The benchmarks, as criterion's macro would group them, but documented.
fn benches() {
    let mut c = Criterion::default().configure_from_args();
    established(&mut c);
    new_flows(&mut c);
}

criterion_main!(benches);
