//! FastUDPFlows: makes frames of many UDP flows at a time.

use super::fast_udp_source::udp;
use super::{
    ACTIVE, CHECKSUM, DSTETH, DSTIP, FLOWS, FLOWSIZE, Frame, LENGTH, LIMIT, Maker, RATE, SRCETH, SRCIP,
    class, random_port, read_flows,
};
use clickwork_packet::Packet;
use clickwork_router::args::Args;
use clickwork_router::{Class, Cx};

/// The class facts.
pub static CLASS: Class = Class {
    help: "makes UDP packets of many flows for load tests",
    manual: "As FastUDPSource, but each packet belongs to one of FLOWS flows, chosen at random. A flow has random ports, and \
             ends after FLOWSIZE packets: then another takes its place.",
    example: "FastUDPFlows(1000, 10, 60, 2:0:0:0:0:1, 1.0.0.1, 2:0:0:0:0:2, 2.0.0.2, 3, 2) -> Unqueue -> Strip(14) \
              -> CheckIPHeader -> CheckUDPHeader -> Discard",
    args: &[RATE, LIMIT, LENGTH, SRCETH, SRCIP, DSTETH, DSTIP, FLOWS, FLOWSIZE, CHECKSUM, ACTIVE],
    ..class::<UdpFlows>("FastUDPFlows")
};

#[derive(Clone, Copy, Default)]
struct Flow {
    ports: (u16, u16),
    /// Packets to come.
    left: u32,
}

#[derive(Default)]
struct UdpFlows {
    frame: Frame,
    flows: Vec<Flow>,
    size: u32,
    checksum: bool,
}

impl Maker for UdpFlows {
    fn configure(&mut self, args: &mut Args, cx: &Cx<'_>) {
        self.frame = Frame::read(args, cx);
        self.flows = vec![Flow::default(); read_flows(args)];
        self.size = args.get("FLOWSIZE").unwrap_or(1).max(1);
        self.checksum = args.get("CHECKSUM").unwrap_or(true);
    }

    fn make(&mut self, _: u64, at_end: bool, cx: &mut Cx<'_>) -> Option<Packet> {
        if at_end {
            return None;
        }
        let at = cx.random() as usize % self.flows.len();
        let flow = &mut self.flows[at];
        if flow.left == 0 {
            *flow = Flow { ports: (random_port(cx), random_port(cx)), left: self.size };
        }
        flow.left -= 1;
        Some(udp(&self.frame, flow.ports.0, flow.ports.1, self.checksum))
    }

    fn reset(&mut self) {}
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use std::collections::HashMap;

    const ENDS: &str = "2:0:0:0:0:1, 1.0.0.1, 2:0:0:0:0:2, 2.0.0.2";

    #[test]
    fn flows_have_their_size_and_number() {
        let config = format!(
            "FastUDPFlows(0, 4000, 60, {ENDS}, 5, 20) -> Unqueue -> Strip(14) -> CheckIPHeader -> CheckUDPHeader -> k :: Sink"
        );
        let mut t = Harness::new(&config);
        t.run();
        let got = t.bytes("k");
        assert_eq!(got.len(), 4000);
        let mut flows = HashMap::new();
        got.iter().for_each(|p| *flows.entry(p[20..24].to_vec()).or_insert(0) += 1);
        let unfinished = flows.values().filter(|&&n| n < 20).count();
        assert!(flows.values().all(|&n| n <= 20) && unfinished <= 5 && flows.len() >= 200, "{flows:?}");
    }

    #[test]
    fn the_number_of_flows_is_bounded() {
        for flows in ["0", "4000000000"] {
            let e =
                Harness::errors(&format!("FastUDPFlows(0, 1, 60, {ENDS}, {flows}, 1) -> Unqueue -> Discard"));
            assert!(e.contains("FLOWS: must be at"), "{e}");
        }
    }
}
