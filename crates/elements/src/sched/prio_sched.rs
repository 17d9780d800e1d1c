//! PrioSched: pulls from the first input that has a packet.

use super::turns::{input_signals, join};
use clickwork_packet::Batch;
use clickwork_router::notify::Signal;
use clickwork_router::{Class, Cx, Element};

/// The class facts.
pub static CLASS: Class = Class {
    help: "pulls from the first of its inputs that has a packet",
    manual: "Each pull takes a packet from input 0 if there is one, else from input 1, and so on: strict priority. \
             Inputs whose empty notifiers say that there is nothing are passed over without asking.",
    example: "InfiniteSource(LIMIT 5, STOP true) -> Queue -> [0] ps :: PrioSched -> Unqueue -> Discard; \
              Idle -> Queue -> [1] ps",
    ..class("PrioSched", || Box::new(PrioSched::new(true)))
};

/// The facts that both priority classes have in common.
pub(super) const fn class(name: &'static str, make: fn() -> Box<dyn Element>) -> Class {
    Class { ports: "-/1", processing: "l/l", ..Class::new(name, "sched", make) }
}

pub(super) struct PrioSched {
    /// Whether it looks at signals before it pulls.
    looks: bool,
    signals: Vec<Signal>,
}

impl PrioSched {
    pub(super) fn new(looks: bool) -> PrioSched {
        PrioSched { looks, signals: Vec::new() }
    }
}

impl Element for PrioSched {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.signals = input_signals(cx);
        Ok(())
    }

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let mut batch = Batch::new();
        for (port, signal) in self.signals.iter().enumerate() {
            // What comes may be less than there is: the next input has its turn when there is nothing more.
            while batch.len() < limit && (!self.looks || cx.is_active(signal)) {
                let more = cx.pull(port, limit - batch.len());
                if more.is_empty() {
                    break;
                }
                join(&mut batch, more, cx);
            }
        }
        batch
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use clickwork_router::Outcome;

    #[test]
    fn priority_is_strict_when_packets_come_in_small_batches() {
        let mut t = Harness::batched(
            "a :: Source -> Queue -> [0] p :: PrioSched; b :: Source -> Queue -> [1] p; \
             p -> u :: Unqueue(BURST 64, ACTIVE false, LIMIT 64) -> k :: Sink",
        );
        for _ in 0..3 {
            t.push_batch("a", 0, (0..30).map(|_| Packet::new(b"a")));
            t.push_batch("b", 0, (0..30).map(|_| Packet::new(b"b")));
        }
        t.write("u.active true").unwrap();
        t.run();
        assert_eq!(t.bytes("k"), [b"a"; 64]);
    }

    #[test]
    fn earlier_inputs_go_first() {
        for class in ["PrioSched", "SimplePrioSched"] {
            for batched in [false, true] {
                let config = format!(
                    "a :: Source -> Queue -> [0] ps :: {class}; b :: Source -> Queue -> [1] ps; \
                     ps -> u :: Unqueue(ACTIVE false, BURST 8) -> k :: Sink"
                );
                let mut t = if batched { Harness::batched(&config) } else { Harness::new(&config) };
                t.push("b", 0, [b"b0", b"b1"].map(|d| Packet::new(d)));
                t.push("a", 0, [b"a0", b"a1"].map(|d| Packet::new(d)));
                t.write("u.active true").unwrap();
                assert_eq!(t.run(), Outcome::Exhausted);
                assert_eq!(t.bytes("k"), [b"a0", b"a1", b"b0", b"b1"].map(|d| d.to_vec()));
            }
        }
    }
}
