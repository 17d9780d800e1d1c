//! DelayUnqueue: pulls packets and pushes each on when it has a certain age.

use super::delay::{DELAY_ARGS, Delayed};
use crate::ages::Ages;
use clickwork_router::args::{Args, format_seconds};
use clickwork_router::element::try_downcast;
use clickwork_router::notify::Signal;
use clickwork_router::{Class, Cx, Element, TaskStep, read_handler, write_handler};
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "delays packets, pulled and pushed on",
    manual: "Pulls a packet, adds DELAY to its timestamp (set to the time now if it has none), and pushes it on when that \
             time has come. Packets stay in order, so one that is due waits for those before it. Setting the system's clock \
             does not change how long packets wait.",
    example: "InfiniteSource(LIMIT 5, STOP false) -> Queue -> DelayUnqueue(0.1) -> Discard; DriverManager(wait 1s, stop)",
    ports: "1/1",
    processing: "l/h",
    args: DELAY_ARGS,
    handlers: &[read_handler!("delay", "the delay", |e: &mut DelayUnqueue, _| format_seconds(e.delay))
        .and_write(write_handler!("", "", |e: &mut DelayUnqueue, text, _| {
            e.delay = crate::values::parse(text, "").map_err(|_| "expected time in seconds")?;
            Ok::<(), String>(())
        }))],
    task_handlers: true,
    ..Class::new("DelayUnqueue", "sched", || Box::<DelayUnqueue>::default())
};

#[derive(Default)]
struct DelayUnqueue {
    delay: Duration,
    held: Option<Delayed>,
    ages: Ages,
    signal: Signal,
}

impl Element for DelayUnqueue {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("DELAY", &mut self.delay);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.signal = cx.upstream_empty_signal(0);
        cx.schedule_task();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        for _ in 0..cx.batch_limit() {
            let Some(held) = Delayed::next(&mut self.held, self.delay, &mut self.ages, cx) else {
                return if cx.is_active(&self.signal) { TaskStep::Again } else { TaskStep::Sleep };
            };
            match held.if_due(cx.steady(), &self.ages) {
                Ok(packet) => cx.emit(0, packet),
                Err((held, wait)) => {
                    self.held = Some(held);
                    cx.schedule_timer_after(0, wait);
                    return TaskStep::Sleep;
                }
            }
        }
        TaskStep::Continue
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        cx.schedule_task();
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<DelayUnqueue>(old) {
            (self.held, self.ages) = (old.held.take(), old.ages);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::{Packet, Timestamp};
    use clickwork_router::Outcome;

    #[test]
    fn packets_are_delayed_by_their_age() {
        for batched in [false, true] {
            let config = "s :: Source -> Queue -> d :: DelayUnqueue(1.5) -> k :: Sink";
            let mut t = if batched { Harness::batched(config) } else { Harness::new(config) };
            let start = t.router.clock().peek();
            let at = |seconds: i64| {
                let mut p = Packet::new(&[seconds as u8]);
                p.set_timestamp(start + Timestamp::new(seconds, 0));
                p
            };
            assert_eq!(t.run(), Outcome::Exhausted);
            t.push_batch("s", 0, [at(0), at(2), at(1)]);
            assert_eq!(t.run(), Outcome::Exhausted);
            let packets = t.take("k");
            assert_eq!(packets.iter().map(|p| p.data()[0]).collect::<Vec<_>>(), [0, 2, 1]);
            assert_eq!(packets[1].timestamp(), start + Timestamp::new(3, 500_000_000));
            let took = (t.router.clock().peek() - start).as_secs_f64();
            assert!((3.5..3.51).contains(&took), "{took}");
            assert_eq!(t.read("d.delay"), "1.5s");
        }
    }

    #[test]
    fn a_hot_swap_keeps_what_is_under_way() {
        for delaying in ["DelayUnqueue(2)", "LinkUnqueue(2, 1Mbps)"] {
            let config = |name| format!("s :: Source -> q :: Queue -> d :: {delaying} -> {name} :: Sink");
            let mut before =
                Harness::new(&format!("{}; TimedSource(1, LIMIT 0, STOP true) -> Discard", config("k")));
            before.push("s", 0, (0..3).map(|i| Packet::new(&[i])));
            assert_eq!(before.take("k").len(), 0);
            let mut after = Harness::new(&config("k2"));
            let taken = after.router.take_over(before.router);
            assert!(taken.contains(&"d".to_string()) && taken.contains(&"q".to_string()));
            assert_eq!(after.run(), Outcome::Exhausted);
            assert_eq!(after.bytes("k2").concat(), [0, 1, 2], "{delaying}");
        }
    }
}
