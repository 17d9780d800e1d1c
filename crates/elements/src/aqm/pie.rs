//! PIE: a queue that drops some of the packets that come so that none waits for long.

use super::delay_controller::{Controller, Parameters};
use super::store::{Store, mark};
use clickwork_packet::{Batch, Packet, Timestamp};
use clickwork_router::args::{ArgSpec, ArgType, Args, format_seconds};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, read_handler, write_handler};
use std::collections::VecDeque;
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "stores packets, and drops some that come to keep the delay short",
    manual: "A queue of CAPACITY packets with active queue management by Proportional Integral controller Enhanced (RFC \
             8033). Every TUPDATE it looks how long the first packet has been waiting, and computes from the distance to \
             TARGET (times ALPHA) and from the change (times BETA) the probability that a packet that comes is dropped. \
             Bursts of up to MAX_BURST after a time without congestion lose nothing. With ECN, packets of transports that \
             understand it are marked instead, while the probability is below 0.1. Dropped packets go to output 1 if that \
             is connected.",
    example: "InfiniteSource(LIMIT 5, STOP true) -> PIE(100) -> Unqueue -> Discard",
    ports: "1/1-2",
    processing: "h/lh",
    packets: "any/each",
    flags: "S0",
    args: &[
        ArgSpec::positional("CAPACITY", ArgType::U32, "1000", "packets it can hold"),
        ArgSpec::keyword("TARGET", ArgType::Seconds, "15ms", "the delay to keep to"),
        ArgSpec::keyword("TUPDATE", ArgType::Seconds, "15ms", "time between looks at the delay"),
        ArgSpec::keyword("ALPHA", ArgType::Real, "0.125", "weight of the distance from TARGET, per second"),
        ArgSpec::keyword("BETA", ArgType::Real, "1.25", "weight of the change of the delay, per second"),
        ArgSpec::keyword("MAX_BURST", ArgType::Seconds, "150ms", "how long a burst is spared"),
        ArgSpec::keyword("ECN", ArgType::Bool, "false", "whether packets are marked rather than dropped"),
    ],
    handlers: &[
        read_handler!("length", "packets held", |e: &mut Pie, _| e.packets.len()),
        read_handler!("highwater_length", "most packets ever held", |e: &mut Pie, _| e.store.highwater),
        read_handler!("capacity", "packets it can hold", |e: &mut Pie, _| e.store.capacity),
        read_handler!("drops", "packets dropped", |e: &mut Pie, _| e.store.drops),
        read_handler!("marks", "packets marked", |e: &mut Pie, _| e.marks),
        read_handler!("drop_prob", "the probability of a drop", |e: &mut Pie, _| e.controller.probability()),
        read_handler!("delay", "how long the first packet has been waiting", |e: &mut Pie, cx| {
            format_seconds(e.delay(cx.steady()))
        }),
        read_handler!("target", "the delay to keep to", |e: &mut Pie, _| format_seconds(e.parameters.target))
            .and_write(write_handler!("", "", |e: &mut Pie, text, _| {
                crate::values::store(&mut e.parameters.target, text, "time in seconds")
            })),
        write_handler!("reset_counts", "sets the counts anew", |e: &mut Pie, _, _| {
            (e.store.drops, e.marks, e.store.highwater) = (0, 0, e.packets.len());
        }),
        write_handler!("reset", "drops all packets held", |e: &mut Pie, _, cx| e.reset(cx)),
    ],
    ..Class::new("PIE", "aqm", || Box::<Pie>::default())
};

/// Capacity unless told otherwise.
const CAPACITY: u32 = 1000;
/// Up to this probability packets are marked rather than dropped (RFC 8033 §5.1).
const MARK_BELOW: f64 = 0.1;
/// The timer of the updates.
const UPDATE: usize = 0;

#[derive(Default)]
struct Pie {
    store: Store,
    /// Packets with the time at which they came.
    packets: VecDeque<(Timestamp, Packet)>,
    bytes: usize,
    parameters: Parameters,
    controller: Controller,
    ecn: bool,
    marks: u64,
}

impl Pie {
    fn delay(&self, now: Timestamp) -> Duration {
        self.packets.front().map_or(Duration::ZERO, |(came, _)| now.since(*came))
    }

    /// A packet comes in, or not.
    fn admit(&mut self, mut p: Packet, now: Timestamp, cx: &mut Cx<'_>) {
        if self.packets.len() >= self.store.capacity as usize {
            return self.store.refuse(p, "queue full", cx);
        }
        let chance = f64::from(cx.random()) / 2f64.powi(32);
        if self.controller.drops(&self.parameters, self.bytes, chance) {
            if !(self.ecn && self.controller.probability() <= MARK_BELOW && mark(&mut p)) {
                return self.store.refuse(p, "dropped early", cx);
            }
            self.marks += 1;
        }
        self.bytes += p.len();
        self.packets.push_back((now, p));
    }

    /// Sees to it that the probability is computed while there is something to compute.
    fn keep_watch(&self, cx: &mut Cx<'_>) {
        let idle = self.packets.is_empty() && self.controller.is_at_rest();
        if !idle && cx.timer_expiry(UPDATE).is_none() {
            cx.schedule_timer_after(UPDATE, self.parameters.update);
        }
    }

    fn reset(&mut self, cx: &mut Cx<'_>) {
        for (_, p) in std::mem::take(&mut self.packets) {
            cx.emit_or_drop(1, p, "queue reset");
        }
        self.bytes = 0;
        self.store.note(0, cx);
    }
}

impl Element for Pie {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        let p = &mut self.parameters;
        args.read("TARGET", &mut p.target).read("TUPDATE", &mut p.update).read("MAX_BURST", &mut p.max_burst);
        args.read("ALPHA", &mut p.alpha).read("BETA", &mut p.beta).read("ECN", &mut self.ecn);
        if p.update.is_zero() {
            args.error_in("TUPDATE", "must be more than 0");
        }
        for (name, weight) in [("ALPHA", p.alpha), ("BETA", p.beta)] {
            if !(0.0..=1000.0).contains(&weight) {
                args.error_in(name, "must be between 0 and 1000");
            }
        }
        self.controller = Controller::new(p);
        self.store.configure(CAPACITY, args, cx);
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        let now = cx.steady();
        batch.drain().for_each(|p| self.admit(p, now, cx));
        self.store.note(self.packets.len(), cx);
        self.keep_watch(cx);
    }

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let mut batch = cx.fresh_batch();
        let n = limit.min(self.packets.len()).min(clickwork_packet::BATCH_SIZE);
        batch.extend(self.packets.drain(..n).map(|(_, p)| p));
        self.bytes -= batch.iter().map(Packet::len).sum::<usize>();
        self.store.note(self.packets.len(), cx);
        batch
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        let delay = self.delay(cx.steady());
        self.controller.update(&self.parameters, delay);
        self.keep_watch(cx);
    }

    fn take_state(&mut self, old: &mut dyn Element, cx: &mut Cx<'_>) {
        let Some(old) = try_downcast::<Pie>(old) else { return };
        (self.controller, self.marks, self.store.drops) = (old.controller, old.marks, old.store.drops);
        for (came, p) in std::mem::take(&mut old.packets) {
            match self.packets.len() < self.store.capacity as usize {
                true => {
                    self.bytes += p.len();
                    self.packets.push_back((came, p));
                }
                false => self.store.refuse(p, "queue full", cx),
            }
        }
        self.store.note(self.packets.len(), cx);
        self.keep_watch(cx);
    }

    fn cleanup(&mut self, _: &mut Cx<'_>) {
        self.packets.clear();
        self.bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use clickwork_router::Outcome;
    use std::time::Duration;

    #[test]
    fn it_is_a_queue_while_all_is_well() {
        for batched in [false, true] {
            let config =
                "s :: Source -> q :: PIE(3) -> u :: Unqueue(ACTIVE false) -> k :: Sink; q[1] -> x :: Sink";
            let mut t = if batched { Harness::batched(config) } else { Harness::new(config) };
            t.push_batch("s", 0, (0..5).map(|i| Packet::new(&[i])));
            assert_eq!([t.read("q.length"), t.read("q.drops"), t.read("q.capacity")], ["3", "2", "3"]);
            t.write("u.active true").unwrap();
            assert_eq!(t.run(), Outcome::Exhausted);
            assert_eq!(
                (t.bytes("k"), t.bytes("x")),
                (vec![vec![0], vec![1], vec![2]], vec![vec![3], vec![4]])
            );
            assert_eq!([t.read("q.length"), t.read("q.highwater_length")], ["0", "3"]);
        }
    }

    #[test]
    fn the_delay_of_a_source_that_does_not_care_comes_to_the_target() {
        for (rate, target) in [(1100, 0.015), (1500, 0.015), (1500, 0.05)] {
            let mut t = Harness::new(&format!(
                "RatedSource(LENGTH 500, RATE {rate}) -> q :: PIE(10000, TARGET {target}) -> LinkUnqueue(0, 500kBps) \
                 -> n :: Counter -> Discard"
            ));
            t.run_for(Duration::from_secs(30));
            let (mut sum, before) = (0.0, t.read("n.count").parse::<f64>().unwrap());
            for _ in 0..1000 {
                t.run_for(Duration::from_millis(30));
                sum += t.read("q.length").parse::<f64>().unwrap() / 1000.0;
            }
            let (delay, sent) = (sum / 1000.0, t.read("n.count").parse::<f64>().unwrap() - before);
            assert!((delay / target - 1.0).abs() < 0.2, "{delay} not {target} at {rate}");
            assert!(sent > 29_500.0, "{sent}");
        }
    }

    #[test]
    fn it_comes_to_rest() {
        let mut t = Harness::new(
            "RatedSource(LENGTH 500, RATE 2000, LIMIT 20000) -> q :: PIE(10000) -> LinkUnqueue(0, 500kBps) -> Discard",
        );
        assert_eq!(t.run_for(Duration::from_secs(1000)), Outcome::Exhausted);
        assert_eq!([t.read("q.drop_prob"), t.read("q.delay")], ["0", "0s"]);
    }

    #[test]
    fn capable_packets_are_marked() {
        let mut t = Harness::new(
            "RatedSource(LENGTH 500, RATE 1050) -> IPEncap(17, 1.0.0.1, 2.0.0.2, ECT 1) -> q :: PIE(10000, ECN true) \
             -> RatedUnqueue(1000) -> CheckIPHeader -> k :: Sink",
        );
        while t.read("q.drop_prob").parse::<f64>().unwrap() < 0.08 {
            t.run_for(Duration::from_millis(100));
        }
        let (marks, drops) = (t.read("q.marks"), t.read("q.drops"));
        t.run_for(Duration::from_millis(100));
        let marked = t.bytes("k").iter().filter(|p| p[1] & 3 == 3).count();
        assert!(marked > 5 && marked >= marks.parse().unwrap(), "{marked} {marks}");
        assert_eq!(drops, "0");
        // As this source does not react, it is dropped from in the end.
        t.run_for(Duration::from_secs(20));
        assert_ne!(t.read("q.drops"), "0");
    }

    #[test]
    fn wrong_arguments_are_refused() {
        for (args, message) in
            [("TUPDATE 0", "TUPDATE: must be more than 0"), ("ALPHA -1", "ALPHA"), ("BETA 1e9", "BETA")]
        {
            let e = Harness::errors(&format!("Idle -> PIE(10, {args}) -> Discard"));
            assert!(e.contains(message), "{e}");
        }
    }
}
