//! Burster: pulls a burst of packets at every tick of a fixed beat and pushes them on.

use clickwork_packet::Timestamp;
use clickwork_router::args::{ArgSpec, ArgType, Args, SecondsIn};
use clickwork_router::notify::Signal;
use clickwork_router::{Class, Cx, Element, TaskStep};
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "pulls bursts of packets in a fixed beat and pushes them on",
    manual: "Pulls up to BURST packets every INTERVAL, the first time one INTERVAL after the start. Unlike TimedUnqueue it \
             keeps its beat when there is nothing to pull.",
    example: "InfiniteSource(LIMIT 5, STOP false) -> Queue -> Burster(10ms, 2) -> Discard; \
              DriverManager(wait 1s, stop)",
    ports: "1/1",
    processing: "l/h",
    args: &[
        ArgSpec::required("INTERVAL", ArgType::Seconds, "time between bursts"),
        ArgSpec::positional("BURST", ArgType::I32, "1", "packets in a burst"),
    ],
    ..Class::new("Burster", "sched", || Box::<Burster>::default())
};

#[derive(Default)]
struct Burster {
    interval: Duration,
    burst: usize,
    signal: Signal,
    /// A tick of the beat, past or next.
    tick: Timestamp,
}

impl Burster {
    /// Sets the timer to the next tick.
    fn wait(&mut self, cx: &mut Cx<'_>) {
        let late = cx.steady().since(self.tick).as_nanos();
        let ticks = late / self.interval.as_nanos() + 1;
        self.tick = self.tick + self.interval * u32::try_from(ticks).unwrap_or(u32::MAX);
        cx.schedule_timer_at(0, self.tick);
    }
}

impl Element for Burster {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let interval = args.get_with("INTERVAL", SecondsIn(3)).unwrap_or(1);
        self.interval = Duration::from_millis(interval.max(1).into());
        if interval == 0 {
            args.error_in("INTERVAL", "must be at least 1ms");
        }
        match args.get::<i32>("BURST").unwrap_or(1) {
            n if n > 0 => self.burst = n as usize,
            _ => args.error("max packets per interval must be > 0"),
        }
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.signal = cx.upstream_empty_signal(0);
        self.tick = cx.steady();
        self.wait(cx);
        Ok(())
    }

    /// Packets came after a while without any: take up the beat again.
    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        if cx.timer_expiry(0).is_none() {
            self.wait(cx);
        }
        TaskStep::Sleep
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        let mut left = self.burst;
        while left > 0 {
            let batch = cx.pull(0, left);
            if batch.is_empty() {
                break;
            }
            left -= batch.len();
            cx.emit_batch(0, batch);
        }
        if cx.is_active(&self.signal) {
            self.wait(cx);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use clickwork_router::Outcome;
    use std::time::Duration;

    #[test]
    fn bursts_come_in_a_fixed_beat() {
        for batched in [false, true] {
            let config = "s :: Source -> Queue -> Burster(1, 4) -> SetTimestamp -> k :: Sink";
            let mut t = if batched { Harness::batched(config) } else { Harness::new(config) };
            let start = t.router.clock().peek();
            let tenths = |packets: Vec<Packet>| -> Vec<i64> {
                packets.iter().map(|p| (p.timestamp() - start).nanos() / 100_000_000).collect()
            };
            t.push_batch("s", 0, (0..10).map(|i| Packet::new(&[i])));
            assert_eq!(t.run(), Outcome::Exhausted);
            assert_eq!(tenths(t.take("k")), [10, 10, 10, 10, 20, 20, 20, 20, 30, 30]);
            // Long after, a packet still waits for the beat.
            let later = start + Duration::from_millis(47_300);
            t.router.clock().jump_to(later);
            t.push("s", 0, [Packet::new(b"x")]);
            assert_eq!(tenths(t.take("k")), [480]);
        }
    }

    #[test]
    fn arguments_are_checked() {
        assert!(Harness::errors("Idle -> Burster(0) -> Discard").contains("INTERVAL"));
        assert!(Harness::errors("Idle -> Burster(1, 0) -> Discard").contains("must be > 0"));
    }
}
