//! Discard: the end of a packet's way.

use clickwork_packet::Batch;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::handler::Listed;
use clickwork_router::notify::Signal;
use clickwork_router::{Class, Cx, Element, TaskStep, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "drops all packets",
    manual: "Frees the packets it gets and counts them. On a pull path it asks for packets as fast as they come, BURST \
             at a time, while ACTIVE.",
    example: "InfiniteSource(LIMIT 3, STOP true) -> Queue -> d :: Discard; DriverManager(wait_stop, print d.count)",
    ports: "1/0",
    args: &[
        ArgSpec::keyword("ACTIVE", ArgType::Bool, "true", "whether it pulls packets"),
        ArgSpec::keyword(
            "BURST",
            ArgType::U32,
            "1",
            "packets pulled in a turn, 0 for no limit; in batch mode a batch",
        ),
    ],
    handlers: &[
        read_handler!("count", "packets dropped", |e: &mut Discard, _| e.count),
        read_handler!("active", "whether it pulls packets", |e: &mut Discard, _| e.active)
            .flags("c")
            .listed(Listed::IfPulling)
            .and_write(write_handler!("", "", |e: &mut Discard, text, cx| e.set_active(text, cx))),
        read_handler!("burst", "packets pulled in a turn", |e: &mut Discard, _| e.burst)
            .and_write(write_handler!("", "", |e: &mut Discard, text, _| e.set_burst(text))),
        write_handler!("reset_counts", "sets the count to 0", |e: &mut Discard, _, _| e.count = 0).flags("b"),
    ],
    task_handlers: true,
    ..Class::new("Discard", "standard", || Box::<Discard>::default())
};

struct Discard {
    active: bool,
    burst: u32,
    count: u64,
    /// Packets still to be pulled in this turn.
    left: u32,
    signal: Signal,
}

impl Default for Discard {
    fn default() -> Discard {
        Discard { active: true, burst: 1, count: 0, left: 0, signal: Signal::idle() }
    }
}

impl Discard {
    fn set_active(&mut self, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
        self.active = crate::values::parse(text, "boolean").map_err(|_| "syntax error")?;
        if self.active && cx.input_is_pull(0) {
            cx.schedule_task();
        }
        Ok(())
    }

    fn set_burst(&mut self, text: &str) -> Result<(), String> {
        match crate::values::parse(text, "number of packets")? {
            0 => Err("bad BURST".to_string()),
            n => {
                self.burst = n;
                Ok(())
            }
        }
    }
}

impl Element for Discard {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        self.burst = cx.batch_limit() as u32;
        args.read("ACTIVE", &mut self.active).read("BURST", &mut self.burst);
        if self.burst == 0 {
            self.burst = u32::MAX;
        }
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        if !self.active && !cx.input_is_pull(0) {
            return Err("ACTIVE is meaningless in push context".to_string());
        }
        if cx.input_is_pull(0) {
            self.signal = cx.upstream_empty_signal(0);
            if self.active {
                cx.schedule_task();
            }
        }
        Ok(())
    }

    fn push(&mut self, _: usize, batch: &mut Batch, _: &mut Cx<'_>) {
        self.count += batch.len() as u64;
        batch.clear();
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        if !self.active {
            return TaskStep::Sleep;
        }
        if self.left == 0 {
            self.left = self.burst;
        }
        let batch = cx.pull(0, self.left as usize);
        let pulled = batch.len() as u32;
        self.count += u64::from(pulled);
        cx.recycle(batch);
        self.left = if pulled == 0 { 0 } else { self.left.saturating_sub(pulled) };
        match self.left {
            0 if pulled == 0 && !cx.is_active(&self.signal) => TaskStep::Sleep,
            0 => TaskStep::Again,
            _ => TaskStep::Continue,
        }
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<Discard>(old) {
            self.count = old.count;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;

    #[test]
    fn a_burst_of_0_has_no_limit_and_pushed_packets_cannot_be_refused() {
        let mut t = Harness::new("Source -> q :: Queue -> d :: Discard(BURST 0)");
        t.push("q", 0, (0..5).map(|_| clickwork_packet::Packet::new(b"x")));
        assert_eq!(t.read("d.count"), "5");
        let e = Harness::errors("Idle -> Discard(ACTIVE false)");
        assert!(e.contains("ACTIVE is meaningless in push context"), "{e}");
    }
}
