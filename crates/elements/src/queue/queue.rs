//! Queue: the border between push and pull.

use clickwork_packet::{Batch, Packet};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::notify::{NotifierId, NotifierKind, Search};
use clickwork_router::{Class, Cx, Element, Storage, read_handler, write_handler};
use std::collections::VecDeque;
use std::sync::Arc;

/// The class facts.
pub static CLASS: Class = Class {
    help: "stores packets first in, first out",
    manual: "Stores pushed packets until they are pulled. When it holds CAPACITY packets, further ones go to output 1 \
             if that is connected, and are dropped otherwise. It tells those who pull when packets come (empty \
             notifier) and those who push when there is room again (full notifier).",
    example: "InfiniteSource(LIMIT 5, STOP true) -> q :: Queue(10) -> Unqueue -> Discard",
    ports: "1/1-2",
    processing: "h/lh",
    flags: "S0",
    args: &[ArgSpec::positional("CAPACITY", ArgType::U32, "1000", "packets it can hold")],
    handlers: &[
        read_handler!("length", "packets held", |e: &mut Queue, _| e.packets.len()),
        read_handler!("highwater_length", "most packets ever held", |e: &mut Queue, _| e.highwater),
        read_handler!("capacity", "packets it can hold", |e: &mut Queue, _| e.capacity)
            .and_write(write_handler!("", "", |e: &mut Queue, text, cx| e.set_capacity(text, cx))),
        read_handler!("drops", "packets refused", |e: &mut Queue, _| e.drops),
        write_handler!("reset_counts", "sets drops and the high-water mark to 0", |e: &mut Queue, _, _| {
            (e.drops, e.highwater) = (0, e.packets.len());
        }),
        write_handler!("reset", "drops all packets held", |e: &mut Queue, _, cx| e.reset(cx)),
    ],
    ..Class::new("Queue", "queue", || Box::<Queue>::default())
};

/// Capacity unless told otherwise.
const CAPACITY: usize = 1000;

struct Queue {
    packets: VecDeque<Packet>,
    capacity: usize,
    highwater: usize,
    drops: u64,
    storage: Arc<Storage>,
    /// The empty and the full notifier.
    notifiers: Option<(NotifierId, NotifierId)>,
}

impl Default for Queue {
    fn default() -> Queue {
        let (packets, storage) = (VecDeque::new(), Arc::default());
        Queue { packets, capacity: CAPACITY, highwater: 0, drops: 0, storage, notifiers: None }
    }
}

impl Queue {
    /// Tells everybody who cares how many packets are held now.
    #[inline]
    fn announce(&mut self, cx: &mut Cx<'_>) {
        let held = self.packets.len();
        self.highwater = self.highwater.max(held);
        self.storage.set_length(held);
        let Some((empty, full)) = self.notifiers else { return };
        if held == 0 {
            cx.sleep(empty)
        } else {
            cx.wake(empty)
        }
        if held < self.capacity { cx.wake(full) } else { cx.sleep(full) }
    }

    fn refuse(&mut self, p: Packet, cx: &mut Cx<'_>) {
        if self.drops == 0 && self.capacity > 0 {
            cx.chatter(&format!("{} :: {}: overflow", cx.name(), cx.info().class_name));
        }
        self.drops += 1;
        cx.emit_or_drop(1, p, "queue full");
    }

    fn set_capacity(&mut self, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
        self.capacity = crate::values::parse(text, "number of packets")?;
        self.storage.set_capacity(self.capacity);
        while self.packets.len() > self.capacity
            && let Some(p) = self.packets.pop_back()
        {
            self.refuse(p, cx);
        }
        self.announce(cx);
        Ok(())
    }

    fn reset(&mut self, cx: &mut Cx<'_>) {
        cx.count_drop("queue reset", self.packets.len() as u64);
        self.packets.clear();
        self.announce(cx);
    }
}

impl Element for Queue {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        args.read("CAPACITY", &mut self.capacity);
        self.storage.set_capacity(self.capacity);
        cx.export(Arc::clone(&self.storage));
        let empty = cx.export_notifier(NotifierKind::Empty, Search::Stop);
        let full = cx.export_notifier(NotifierKind::Full, Search::Stop);
        self.notifiers = Some((empty, full));
        cx.sleep(empty);
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        let room = self.capacity.saturating_sub(self.packets.len());
        if room >= batch.len() {
            self.packets.extend(batch.drain());
        } else {
            self.packets.extend(batch.drain_front(room));
            batch.take().into_iter().for_each(|p| self.refuse(p, cx));
        }
        self.announce(cx);
    }

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        if self.packets.is_empty() {
            return Batch::new();
        }
        let mut batch = cx.fresh_batch();
        let n = limit.min(self.packets.len());
        self.packets.drain(..n).for_each(|p| batch.push(p));
        self.announce(cx);
        batch
    }

    fn take_state(&mut self, old: &mut dyn Element, cx: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<Queue>(old) {
            (self.drops, self.highwater) = (old.drops, old.highwater);
            for p in old.packets.drain(..) {
                match self.packets.len() < self.capacity {
                    true => self.packets.push_back(p),
                    false => self.refuse(p, cx),
                }
            }
            self.announce(cx);
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

    fn numbered(n: u8) -> impl Iterator<Item = Packet> {
        (0..n).map(|i| Packet::new(&[i]))
    }

    #[test]
    fn keeps_order_and_refuses_what_does_not_fit() {
        for batched in [false, true] {
            let config = "s :: Source -> q :: Queue(3); q[1] -> over :: Sink; q -> Idle";
            let mut t = if batched { Harness::batched(config) } else { Harness::new(config) };
            if batched {
                t.push_batch("s", 0, numbered(5))
            } else {
                t.push("s", 0, numbered(5))
            };
            assert_eq!(t.bytes("over"), [[3], [4]]);
            assert_eq!(
                [t.read("q.length"), t.read("q.drops"), t.read("q.highwater_length")],
                ["3", "2", "3"]
            );
            assert_eq!(t.printed(), "q :: Queue: overflow\n");
        }
    }

    #[test]
    fn wakes_and_feeds_those_who_pull() {
        let mut t = Harness::new("s :: Source -> q :: Queue -> k :: Sink");
        t.run();
        t.push("s", 0, numbered(2));
        t.push("s", 0, numbered(1));
        assert_eq!(t.bytes("k"), [[0], [1], [0]]);
    }

    #[test]
    fn shrinking_and_resetting_drop_packets() {
        let mut t = Harness::new("s :: Source -> q :: Queue -> Idle");
        t.push("s", 0, numbered(5));
        t.write("q.capacity 2").unwrap();
        assert_eq!((t.read("q.length"), t.read("q.drops")), ("2".into(), "3".into()));
        t.write("q.reset").unwrap();
        assert_eq!(t.read("q.length"), "0");
        assert_eq!(t.read("q.drop_reasons"), "3\tqueue full\n2\tqueue reset\n");
    }
}
