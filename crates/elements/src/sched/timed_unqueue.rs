//! TimedUnqueue: pulls a burst of packets at fixed intervals and pushes them on.

use clickwork_packet::Timestamp;
use clickwork_router::args::{ArgSpec, ArgType, Args, SecondsIn};
use clickwork_router::notify::Signal;
use clickwork_router::{Class, Cx, Element, TaskStep};
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "pulls packets at fixed intervals and pushes them on",
    manual: "Pulls up to BURST packets every INTERVAL. When there was nothing to pull it waits for packets instead, and \
             passes the first on at once.",
    example: "InfiniteSource(LIMIT 5, STOP false) -> Queue -> TimedUnqueue(10ms, 2) -> Discard; \
              DriverManager(wait 1s, stop)",
    args: &[
        ArgSpec::required("INTERVAL", ArgType::Seconds, "time between bursts"),
        ArgSpec::positional("BURST", ArgType::I32, "1", "packets in a burst"),
    ],
    ..class("TimedUnqueue", || Box::new(TimedUnqueue::with_burst(1)))
};

/// The facts that TimedUnqueue and Burster have in common.
pub(super) const fn class(name: &'static str, make: fn() -> Box<dyn Element>) -> Class {
    Class { ports: "1/1", processing: "l/h", ..Class::new(name, "sched", make) }
}

#[derive(Default)]
pub(super) struct TimedUnqueue {
    interval: Duration,
    burst: usize,
    /// Packets still to be pulled in this burst.
    left: usize,
    signal: Signal,
    /// When the timer expired last, unless it was given up since.
    expired: Option<Timestamp>,
}

impl TimedUnqueue {
    /// With as many packets in a burst unless the configuration says otherwise.
    pub fn with_burst(burst: usize) -> TimedUnqueue {
        TimedUnqueue { burst, ..TimedUnqueue::default() }
    }

    /// Sets the timer, so that delays do not add up.
    fn wait(&mut self, cx: &mut Cx<'_>) {
        let last = self.expired.unwrap_or_else(|| cx.steady());
        let next = last + self.interval;
        self.expired = Some(next);
        cx.schedule_timer_at(0, next);
    }
}

impl Element for TimedUnqueue {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let interval = args.get_with("INTERVAL", SecondsIn(3)).unwrap_or(1);
        self.interval = Duration::from_millis(interval.into());
        match args.get::<i32>("BURST") {
            None => {}
            Some(n) if n > 0 => self.burst = n as usize,
            Some(_) => args.error("bad BURST"),
        }
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.signal = cx.upstream_empty_signal(0);
        cx.schedule_task();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        if cx.timer_expiry(0).is_some() {
            // Packets came upstream, but it is not yet time.
            return TaskStep::Sleep;
        }
        let first = self.left == 0;
        if first {
            self.left = self.burst;
        }
        let batch = cx.pull(0, self.left);
        if batch.is_empty() && first && !cx.is_active(&self.signal) {
            (self.left, self.expired) = (0, None);
            return TaskStep::Sleep;
        }
        self.left = if batch.is_empty() { 0 } else { self.left - batch.len() };
        cx.emit_batch(0, batch);
        if self.left > 0 {
            return TaskStep::Continue;
        }
        self.wait(cx);
        TaskStep::Sleep
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        cx.schedule_task();
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use clickwork_router::Outcome;

    #[test]
    fn bursts_come_at_intervals_until_the_queue_is_empty() {
        for batched in [false, true] {
            let config = "s :: Source -> Queue -> u :: TimedUnqueue(1, 4) -> SetTimestamp -> k :: Sink";
            let mut t = if batched { Harness::batched(config) } else { Harness::new(config) };
            assert_eq!(t.run(), Outcome::Exhausted);
            let start = t.router.clock().peek();
            t.push_batch("s", 0, (0..10).map(|i| Packet::new(&[i])));
            assert_eq!(t.run(), Outcome::Exhausted);
            let seconds: Vec<i64> = t.take("k").iter().map(|p| (p.timestamp() - start).seconds()).collect();
            assert_eq!(seconds, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2]);
            t.push("s", 0, [Packet::new(b"x")]);
            assert_eq!(t.take("k").len(), 1);
        }
    }

    #[test]
    fn arguments_are_checked() {
        assert_eq!(Harness::new("Idle -> TimedUnqueue(0) -> Discard").warnings(), "");
        assert!(Harness::errors("Idle -> TimedUnqueue(1, 0) -> Discard").contains("bad BURST"));
    }
}
