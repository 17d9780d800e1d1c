//! The core that all queue classes share: a bounded sequence of packets with its counters, its notifiers and its
//! handlers. The classes differ in their [`Kind`] only.

use super::fifo::Fifo;
use clickwork_packet::{Batch, Packet};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::notify::{NotifierId, NotifierKind, Search};
use clickwork_router::{Class, Cx, Element, Handler, Storage, read_handler, write_handler};
use std::sync::Arc;

/// When a queue tells those who pull that it is empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EmptyNotice {
    /// After they asked ten times in vain, so that a queue that hovers around empty does not put them to sleep and
    /// wake them all the time.
    Patient,
    /// When the last packet leaves.
    AtOnce,
}

/// What a full queue does with a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Overflow {
    /// It is refused.
    RefuseNew,
    /// The oldest packet gives way to it.
    DropOldest,
}

/// What distinguishes the queue classes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    /// When its empty notifier tells.
    pub empty: EmptyNotice,
    /// Whether it has a full notifier.
    pub full: bool,
    /// What it does when it is full.
    pub overflow: Overflow,
}

/// Capacity unless told otherwise.
const CAPACITY: usize = 1000;
/// How often a patient queue is asked in vain before it tells that it is empty.
const PATIENCE: u32 = 9;

/// A queue.
pub(super) struct Queue {
    kind: Kind,
    packets: Fifo,
    capacity: usize,
    highwater: usize,
    drops: u64,
    storage: Arc<Storage>,
    empty: Option<NotifierId>,
    full: Option<NotifierId>,
    /// Pulls since the last packet left.
    vain_pulls: u32,
}

const ARGS: &[ArgSpec] = &[ArgSpec::positional("CAPACITY", ArgType::U32, "1000", "packets it can hold")];

const HANDLERS: &[Handler] = &[
    read_handler!("length", "packets held", |e: &mut Queue, _| e.packets.len()),
    read_handler!("highwater_length", "most packets ever held", |e: &mut Queue, _| e.highwater),
    read_handler!("capacity", "packets it can hold", |e: &mut Queue, _| e.capacity)
        .flags(".")
        .and_write(write_handler!("", "", |e: &mut Queue, text, cx| e.set_capacity(text, cx))),
    read_handler!("drops", "packets dropped because it was full", |e: &mut Queue, _| e.drops),
    write_handler!("reset_counts", "sets drops and the high-water mark anew", |e: &mut Queue, _, _| {
        (e.drops, e.highwater) = (0, e.packets.len());
    })
    .flags("b"),
    write_handler!("reset", "drops all packets held", |e: &mut Queue, _, cx| e.reset(cx)).flags("b"),
];

/// The facts that all queue classes have in common.
pub(super) const fn class(name: &'static str, make: fn() -> Box<dyn Element>) -> Class {
    Class {
        ports: "1/1-2",
        processing: "h/lh",
        packets: "any/each",
        flags: "S0",
        args: ARGS,
        handlers: HANDLERS,
        ..Class::new(name, "queue", make)
    }
}

impl Queue {
    /// An empty queue.
    pub(super) fn new(kind: Kind) -> Queue {
        Queue {
            kind,
            packets: Fifo::default(),
            capacity: CAPACITY,
            highwater: 0,
            drops: 0,
            storage: Arc::default(),
            empty: None,
            full: None,
            vain_pulls: 0,
        }
    }

    /// Puts packets behind those held.
    #[inline]
    fn append(&mut self, batch: &mut Batch, cx: &mut Cx<'_>) {
        let room = self.capacity.saturating_sub(self.packets.len());
        if room >= batch.len() {
            self.packets.append(batch);
        } else if self.kind.overflow == Overflow::DropOldest {
            batch.take().into_iter().for_each(|p| self.append_over_oldest(p, cx));
        } else {
            self.packets.append(&mut batch.drain_front(room).collect());
            batch.take().into_iter().for_each(|p| self.refuse(p, cx));
        }
    }

    fn append_over_oldest(&mut self, p: Packet, cx: &mut Cx<'_>) {
        let oldest = if self.packets.len() >= self.capacity { self.packets.pop_front() } else { None };
        if self.capacity == 0 {
            return self.refuse(p, cx);
        }
        self.packets.push_back(p);
        if let Some(oldest) = oldest {
            self.refuse(oldest, cx);
        }
    }

    /// Puts a packet before those held; if there is no room, the last of them goes.
    fn prepend(&mut self, p: Packet, cx: &mut Cx<'_>) {
        let last = if self.packets.len() >= self.capacity { self.packets.pop_back() } else { None };
        if self.capacity == 0 {
            return self.refuse(p, cx);
        }
        self.packets.push_front(p);
        if let Some(last) = last {
            self.refuse(last, cx);
        }
    }

    #[cold]
    fn refuse(&mut self, p: Packet, cx: &mut Cx<'_>) {
        if self.drops == 0 && self.capacity > 0 {
            cx.chatter(&format!("{} :: {}: overflow", cx.name(), cx.info().class_name));
        }
        self.drops += 1;
        cx.emit_or_drop(1, p, "queue full");
    }

    /// Tells everybody who cares that packets came.
    #[inline]
    fn note_arrival(&mut self, cx: &mut Cx<'_>) {
        let held = self.packets.len();
        self.highwater = self.highwater.max(held);
        self.storage.set_length(held);
        if held > 0
            && let Some(empty) = self.empty
        {
            cx.wake(empty);
        }
        if held >= self.capacity
            && let Some(full) = self.full
        {
            cx.sleep(full);
        }
    }

    /// Tells everybody who cares that packets went.
    #[inline]
    fn note_departure(&mut self, cx: &mut Cx<'_>) {
        self.vain_pulls = 0;
        self.storage.set_length(self.packets.len());
        if self.kind.empty == EmptyNotice::AtOnce
            && self.packets.is_empty()
            && let Some(empty) = self.empty
        {
            cx.sleep(empty);
        }
        if self.packets.len() < self.capacity
            && let Some(full) = self.full
        {
            cx.wake(full);
        }
    }

    fn note_vain_pull(&mut self, cx: &mut Cx<'_>) {
        self.vain_pulls = self.vain_pulls.saturating_add(1);
        if (self.kind.empty == EmptyNotice::AtOnce || self.vain_pulls > PATIENCE)
            && let Some(empty) = self.empty
        {
            cx.sleep(empty);
        }
    }

    fn set_capacity(&mut self, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
        let capacity = crate::values::parse::<u32>(text, "").map_err(|_| "CAPACITY: parse error")?;
        cx.set_argument(0, "CAPACITY", text.trim());
        self.capacity = capacity as usize;
        self.storage.set_capacity(self.capacity);
        let excess = self.discard_to(self.capacity);
        if excess > 0 {
            cx.count_drop("queue shrunk", excess as u64);
        }
        self.note_departure(cx);
        self.note_arrival(cx);
        Ok(())
    }

    /// Drops packets until there are at most `room`: those that a full queue can do without. Returns how many.
    fn discard_to(&mut self, room: usize) -> usize {
        let excess = self.packets.len().saturating_sub(room);
        for _ in 0..excess {
            drop(match self.kind.overflow {
                Overflow::RefuseNew => self.packets.pop_back(),
                Overflow::DropOldest => self.packets.pop_front(),
            });
        }
        excess
    }

    fn reset(&mut self, cx: &mut Cx<'_>) {
        while let Some(p) = self.packets.pop_front() {
            cx.emit_or_drop(1, p, "queue reset");
        }
        self.note_departure(cx);
    }
}

impl Element for Queue {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        self.capacity = args.get::<u32>("CAPACITY").map_or(CAPACITY, |n| n as usize);
        self.storage.set_capacity(self.capacity);
        cx.export(Arc::clone(&self.storage));
        self.empty = Some(cx.export_notifier(NotifierKind::Empty, Search::Stop));
        if self.kind.full {
            self.full = Some(cx.export_notifier(NotifierKind::Full, Search::Stop));
        }
    }

    fn push(&mut self, port: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        match port {
            0 => self.append(batch, cx),
            _ => batch.drain().for_each(|p| self.prepend(p, cx)),
        }
        self.note_arrival(cx);
    }

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        if self.packets.is_empty() {
            self.note_vain_pull(cx);
            return Batch::new();
        }
        let batch = self.packets.take(limit, || cx.fresh_batch());
        self.note_departure(cx);
        batch
    }

    fn take_state(&mut self, old: &mut dyn Element, cx: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<Queue>(old) {
            (self.drops, self.highwater) = (old.drops, old.highwater);
            let length = old.packets.len();
            let lost = old.discard_to(self.capacity.saturating_sub(self.packets.len()));
            if lost > 0 {
                cx.count_drop("lost in hot swap", lost as u64);
                cx.chatter(&format!(
                    "While hot-swapping state into '{} :: {}':\n  warning: some packets lost (old length {length}, new \
                     capacity {})",
                    cx.name(),
                    cx.info().class_name,
                    self.capacity
                ));
            }
            while let Some(p) = old.packets.pop_front() {
                self.packets.push_back(p);
            }
            self.note_arrival(cx);
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

    fn numbered(n: u8) -> impl Iterator<Item = Packet> {
        (0..n).map(|i| Packet::new(&[i]))
    }

    /// Runs five packets into a queue of three and returns what is left in it and what was thrown out, by class.
    fn overflow(class: &str, batched: bool) -> (Vec<Vec<u8>>, Vec<Vec<u8>>, String) {
        let config = format!(
            "s :: Source -> q :: {class}(3); q[1] -> over :: Sink; q -> u :: Unqueue(ACTIVE false) -> k :: Sink"
        );
        let mut t = if batched { Harness::batched(&config) } else { Harness::new(&config) };
        match batched {
            true => t.push_batch("s", 0, numbered(5)),
            false => t.push("s", 0, numbered(5)),
        }
        assert_eq!([t.read("q.length"), t.read("q.drops"), t.read("q.highwater_length")], ["3", "2", "3"]);
        let printed = t.printed();
        t.write("u.active true").unwrap();
        assert_eq!(t.run(), Outcome::Exhausted);
        (t.bytes("k"), t.bytes("over"), printed)
    }

    const REFUSING: [&str; 7] = [
        "Queue",
        "SimpleQueue",
        "FullNoteQueue",
        "NotifierQueue",
        "QuickNoteQueue",
        "ThreadSafeQueue",
        "MSQueue",
    ];

    #[test]
    fn refuses_what_does_not_fit_and_keeps_the_order() {
        for class in REFUSING {
            for batched in [false, true] {
                let (kept, over, printed) = overflow(class, batched);
                assert_eq!(
                    (kept, over),
                    (vec![vec![0], vec![1], vec![2]], vec![vec![3], vec![4]]),
                    "{class}"
                );
                assert_eq!(printed, format!("q :: {class}: overflow\n"));
            }
        }
    }

    #[test]
    fn the_oldest_packet_gives_way_in_a_front_drop_queue() {
        for batched in [false, true] {
            let (kept, over, _) = overflow("FrontDropQueue", batched);
            assert_eq!((kept, over), (vec![vec![2], vec![3], vec![4]], vec![vec![0], vec![1]]));
        }
    }

    #[test]
    fn a_mixed_queue_puts_packets_of_input_1_first() {
        let mut t = Harness::new(
            "s :: Source -> q :: MixedQueue(3); s2 :: Source -> [1] q; q[1] -> over :: Sink; \
             q -> u :: Unqueue(ACTIVE false) -> k :: Sink",
        );
        t.push("q", 0, numbered(3));
        t.push("q", 1, [Packet::new(&[7])]);
        t.push("q", 0, [Packet::new(&[8])]);
        t.write("u.active true").unwrap();
        t.run();
        assert_eq!(t.bytes("k"), [[7], [0], [1]]);
        assert_eq!(t.bytes("over"), [[2], [8]]);
    }

    #[test]
    fn wakes_and_feeds_those_who_pull() {
        for class in
            ["Queue", "NotifierQueue", "QuickNoteQueue", "FrontDropQueue", "ThreadSafeQueue", "MSQueue"]
        {
            let mut t = Harness::new(&format!("s :: Source -> q :: {class} -> Unqueue -> k :: Sink"));
            assert_eq!(t.run(), Outcome::Exhausted);
            t.push("s", 0, numbered(2));
            t.push("s", 0, numbered(1));
            assert_eq!(t.bytes("k"), [[0], [1], [0]], "{class}");
        }
    }

    #[test]
    fn a_full_queue_stops_the_source() {
        let mut t = Harness::new(
            "i :: InfiniteSource(LIMIT 10) -> q :: Queue(4) -> u :: Unqueue(ACTIVE false, LIMIT 3) -> k :: Sink",
        );
        t.run();
        assert_eq!([t.read("i.count"), t.read("q.length"), t.read("q.drops")], ["4", "4", "0"]);
        t.write("u.active true").unwrap();
        assert_eq!(t.run(), Outcome::Exhausted);
        assert_eq!([t.read("i.count"), t.read("q.length"), t.read("u.count")], ["7", "4", "3"]);
    }

    #[test]
    fn shrinking_and_resetting_drop_packets() {
        let mut t = Harness::new("s :: Source -> q :: Queue -> Idle");
        t.push("s", 0, numbered(5));
        t.write("q.capacity 2").unwrap();
        assert_eq!([t.read("q.length"), t.read("q.drops"), t.read("q.capacity")], ["2", "0", "2"]);
        t.write("q.reset").unwrap();
        assert_eq!(t.read("q.length"), "0");
        assert_eq!(t.read("q.drop_reasons"), "3\tqueue shrunk\n2\tqueue reset\n");
        assert!(t.write("q.capacity many").is_err());
    }

    #[test]
    fn a_smaller_queue_keeps_what_its_class_prefers() {
        for (class, kept) in
            [("Queue", [[0], [1]]), ("MixedQueue", [[0], [1]]), ("FrontDropQueue", [[3], [4]])]
        {
            let config = |capacity: u8| {
                format!(
                    "s :: Source -> q :: {class}({capacity}); q -> u :: Unqueue(ACTIVE false) -> k :: Sink; \
                     Idle -> {} q",
                    if class == "MixedQueue" { "[1]" } else { "" }
                )
            };
            let mut t = Harness::new(&config(5));
            t.push("s", 0, numbered(5));
            t.write("q.capacity 2").unwrap();
            t.write("u.active true").unwrap();
            t.run();
            assert_eq!(
                (t.bytes("k"), t.read("q.drops")),
                (kept.map(|p| p.to_vec()).to_vec(), "0".into()),
                "{class}"
            );

            let (mut old, mut new) = (Harness::new(&config(5)), Harness::new(&config(2)));
            old.push("s", 0, numbered(5));
            new.router.take_over(old.router);
            assert_eq!(
                new.printed(),
                format!(
                    "While hot-swapping state into 'q :: {class}':\n  warning: some packets lost (old length 5, new \
                     capacity 2)\n"
                )
            );
            assert_eq!([new.read("q.length"), new.read("q.drops")], ["2", "0"]);
            new.write("u.active true").unwrap();
            new.run();
            assert_eq!(new.bytes("k"), kept.map(|p| p.to_vec()), "{class}");
        }
    }

    #[test]
    fn the_configuration_follows_the_capacity() {
        let mut t = Harness::new("Source -> q :: Queue; r :: Queue(5); q -> Unqueue -> r -> Sink");
        for queue in ["q", "r"] {
            t.write(&format!("{queue}.capacity 7")).unwrap();
        }
        assert_eq!((t.read("q.config"), t.read("r.config")), ("CAPACITY 7".into(), "7".into()));
        assert_eq!(t.write("q.capacity x").unwrap_err(), "CAPACITY: parse error");
        assert_eq!(t.read("q.config"), "CAPACITY 7");
    }

    #[test]
    fn what_a_reset_drops_goes_to_output_1() {
        let mut t =
            Harness::new("Source -> q :: Queue -> u :: Unqueue(ACTIVE false) -> Discard; q[1] -> k :: Sink");
        t.push("q", 0, (0..3u8).map(|n| Packet::new(&[n])));
        t.write("q.reset").unwrap();
        assert_eq!((t.bytes("k"), t.read("q.length")), (vec![vec![0], vec![1], vec![2]], "0".into()));
    }
}
