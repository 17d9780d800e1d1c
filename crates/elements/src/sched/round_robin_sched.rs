//! RoundRobinSched: pulls from its inputs by turns.

use super::turns::{input_signals, join};
use clickwork_packet::Batch;
use clickwork_router::notify::Signal;
use clickwork_router::{Class, Cx, Element};

/// The class facts.
pub static CLASS: Class = Class {
    help: "pulls from its inputs by turns",
    manual: "Each pull takes a packet from the next input that has one, beginning behind the input that gave the last. \
             Inputs whose empty notifiers say that there is nothing are passed over without asking.",
    example: "InfiniteSource(LIMIT 5, STOP true) -> Queue -> [0] rr :: RoundRobinSched -> Unqueue -> Discard; \
              Idle -> Queue -> [1] rr",
    ..class("RoundRobinSched", || Box::new(RoundRobinSched::new(true)))
};

/// The facts that both round-robin classes have in common.
pub(super) const fn class(name: &'static str, make: fn() -> Box<dyn Element>) -> Class {
    Class { ports: "-/1", processing: "l/l", ..Class::new(name, "sched", make) }
}

pub(super) struct RoundRobinSched {
    next: usize,
    /// Whether it looks at signals before it pulls.
    looks: bool,
    signals: Vec<Signal>,
    /// The inputs of a pull with what they gave, in turn.
    turns: Vec<(usize, Batch)>,
}

impl RoundRobinSched {
    pub(super) fn new(looks: bool) -> RoundRobinSched {
        RoundRobinSched { next: 0, looks, signals: Vec::new(), turns: Vec::new() }
    }

    /// Pulls some rounds at once: of `room` packets, an equal share from each input that may have any. Taken by turns these are
    /// the packets of single pulls in their order, since an input that gives less has no more.
    fn pull_rounds(&mut self, room: usize, cx: &mut Cx<'_>) {
        let n = self.signals.len();
        let ports = (self.next..n).chain(0..self.next);
        let live = ports.filter(|&port| !self.looks || cx.is_active(&self.signals[port]));
        self.turns.extend(live.map(|port| (port, Batch::new())));
        let share = (room / self.turns.len().max(1)).max(1);
        let mut left = room;
        for (port, batch) in &mut self.turns {
            if left > 0 {
                *batch = cx.pull(*port, share.min(left));
                left -= batch.len();
            }
        }
    }

    /// Whether a pull in vain has made an input say that it has packets now, which had not been asked: Shaper's outputs take
    /// turns like this.
    fn may_ask_another(&self, cx: &Cx<'_>) -> bool {
        let is_new = |port: &usize| self.turns.iter().all(|(asked, _)| asked != port);
        self.looks && (0..self.signals.len()).any(|port| cx.is_active(&self.signals[port]) && is_new(&port))
    }

    /// Moves what the inputs gave behind `batch`, by turns, and notes whose turn is next.
    fn interleave(&mut self, batch: &mut Batch, cx: &mut Cx<'_>) {
        let mut given = self.turns.iter_mut().filter(|(_, packets)| !packets.is_empty());
        if let (Some((port, packets)), None) = (given.next(), given.next()) {
            self.next = (*port + 1) % self.signals.len();
            join(batch, packets.take(), cx);
        } else {
            self.interleave_several(batch);
        }
        self.turns.drain(..).for_each(|(_, empty)| cx.recycle(empty));
    }

    fn interleave_several(&mut self, batch: &mut Batch) {
        let (before, rounds) = (batch.len(), self.turns.iter().map(|(_, packets)| packets.len()).max());
        // Batches give their last packet first.
        for round in (0..rounds.unwrap_or(0)).rev() {
            for (port, packets) in self.turns.iter_mut().rev().filter(|(_, packets)| packets.len() > round) {
                if batch.len() == before {
                    self.next = (*port + 1) % self.signals.len();
                }
                packets.pop().into_iter().for_each(|p| batch.push(p));
            }
        }
        batch[before..].reverse();
    }
}

impl Element for RoundRobinSched {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.signals = input_signals(cx);
        Ok(())
    }

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let mut batch = Batch::new();
        loop {
            let before = batch.len();
            self.pull_rounds(limit - before, cx);
            let in_vain = self.turns.iter().all(|(_, packets)| packets.is_empty());
            let again = in_vain && self.may_ask_another(cx);
            self.interleave(&mut batch, cx);
            if (in_vain && !again) || batch.len() >= limit {
                return batch;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use clickwork_router::Outcome;
    use proptest::prelude::*;

    #[test]
    fn inputs_take_turns_and_empty_ones_are_passed_over() {
        for class in ["RoundRobinSched", "SimpleRoundRobinSched"] {
            for batched in [false, true] {
                let config = format!(
                    "a :: Source -> Queue -> [0] rr :: {class}; b :: Source -> Queue -> [1] rr; \
                     c :: Source -> Queue -> [2] rr; rr -> u :: Unqueue(ACTIVE false) -> k :: Sink"
                );
                let mut t = if batched { Harness::batched(&config) } else { Harness::new(&config) };
                t.push("a", 0, [b"a0", b"a1", b"a2"].map(|d| Packet::new(d)));
                t.push("c", 0, [b"c0"].map(|d| Packet::new(d)));
                t.write("u.active true").unwrap();
                assert_eq!(t.run(), Outcome::Exhausted);
                assert_eq!(t.bytes("k"), [b"a0", b"c0", b"a1", b"a2"].map(|d| d.to_vec()));
                t.push("b", 0, [Packet::new(b"b0")]);
                assert_eq!(t.bytes("k"), [b"b0".to_vec()]);
            }
        }
    }

    proptest! {
        /// Whatever queues hold, batches are taken from them in the order of single packets.
        #[test]
        fn batches_are_in_the_order_of_single_packets(held in proptest::collection::vec(0..9u8, 1..7), burst in 1..40) {
            let taken = |batched| {
                let inputs: String = (0..held.len()).map(|n| format!("s{n} :: Source -> Queue -> [{n}] rr;")).collect();
                let config = format!("rr :: RoundRobinSched; {inputs} rr -> u :: Unqueue(ACTIVE false, BURST {burst}) -> k :: Sink");
                let mut t = if batched { Harness::batched(&config) } else { Harness::new(&config) };
                for again in 0..2u8 {
                    for (n, &count) in held.iter().enumerate() {
                        t.push(&format!("s{n}"), 0, (0..count).map(|i| Packet::new(&[again, n as u8, i])));
                    }
                    t.write("u.active true").unwrap();
                    t.run();
                    t.write("u.active false").unwrap();
                }
                t.bytes("k")
            };
            let singly = taken(false);
            prop_assert_eq!(singly.len(), 2 * held.iter().map(|&n| usize::from(n)).sum::<usize>());
            prop_assert_eq!(taken(true), singly);
        }
    }
}
