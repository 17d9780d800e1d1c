//! CPUQueue: a queue for each thread that pushes.

use super::fifo::Fifo;
use clickwork_packet::Batch;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::notify::{NotifierId, NotifierKind, Search};
use clickwork_router::{Class, Cx, Element, read_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "stores packets first in, first out, for each thread apart",
    manual: "Stores up to CAPACITY packets of each thread that pushes; further ones are dropped. Pulls, at any output, take \
             them from the threads in turn. A router is run by one thread, so there is one queue. Unlike Queue it is not \
             looked for by elements that count queued packets, such as RED.",
    example: "InfiniteSource(LIMIT 5, STOP true) -> CPUQueue(10) -> Unqueue -> Discard",
    ports: "1/1-",
    processing: "h/l",
    packets: "any/each",
    args: &[ArgSpec::positional("CAPACITY", ArgType::U32, "128", "packets of a thread it can hold")],
    handlers: &[
        read_handler!("capacity", "packets of a thread it can hold", |e: &mut CpuQueue, _| e.capacity),
        read_handler!("drops", "packets dropped because it was full", |e: &mut CpuQueue, _| e.drops),
    ],
    ..Class::new("CPUQueue", "queue", || Box::<CpuQueue>::default())
};

struct CpuQueue {
    packets: Fifo,
    capacity: u32,
    drops: u64,
    empty: Option<NotifierId>,
}

impl Default for CpuQueue {
    fn default() -> CpuQueue {
        CpuQueue { packets: Fifo::default(), capacity: 128, drops: 0, empty: None }
    }
}

impl CpuQueue {
    fn append(&mut self, batch: &mut Batch, cx: &mut Cx<'_>) {
        let room = (self.capacity as usize).saturating_sub(self.packets.len());
        if room < batch.len() {
            self.packets.append(&mut batch.drain_front(room).collect());
            self.drops += batch.len() as u64;
            cx.drop_batch(batch, "queue full");
        } else {
            self.packets.append(batch);
        }
    }
}

impl Element for CpuQueue {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        args.read("CAPACITY", &mut self.capacity);
        self.empty = Some(cx.export_notifier(NotifierKind::Empty, Search::Stop));
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        self.append(batch, cx);
        if let Some(empty) = self.empty.filter(|_| !self.packets.is_empty()) {
            cx.wake(empty);
        }
    }

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        if let Some(empty) = self.empty.filter(|_| self.packets.is_empty()) {
            cx.sleep(empty);
        }
        self.packets.take(limit, || cx.fresh_batch())
    }

    fn take_state(&mut self, old: &mut dyn Element, cx: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<CpuQueue>(old) {
            self.drops = old.drops;
            while let Some(p) = old.packets.pop_front() {
                self.append(&mut Batch::one(p), cx);
            }
        }
    }

    fn cleanup(&mut self, _: &mut Cx<'_>) {
        self.packets.clear();
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use clickwork_router::Outcome;

    #[test]
    fn holds_its_capacity_and_feeds_all_outputs() {
        for batched in [false, true] {
            let config = "s :: Source -> q :: CPUQueue(3); q[0] -> u :: Unqueue(ACTIVE false) -> k :: Sink; q[1] -> Idle";
            let mut t = if batched { Harness::batched(config) } else { Harness::new(config) };
            t.push_batch("s", 0, (0..5).map(|i| Packet::new(&[i])));
            assert_eq!([t.read("q.drops"), t.read("q.capacity")], ["2", "3"]);
            t.write("u.active true").unwrap();
            assert_eq!(t.run(), Outcome::Exhausted);
            assert_eq!(t.bytes("k"), [[0], [1], [2]]);
            t.push("s", 0, [Packet::new(&[9])]);
            assert_eq!(t.bytes("k"), [[9]]);
        }
        assert_eq!(Harness::new("Idle -> q :: CPUQueue -> Discard").read("q.capacity"), "128");
    }
}
