//! FQCoDel: a queue that is fair to flows, and keeps each of them short.
//!
//! Read first: RFC 8290 §3 and §4. Flows take turns by deficit round robin; those that have just become active go first.

use super::control::{Control, Departure, Parameters, Source};
use super::flows::FlowHash;
use super::store::{Store, mark};
use clickwork_packet::{Batch, Packet, Timestamp};
use clickwork_router::args::{ArgSpec, ArgType, Args, Bounded, format_seconds};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, read_handler, write_handler};
use std::collections::VecDeque;

/// The class facts.
pub static CLASS: Class = Class {
    help: "stores packets of each flow apart, serves flows fairly, and keeps delays short",
    manual: "A queue of CAPACITY packets with a queue for each flow and CoDel in each (RFC 8290). A packet's flow is found by \
             its IP addresses, protocol and ports, hashed to one of FLOWS; packets without a marked IP header are one flow. \
             Pulls serve the flows by deficit round robin, QUANTUM bytes a turn, and first those flows that had nothing \
             queued. So sparse flows wait for nobody. TARGET and INTERVAL are CoDel's. With ECN, packets of transports \
             that understand it are marked instead of dropped. When the queue is full, the flow with most bytes loses up \
             to half of its packets. Dropped packets go to output 1 if that is connected.",
    example: "InfiniteSource(LIMIT 5, STOP true) -> FQCoDel -> Unqueue -> Discard",
    ports: "1/1-2",
    processing: "h/lh",
    packets: "any/each",
    flags: "S0",
    args: &[
        ArgSpec::positional("CAPACITY", ArgType::U32, "10240", "packets it can hold"),
        ArgSpec::keyword(
            "FLOWS",
            ArgType::IntRange { min: 1, max: 65536 },
            "1024",
            "number of queues for flows",
        ),
        ArgSpec::keyword("TARGET", ArgType::Seconds, "5ms", "the wait that is acceptable"),
        ArgSpec::keyword("INTERVAL", ArgType::Seconds, "100ms", "the time within which it must be reached"),
        ArgSpec::keyword("QUANTUM", ArgType::U32, "1514", "bytes a turn is worth"),
        ArgSpec::keyword("ECN", ArgType::Bool, "false", "whether packets are marked rather than dropped"),
    ],
    handlers: &[
        read_handler!("length", "packets held", |e: &mut FqCodel, _| e.length),
        read_handler!("highwater_length", "most packets ever held", |e: &mut FqCodel, _| e.store.highwater),
        read_handler!("capacity", "packets it can hold", |e: &mut FqCodel, _| e.store.capacity),
        read_handler!("drops", "packets dropped", |e: &mut FqCodel, _| e.store.drops),
        read_handler!("marks", "packets marked", |e: &mut FqCodel, _| e.marks),
        read_handler!("flows", "flows that have their turn", |e: &mut FqCodel, _| e.new.len() + e.old.len()),
        read_handler!("target", "the wait that is acceptable", |e: &mut FqCodel, _| format_seconds(
            e.parameters.target
        ))
        .and_write(write_handler!("", "", |e: &mut FqCodel, text, _| {
            crate::values::store(&mut e.parameters.target, text, "time in seconds")
        })),
        read_handler!("interval", "the time within which it must be reached", |e: &mut FqCodel, _| {
            format_seconds(e.parameters.interval)
        })
        .and_write(write_handler!("", "", |e: &mut FqCodel, text, _| {
            crate::values::store(&mut e.parameters.interval, text, "time in seconds")
        })),
        write_handler!("reset_counts", "sets the counts anew", |e: &mut FqCodel, _, _| {
            (e.store.drops, e.marks, e.store.highwater) = (0, 0, e.length);
        }),
        write_handler!("reset", "drops all packets held", |e: &mut FqCodel, _, cx| e.reset(cx)),
    ],
    ..Class::new("FQCoDel", "aqm", || Box::<FqCodel>::default())
};

/// Capacity unless told otherwise (RFC 8290 §5.2.3).
const CAPACITY: u32 = 10_240;
const QUANTUM: u32 = 1514;
/// So many packets of the longest flow go at most when the queue is full (RFC 8290 §4.1.3).
const MOST_AT_ONCE: usize = 64;

/// Which list a flow is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum List {
    #[default]
    None,
    New,
    Old,
}

#[derive(Default)]
struct Flow {
    /// Packets with the time at which they came.
    packets: VecDeque<(Timestamp, Packet)>,
    bytes: usize,
    deficit: i64,
    control: Control,
    list: List,
}

impl Flow {
    fn pop(&mut self) -> Option<(Timestamp, Packet)> {
        let (came, p) = self.packets.pop_front()?;
        self.bytes -= p.len();
        Some((came, p))
    }
}

/// The packets of a flow, for CoDel.
struct FlowSource<'a> {
    packets: &'a mut VecDeque<(Timestamp, Packet)>,
    bytes: &'a mut usize,
    now: Timestamp,
    longest: usize,
    ecn: bool,
    marks: &'a mut u64,
    dropped: &'a mut Vec<Packet>,
}

impl Source for FlowSource<'_> {
    fn take(&mut self) -> Option<Departure> {
        let (came, packet) = self.packets.pop_front()?;
        *self.bytes -= packet.len();
        Some(Departure { packet, sojourn: Some(self.now.since(came)), is_last: *self.bytes <= self.longest })
    }

    fn discard(&mut self, mut p: Packet) -> Option<Packet> {
        if self.ecn && mark(&mut p) {
            *self.marks += 1;
            return Some(p);
        }
        self.dropped.push(p);
        None
    }
}

#[derive(Default)]
struct FqCodel {
    store: Store,
    parameters: Parameters,
    quantum: i64,
    ecn: bool,
    hash: FlowHash,
    flows: Vec<Flow>,
    /// Flows that have just become active, and the others that are, in the order of their turns.
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    /// Packets held.
    length: usize,
    /// The longest packet seen, in bytes.
    longest: usize,
    marks: u64,
}

impl FqCodel {
    fn enqueue(&mut self, p: Packet, came: Timestamp) {
        let at = self.hash.of(&p, self.flows.len());
        let flow = &mut self.flows[at];
        self.longest = self.longest.max(p.len());
        flow.bytes += p.len();
        flow.packets.push_back((came, p));
        self.length += 1;
        if flow.list == List::None {
            (flow.list, flow.deficit) = (List::New, self.quantum);
            self.new.push_back(at);
        }
    }

    /// Makes room: the flow with most bytes loses packets from its front.
    fn shed(&mut self, cx: &mut Cx<'_>) {
        let active = self.new.iter().chain(&self.old);
        let Some(&fattest) = active.max_by_key(|&&at| self.flows[at].bytes) else { return };
        let n = self.flows[fattest].packets.len().div_ceil(2).min(MOST_AT_ONCE);
        for _ in 0..n {
            if let Some((_, p)) = self.flows[fattest].pop() {
                self.length -= 1;
                self.store.refuse(p, "queue full", cx);
            }
        }
    }

    /// The next packet of a flow that CoDel lets go.
    fn next_of(&mut self, at: usize, now: Timestamp, cx: &mut Cx<'_>) -> Option<Packet> {
        let mut dropped = Vec::new();
        let Flow { packets, bytes, control, .. } = &mut self.flows[at];
        let before = packets.len();
        let (longest, ecn, marks) = (self.longest, self.ecn, &mut self.marks);
        let mut source = FlowSource { packets, bytes, now, longest, ecn, marks, dropped: &mut dropped };
        let packet = control.next(&self.parameters, now, &mut source);
        self.length -= before - self.flows[at].packets.len();
        dropped.into_iter().for_each(|p| self.store.refuse(p, "waited too long", cx));
        packet
    }

    /// RFC 8290 §4.2: the first flow with credit gives a packet.
    fn dequeue(&mut self, now: Timestamp, cx: &mut Cx<'_>) -> Option<Packet> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let at = *list.front()?;
            if self.flows[at].deficit <= 0 {
                list.pop_front();
                self.flows[at].deficit += self.quantum;
                self.move_to(at, List::Old);
                continue;
            }
            if let Some(p) = self.next_of(at, now, cx) {
                self.flows[at].deficit -= p.len() as i64;
                return Some(p);
            }
            let list = if is_new { &mut self.new } else { &mut self.old };
            list.pop_front();
            // A new flow must not become new again by having nothing for a moment.
            self.move_to(at, if is_new { List::Old } else { List::None });
        }
    }

    fn move_to(&mut self, at: usize, list: List) {
        self.flows[at].list = list;
        if list == List::Old {
            self.old.push_back(at);
        }
    }

    fn reset(&mut self, cx: &mut Cx<'_>) {
        for flow in &mut self.flows {
            flow.bytes = 0;
            flow.packets.drain(..).for_each(|(_, p)| cx.emit_or_drop(1, p, "queue reset"));
        }
        self.length = 0;
        self.store.note(0, cx);
    }
}

impl Element for FqCodel {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        let p = &mut self.parameters;
        args.read("TARGET", &mut p.target).read("INTERVAL", &mut p.interval).read("ECN", &mut self.ecn);
        let flows = args.get_with("FLOWS", Bounded(1..=65_536)).map_or(1024, i32::unsigned_abs);
        self.flows.resize_with(flows as usize, Flow::default);
        self.quantum = args.get::<u32>("QUANTUM").unwrap_or(QUANTUM).into();
        if self.quantum == 0 {
            args.error_in("QUANTUM", "must be at least 1");
        }
        self.hash.key = u64::from(cx.random()) << 32 | u64::from(cx.random());
        self.store.configure(CAPACITY, args, cx);
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        let now = cx.steady();
        for p in batch.drain() {
            self.enqueue(p, now);
            if self.length > self.store.capacity as usize {
                self.shed(cx);
            }
        }
        self.store.note(self.length, cx);
    }

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let now = cx.steady();
        let mut batch = cx.fresh_batch();
        while batch.len() < limit.min(clickwork_packet::BATCH_SIZE)
            && let Some(p) = self.dequeue(now, cx)
        {
            batch.push(p);
        }
        self.store.note(self.length, cx);
        batch
    }

    fn take_state(&mut self, old: &mut dyn Element, cx: &mut Cx<'_>) {
        let Some(old) = try_downcast::<FqCodel>(old) else { return };
        (self.marks, self.store.drops) = (old.marks, old.store.drops);
        // Each flow keeps its order; the key is another.
        for (came, p) in old.flows.iter_mut().flat_map(|flow| flow.packets.drain(..)) {
            match self.length < self.store.capacity as usize {
                true => self.enqueue(p, came),
                false => self.store.refuse(p, "queue full", cx),
            }
        }
        self.store.note(self.length, cx);
    }

    fn cleanup(&mut self, _: &mut Cx<'_>) {
        self.flows.clear();
    }
}

#[cfg(test)]
mod tests {
    use crate::ip::samples::ip;
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use clickwork_router::Outcome;

    /// Packet `number` of flow `flow`, of `length` bytes.
    fn packet(flow: u8, number: u8, length: usize) -> Packet {
        let mut payload = vec![0, flow, 0, 1, 0, 0, 0, 0, number];
        payload.resize(length - 20, 0);
        ip("1.0.0.1", "2.0.0.2").payload(17, &payload).marked()
    }

    fn names(t: &mut Harness, sink: &str) -> Vec<(u8, u8)> {
        t.bytes(sink).iter().map(|p| (p[21], p[28])).collect()
    }

    const CONFIG: &str = "s :: Source -> q :: FQCoDel(20, QUANTUM 100) -> u :: Unqueue(ACTIVE false) -> k :: Sink; \
                          q[1] -> x :: Sink";

    #[test]
    fn flows_take_turns_by_bytes_and_keep_their_order() {
        for batched in [false, true] {
            let mut t = if batched { Harness::batched(CONFIG) } else { Harness::new(CONFIG) };
            let long = (0..4).map(|i| packet(1, i, 100));
            t.push_batch("s", 0, long.chain((0..8).map(|i| packet(2, i, 50))));
            assert_eq!([t.read("q.length"), t.read("q.flows")], ["12", "2"]);
            t.write("u.active true").unwrap();
            assert_eq!(t.run(), Outcome::Exhausted);
            let got = names(&mut t, "k");
            let expected = [
                (1, 0),
                (2, 0),
                (2, 1),
                (1, 1),
                (2, 2),
                (2, 3),
                (1, 2),
                (2, 4),
                (2, 5),
                (1, 3),
                (2, 6),
                (2, 7),
            ];
            assert_eq!(got, expected);
            assert_eq!([t.read("q.length"), t.read("q.flows")], ["0", "0"]);
        }
    }

    #[test]
    fn a_new_flow_goes_first_but_only_once() {
        let mut t = Harness::new(
            "s :: Source -> q :: FQCoDel(100, QUANTUM 100) -> u :: Unqueue(LIMIT 2) -> k :: Sink; ",
        );
        t.write("u.active false").unwrap();
        t.push("s", 0, (0..6).map(|i| packet(1, i, 100)));
        t.write("u.active true").unwrap();
        t.run();
        assert_eq!(names(&mut t, "k"), [(1, 0), (1, 1)]);
        t.push("s", 0, (0..3).map(|i| packet(2, i, 100)));
        t.write("u.limit 100").unwrap();
        t.run();
        assert_eq!(names(&mut t, "k"), [(2, 0), (2, 1), (1, 2), (2, 2), (1, 3), (1, 4), (1, 5)]);
    }

    #[test]
    fn a_full_queue_takes_from_the_longest_flow() {
        let mut t = Harness::new(CONFIG);
        t.push("s", 0, (0..3).map(|i| packet(1, i, 50)));
        t.push("s", 0, (0..18).map(|i| packet(2, i, 100)));
        // The flood loses the older half of its packets.
        assert_eq!([t.read("q.length"), t.read("q.drops")], ["12", "9"]);
        assert!(names(&mut t, "x").into_iter().eq((0..9).map(|i| (2, i))));
        assert_eq!(t.read("q.highwater_length"), "20");
        t.write("q.reset").unwrap();
        t.write("u.active true").unwrap();
        t.run();
        assert_eq!((t.read("q.length"), t.take("k").len()), ("0".into(), 0));
        t.push("s", 0, [packet(1, 9, 50)]);
        assert_eq!(names(&mut t, "k"), [(1, 9)]);
    }

    #[test]
    fn wrong_arguments_are_refused() {
        for (args, message) in [("FLOWS 0", "FLOWS"), ("FLOWS 100000", "FLOWS"), ("QUANTUM 0", "QUANTUM")] {
            let e = Harness::errors(&format!("Idle -> FQCoDel({args}) -> Discard"));
            assert!(e.contains(message), "{e}");
        }
    }
}
