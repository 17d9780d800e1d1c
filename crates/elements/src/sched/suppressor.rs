//! Suppressor: a gate on each port, for the spanning tree of an Ethernet switch.

use clickwork_packet::Batch;
use clickwork_router::args::Args;
use clickwork_router::handler::Members;
use clickwork_router::notify::{NotifierId, NotifierKind, Search, Signal};
use clickwork_router::{Class, Cx, Element, read_param_handler, write_handler};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The class facts.
pub static CLASS: Class = Class {
    help: "passes packets from each input to the output of the same number, unless the port is closed",
    manual: "Each port can be closed and opened with the handler active0, active1, ..., or by an element that has found \
             its gates, such as EtherSpanTree. Packets at a closed port are dropped if they are pushed, and not pulled: whoever wants to pull them sleeps until \
             the port is open.",
    example: "InfiniteSource(LIMIT 2, STOP true) -> [0] s :: Suppressor; s[0] -> Discard; Idle -> [1] s; s[1] -> Discard",
    ports: "-/=",
    flow: "#/#",
    handlers: &[
        read_param_handler!("active", "whether the port is open", |e: &mut Suppressor, text, _| e
            .gates
            .read(text))
        .flags("c")
        .numbered(Members::Inputs)
        .and_write(write_handler!("", "", |e: &mut Suppressor, text, cx| e.gates.write(text, cx))),
        write_handler!("reset", "opens all ports", |e: &mut Suppressor, _, cx| e.gates.open_all(cx))
            .flags("b"),
    ],
    ..Class::new("Suppressor", "sched", || Box::<Suppressor>::default())
};

/// The gates of a Suppressor, which it exports.
#[derive(Debug, Default)]
pub struct Gates(Vec<Gate>);

#[derive(Debug)]
struct Gate {
    open: AtomicBool,
    /// Tells those who pull here whether there may be packets.
    notifier: NotifierId,
}

impl Gates {
    /// How many gates there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether the gate of a port is open. Ports that do not exist are closed.
    pub fn is_open(&self, port: usize) -> bool {
        self.0.get(port).is_some_and(|g| g.open.load(Ordering::Relaxed))
    }

    /// Opens or closes the gate of a port.
    pub fn set(&self, port: usize, open: bool, cx: &mut Cx<'_>) {
        if let Some(gate) = self.0.get(port) {
            gate.open.store(open, Ordering::Relaxed);
            if open {
                cx.wake(gate.notifier);
            }
        }
    }

    /// Opens all gates.
    pub fn open_all(&self, cx: &mut Cx<'_>) {
        (0..self.len()).for_each(|port| self.set(port, true, cx));
    }

    fn read(&self, text: &str) -> Result<bool, String> {
        Ok(self.is_open(crate::values::parse::<u32>(text, "port number")? as usize))
    }

    fn write(&self, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
        let (port, open) = text.split_once(' ').unwrap_or((text, ""));
        let open = crate::values::parse(open, "boolean").map_err(|_| "type mismatch")?;
        self.set(crate::values::parse::<u32>(port, "port number")? as usize, open, cx);
        Ok(())
    }
}

#[derive(Default)]
struct Suppressor {
    gates: Arc<Gates>,
    /// What is upstream of each input that pulls.
    upstream: Vec<Signal>,
}

impl Suppressor {
    /// Nothing came: lets the puller sleep unless more may come.
    fn came_to_nothing(&self, port: usize, cx: &mut Cx<'_>) {
        if let Some(gate) = self.gates.0.get(port) {
            let may_have = self.upstream.get(port).is_some_and(|signal| cx.is_active(signal));
            if !self.gates.is_open(port) || !may_have {
                cx.sleep(gate.notifier);
            }
        }
    }
}

impl Element for Suppressor {
    fn configure(&mut self, _: &mut Args, cx: &mut Cx<'_>) {
        let ports = cx.inputs();
        let gate = |port: usize| Gate {
            open: AtomicBool::new(true),
            notifier: cx.export_port_notifier(port, NotifierKind::Empty, Search::ContinueWake),
        };
        self.gates = Arc::new(Gates((0..ports).map(gate).collect()));
        cx.export(Arc::clone(&self.gates));
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        let gates = Arc::clone(&self.gates);
        let signal = |(port, gate): (usize, &Gate)| match cx.input_is_pull(port) {
            true => cx.upstream_empty_signal_for(port, gate.notifier),
            false => Signal::idle(),
        };
        self.upstream = gates.0.iter().enumerate().map(signal).collect();
        Ok(())
    }

    fn push(&mut self, port: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        if !self.gates.is_open(port) {
            cx.drop_batch(batch, "port closed");
        } else if port > 0 {
            cx.emit_batch(port, batch.take());
        }
    }

    fn pull(&mut self, port: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let batch = if self.gates.is_open(port) { cx.pull(port, limit) } else { Batch::new() };
        if batch.is_empty() {
            self.came_to_nothing(port, cx);
        }
        batch
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use clickwork_router::Outcome;

    #[test]
    fn closed_ports_let_nothing_pass() {
        let mut t = Harness::new(
            "a :: Source -> [0] s :: Suppressor; b :: Source -> [1] s; s[0] -> k0 :: Sink; s[1] -> k1 :: Sink",
        );
        t.write("s.active1 false").unwrap();
        assert_eq!([t.read("s.active0"), t.read("s.active1")], ["true", "false"]);
        t.push("s", 0, [Packet::new(b"x")]);
        t.push("s", 1, [Packet::new(b"x")]);
        assert_eq!((t.take("k0").len(), t.take("k1").len()), (1, 0));
        assert_eq!(t.read("s.drop_reasons"), "1\tport closed\n");
        t.write("s.reset").unwrap();
        t.push("s", 1, [Packet::new(b"x")]);
        assert_eq!(t.take("k1").len(), 1);
    }

    #[test]
    fn whoever_pulls_at_a_closed_port_sleeps_until_it_opens() {
        for config in [
            "a :: Source -> q :: Queue -> [0] s :: Suppressor -> u :: Unqueue -> k :: Sink; \
             b :: Source -> r :: Queue -> [1] s [1] -> v :: Unqueue -> m :: Sink",
            // Behind a scheduler, which looks at each input's signal.
            "a :: Source -> q :: Queue -> [0] s :: Suppressor -> [0] rr :: RoundRobinSched -> u :: Unqueue -> k :: Sink; \
             b :: Source -> r :: Queue -> [1] s [1] -> v :: Unqueue -> m :: Sink; Idle -> [1] rr",
        ] {
            let mut t = Harness::new(config);
            t.write("s.active0 false").unwrap();
            t.push("a", 0, [Packet::new(b"x"), Packet::new(b"y")]);
            assert_eq!((t.run(), t.read("u.scheduled")), (Outcome::Exhausted, "false".into()), "{config}");
            assert_eq!((t.take("k").len(), t.read("q.length")), (0, "2".into()));
            t.push("b", 0, [Packet::new(b"z")]);
            assert_eq!((t.run(), t.take("m").len()), (Outcome::Exhausted, 1), "the other port is open");
            t.write("s.active0 true").unwrap();
            t.run();
            assert_eq!(t.bytes("k").concat(), b"xy", "{config}");
            t.push("a", 0, [Packet::new(b"w")]);
            assert_eq!((t.run(), t.bytes("k").concat()), (Outcome::Exhausted, b"w".to_vec()), "{config}");
        }
    }
}
