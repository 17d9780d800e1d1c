//! TCPDemux: passes on TCP packets of flows that somebody asked for.

use super::tcp::{Flow, NOT_TCP};
use clickwork_packet::Packet;
use clickwork_packet::addr::Ipv4Address;
use clickwork_router::{Class, Cx, SimpleElement, Verdict};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard};

/// The class facts.
pub static CLASS: Class = Class {
    help: "passes on TCP packets of known flows",
    manual: "Takes packets with marked IP and TCP headers. Those that belong to a flow which a TCPConn downstream has opened or \
             listens for leave by output 0; others are dropped, with a message. Of several flows that fit, whole ones count \
             first, then those that listen at an address and port, at a port, at an address, at all. At most 65536 \
             flows can be open.",
    example: "Idle -> d :: TCPDemux -> c :: TCPConn -> Discard; Idle -> [1]c[1] -> Discard; c[2] -> Discard; \
              Script(write c.ctrl listen 0.0.0.0 80, stop)",
    processing: "h/h",
    ..Class::new("TCPDemux", "local", || Box::<TcpDemux>::default())
};

/// Flows that can be open at a time.
const MAX_FLOWS: usize = 1 << 16;

/// The open flows, as their own side sends; TCPConn opens and closes them.
#[derive(Default)]
pub struct Flows(Mutex<HashSet<Flow>>);

impl Flows {
    fn open(&self) -> MutexGuard<'_, HashSet<Flow>> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Opens a flow; false if it is open already, or too many are.
    pub fn add(&self, flow: Flow) -> bool {
        let mut open = self.open();
        open.len() < MAX_FLOWS && open.insert(flow)
    }

    /// Closes a flow.
    pub fn remove(&self, flow: Flow) {
        self.open().remove(&flow);
    }

    /// Whether a packet that arrives belongs to one.
    fn takes(&self, arriving: Flow) -> bool {
        let whole = arriving.reversed();
        let anywhere = Ipv4Address::UNSPECIFIED;
        let at = |source, source_port| Flow { source, source_port, ..Flow::default() };
        let candidates = [
            whole,
            at(whole.source, whole.source_port),
            at(anywhere, whole.source_port),
            at(whole.source, 0),
            at(anywhere, 0),
        ];
        let open = self.open();
        candidates.iter().any(|flow| open.contains(flow))
    }
}

#[derive(Default)]
struct TcpDemux {
    flows: Arc<Flows>,
}

impl SimpleElement for TcpDemux {
    fn configure(&mut self, _: &mut clickwork_router::args::Args, cx: &mut Cx<'_>) {
        cx.export(Arc::clone(&self.flows));
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        match Flow::of(p) {
            Some(flow) if self.flows.takes(flow) => Verdict::PASS,
            Some(_) => {
                cx.report("reject packet from unknown flow", || {
                    "reject packet from unknown flow".to_string()
                });
                Verdict::Drop("unknown flow")
            }
            None => Verdict::Drop(NOT_TCP),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tcp::samples::{flow, segment};
    use super::*;
    use crate::testing::Harness;

    #[test]
    fn packets_of_open_flows_pass_and_others_are_rejected() {
        let mut t = Harness::new(
            "s :: Source -> d :: TCPDemux -> c :: TCPConn -> k :: Sink; Idle -> [1]c[1] -> x :: Sink; c[2] -> Discard",
        );
        let packets = || [segment(1, 0, b"a"), Packet::new(b"?")];
        t.push("s", 0, packets());
        assert_eq!(t.printed(), "reject packet from unknown flow\n");
        assert_eq!(t.read("d.drop_reasons"), "1\tunknown flow\n1\tno TCP header\n");
        t.write("c.ctrl connect 2.0.0.2 80 1.0.0.1 1000").unwrap();
        t.push("s", 0, packets());
        assert_eq!(t.take("k").len(), 1);
        t.write("c.reset").unwrap();
        t.push("s", 0, packets());
        assert_eq!(t.take("k").len(), 0);
    }

    #[test]
    fn less_than_a_whole_flow_fits_too() {
        let mine = flow().reversed();
        let fits = [
            mine,
            Flow { source: mine.source, source_port: 80, ..Flow::default() },
            Flow { source_port: 80, ..Flow::default() },
            Flow { source: mine.source, ..Flow::default() },
            Flow::default(),
        ];
        for open in fits {
            let flows = Flows::default();
            assert!(flows.add(open) && !flows.add(open));
            assert!(flows.takes(flow()), "{open:?}");
            assert_eq!(flows.takes(mine), open == Flow::default(), "{open:?}");
            flows.remove(open);
            assert!(!flows.takes(flow()));
        }
        let flows = Flows::default();
        assert!(flows.add(Flow { source_port: 81, ..Flow::default() }));
        assert!(!flows.takes(flow()));
    }
}
