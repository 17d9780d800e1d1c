//! MarkIPHeader: notes where the IP header is.

use clickwork_packet::Packet;
use clickwork_router::args::{ArgSpec, ArgType, Args, Bounded};
use clickwork_router::{Class, Cx, SimpleElement, Verdict};

/// The class facts.
pub static CLASS: Class = Class {
    help: "marks the IP header without checking it",
    manual: "Notes that the IP header of each packet is OFFSET bytes behind its start, and the transport header behind \
             that. Checks nothing: CheckIPHeader does.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> MarkIPHeader(14) -> Discard",
    packets: "any/mark any@OFFSET",
    args: &[ArgSpec::positional("OFFSET", ArgType::U16, "0", "where the IP header is in the packet")],
    ..Class::new("MarkIPHeader", "ip", || Box::<MarkIPHeader>::default())
};

#[derive(Default)]
struct MarkIPHeader {
    offset: u32,
}

impl SimpleElement for MarkIPHeader {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read_with("OFFSET", Bounded(0..=u32::from(u16::MAX)), &mut self.offset);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        let first = p.data().get(self.offset as usize).copied().unwrap_or_default();
        p.set_network_header(self.offset as i32, u32::from(first & 0xF) * 4);
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::ip;
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn marks_network_and_transport_header() {
        let mut t = Harness::new("s :: Source -> MarkIPHeader(2) -> k :: Sink");
        let bytes = ip("1.0.0.1", "2.0.0.2").options(&[1]).payload(17, b"payload").bytes();
        t.push("s", 0, [Packet::new(&[&b"xy"[..], &bytes].concat()), Packet::new(b"")]);
        let got = t.take("k");
        assert_eq!(got[0].transport_header(), Some(&b"payload"[..]));
        assert_eq!(got[1].network_header(), None);
    }
}
