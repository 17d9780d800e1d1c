//! Unqueue: the border between pull and push.

use crate::info::message::say;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::notify::Signal;
use clickwork_router::{Class, Cx, Element, TaskStep, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "pulls packets and pushes them on, as fast as they come",
    manual: "Pulls up to BURST packets in each turn of its task and pushes them out. It sleeps while there is nothing to \
             pull, while it is not ACTIVE, and for good when it has passed LIMIT packets on. A negative LIMIT or BURST \
             means no limit.",
    example: "InfiniteSource(LIMIT 5, STOP true) -> Queue -> Unqueue -> Discard",
    ports: "1/1",
    processing: "l/h",
    args: &[
        ArgSpec::positional(
            "BURST",
            ArgType::I32,
            "1",
            "packets in a turn; negative for no limit; in batch mode a batch",
        ),
        ArgSpec::keyword("ACTIVE", ArgType::Bool, "true", "whether it pulls"),
        ArgSpec::keyword("LIMIT", ArgType::I32, "-1", "packets it passes on in all; negative for no limit"),
    ],
    handlers: &[
        read_handler!("active", "whether it pulls", |e: &mut Unqueue, _| e.active)
            .flags("c")
            .and_write(write_handler!("", "", |e: &mut Unqueue, text, cx| e.set_active(text, cx))),
        read_handler!("count", "packets passed on", |e: &mut Unqueue, _| e.count),
        read_handler!("burst", "packets in a turn", |e: &mut Unqueue, _| e.burst).and_write(write_handler!(
            "",
            "",
            |e: &mut Unqueue, text, cx| e.set_burst(text, cx)
        )),
        read_handler!("limit", "packets it passes on in all", |e: &mut Unqueue, _| e.limit)
            .and_write(write_handler!("", "", |e: &mut Unqueue, text, cx| e.set_limit(text, cx))),
        write_handler!("reset", "sets the count to 0", |e: &mut Unqueue, _, cx| e.reset(cx)).flags("b"),
        write_handler!("reset_counts", "sets the count to 0", |e: &mut Unqueue, _, cx| e.reset(cx))
            .flags("Ub"),
    ],
    task_handlers: true,
    ..Class::new("Unqueue", "sched", || Box::<Unqueue>::default())
};

struct Unqueue {
    burst: i32,
    active: bool,
    limit: i32,
    count: u64,
    /// Packets still to be pulled in this turn.
    left: usize,
    signal: Signal,
}

impl Default for Unqueue {
    fn default() -> Unqueue {
        Unqueue { burst: 1, active: true, limit: -1, count: 0, left: 0, signal: Signal::idle() }
    }
}

impl Unqueue {
    /// How many more packets the limit allows.
    fn allowed(&self) -> usize {
        u64::try_from(self.limit).map_or(usize::MAX, |limit| limit.saturating_sub(self.count) as usize)
    }

    /// Begins to pull if there is anything to do.
    fn start(&mut self, cx: &mut Cx<'_>) {
        if self.active && self.allowed() > 0 {
            cx.schedule_task();
        }
    }

    fn reset(&mut self, cx: &mut Cx<'_>) {
        self.count = 0;
        self.start(cx);
    }

    fn set_active(&mut self, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
        self.active = crate::values::parse(text, "").map_err(|_| "syntax error")?;
        self.start(cx);
        Ok(())
    }

    fn set_burst(&mut self, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
        self.burst = unlimited(crate::values::parse(text, "").map_err(|_| "syntax error")?);
        self.start(cx);
        Ok(())
    }

    fn set_limit(&mut self, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
        self.limit = crate::values::parse(text, "").map_err(|_| "syntax error")?;
        self.start(cx);
        Ok(())
    }
}

/// A negative burst stands for a very large one.
fn unlimited(burst: i32) -> i32 {
    if burst < 0 { i32::MAX } else { burst }
}

impl Element for Unqueue {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        self.burst = cx.batch_limit() as i32;
        args.read("BURST", &mut self.burst).read("ACTIVE", &mut self.active).read("LIMIT", &mut self.limit);
        self.burst = unlimited(self.burst);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.signal = cx.upstream_empty_signal(0);
        if self.burst == 0 {
            say("initializing", "warning: BURST size 0, no packets will be pulled", cx);
        }
        if self.active {
            cx.schedule_task();
        }
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        if self.left == 0 {
            self.left = self.allowed().min(self.burst as usize);
        }
        if !self.active || self.left == 0 {
            self.left = 0;
            return TaskStep::Sleep;
        }
        let batch = cx.pull(0, self.left);
        if batch.is_empty() {
            self.left = 0;
            return if cx.is_active(&self.signal) { TaskStep::Again } else { TaskStep::Sleep };
        }
        self.left = self.left.saturating_sub(batch.len());
        self.count += batch.len() as u64;
        cx.emit_batch(0, batch);
        if self.left > 0 { TaskStep::Continue } else { TaskStep::Again }
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<Unqueue>(old) {
            self.count = old.count;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use clickwork_router::Outcome;

    fn numbered(n: u8) -> impl Iterator<Item = Packet> {
        (0..n).map(|i| Packet::new(&[i]))
    }

    #[test]
    fn passes_on_what_comes_and_sleeps_in_between() {
        for batched in [false, true] {
            let config = "s :: Source -> Queue -> u :: Unqueue(BURST 100) -> k :: Sink";
            let mut t = if batched { Harness::batched(config) } else { Harness::new(config) };
            assert_eq!(t.run(), Outcome::Exhausted);
            t.push("s", 0, numbered(200));
            t.push("s", 0, numbered(3));
            assert_eq!(t.read("u.scheduled"), "false");
            assert!(t.bytes("k").iter().map(|b| b[0]).eq((0..200).chain(0..3)));
            assert_eq!(t.read("u.count"), "203");
        }
    }

    #[test]
    fn a_turn_is_a_packet_in_ordered_mode_and_a_batch_in_batch_mode() {
        let config = "Idle -> Queue -> u :: Unqueue -> Discard";
        assert_eq!(Harness::new(config).read("u.burst"), "1");
        assert_eq!(Harness::batched(config).read("u.burst"), "64");
    }

    #[test]
    fn a_burst_of_nothing_is_warned_of_when_it_starts() {
        let mut t = Harness::new("Idle -> Queue -> u :: Unqueue(0) -> Discard");
        let expected =
            "While initializing 'u :: Unqueue':\n  warning: BURST size 0, no packets will be pulled\n";
        assert_eq!(t.printed(), format!("config:1: {expected}"));
    }

    #[test]
    fn stops_at_its_limit_until_reset() {
        let mut t = Harness::new("s :: Source -> q :: Queue -> u :: Unqueue(LIMIT 3, BURST 2) -> k :: Sink");
        t.push("s", 0, numbered(10));
        assert_eq!((t.take("k").len(), t.read("q.length")), (3, "7".into()));
        t.write("u.reset").unwrap();
        t.run();
        assert_eq!(t.take("k").len(), 3);
        t.write("u.limit -1").unwrap();
        t.run();
        assert_eq!((t.take("k").len(), t.read("u.count")), (4, "7".into()));
    }

    #[test]
    fn can_be_switched_off_and_on() {
        let mut t = Harness::new("s :: Source -> q :: Queue -> u :: Unqueue(ACTIVE false) -> k :: Sink");
        t.push("s", 0, numbered(2));
        assert_eq!((t.take("k").len(), t.read("u.active")), (0, "false".into()));
        t.write("u.active true").unwrap();
        t.run();
        assert_eq!(t.take("k").len(), 2);
        assert!(t.write("u.active perhaps").is_err());
    }
}
