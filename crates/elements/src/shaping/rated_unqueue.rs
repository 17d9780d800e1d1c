//! RatedUnqueue and its relative: pulls at a limited rate and pushes on.

use super::bucket_args::{ConfiguredBucket, PACKET_ARGS, Unit};
use clickwork_packet::{Batch, Packet};
use clickwork_router::args::{ArgSpec, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::notify::Signal;
use clickwork_router::{Class, Cx, Element, Handler, TaskStep, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "pulls packets at a limited rate and pushes them on",
    manual: "Pulls and pushes up to RATE packets per second. A token bucket allows for bursts: of BURST_SIZE packets, or \
             as many as RATE makes in BURST_DURATION.",
    example: "InfiniteSource(LIMIT 5, STOP true) -> Queue -> RatedUnqueue(1000) -> Discard",
    ..class("RatedUnqueue", PACKET_ARGS, || Box::new(RatedUnqueue::new(Unit::Packets)))
};

/// The facts that both unqueues have in common.
pub(super) const fn class(
    name: &'static str,
    args: &'static [ArgSpec],
    make: fn() -> Box<dyn Element>,
) -> Class {
    Class {
        ports: "1/1",
        processing: "l/h",
        args,
        handlers: HANDLERS,
        task_handlers: true,
        ..Class::new(name, "shaping", make)
    }
}

const HANDLERS: &[Handler] =
    &[
        read_handler!("calls", "how often its task ran, and with what success", |e: &mut RatedUnqueue, _| e
            .calls()),
        read_handler!("rate", "the rate", |e: &mut RatedUnqueue, _| e.bucket.rate())
            .and_write(write_handler!("", "", |e: &mut RatedUnqueue, text, _| e.bucket.write_rate(text))),
        read_handler!("active", "whether it pulls", |e: &mut RatedUnqueue, _| e.active).flags("c").and_write(
            write_handler!("", "", |e: &mut RatedUnqueue, text, cx| {
                e.active = crate::values::parse(text, "boolean")?;
                cx.schedule_task();
                Ok::<(), String>(())
            }),
        ),
        read_handler!("config", "the rate", |e: &mut RatedUnqueue, _| e.bucket.rate()),
    ];

pub(super) struct RatedUnqueue {
    bucket: ConfiguredBucket,
    active: bool,
    signal: Signal,
    runs: u64,
    empty_runs: u64,
    pushes: u64,
    failed_pulls: u64,
}

impl RatedUnqueue {
    pub(super) fn new(unit: Unit) -> RatedUnqueue {
        RatedUnqueue {
            bucket: ConfiguredBucket::new(unit),
            active: true,
            signal: Signal::idle(),
            runs: 0,
            empty_runs: 0,
            pushes: 0,
            failed_pulls: 0,
        }
    }

    fn calls(&self) -> String {
        let RatedUnqueue { runs, empty_runs, pushes, failed_pulls, .. } = self;
        format!(
            "{runs} calls to run_task()\n{empty_runs} empty runs\n{pushes} pushes\n{failed_pulls} failed pulls\n"
        )
    }

    /// Pulls what the tokens allow: several packets if they count packets, else one.
    fn pull(&mut self, cx: &mut Cx<'_>) -> Batch {
        let (unit, bucket) = (self.bucket.unit, &mut self.bucket.bucket);
        let limit = if unit == Unit::Packets { bucket.tokens() as usize } else { 1 };
        let batch = cx.pull(0, limit.min(cx.batch_limit()));
        bucket.spend(match unit {
            Unit::Packets => batch.len() as u32,
            Unit::Bytes => batch.first().map_or(0, Packet::len) as u32,
        });
        batch
    }
}

impl Element for RatedUnqueue {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        self.bucket.configure(args);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.signal = cx.upstream_empty_signal(0);
        cx.schedule_task();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        self.runs += 1;
        if !self.active {
            return TaskStep::Sleep;
        }
        let threshold = self.bucket.unit.threshold();
        self.bucket.bucket.refill(cx.steady());
        if !self.bucket.bucket.contains(threshold) {
            if let Some(wait) = self.bucket.bucket.time_until(threshold) {
                cx.schedule_timer_after(0, wait);
            }
            self.empty_runs += 1;
            return TaskStep::Sleep;
        }
        let batch = self.pull(cx);
        if !batch.is_empty() {
            self.pushes += batch.len() as u64;
            cx.emit_batch(0, batch);
            return TaskStep::Again;
        }
        self.failed_pulls += 1;
        if !cx.is_active(&self.signal) {
            return TaskStep::Sleep;
        }
        self.empty_runs += 1;
        TaskStep::Again
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        cx.schedule_task();
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<RatedUnqueue>(old) {
            (self.runs, self.empty_runs) = (old.runs, old.empty_runs);
            (self.pushes, self.failed_pulls) = (old.pushes, old.failed_pulls);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use clickwork_router::Outcome;

    #[test]
    fn a_burst_passes_and_the_rest_at_the_rate() {
        for batched in [false, true] {
            let config = "s :: Source -> Queue -> r :: RatedUnqueue(100, BURST_SIZE 10) -> k :: Sink";
            let mut t = if batched { Harness::batched(config) } else { Harness::new(config) };
            assert_eq!(t.run(), Outcome::Exhausted);
            let start = t.router.clock().peek();
            t.push_batch("s", 0, (0..60).map(|_| Packet::new(b"x")));
            let took = (t.router.clock().peek() - start).as_secs_f64();
            assert!((0.49..0.52).contains(&took), "{took}");
            assert_eq!((t.take("k").len(), t.read("r.scheduled")), (60, "false".into()));
            assert!(t.read("r.calls").contains("60 pushes\n"));
            assert_eq!(t.read("r.config"), "100");
        }
    }

    #[test]
    fn bytes_go_at_the_bandwidth() {
        for batched in [false, true] {
            let config = "s :: Source -> Queue -> r :: BandwidthRatedUnqueue(100kbps) -> k :: Sink";
            let mut t = if batched { Harness::batched(config) } else { Harness::new(config) };
            let start = t.router.clock().peek();
            t.push_batch("s", 0, (0..60).map(|_| Packet::new(&[0; 125])));
            let took = (t.router.clock().peek() - start).as_secs_f64();
            assert!((0.56..0.6).contains(&took), "{took}");
            assert_eq!((t.take("k").len(), t.read("r.rate")), (60, "100.048kbps".into()));
        }
    }

    #[test]
    fn can_be_switched_off_and_given_another_rate() {
        let mut t = Harness::new("s :: Source -> Queue -> r :: RatedUnqueue(100) -> k :: Sink");
        t.write("r.active false").unwrap();
        t.push("s", 0, (0..5).map(|_| Packet::new(b"x")));
        assert_eq!(t.take("k").len(), 0);
        t.write("r.rate 50").unwrap();
        t.write("r.active true").unwrap();
        t.run();
        assert_eq!((t.take("k").len(), t.read("r.rate")), (5, "50".into()));
        assert_eq!(t.write("r.rate x").unwrap_err(), "RATE: parse error");
    }
}
