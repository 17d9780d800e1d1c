//! Suppressor: a gate on each port, for the spanning tree of an Ethernet switch.

use clickwork_packet::Batch;
use clickwork_router::args::Args;
use clickwork_router::{Class, Cx, Element, read_param_handler, write_handler};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The class facts.
pub static CLASS: Class = Class {
    help: "passes packets from each input to the output of the same number, unless the port is closed",
    manual: "Each port can be closed and opened with the handler active0, active1, ..., or by an element that has found \
             its gates, such as EtherSpanTree. Packets at a closed port are dropped if they are pushed, and not pulled.",
    example: "InfiniteSource(LIMIT 2, STOP true) -> [0] s :: Suppressor; s[0] -> Discard; Idle -> [1] s; s[1] -> Discard",
    ports: "-/=",
    flow: "#/#",
    handlers: &[
        read_param_handler!("active", "whether the port is open", |e: &mut Suppressor, text, _| e
            .gates
            .read(text))
        .numbered()
        .and_write(write_handler!("", "", |e: &mut Suppressor, text, _| e.gates.write(text))),
        write_handler!("reset", "opens all ports", |e: &mut Suppressor, _, _| e.gates.open_all()),
    ],
    ..Class::new("Suppressor", "sched", || Box::<Suppressor>::default())
};

/// The gates of a Suppressor, which it exports.
#[derive(Debug, Default)]
pub struct Gates(Vec<AtomicBool>);

impl Gates {
    /// Whether the gate of a port is open. Ports that do not exist are closed.
    pub fn is_open(&self, port: usize) -> bool {
        self.0.get(port).is_some_and(|g| g.load(Ordering::Relaxed))
    }

    /// Opens or closes the gate of a port.
    pub fn set(&self, port: usize, open: bool) {
        if let Some(gate) = self.0.get(port) {
            gate.store(open, Ordering::Relaxed);
        }
    }

    /// Opens all gates.
    pub fn open_all(&self) {
        self.0.iter().for_each(|g| g.store(true, Ordering::Relaxed));
    }

    fn read(&self, text: &str) -> Result<bool, String> {
        Ok(self.is_open(crate::values::parse::<u32>(text, "port number")? as usize))
    }

    fn write(&self, text: &str) -> Result<(), String> {
        let (port, open) = text.split_once(' ').unwrap_or((text, ""));
        let open = crate::values::parse(open, "boolean").map_err(|_| "active value must be boolean")?;
        self.set(crate::values::parse::<u32>(port, "port number")? as usize, open);
        Ok(())
    }
}

#[derive(Default)]
struct Suppressor {
    gates: Arc<Gates>,
}

impl Element for Suppressor {
    fn configure(&mut self, _: &mut Args, cx: &mut Cx<'_>) {
        self.gates = Arc::new(Gates((0..cx.inputs()).map(|_| AtomicBool::new(true)).collect()));
        cx.export(Arc::clone(&self.gates));
    }

    fn push(&mut self, port: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        if !self.gates.is_open(port) {
            cx.drop_batch(batch, "port closed");
        } else if port > 0 {
            cx.emit_batch(port, batch.take());
        }
    }

    fn pull(&mut self, port: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        if self.gates.is_open(port) { cx.pull(port, limit) } else { Batch::new() }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

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
}
