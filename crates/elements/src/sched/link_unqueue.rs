//! LinkUnqueue: packets cross a link of a given latency and bandwidth.

use super::turns::pull_packet;
use crate::values;
use clickwork_packet::{Packet, Timestamp, anno};
use clickwork_router::args::{ArgSpec, ArgType, Args, Bandwidth, format_seconds};
use clickwork_router::element::try_downcast;
use clickwork_router::notify::Signal;
use clickwork_router::{Class, Cx, Element, Storage, TaskStep, read_handler, write_handler};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "delays packets as a link does",
    manual: "Pulls packets as a serial link of BANDWIDTH would take them, one after the other, and pushes each on when \
             it would arrive at the far end: LATENCY after its last bit was sent. A packet's timestamp becomes the time \
             of its arrival.",
    example: "InfiniteSource(LIMIT 5, STOP false) -> Queue -> LinkUnqueue(10ms, 1Mbps) -> Discard; \
              DriverManager(wait 1s, stop)",
    ports: "1/1",
    processing: "l/h",
    args: &[
        ArgSpec::required("LATENCY", ArgType::Seconds, "time from one end to the other"),
        ArgSpec::required("BANDWIDTH", ArgType::Bandwidth, "bytes per second, or with a unit such as Mbps"),
    ],
    handlers: &[
        read_handler!("latency", "time from one end to the other", |e: &mut LinkUnqueue, _| format_seconds(
            e.latency
        ))
        .flags(".")
        .and_write(write_handler!("", "", |e: &mut LinkUnqueue, text, cx| {
            e.latency = values::parse(text, "").map_err(|_| "latency must be a timestamp")?;
            e.reset(cx);
            Ok::<(), String>(())
        })),
        read_handler!(
            "bandwidth",
            "the bandwidth, in hundreds of bytes per second",
            |e: &mut LinkUnqueue, _| e.bandwidth / 100 * 100
        )
        .flags(".")
        .and_write(write_handler!("", "", |e: &mut LinkUnqueue, text, cx| {
            let wanted: Bandwidth = values::parse(text, "").map_err(|_| "invalid bandwidth")?;
            e.bandwidth = not_too_small(wanted.bytes_per_second)?;
            e.reset(cx);
            Ok::<(), String>(())
        })),
        read_handler!("size", "packets on the link", |e: &mut LinkUnqueue, _| e.link.len()),
        write_handler!("reset", "drops the packets on the link", |e: &mut LinkUnqueue, _, cx| e.reset(cx))
            .flags("b"),
    ],
    task_handlers: true,
    ..Class::new("LinkUnqueue", "sched", || Box::<LinkUnqueue>::default())
};

#[derive(Default)]
struct LinkUnqueue {
    latency: Duration,
    /// Bytes per second.
    bandwidth: u64,
    /// Packets on the link, with the steady times at which they arrive.
    link: VecDeque<(Timestamp, Packet)>,
    /// Whether there was nothing to send when it was last looked.
    starved: bool,
    signal: Signal,
    storage: Arc<Storage>,
}

impl LinkUnqueue {
    fn reset(&mut self, cx: &mut Cx<'_>) {
        cx.count_drop("link reset", self.link.len() as u64);
        self.link.clear();
        self.storage.set_length(0);
        cx.unschedule_timer(0);
        cx.schedule_task();
    }

    /// Time that sending the packet takes.
    fn sending_time(&self, p: &Packet) -> Duration {
        let bytes = p.len() as u64 + u64::from(p.anno_u32(anno::EXTRA_LENGTH));
        Duration::from_nanos((u128::from(bytes) * 1_000_000_000 / u128::from(self.bandwidth)) as u64)
    }

    /// When the last bit of the packet that is being sent, if any, will have been sent.
    fn sent(&self) -> Timestamp {
        self.link.back().map_or(Timestamp::ZERO, |(arrival, _)| *arrival - self.latency)
    }

    /// Sends packets until the link is busy. The next begins where the one before it ended if it has been waiting since, so
    /// that rounding and late timers do not cost bandwidth.
    fn send(&mut self, now: Timestamp, cx: &mut Cx<'_>) {
        let waited = if self.starved || self.link.is_empty() { now } else { now - MOST_LATE };
        let mut begin = self.sent().max(waited);
        while begin <= now {
            let Some(p) = pull_packet(0, cx) else {
                self.starved = true;
                return;
            };
            let end = begin + self.sending_time(&p);
            self.link.push_back((end + self.latency, p));
            begin = end;
        }
        self.starved = !cx.is_active(&self.signal);
    }

    fn deliver(&mut self, now: Timestamp, cx: &mut Cx<'_>) {
        while self.link.front().is_some_and(|(arrival, _)| *arrival <= now)
            && let Some((arrival, mut p)) = self.link.pop_front()
        {
            p.set_timestamp(cx.router().clock().wall_at(arrival));
            cx.emit(0, p);
        }
        self.storage.set_length(self.link.len());
    }

    /// When something is to be done next, if anything.
    fn next_event(&self, cx: &Cx<'_>) -> Option<Timestamp> {
        let arrival = self.link.front()?.0;
        Some(if cx.is_active(&self.signal) { arrival.min(self.sent()) } else { arrival })
    }
}

/// The slowest link, in bytes per second.
const LEAST: u64 = 100;

fn not_too_small(bandwidth: u64) -> Result<u64, String> {
    if bandwidth < LEAST {
        return Err(format!("bandwidth too small, minimum {LEAST}Bps"));
    }
    Ok(bandwidth)
}

/// How late a timer may be before the link counts as having been idle.
const MOST_LATE: Duration = Duration::from_millis(2);

impl Element for LinkUnqueue {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        args.read("LATENCY", &mut self.latency);
        let bandwidth = args.get::<Bandwidth>("BANDWIDTH").map_or(0, |b| b.bytes_per_second);
        self.bandwidth = not_too_small(bandwidth).unwrap_or_else(|e| {
            if args.has("BANDWIDTH") {
                args.error(e);
            }
            LEAST
        });
        self.storage.set_capacity(i32::MAX as usize);
        cx.export(Arc::clone(&self.storage));
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.signal = cx.upstream_empty_signal(0);
        cx.schedule_task();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        let now = cx.steady();
        self.send(now, cx);
        self.deliver(now, cx);
        match self.next_event(cx) {
            Some(at) => {
                cx.schedule_timer_after(0, at.since(now).max(Duration::from_nanos(1)));
                TaskStep::Sleep
            }
            None if cx.is_active(&self.signal) => TaskStep::Again,
            None => TaskStep::Sleep,
        }
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        cx.schedule_task();
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<LinkUnqueue>(old) {
            self.link = std::mem::take(&mut old.link);
            self.storage.set_length(self.link.len());
        }
    }

    fn cleanup(&mut self, _: &mut Cx<'_>) {
        self.link.clear();
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use clickwork_router::Outcome;

    #[test]
    fn packets_arrive_after_latency_and_sending_time() {
        for batched in [false, true] {
            let config = "s :: Source -> Queue -> l :: LinkUnqueue(100ms, 8kbps) -> k :: Sink";
            let mut t = if batched { Harness::batched(config) } else { Harness::new(config) };
            assert_eq!(t.run(), Outcome::Exhausted);
            let start = t.router.clock().peek();
            t.push_batch("s", 0, (0..4).map(|_| Packet::new(&[0; 250])));
            assert_eq!((t.run(), t.read("l.size")), (Outcome::Exhausted, "0".into()));
            let arrivals: Vec<i64> =
                t.take("k").iter().map(|p| (p.timestamp() - start).nanos() / 1_000_000).collect();
            assert_eq!(arrivals, [350, 600, 850, 1100]);
            assert_eq!([t.read("l.latency"), t.read("l.bandwidth")], ["100ms", "1000"]);
            t.push("s", 0, [Packet::new(&[0; 250])]);
            assert_eq!(t.take("k").len(), 1);
        }
    }

    #[test]
    fn a_link_that_is_changed_begins_anew() {
        let mut t = Harness::new("s :: Source -> Queue -> l :: LinkUnqueue(100s, 8kbps) -> k :: Sink");
        t.push("s", 0, [Packet::new(&[0; 250])]);
        assert_eq!(t.read("l.size"), "1");
        t.write("l.latency 50ms").unwrap();
        assert_eq!([t.read("l.size"), t.read("l.drop_reasons")], ["0", "1\tlink reset\n"]);
        t.write("l.bandwidth 16kbps").unwrap();
        assert_eq!([t.read("l.latency"), t.read("l.bandwidth")], ["50ms", "2000"]);
        let start = t.router.clock().peek();
        t.push("s", 0, [Packet::new(&[0; 250])]);
        let arrivals = t.take("k");
        assert_eq!((arrivals[0].timestamp() - start).nanos() / 1_000_000, 175);
        for (call, error) in [
            ("l.latency x", "latency must be a timestamp"),
            ("l.bandwidth x", "invalid bandwidth"),
            ("l.bandwidth 99Bps", "bandwidth too small, minimum 100Bps"),
        ] {
            assert_eq!(t.write(call).unwrap_err(), error);
        }
        assert_eq!([t.read("l.latency"), t.read("l.bandwidth")], ["50ms", "2000"]);
    }

    #[test]
    fn a_link_without_bandwidth_is_refused() {
        let e = Harness::errors("Idle -> Queue -> LinkUnqueue(1ms, 0) -> Discard");
        assert!(e.contains("bandwidth too small, minimum 100Bps"), "{e}");
    }
}
