//! DiscardNoFree: the end of a packet's way, for measurements.

use clickwork_packet::Batch;
use clickwork_router::notify::Signal;
use clickwork_router::{Class, Cx, Element, TaskStep};

/// The class facts.
pub static CLASS: Class = Class {
    help: "drops all packets",
    manual: "As Discard, without counts and options. In Click it does not even free its packets, to leave that out of a \
             measurement; here packets are always freed, since their buffers would be missing elsewhere.",
    example: "InfiniteSource(LIMIT 3, STOP true) -> DiscardNoFree",
    ports: "1/0",
    task_handlers: true,
    ..Class::new("DiscardNoFree", "standard", || Box::new(DiscardNoFree { signal: Signal::idle() }))
};

struct DiscardNoFree {
    signal: Signal,
}

impl Element for DiscardNoFree {
    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        if cx.input_is_pull(0) {
            self.signal = cx.upstream_empty_signal(0);
            cx.schedule_task();
        }
        Ok(())
    }

    fn push(&mut self, _: usize, batch: &mut Batch, _: &mut Cx<'_>) {
        batch.clear();
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        let batch = cx.pull(0, cx.batch_limit());
        let idle = batch.is_empty() && !cx.is_active(&self.signal);
        cx.recycle(batch);
        if idle { TaskStep::Sleep } else { TaskStep::Again }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_router::Outcome;

    #[test]
    fn takes_packets_that_are_pushed_and_pulled() {
        for config in [
            "InfiniteSource(LIMIT 100) -> c :: Counter -> DiscardNoFree",
            "InfiniteSource(LIMIT 100) -> Queue -> c :: Counter -> DiscardNoFree",
        ] {
            let mut t = Harness::new(config);
            assert_eq!(t.run(), Outcome::Exhausted);
            assert_eq!(t.read("c.count"), "100", "{config}");
        }
    }
}
