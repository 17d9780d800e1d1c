//! StripIPHeader and UnstripIPHeader: remove the IP header, and put it back.

use super::fast::{strip_ip_header, unstrip_ip_header};
use clickwork_packet::Packet;
use clickwork_router::{Class, Cx, FastPath, SimpleElement, Verdict, fast_path};

/// The class facts.
pub static CLASS: Class = Class {
    help: "removes the IP header",
    manual: "Removes as many bytes from the front of each packet as its marked IP header is long. The packet should begin \
             with that header.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> IPEncap(4, 1.0.0.1, 2.0.0.2) -> StripIPHeader -> Discard",
    packets: "ip@0/strip-ip",
    fast: Some(FastPath::of::<StripIPHeader>()),
    ..Class::new("StripIPHeader", "ip", || Box::new(StripIPHeader { constants: strip_ip_header::Constants }))
};

/// The class facts.
pub static UNSTRIP: Class = Class {
    help: "puts a stripped IP header back",
    manual: "Lets each packet begin with its marked IP header again, if that was stripped.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> IPEncap(4, 1.0.0.1, 2.0.0.2) -> StripIPHeader -> UnstripIPHeader \
              -> Discard",
    packets: "any/to-network-header",
    fast: Some(FastPath::of::<UnstripIPHeader>()),
    ..Class::new("UnstripIPHeader", "ip", || {
        Box::new(UnstripIPHeader { constants: unstrip_ip_header::Constants })
    })
};

struct StripIPHeader {
    constants: strip_ip_header::Constants,
}

fast_path!(StripIPHeader, strip_ip_header);

impl SimpleElement for StripIPHeader {
    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        strip_ip_header::fast(&self.constants, p).map_or(Verdict::PASS, Verdict::Out)
    }
}

struct UnstripIPHeader {
    constants: unstrip_ip_header::Constants,
}

fast_path!(UnstripIPHeader, unstrip_ip_header);

impl SimpleElement for UnstripIPHeader {
    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        unstrip_ip_header::fast(&self.constants, p).map_or(Verdict::PASS, Verdict::Out)
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::ip;
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn the_header_goes_and_comes_back() {
        let mut t = Harness::new(
            "s :: Source -> StripIPHeader -> t :: Tee; t -> a :: Sink; t[1] -> UnstripIPHeader -> b :: Sink",
        );
        let sample = ip("1.0.0.1", "2.0.0.2").options(&[1]).payload(17, b"payload");
        t.push("s", 0, [sample.marked(), Packet::new(b"no header")]);
        assert_eq!(t.bytes("a"), [b"payload".to_vec(), b"no header".to_vec()]);
        assert_eq!(t.bytes("b"), [sample.bytes(), b"no header".to_vec()]);
    }
}
