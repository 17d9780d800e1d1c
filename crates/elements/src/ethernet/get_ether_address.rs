//! GetEtherAddress: copies an Ethernet address from packets into an annotation.

use super::ether_field::{ADDRESS, offset_arg};
use clickwork_packet::Packet;
use clickwork_packet::anno::Anno;
use clickwork_router::args::{AnnoOfSize, ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, SimpleElement, Verdict};

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
    ..Class::new("GetEtherAddress", "ethernet", || {
        Box::new(GetEtherAddress { anno: Anno::new(0, ADDRESS as u8), offset: 0 })
    })
};

struct GetEtherAddress {
    anno: Anno,
    offset: usize,
}

impl SimpleElement for GetEtherAddress {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read_with("ANNO", AnnoOfSize(ADDRESS as u8), &mut self.anno);
        self.offset = offset_arg(args);
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let Some(address) = p.data().get(self.offset..).and_then(<[u8]>::first_chunk::<ADDRESS>).copied()
        else {
            return cx.out_or_drop(1, "packet too short");
        };
        p.set_anno_bytes(self.anno, &address);
        Verdict::PASS
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
