//! SetIP6Address: sets the destination annotation to a fixed address.

use super::fast::set_ip6_address::{Constants, fast};
use clickwork_packet::Packet;
use clickwork_packet::addr::Ipv6Address;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, FastPath, SimpleElement, Verdict, fast_path};

/// The class facts.
pub static CLASS: Class = Class {
    help: "sets the destination annotation to an IPv6 address",
    manual: "Sets each packet's destination annotation to IPADDR: the address that IP6NDSolicitor will look up, for example \
             a gateway's.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> SetIP6Address(2001:db8::1) -> Discard",
    args: &[ArgSpec::required("IPADDR", ArgType::Ip6Addr, "the address")],
    fast: Some(FastPath::of::<SetIP6Address>()),
    ..Class::new("SetIP6Address", "ip6", || {
        Box::new(SetIP6Address { constants: Constants { octets: [0; 16] } })
    })
};

struct SetIP6Address {
    constants: Constants,
}

fast_path!(SetIP6Address, set_ip6_address);

impl SimpleElement for SetIP6Address {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        self.constants.octets = args.get::<Ipv6Address>("IPADDR").unwrap_or_default().octets();
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        fast(&self.constants, p).map_or(Verdict::PASS, Verdict::Out)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn sets_the_annotation() {
        let mut t = Harness::new("s :: Source -> SetIP6Address(2001:db8::7) -> k :: Sink");
        t.push("s", 0, [Packet::new(b"")]);
        assert_eq!(t.take("k")[0].dst_ip6().to_string(), "2001:db8::7");
    }
}
