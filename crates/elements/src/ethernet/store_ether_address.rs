//! StoreEtherAddress: writes an Ethernet address into packets.

use super::ether_field::{ADDRESS, offset_arg};
use super::fast::store_ether_address::Constants;
use clickwork_packet::Packet;
use clickwork_packet::addr::EtherAddress;
use clickwork_packet::anno::Anno;
use clickwork_router::args::{AnnoOfSize, ArgSpec, ArgType, Args};
use clickwork_router::{
    Class, Cx, Fast, FastPath, SimpleElement, Verdict, fast_path, read_handler, write_handler,
};

/// The class facts.
pub static CLASS: Class = Class {
    help: "writes an Ethernet address into packets",
    manual: "Writes ADDR, or the address in annotation ANNO, over the six bytes at OFFSET (or the source or destination of \
             an Ethernet frame). Packets that are too short go to output 1, or are dropped.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> StoreEtherAddress(2:0:0:0:0:1, dst) -> Discard",
    ports: "1/1-2",
    processing: "a/ah",
    args: &[
        ArgSpec::positional("ADDR", ArgType::EtherAddr, "", "the address"),
        ArgSpec::required("OFFSET", ArgType::Other("src, dst or a number"), "where the address goes"),
        ArgSpec::keyword("ANNO", ArgType::Anno(6), "", "the annotation that holds the address"),
    ],
    handlers: &[read_handler!("addr", "the address", |e: &mut StoreEtherAddress, _| e.address.to_string())
        .and_write(write_handler!("", "", |e: &mut StoreEtherAddress, text, cx| {
            e.address = crate::values::parse_with(text, &cx.names(), "Ethernet address")?;
            Ok::<(), String>(())
        }))],
    fast: Some(FastPath::of::<StoreEtherAddress>()),
    ..Class::new("StoreEtherAddress", "ethernet", || Box::<StoreEtherAddress>::default())
};

#[derive(Default)]
struct StoreEtherAddress {
    address: EtherAddress,
    /// Where the address comes from instead.
    anno: Option<Anno>,
    offset: usize,
}

fast_path!(StoreEtherAddress, store_ether_address());

impl StoreEtherAddress {
    #[inline]
    fn constants(&self) -> Constants {
        Constants { address: self.address.0, anno: self.anno.map(|a| a.offset), offset: self.offset }
    }
}

impl SimpleElement for StoreEtherAddress {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        if args.has("ADDR") == args.has("ANNO") {
            args.error("must specify exactly one of ADDR/ANNO");
        }
        args.read("ADDR", &mut self.address);
        self.anno = args.get_with("ANNO", AnnoOfSize(ADDRESS as u8));
        self.offset = offset_arg(args);
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        if let Some(port) = self.common(p) {
            return Verdict::Out(port);
        }
        if p.len() < self.offset + ADDRESS {
            return cx.out_or_drop(1, "packet too short");
        }
        let address = match self.anno {
            Some(anno) => std::array::from_fn(|i| p.anno_u8(anno.offset + i as u8)),
            None => self.address.0,
        };
        p.data_mut()[self.offset..self.offset + ADDRESS].copy_from_slice(&address);
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn a_fixed_address_is_written() {
        let mut t = Harness::new("s :: Source -> e :: StoreEtherAddress(1:1:1:1:1:1, src) -> k :: Sink");
        t.push("s", 0, [Packet::new(&[0; 13]), Packet::new(&[0; 11])]);
        t.write("e.addr 2:2:2:2:2:2").unwrap();
        t.push("s", 0, [Packet::new(&[0; 12])]);
        let expected = |byte: u8, rest: usize| [vec![0; 6], vec![byte; 6], vec![0; rest]].concat();
        assert_eq!(t.bytes("k"), [expected(1, 1), expected(2, 0)]);
        assert_eq!(t.read("e.drop_reasons"), "1\tpacket too short\n");
    }

    #[test]
    fn an_annotation_may_hold_the_address() {
        let mut t = Harness::new(
            "s :: Source -> GetEtherAddress(20, src) -> StoreEtherAddress(OFFSET dst, ANNO 20) -> k :: Sink",
        );
        t.push("s", 0, [Packet::new(b"abcdefABCDEF")]);
        assert_eq!(t.bytes("k"), [b"ABCDEFABCDEF"]);
        let e = Harness::errors("Idle -> StoreEtherAddress(OFFSET dst) -> Discard");
        assert!(e.contains("must specify exactly one of ADDR/ANNO"), "{e}");
    }
}
