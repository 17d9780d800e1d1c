//! FastTCPFlows: makes frames of many TCP connections at a time, as seen from one side.

use super::{
    ACTIVE, DSTETH, DSTIP, FLOWS, FLOWSIZE, Frame, LENGTH, LIMIT, Maker, RATE, SRCETH, SRCIP, class,
    random_port, read_flows,
};
use clickwork_packet::Packet;
use clickwork_packet::headers::TcpHeader;
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::tcp::flag;
use clickwork_router::args::Args;
use clickwork_router::{Class, Cx};

/// The class facts.
pub static CLASS: Class = Class {
    help: "makes TCP packets of many connections for load tests",
    manual: "Gives whoever pulls RATE Ethernet frames of LENGTH bytes per second, spread evenly, that carry TCP from SRCIP to \
             DSTIP. Each packet belongs to one of FLOWS connections, chosen at random, with random ports. A connection \
             has FLOWSIZE packets, at least 3: a SYN, data with PSH and ACK, and a FIN; then another takes its place. After \
             LIMIT packets those that have not ended get a FIN. Nothing is retransmitted, answers are not looked at.",
    example: "FastTCPFlows(1000, 10, 60, 2:0:0:0:0:1, 1.0.0.1, 2:0:0:0:0:2, 2.0.0.2, 3, 4) -> Unqueue -> Strip(14) \
              -> CheckIPHeader -> CheckTCPHeader -> Discard",
    args: &[RATE, LIMIT, LENGTH, SRCETH, SRCIP, DSTETH, DSTIP, FLOWS, FLOWSIZE, ACTIVE],
    ..class::<TcpFlows>("FastTCPFlows")
};

/// Packets of the shortest connection.
const MIN_SIZE: u32 = 3;

#[derive(Clone, Copy)]
struct Flow {
    ports: (u16, u16),
    /// The next sequence number, and the number acknowledged.
    sequence: u32,
    acknowledged: u32,
    /// Packets to come; none have come if it is the size of a flow.
    left: u32,
}

#[derive(Default)]
struct TcpFlows {
    frame: Frame,
    flows: Vec<Flow>,
    /// How many flows there are to be; they are made when they are needed.
    number: usize,
    size: u32,
    /// At the end: flows that have been looked at.
    finished: usize,
}

impl TcpFlows {
    fn new_flow(&self, cx: &mut Cx<'_>) -> Flow {
        let ports = (random_port(cx), random_port(cx));
        Flow { ports, sequence: cx.random(), acknowledged: cx.random(), left: self.size }
    }

    /// The next packet of a flow, or its last one.
    fn segment(&mut self, at: usize, last: bool) -> Packet {
        let (frame, size) = (self.frame, self.size);
        let flow = &mut self.flows[at];
        let first = flow.left == size;
        flow.left = if last { 0 } else { flow.left - 1 };
        let flags = match flow.left {
            0 => flag::FIN,
            _ if first => flag::SYN,
            _ => flag::PSH | flag::ACK,
        };
        let mut header = TcpHeader::default();
        header.set_source_port(flow.ports.0);
        header.set_destination_port(flow.ports.1);
        header.set_sequence(flow.sequence);
        header.set_acknowledgment(flow.acknowledged);
        header.flags = flags;
        header.set_window(u16::MAX);
        // RFC 9293 §3.4: a SYN takes a number besides those of the payload.
        let payload = usize::from(frame.transport_len()) - size_of::<TcpHeader>();
        flow.sequence = flow.sequence.wrapping_add(payload as u32 + u32::from(flags == flag::SYN));
        frame.packet(protocol::TCP, header, TcpHeader::set_checksum)
    }

    /// The FIN of a flow that has none yet.
    fn finish(&mut self) -> Option<Packet> {
        let unfinished = self.flows[self.finished..].iter().position(|flow| flow.left > 0);
        let at = self.finished + unfinished?;
        self.finished = at + 1;
        Some(self.segment(at, true))
    }
}

impl Maker for TcpFlows {
    fn configure(&mut self, args: &mut Args, cx: &Cx<'_>) {
        self.frame = Frame::read(args, cx);
        self.number = read_flows(args);
        self.size = args.get("FLOWSIZE").unwrap_or(MIN_SIZE);
        if self.size < MIN_SIZE {
            args.warn(format!("flow size < {MIN_SIZE}, defaulting to {MIN_SIZE}"));
            self.size = MIN_SIZE;
        }
    }

    fn make(&mut self, _: u64, at_end: bool, cx: &mut Cx<'_>) -> Option<Packet> {
        while self.flows.len() < self.number {
            self.flows.push(self.new_flow(cx));
        }
        if at_end {
            return self.finish();
        }
        let at = cx.random() as usize % self.flows.len();
        if self.flows[at].left == 0 {
            self.flows[at] = self.new_flow(cx);
        }
        Some(self.segment(at, false))
    }

    fn reset(&mut self) {
        self.finished = 0;
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::headers::Tcp;
    use clickwork_router::Outcome;
    use std::collections::HashMap;

    const ENDS: &str = "2:0:0:0:0:1, 1.0.0.1, 2:0:0:0:0:2, 2.0.0.2";

    #[test]
    fn connections_begin_and_end() {
        let config = format!(
            "f :: FastTCPFlows(0, 1000, 70, {ENDS}, 4, 5) -> Unqueue -> Strip(14) -> CheckIPHeader -> CheckTCPHeader -> k :: Sink"
        );
        let mut t = Harness::new(&config);
        assert_eq!(t.run(), Outcome::Exhausted);
        let mut flows: HashMap<_, Vec<(u8, u32)>> = HashMap::new();
        for p in t.bytes("k") {
            let tcp = Tcp::new(&p[20..]).unwrap();
            flows
                .entry((tcp.source_port(), tcp.destination_port()))
                .or_default()
                .push((tcp.flags, tcp.sequence()));
        }
        let whole = flows.values().filter(|f| f.iter().map(|s| s.0).eq([2, 0x18, 0x18, 0x18, 1])).count();
        assert!(flows.len() - whole <= 4 && whole >= 190, "{whole} of {}", flows.len());
        // Nothing is left open, and the numbers fit.
        for flow in flows.values() {
            assert_eq!(flow.last().unwrap().0, 1);
            for pair in flow.windows(2) {
                let step = 16 + u32::from(pair[0].0 == 2);
                assert_eq!(pair[1].1.wrapping_sub(pair[0].1), step);
            }
        }
    }

    #[test]
    fn short_flows_are_lengthened() {
        let mut t =
            Harness::new(&format!("f :: FastTCPFlows(0, 3, 60, {ENDS}, 1, 1) -> Unqueue -> k :: Sink"));
        t.run();
        let flags: Vec<u8> = t.bytes("k").iter().map(|p| p[47]).collect();
        assert_eq!(flags, [2, 0x18, 1]);
    }
}
