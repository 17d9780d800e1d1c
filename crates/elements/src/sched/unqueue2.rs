//! Unqueue2: pulls packets only while there is room for them downstream.

use clickwork_router::args::{ArgSpec, ArgType, Args, words};
use clickwork_router::element::try_downcast;
use clickwork_router::notify::Signal;
use clickwork_router::{Class, Cx, Element, Storage, TaskStep, read_handler};
use std::sync::Arc;

/// The class facts.
pub static CLASS: Class = Class {
    help: "pulls packets and pushes them on while there is room downstream",
    manual: "Pulls up to BURST packets in each turn of its task and pushes them out, but never more than there is room for in \
             any of the nearest queues downstream, or in those named in QUEUES. A BURST of 0 means as many as there is \
             room for.",
    example: "InfiniteSource(LIMIT 5, STOP true) -> Queue -> Unqueue2 -> Queue -> Discard",
    processing: "l/h",
    args: &[
        ArgSpec::positional(
            "BURST",
            ArgType::I32,
            "1",
            "packets in a turn, 0 for no limit; in batch mode a batch",
        ),
        ArgSpec::keyword(
            "QUEUES",
            ArgType::Text,
            "",
            "names of the queues that need room, instead of the nearest",
        ),
        ArgSpec::keyword("QUIET", ArgType::Bool, "", "of no effect any more"),
    ],
    handlers: &[read_handler!("packets", "packets passed on", |e: &mut Unqueue2, _| format!(
        "{} packets\n",
        e.count
    ))],
    task_handlers: true,
    ..Class::new("Unqueue2", "sched", || Box::<Unqueue2>::default())
};

struct Unqueue2 {
    burst: i32,
    /// Names given instead of the nearest queues.
    named: Option<Vec<String>>,
    queues: Vec<Arc<Storage>>,
    count: u64,
    /// Packets still to be pulled in this turn.
    left: usize,
    signal: Signal,
}

impl Default for Unqueue2 {
    fn default() -> Unqueue2 {
        Unqueue2 { burst: 1, named: None, queues: Vec::new(), count: 0, left: 0, signal: Signal::idle() }
    }
}

impl Unqueue2 {
    /// Packets that a turn may have now. As in Click, a negative burst is none.
    fn turn(&self) -> usize {
        let room = self.queues.iter().map(|q| q.capacity().saturating_sub(q.length())).min();
        let burst = if self.burst < 0 && room.is_some() {
            usize::MAX
        } else {
            usize::try_from(self.burst).unwrap_or(0)
        };
        room.map_or(burst, |room| room.min(burst))
    }
}

impl Element for Unqueue2 {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        self.burst = cx.batch_limit() as i32;
        args.read("BURST", &mut self.burst);
        if self.burst == 0 {
            self.burst = i32::MAX;
        }
        if args.has("QUIET") {
            args.warn("QUIET is deprecated");
        }
        self.named = args.raw("QUEUES").map(|t| words(t).into_iter().map(|w| w.text).collect());
        if self.named.iter().flatten().any(|name| cx.find(name).is_none()) {
            args.error("bad QUEUES");
        }
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.queues = match &self.named {
            None => cx.downstream::<Storage>(Some(0)).into_iter().map(|(_, queue)| queue).collect(),
            Some(names) => {
                let queue = |name: &String| cx.find(name).and_then(|id| cx.exported::<Storage>(id));
                names.iter().map(queue).collect::<Option<_>>().ok_or("bad QUEUES")?
            }
        };
        self.signal = cx.upstream_empty_signal(0);
        cx.schedule_task();
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        if self.left == 0 {
            self.left = self.turn();
            if self.left == 0 {
                return TaskStep::Poll;
            }
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
        if let Some(old) = try_downcast::<Unqueue2>(old) {
            self.count = old.count;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    fn send(t: &mut Harness, n: u8) {
        t.push("s", 0, (0..n).map(|i| Packet::new(&[i])));
    }

    #[test]
    fn nothing_is_lost_for_want_of_room() {
        for burst in ["0", "1", "7", "-3"] {
            for batched in [false, true] {
                let config = format!(
                    "s :: Source -> q :: Queue -> u :: Unqueue2({burst}) -> Tee => r :: Queue(5), big :: Queue;
                     r -> v :: Unqueue(ACTIVE false) -> k :: Sink; big -> Idle"
                );
                let mut t = if batched { Harness::batched(&config) } else { Harness::new(&config) };
                send(&mut t, 20);
                assert_eq!([t.read("q.length"), t.read("r.length"), t.read("r.drops")], ["15", "5", "0"]);
                t.write("v.active true").unwrap();
                t.run();
                assert!(t.bytes("k").iter().map(|b| b[0]).eq(0..20));
                assert_eq!([t.read("r.drops"), t.read("u.packets")], ["0", "20 packets\n"]);
            }
        }
    }

    #[test]
    fn the_queues_can_be_named() {
        let mut t = Harness::new(
            "s :: Source -> q :: Queue -> u :: Unqueue2(QUEUES x) -> r :: Queue(5) -> Idle; Idle -> x :: Queue(2) -> Idle",
        );
        send(&mut t, 10);
        assert_eq!([t.read("r.length"), t.read("r.drops")], ["5", "5"]);
        let e = Harness::errors("Idle -> Unqueue2(QUEUES y) -> Discard");
        assert!(e.contains("bad QUEUES"), "{e}");
    }

    #[test]
    fn without_queues_it_is_an_unqueue() {
        let mut t = Harness::new("s :: Source -> q :: Queue -> u :: Unqueue2 -> k :: Sink");
        send(&mut t, 10);
        assert_eq!(t.take("k").len(), 10);
    }
}
