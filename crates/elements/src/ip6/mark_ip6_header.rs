//! MarkIP6Header: notes where the IPv6 header is.

use super::fast::mark_ip6_header::{Constants, fast};
use clickwork_packet::Packet;
use clickwork_router::args::{ArgSpec, ArgType, Args, Bounded};
use clickwork_router::{Class, Cx, FastPath, SimpleElement, Verdict, fast_path};

/// The class facts.
pub static CLASS: Class = Class {
    help: "marks the IPv6 header without checking it",
    manual: "Notes that the IPv6 header of each packet is OFFSET bytes behind its start, and the transport header 40 bytes \
             behind that. Checks nothing: CheckIP6Header does.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> MarkIP6Header(14) -> Discard",
    packets: "any/mark ip6@OFFSET",
    args: &[ArgSpec::positional("OFFSET", ArgType::U32, "0", "where the IPv6 header is in the packet")],
    fast: Some(FastPath::of::<MarkIP6Header>()),
    ..Class::new("MarkIP6Header", "ip6", || Box::<MarkIP6Header>::default())
};

#[derive(Default)]
struct MarkIP6Header {
    constants: Constants,
}

fast_path!(MarkIP6Header, mark_ip6_header);

impl SimpleElement for MarkIP6Header {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read_with("OFFSET", Bounded(0..=i32::MAX as u32), &mut self.constants.offset);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        fast(&self.constants, p).map_or(Verdict::PASS, Verdict::Out)
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::ip6;
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn marks_network_and_transport_header() {
        let mut t = Harness::new("s :: Source -> MarkIP6Header(2) -> k :: Sink");
        let bytes = ip6("::1", "::2").payload(17, b"payload").bytes();
        t.push("s", 0, [Packet::new(&[&b"xy"[..], &bytes].concat()), Packet::new(b"")]);
        let got = t.take("k");
        assert_eq!(got[0].transport_header(), Some(&b"payload"[..]));
        assert_eq!(got[1].network_header(), None);
    }
}
