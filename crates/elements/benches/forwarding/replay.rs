//! A source and a sink that circulate many packets, so that every packet and its route are out of the cache.

use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::checksum::checksum_20;
use clickwork_packet::{Batch, Packet};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::random::Random;
use clickwork_router::{Class, Cx, Element, TaskStep};
use std::collections::VecDeque;
use std::sync::{LazyLock, Mutex};

/// Packets in circulation: 2,176 bytes each, 142 MB together.
pub const PACKETS: usize = 1 << 16;
/// Routes in the table.
pub const ROUTES: u32 = 1 << 18;

/// The network of route number `n`: a /24 in 64.0.0.0/2, scattered.
pub fn network(n: u32) -> Ipv4Address {
    Ipv4Address::from_bits(0x4000_0000 | (n.wrapping_mul(0x9e37_79b1) >> 14 << 8))
}

fn frame(to: Ipv4Address) -> Packet {
    let mut bytes = [0u8; 60];
    bytes[..14].copy_from_slice(b"\x00\x00\x0c\x00\x00\x01\x00\x00\x0c\x00\x00\xff\x08\x00");
    bytes[14..30].copy_from_slice(b"\x45\x00\x00\x2e\x00\x00\x00\x00\xff\x11\x00\x00\x0a\x00\x00\x02");
    bytes[30..34].copy_from_slice(&to.octets());
    let sum = bytes[14..].first_chunk::<20>().map_or(0, checksum_20);
    bytes[24..26].copy_from_slice(&sum.to_be_bytes());
    Packet::new(&bytes)
}

/// The packets that are not in the router.
static STOCK: LazyLock<Mutex<VecDeque<Packet>>> = LazyLock::new(|| {
    let mut random = Random::from_seed(7);
    let mut packets: Vec<Packet> = (0..PACKETS)
        .map(|_| frame(Ipv4Address::from_bits(network(random.next_u32() % ROUTES).to_bits() | 9)))
        .collect();
    for i in (1..packets.len()).rev() {
        packets.swap(i, random.next_u32() as usize % (i + 1));
    }
    Mutex::new(packets.into())
});

/// Sends LIMIT packets out of the stock.
pub static SOURCE: Class = Class {
    ports: "0/1",
    args: &[ArgSpec::positional("LIMIT", ArgType::U64, "0", "packets to send")],
    ..Class::new("StockSource", "bench", || Box::<StockSource>::default())
};

#[derive(Default)]
struct StockSource {
    left: u64,
}

impl Element for StockSource {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        args.read("LIMIT", &mut self.left);
        cx.schedule_task();
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        if self.left == 0 {
            cx.stop_driver();
            return TaskStep::Sleep;
        }
        let mut batch = cx.fresh_batch();
        let mut stock = STOCK.lock().expect("no panic");
        for p in stock.drain(..64) {
            batch.push(p);
        }
        // As a device driver does: load what comes next while this batch is on its way.
        stock.iter().take(64).for_each(Packet::prefetch_all);
        drop(stock);
        self.left -= 64.min(self.left);
        cx.emit_batch(0, batch);
        TaskStep::Again
    }
}

/// Puts packets back into the stock.
pub static SINK: Class =
    Class { ports: "1/0", processing: "h/h", ..Class::new("StockSink", "bench", || Box::new(StockSink)) };

struct StockSink;

impl Element for StockSink {
    fn push(&mut self, _: usize, batch: &mut Batch, _: &mut Cx<'_>) {
        STOCK.lock().expect("no panic").extend(batch.drain());
    }
}
