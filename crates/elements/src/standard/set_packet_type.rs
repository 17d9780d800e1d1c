//! SetPacketType: says who packets were addressed to at link level.

use super::fast::set_packet_type::{Constants, fast};
use clickwork_packet::{Packet, PacketType};
use clickwork_router::args::{ArgSpec, ArgType, Args, Word};
use clickwork_router::{Class, Cx, Fast, FastCode, FastPath, SimpleElement, Verdict};

/// The class facts.
pub static CLASS: Class = Class {
    help: "sets packets' packet type",
    manual: "Sets the packet type annotation, which tells who a packet was addressed to at link level, to TYPE.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> SetPacketType(BROADCAST) -> d :: DropBroadcasts -> Discard",
    args: &[ArgSpec::required(
        "TYPE",
        ArgType::Choice(&[
            "HOST",
            "BROADCAST",
            "MULTICAST",
            "OTHERHOST",
            "OUTGOING",
            "LOOPBACK",
            "FASTROUTE",
        ]),
        "the packet type",
    )],
    fast: Some(FastPath::of::<SetPacketType>()),
    ..Class::new("SetPacketType", "standard", || Box::<SetPacketType>::default())
};

const TYPES: [(&str, PacketType); 7] = [
    ("HOST", PacketType::Host),
    ("BROADCAST", PacketType::Broadcast),
    ("MULTICAST", PacketType::Multicast),
    ("OTHERHOST", PacketType::OtherHost),
    ("OUTGOING", PacketType::Outgoing),
    ("LOOPBACK", PacketType::Loopback),
    ("FASTROUTE", PacketType::FastRoute),
];

#[derive(Default)]
struct SetPacketType {
    constants: Constants,
}

impl Fast for SetPacketType {
    fn fast_code(&self) -> Option<FastCode> {
        let source = include_str!("fast/set_packet_type.rs").into();
        let constants = format!("Constants {{ packet_type: PacketType::{:?} }}", self.constants.packet_type);
        Some(FastCode { module: "set_packet_type", source, constants })
    }

    fn fast(&self, p: &mut Packet) -> Option<u16> {
        fast(&self.constants, p)
    }
}

impl SimpleElement for SetPacketType {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let Some(Word(given)) = args.get::<Word>("TYPE") else { return };
        match TYPES.iter().find(|(name, _)| name.eq_ignore_ascii_case(&given)) {
            Some((_, packet_type)) => self.constants.packet_type = *packet_type,
            None => args.error(format!("unrecognized packet type '{given}'")),
        }
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        fast(&self.constants, p).map_or(Verdict::PASS, Verdict::Out)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::{Packet, PacketType};

    #[test]
    fn sets_the_type() {
        let mut t = Harness::new("s :: Source -> SetPacketType(MULTICAST) -> k :: Sink");
        t.push("s", 0, [Packet::new(b"")]);
        assert_eq!(t.take("k")[0].packet_type(), PacketType::Multicast);
        let e = Harness::errors("Idle -> SetPacketType(All) -> Discard");
        assert!(e.contains("unrecognized packet type 'All'"), "{e}");
        let mut t = Harness::new("s :: Source -> SetPacketType(OtherHost) -> k :: Sink");
        t.push("s", 0, [Packet::new(b"")]);
        assert_eq!(t.take("k")[0].packet_type(), PacketType::OtherHost);
    }
}
