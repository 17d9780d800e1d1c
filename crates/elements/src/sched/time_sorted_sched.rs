//! TimeSortedSched: merges packet streams by their timestamps.

use super::turns::{gather, pull_packet};
use clickwork_packet::{Batch, Packet, Timestamp};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::notify::{NotifierId, NotifierKind, Search, Signal};
use clickwork_router::{Class, Cx, Element, read_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "merges sorted packet streams by timestamp",
    manual: "Holds up to BUFFER packets of each input and gives the one with the earliest timestamp. If each input's \
             packets are in order (within BUFFER packets), so is the output; the handler well_ordered says whether it \
             was. With STOP, the driver is stopped when all inputs have run dry.",
    example: "InfiniteSource(LIMIT 5, STOP true) -> Queue -> [0] t :: TimeSortedSched -> Unqueue -> Discard; \
              Idle -> Queue -> [1] t",
    ports: "-/1",
    processing: "l/l",
    args: &[
        ArgSpec::keyword(
            "STOP",
            ArgType::Bool,
            "false",
            "whether the driver stops when the inputs are empty",
        ),
        ArgSpec::keyword("BUFFER", ArgType::I32, "1", "packets of an input to sort among"),
    ],
    handlers: &[read_handler!(
        "well_ordered",
        "whether packets left in order of time",
        |e: &mut TimeSortedSched, _| e.well_ordered
    )
    .flags("c")],
    ..Class::new("TimeSortedSched", "sched", || Box::<TimeSortedSched>::default())
};

struct TimeSortedSched {
    stop: bool,
    buffer: usize,
    inputs: Vec<Input>,
    /// Inputs with room in the buffer.
    ready: Vec<usize>,
    held: Heap,
    empty: Option<NotifierId>,
    last: Timestamp,
    well_ordered: bool,
}

struct Input {
    signal: Signal,
    room: usize,
}

struct Held {
    packet: Packet,
    input: usize,
}

impl Default for TimeSortedSched {
    fn default() -> TimeSortedSched {
        TimeSortedSched {
            stop: false,
            buffer: 1,
            inputs: Vec::new(),
            ready: Vec::new(),
            held: Heap::default(),
            empty: None,
            last: Timestamp::ZERO,
            well_ordered: true,
        }
    }
}

/// A binary heap, the earliest packet first. Packets of the same time leave in the order that the sift rules below
/// make, which are those of Click; the standard library's heap would order them otherwise.
#[derive(Default)]
struct Heap(Vec<Held>);

impl Heap {
    fn time(&self, at: usize) -> Timestamp {
        self.0[at].packet.timestamp()
    }

    fn push(&mut self, held: Held) {
        self.0.push(held);
        let mut at = self.0.len() - 1;
        while at > 0 && self.time(at) < self.time((at - 1) / 2) {
            self.0.swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
    }

    fn pop(&mut self) -> Option<Held> {
        if self.0.is_empty() {
            return None;
        }
        let first = self.0.swap_remove(0);
        let mut at = 0;
        loop {
            let mut smallest = at;
            for child in [2 * at + 1, 2 * at + 2] {
                if child < self.0.len() && self.time(child) < self.time(smallest) {
                    smallest = child;
                }
            }
            if smallest == at {
                return Some(first);
            }
            self.0.swap(at, smallest);
            at = smallest;
        }
    }
}

impl TimeSortedSched {
    /// Fills the buffer. Returns whether any input may have more.
    fn fill(&mut self, cx: &mut Cx<'_>) -> bool {
        let mut alive = false;
        for at in (0..self.ready.len()).rev() {
            let port = self.ready[at];
            if !cx.is_active(&self.inputs[port].signal) {
                continue;
            }
            alive = true;
            while self.inputs[port].room > 0
                && let Some(packet) = pull_packet(port, cx)
            {
                self.held.push(Held { packet, input: port });
                self.inputs[port].room -= 1;
            }
            if self.inputs[port].room == 0 {
                self.ready.swap_remove(at);
            }
        }
        alive
    }

    fn pull_one(&mut self, cx: &mut Cx<'_>) -> Option<Batch> {
        let alive = self.fill(cx);
        if let Some(empty) = self.empty {
            if alive || !self.held.0.is_empty() { cx.wake(empty) } else { cx.sleep(empty) }
        }
        match self.held.pop() {
            Some(held) => Some(self.release(held, cx)),
            None => {
                if self.stop && !alive {
                    cx.stop_driver();
                }
                None
            }
        }
    }

    fn release(&mut self, held: Held, cx: &mut Cx<'_>) -> Batch {
        let time = held.packet.timestamp();
        if !time.is_zero() {
            self.well_ordered &= self.last.is_zero() || time >= self.last;
            self.last = time;
        }
        let input = &mut self.inputs[held.input];
        input.room += 1;
        if input.room == 1 {
            self.ready.push(held.input);
        }
        let mut batch = cx.fresh_batch();
        batch.push(held.packet);
        batch
    }
}

impl Element for TimeSortedSched {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        args.read("STOP", &mut self.stop);
        match args.get::<i32>("BUFFER").unwrap_or(1) {
            n if n >= 1 => self.buffer = n as usize,
            _ => args.error("BUFFER must be at least 1"),
        }
        self.empty = Some(cx.export_notifier(NotifierKind::Empty, Search::ContinueWake));
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        let Some(empty) = self.empty else { return Ok(()) };
        let room = self.buffer;
        self.inputs = (0..cx.inputs())
            .map(|port| Input { signal: cx.upstream_empty_signal_for(port, empty), room })
            .collect();
        self.ready = (0..self.inputs.len()).collect();
        Ok(())
    }

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        gather(limit, cx, |cx| self.pull_one(cx))
    }

    fn take_state(&mut self, old: &mut dyn Element, cx: &mut Cx<'_>) {
        let Some(old) = try_downcast::<TimeSortedSched>(old) else { return };
        (self.last, self.well_ordered) = (old.last, old.well_ordered);
        while let Some(held) = old.held.pop() {
            match self.inputs.get_mut(held.input) {
                Some(input) => {
                    input.room = input.room.saturating_sub(1);
                    self.held.push(held);
                }
                None => cx.drop(held.packet, "input gone"),
            }
        }
        self.ready.retain(|&port| self.inputs[port].room > 0);
    }

    fn cleanup(&mut self, _: &mut Cx<'_>) {
        self.held.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::{Packet, Timestamp};
    use clickwork_router::Outcome;

    fn at(seconds: i64) -> Packet {
        let mut p = Packet::new(&[seconds as u8]);
        p.set_timestamp(Timestamp::new(seconds, 0));
        p
    }

    fn merge(arguments: &str, batched: bool) -> Harness {
        let config = format!(
            "a :: Source -> Queue -> [0] t :: TimeSortedSched({arguments}); b :: Source -> Queue -> [1] t; \
             t -> u :: Unqueue(ACTIVE false) -> k :: Sink"
        );
        if batched { Harness::batched(&config) } else { Harness::new(&config) }
    }

    #[test]
    fn streams_are_merged_by_time() {
        for batched in [false, true] {
            let mut t = merge("", batched);
            t.push("a", 0, [1, 4, 6].map(at));
            t.push("b", 0, [2, 3, 5, 7].map(at));
            t.write("u.active true").unwrap();
            assert_eq!(t.run(), Outcome::Exhausted);
            assert_eq!(t.bytes("k").concat(), [1, 2, 3, 4, 5, 6, 7]);
            assert_eq!(t.read("t.well_ordered"), "true");
            t.push("b", 0, [at(3)]);
            assert_eq!((t.bytes("k").concat(), t.read("t.well_ordered")), (vec![3], "false".into()));
        }
    }

    #[test]
    fn packets_of_the_same_time_leave_as_in_click() {
        let mut t = Harness::new(
            "a :: Source -> Queue -> [0] t :: TimeSortedSched; b :: Source -> Queue -> [1] t; \
             c :: Source -> Queue -> [2] t; t -> u :: Unqueue(ACTIVE false) -> k :: Sink",
        );
        let of = |stream: u8, times: &[i64]| -> Vec<Packet> {
            let packet = |&seconds| {
                let mut p = Packet::new(&[stream]);
                p.set_timestamp(Timestamp::new(seconds, 0));
                p
            };
            times.iter().map(packet).collect()
        };
        t.push("a", 0, of(b'a', &[10, 12, 14, 16, 18, 20]));
        t.push("b", 0, of(b'b', &[11, 12, 13, 14, 15, 16]));
        t.push("c", 0, of(b'c', &[13]));
        t.write("u.active true").unwrap();
        t.run();
        assert_eq!(String::from_utf8(t.bytes("k").concat()).unwrap(), "ababcbabbabaa");
    }

    #[test]
    fn a_buffer_sorts_within_a_stream() {
        let mut t = merge("BUFFER 3", false);
        t.push("a", 0, [3, 1, 2].map(at));
        t.write("u.active true").unwrap();
        t.run();
        assert_eq!(t.bytes("k").concat(), [1, 2, 3]);
        assert!(Harness::errors("Idle -> TimeSortedSched(BUFFER 0) -> Discard").contains("at least 1"));
    }

    #[test]
    fn a_hot_swap_keeps_what_is_held() {
        let mut before = merge("BUFFER 2", false);
        before.push("a", 0, [1, 4, 6].map(at));
        before.push("b", 0, [3, 5].map(at));
        before.write("u.limit 1").unwrap();
        before.write("u.active true").unwrap();
        before.run();
        assert_eq!(before.bytes("k").concat(), [1]);
        let mut after = merge("BUFFER 2", false);
        after.router.take_over(before.router);
        after.write("u.active true").unwrap();
        after.run();
        assert_eq!(after.bytes("k").concat(), [3, 4, 5, 6]);
    }

    #[test]
    fn stops_when_all_is_merged() {
        let mut t = merge("STOP true", false);
        t.push("a", 0, [1, 2].map(at));
        t.write("u.active true").unwrap();
        assert_eq!(t.run(), Outcome::Stopped);
        assert_eq!(t.take("k").len(), 2);
    }
}
