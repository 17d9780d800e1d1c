//! GetIP6Address: copies an address from the packet into the destination annotation.

use super::fast::get_ip6_address::{Constants, fast};
use clickwork_packet::Packet;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, FastPath, SimpleElement, Verdict, fast_path};

/// The class facts.
pub static CLASS: Class = Class {
    help: "copies an IPv6 address from the packet into the destination annotation",
    manual: "Copies sixteen bytes at OFFSET into the destination annotation, which becomes '::' where the packet is too \
             short. GetIP6Address(24) takes the destination of a packet that starts with its IPv6 header.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> GetIP6Address(24) -> Discard",
    args: &[ArgSpec::required("OFFSET", ArgType::U32, "where the address is in the packet")],
    fast: Some(FastPath::of::<GetIP6Address>()),
    ..Class::new("GetIP6Address", "ip6", || Box::<GetIP6Address>::default())
};

#[derive(Default)]
struct GetIP6Address {
    constants: Constants,
}

fast_path!(GetIP6Address, get_ip6_address);

impl SimpleElement for GetIP6Address {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        self.constants.offset = args.get::<u32>("OFFSET").unwrap_or_default() as usize;
    }

    #[inline]
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
    fn copies_from_where_it_is_told() {
        for (offset, expected) in [(8, "2001:db8::1"), (24, "2001:db8::2")] {
            let mut t = Harness::new(&format!("s :: Source -> GetIP6Address({offset}) -> k :: Sink"));
            t.push("s", 0, [ip6("2001:db8::1", "2001:db8::2").packet()]);
            assert_eq!(t.take("k")[0].dst_ip6().to_string(), expected);
        }
    }

    #[test]
    fn a_short_packet_has_no_address() {
        let mut t = Harness::new("s :: Source -> SetIP6Address(::9) -> GetIP6Address(24) -> k :: Sink");
        t.push("s", 0, [Packet::new(&[9; 39])]);
        assert!(t.take("k")[0].dst_ip6().is_unspecified());
    }
}
