//! DelayShaper: packets can be pulled when they have a certain age.

use super::delay::{DELAY_ARGS, Delayed};
use super::turns::gather;
use crate::ages::Ages;
use clickwork_packet::Batch;
use clickwork_router::args::{Args, format_seconds};
use clickwork_router::element::try_downcast;
use clickwork_router::notify::{NotifierId, NotifierKind, Search, Signal};
use clickwork_router::{Class, Cx, Element, read_handler, write_handler};
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "delays packets on a pull path",
    manual: "Pulls a packet, adds DELAY to its timestamp (set to the time now if it has none), and gives it to those who \
             pull when that time has come, stamped with the time then. In between its empty notifier tells that there \
             is nothing.",
    example: "InfiniteSource(LIMIT 5, STOP false) -> Queue -> DelayShaper(0.1) -> Unqueue -> Discard; \
              DriverManager(wait 1s, stop)",
    ports: "1/1",
    processing: "l/l",
    args: DELAY_ARGS,
    handlers: &[read_handler!("delay", "the delay", |e: &mut DelayShaper, _| format_seconds(e.delay))
        .flags(".")
        .and_write(write_handler!("", "", |e: &mut DelayShaper, text, _| {
            e.delay = crate::values::parse(text, "").map_err(|_| "delay must be a timestamp")?;
            Ok::<(), String>(())
        }))],
    ..Class::new("DelayShaper", "sched", || Box::<DelayShaper>::default())
};

#[derive(Default)]
struct DelayShaper {
    delay: Duration,
    held: Option<Delayed>,
    ages: Ages,
    empty: Option<NotifierId>,
    upstream: Signal,
}

impl DelayShaper {
    fn sleep(&self, cx: &mut Cx<'_>) {
        if let Some(empty) = self.empty {
            cx.sleep(empty);
        }
    }

    fn pull_one(&mut self, cx: &mut Cx<'_>) -> Option<Batch> {
        let Some(held) = Delayed::next(&mut self.held, self.delay, &mut self.ages, cx) else {
            if !cx.is_active(&self.upstream) {
                self.sleep(cx);
            }
            return None;
        };
        let now = cx.steady();
        match held.if_due(now, &self.ages) {
            Ok(mut packet) => {
                packet.set_timestamp(cx.router().clock().wall_at(now));
                let mut batch = cx.fresh_batch();
                batch.push(packet);
                Some(batch)
            }
            Err((held, wait)) => {
                self.held = Some(held);
                cx.schedule_timer_after(0, wait);
                self.sleep(cx);
                None
            }
        }
    }
}

impl Element for DelayShaper {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        args.read("DELAY", &mut self.delay);
        self.empty = Some(cx.export_notifier(NotifierKind::Empty, Search::ContinueWake));
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        if let Some(empty) = self.empty {
            self.upstream = cx.upstream_empty_signal_for(0, empty);
        }
        Ok(())
    }

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        gather(limit, cx, |cx| self.pull_one(cx))
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        if let Some(empty) = self.empty {
            cx.wake(empty);
        }
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<DelayShaper>(old) {
            (self.held, self.ages) = (old.held.take(), old.ages);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use clickwork_router::Outcome;

    #[test]
    fn packets_come_out_later_and_nobody_spins() {
        for batched in [false, true] {
            let config = "s :: Source -> Queue -> d :: DelayShaper(2) -> u :: Unqueue -> k :: Sink";
            let mut t = if batched { Harness::batched(config) } else { Harness::new(config) };
            assert_eq!(t.run(), Outcome::Exhausted);
            let start = t.router.clock().peek();
            t.push_batch("s", 0, (0..3).map(|i| Packet::new(&[i])));
            assert_eq!((t.run(), t.read("u.scheduled")), (Outcome::Exhausted, "false".into()));
            let packets = t.take("k");
            // Each gets its timestamp when it is pulled, that is when the one before it has gone.
            let gone: Vec<i64> =
                packets.iter().map(|p| (p.timestamp() - start).nanos() / 1_000_000).collect();
            assert_eq!(gone, [2000, 4000, 6000]);
            t.write("d.delay 10ms").unwrap();
            assert_eq!(t.read("d.delay"), "10ms");
        }
    }
}
