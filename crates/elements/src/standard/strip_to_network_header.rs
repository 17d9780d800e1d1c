//! StripToNetworkHeader: lets packets begin with their network header.

use super::fast::strip_to_network_header::{Constants, fast};
use clickwork_packet::Packet;
use clickwork_router::{Class, Cx, FastPath, SimpleElement, Verdict, fast_path};

/// The class facts.
pub static CLASS: Class = Class {
    help: "strips what precedes the network header",
    manual: "Removes the bytes before the marked network header, or puts them back if the header was stripped, so that \
             each packet begins with it. Packets without a mark pass unchanged.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> MarkIPHeader(14) -> StripToNetworkHeader -> Discard",
    packets: "any/to-network-header",
    fast: Some(FastPath::of::<StripToNetworkHeader>()),
    ..Class::new("StripToNetworkHeader", "standard", || {
        Box::new(StripToNetworkHeader { constants: Constants })
    })
};

struct StripToNetworkHeader {
    constants: Constants,
}

fast_path!(StripToNetworkHeader, strip_to_network_header);

impl SimpleElement for StripToNetworkHeader {
    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        fast(&self.constants, p).map_or(Verdict::PASS, Verdict::Out)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn packets_begin_with_their_network_header() {
        let mut t = Harness::new("s :: Source -> StripToNetworkHeader -> k :: Sink");
        let mut ahead = Packet::new(b"abcdef");
        ahead.set_network_header(2, 0);
        let mut behind = ahead.clone();
        behind.pull(4);
        t.push("s", 0, [ahead, behind, Packet::new(b"xyz")]);
        assert_eq!(t.bytes("k"), [b"cdef".to_vec(), b"cdef".to_vec(), b"xyz".to_vec()]);
    }
}
