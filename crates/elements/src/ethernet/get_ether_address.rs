//! GetEtherAddress: copies an Ethernet address from packets into an annotation.

use super::ether_field::{ADDRESS, offset_arg};
use super::fast::get_ether_address::{Constants, fast};
use clickwork_packet::Packet;
use clickwork_packet::anno::Anno;
use clickwork_router::args::{AnnoOfSize, ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, FastPath, SimpleElement, Verdict, fast_path};

/// The class facts.
pub static CLASS: Class = Class {
    help: "copies an Ethernet address from packets into an annotation",
    manual: "Copies the six bytes at OFFSET (or the source or destination of an Ethernet frame) into annotation ANNO. \
             Packets that are too short go to output 1, or are dropped.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> GetEtherAddress(20, src) -> Discard",
    ports: "1/1-2",
    args: &[
        ArgSpec::required("ANNO", ArgType::Anno(6), "where the address goes"),
        ArgSpec::required("OFFSET", ArgType::Other("src, dst or a number"), "where the address is"),
    ],
    fast: Some(FastPath::of::<GetEtherAddress>()),
    ..Class::new("GetEtherAddress", "ethernet", || Box::<GetEtherAddress>::default())
};

#[derive(Default)]
struct GetEtherAddress {
    constants: Constants,
}

fast_path!(GetEtherAddress, get_ether_address);

impl SimpleElement for GetEtherAddress {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let mut anno = Anno::new(0, ADDRESS as u8);
        args.read_with("ANNO", AnnoOfSize(ADDRESS as u8), &mut anno);
        self.constants = Constants { offset: offset_arg(args), anno: anno.offset };
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        match fast(&self.constants, p) {
            Some(port) => Verdict::Out(port),
            None => cx.out_or_drop(1, "packet too short"),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn the_address_becomes_an_annotation() {
        let mut t = Harness::new("s :: Source -> GetEtherAddress(20, SRC) -> k :: Sink");
        t.push("s", 0, [Packet::new(b"abcdefABCDEF"), Packet::new(b"abcdefABCDE")]);
        let got = t.take("k");
        assert_eq!((got.len(), &got[0].annotations()[20..26]), (1, &b"ABCDEF"[..]));
    }

    #[test]
    fn short_packets_leave_by_output_1() {
        let mut t =
            Harness::new("s :: Source -> g :: GetEtherAddress(0, 3) -> k :: Sink; g[1] -> short :: Sink");
        t.push("s", 0, [Packet::new(b"123456789"), Packet::new(b"12345678")]);
        assert_eq!((t.bytes("k").len(), t.bytes("short").len()), (1, 1));
        assert!(Harness::errors("Idle -> GetEtherAddress(0, 1 2) -> Discard").contains("OFFSET"));
        assert!(Harness::errors("Idle -> GetEtherAddress(0, up) -> Discard").contains("bad OFFSET"));
        assert!(Harness::errors("Idle -> GetEtherAddress(PAINT, src) -> Discard").contains("ANNO"));
    }
}
