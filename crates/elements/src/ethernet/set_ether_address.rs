//! SetEtherAddress: puts an Ethernet address into an annotation.

use super::ether_field::ADDRESS;
use super::fast::set_ether_address::{Constants, fast};
use clickwork_packet::Packet;
use clickwork_packet::addr::EtherAddress;
use clickwork_packet::anno::Anno;
use clickwork_router::args::{AnnoOfSize, ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, FastPath, SimpleElement, Verdict, fast_path, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "puts an Ethernet address into an annotation",
    manual: "Sets annotation ANNO of every packet to the Ethernet address ADDR. StoreEtherAddress writes it into packets.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> SetEtherAddress(2:0:0:0:0:1, 20) -> Discard",
    args: &[
        ArgSpec::required("ADDR", ArgType::EtherAddr, "the address"),
        ArgSpec::required("ANNO", ArgType::Anno(6), "where the address goes"),
    ],
    handlers: &[read_handler!("addr", "the address", |e: &mut SetEtherAddress, _| e.address.to_string())
        .and_write(write_handler!("", "", |e: &mut SetEtherAddress, text, cx| {
            e.address = crate::values::parse_with(text, &cx.names(), "Ethernet address")?;
            Ok::<(), String>(())
        }))],
    fast: Some(FastPath::of::<SetEtherAddress>()),
    ..Class::new("SetEtherAddress", "ethernet", || {
        Box::new(SetEtherAddress { address: EtherAddress::default(), anno: Anno::new(0, ADDRESS as u8) })
    })
};

struct SetEtherAddress {
    address: EtherAddress,
    anno: Anno,
}

fast_path!(SetEtherAddress, set_ether_address());

impl SetEtherAddress {
    #[inline]
    fn constants(&self) -> Constants {
        Constants { address: self.address.0, anno: self.anno.offset }
    }
}

impl SimpleElement for SetEtherAddress {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("ADDR", &mut self.address);
        args.read_with("ANNO", AnnoOfSize(ADDRESS as u8), &mut self.anno);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        fast(&self.constants(), p).map_or(Verdict::PASS, Verdict::Out)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn the_annotation_is_set() {
        let mut t = Harness::new("s :: Source -> SetEtherAddress(1:2:3:4:5:6, 30) -> k :: Sink");
        t.push("s", 0, [Packet::new(b"")]);
        assert_eq!(t.take("k")[0].annotations()[30..37], [1, 2, 3, 4, 5, 6, 0]);
    }
}
