//! RoundRobinUnqueue: pulls from its inputs in turn and pushes each out of the output of the same number.

use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::notify::Signal;
use clickwork_router::{Class, Cx, Element, TaskStep, read_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "pulls from its inputs in turn and pushes to the outputs",
    manual: "In each turn of its task, pulls up to BURST packets from one input and pushes them out of the output of the same \
             number; the next turn is the next input's. BURST 0 means as many as there are. There are as many outputs as \
             inputs. It sleeps while there is nothing to pull.",
    example: "InfiniteSource(LIMIT 5, STOP true) -> Queue -> u :: RoundRobinUnqueue(2) -> Discard; \
              Idle -> Queue -> [1]u[1] -> Discard",
    ports: "-/-",
    processing: "l/h",
    args: &[ArgSpec::positional("BURST", ArgType::I32, "1", "packets in a turn; 0 for no limit")],
    handlers: &[read_handler!("packets", "packets passed on", |e: &mut RoundRobinUnqueue, _| format!(
        "{} packets\n",
        e.count
    ))],
    task_handlers: true,
    ..Class::new("RoundRobinUnqueue", "local", || Box::<RoundRobinUnqueue>::default())
};

#[derive(Default)]
struct RoundRobinUnqueue {
    burst: usize,
    signals: Vec<Signal>,
    next: usize,
    /// Packets still to be pulled in this turn.
    left: usize,
    count: u64,
}

impl RoundRobinUnqueue {
    /// The turn is over.
    fn advance(&mut self, cx: &Cx<'_>) -> TaskStep {
        self.left = 0;
        self.next = (self.next + 1) % self.signals.len();
        let any = self.signals.iter().any(|signal| cx.is_active(signal));
        if any { TaskStep::Again } else { TaskStep::Sleep }
    }
}

impl Element for RoundRobinUnqueue {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let burst: i32 = args.get("BURST").unwrap_or(1);
        // As in Click, a negative number means one packet.
        self.burst = if burst == 0 { usize::MAX } else { burst.max(1) as usize };
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        if cx.inputs() != cx.outputs() {
            return Err("number of outputs must equal to number of inputs".to_string());
        }
        self.signals = (0..cx.inputs()).map(|port| cx.upstream_empty_signal(port)).collect();
        if !self.signals.is_empty() {
            cx.schedule_task();
        }
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        if self.left == 0 {
            self.left = self.burst;
        }
        let batch = cx.pull(self.next, self.left);
        if batch.is_empty() {
            return self.advance(cx);
        }
        self.count += batch.len() as u64;
        self.left -= batch.len().min(self.left);
        cx.emit_batch(self.next, batch);
        if self.left > 0 { TaskStep::Continue } else { self.advance(cx) }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn inputs_have_their_turns() {
        for (burst, order) in
            [("1", "abababaaa"), ("2", "aabbaabaa"), ("0", "aaaaaabbb"), ("-3", "abababaaa")]
        {
            let mut t = Harness::new(&format!(
                "a :: Source -> qa :: Queue -> u :: RoundRobinUnqueue({burst}) -> k :: Sink; b :: Source -> qb :: Queue -> [1]u[1] -> k"
            ));
            for (queue, text, n) in [("qa", b"a", 6), ("qb", b"b", 3)] {
                let element = t.router.find(queue).unwrap();
                for _ in 0..n {
                    let to = clickwork_router::Endpoint { element, port: 0 };
                    t.router.push(to, clickwork_packet::Batch::one(Packet::new(text)));
                }
            }
            t.run();
            assert_eq!(String::from_utf8(t.bytes("k").concat()).unwrap(), order, "{burst}");
            assert_eq!((t.read("u.packets"), t.read("u.scheduled")), ("9 packets\n".into(), "false".into()));
        }
    }

    #[test]
    fn there_are_as_many_outputs_as_inputs() {
        let e = Harness::errors("Idle -> u :: RoundRobinUnqueue -> Discard; u[1] -> Discard");
        assert!(e.contains("number of outputs must equal to number of inputs"), "{e}");
    }
}
