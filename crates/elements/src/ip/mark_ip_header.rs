//! MarkIPHeader: notes where the IP header is.

use super::fast::mark_ip_header::{Constants, fast};
use clickwork_packet::Packet;
use clickwork_router::args::{ArgSpec, ArgType, Args, Bounded};
use clickwork_router::{Class, Cx, FastPath, SimpleElement, Verdict, fast_path};

/// The class facts.
pub static CLASS: Class = Class {
    help: "marks the IP header without checking it",
    manual: "Notes that the IP header of each packet is OFFSET bytes behind its start, and the transport header behind \
             that. Checks nothing: CheckIPHeader does.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> MarkIPHeader(14) -> Discard",
    packets: "any/mark any@OFFSET",
    args: &[ArgSpec::positional("OFFSET", ArgType::U16, "0", "where the IP header is in the packet")],
    fast: Some(FastPath::of::<MarkIPHeader>()),
    ..Class::new("MarkIPHeader", "ip", || Box::<MarkIPHeader>::default())
};

#[derive(Default)]
struct MarkIPHeader {
    constants: Constants,
}

fast_path!(MarkIPHeader, mark_ip_header);

impl SimpleElement for MarkIPHeader {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read_with("OFFSET", Bounded(0..=u32::from(u16::MAX)), &mut self.constants.offset);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        fast(&self.constants, p).map_or(Verdict::PASS, Verdict::Out)
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
