//! EtherMirror: swaps the addresses of Ethernet frames.

use super::fast::ether_mirror::Constants;
use clickwork_packet::Packet;
use clickwork_packet::headers::EthernetMut;
use clickwork_router::{Class, Cx, Fast, FastPath, SimpleElement, Verdict, fast_path};

/// The class facts.
pub static CLASS: Class = Class {
    help: "swaps the addresses of Ethernet frames",
    manual: "Swaps source and destination of every Ethernet frame, so that it goes back to where it came from. Packets too \
             short for an Ethernet header are dropped.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> EtherMirror -> Discard",
    packets: "ether/ether",
    fast: Some(FastPath::of::<EtherMirror>()),
    ..Class::new("EtherMirror", "ethernet", || Box::new(EtherMirror { constants: Constants }))
};

struct EtherMirror {
    constants: Constants,
}

fast_path!(EtherMirror, ether_mirror);

impl SimpleElement for EtherMirror {
    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        if let Some(port) = self.common(p) {
            return Verdict::Out(port);
        }
        let Some(mut header) = EthernetMut::new(p.data_mut()) else {
            return Verdict::Drop("frame too short");
        };
        (header.source, header.destination) = (header.destination, header.source);
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn addresses_are_swapped_in_frames() {
        let mut t = Harness::new("s :: Source -> EtherMirror -> k :: Sink");
        t.push("s", 0, [Packet::new(b"abcdefABCDEF\x08\x00x"), Packet::new(b"abcdefABCDEF\x08")]);
        assert_eq!(t.bytes("k"), [b"ABCDEFabcdef\x08\x00x"]);
    }
}
