//! RoundRobinSched: pulls from its inputs by turns.

use super::turns::{gather, input_signals};
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
}

impl RoundRobinSched {
    pub(super) fn new(looks: bool) -> RoundRobinSched {
        RoundRobinSched { next: 0, looks, signals: Vec::new() }
    }

    /// A packet from the next input that has one.
    fn pull_one(&mut self, cx: &mut Cx<'_>) -> Option<Batch> {
        let n = self.signals.len();
        for turn in 0..n {
            let port = (self.next + turn) % n;
            if self.looks && !cx.is_active(&self.signals[port]) {
                continue;
            }
            let packet = cx.pull(port, 1);
            if !packet.is_empty() {
                self.next = (port + 1) % n;
                return Some(packet);
            }
        }
        None
    }
}

impl Element for RoundRobinSched {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.signals = input_signals(cx);
        Ok(())
    }

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        gather(limit, cx, |cx| self.pull_one(cx))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use clickwork_router::Outcome;

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
}
