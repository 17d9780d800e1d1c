//! SetIPAddress: sets the destination annotation to a fixed address.

use super::fast::set_ip_address::{Constants, fast};
use crate::values::store_named;
use clickwork_packet::Packet;
use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::anno::{self, Anno};
use clickwork_router::args::{AnnoOfSize, ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, FastPath, SimpleElement, Verdict, fast_path, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "sets the destination annotation to an address",
    manual: "Sets each packet's destination annotation, or the annotation ANNO, to IPADDR: the address that ARPQuerier will \
             look up, for example a gateway's.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> SetIPAddress(10.0.0.1) -> Discard",
    args: &[
        ArgSpec::required("IPADDR", ArgType::IpAddr, "the address"),
        ArgSpec::keyword("ANNO", ArgType::Anno(4), "DST_IP", "where it is noted"),
    ],
    handlers: &[read_handler!("addr", "the address", |e: &mut SetIPAddress, _| e.address.to_string())
        .and_write(write_handler!("", "", |e: &mut SetIPAddress, text, cx| store_named(
            &mut e.address,
            text,
            cx,
            "IP address"
        )))],
    fast: Some(FastPath::of::<SetIPAddress>()),
    ..Class::new("SetIPAddress", "ip", || {
        Box::new(SetIPAddress { address: Ipv4Address::UNSPECIFIED, anno: anno::DST_IP })
    })
};

struct SetIPAddress {
    address: Ipv4Address,
    anno: Anno,
}

fast_path!(SetIPAddress, set_ip_address());

impl SetIPAddress {
    #[inline]
    fn constants(&self) -> Constants {
        Constants { octets: self.address.octets(), anno: self.anno.offset }
    }
}

impl SimpleElement for SetIPAddress {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("IPADDR", &mut self.address).read_with("ANNO", AnnoOfSize(4), &mut self.anno);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        fast(&self.constants(), p).map_or(Verdict::PASS, Verdict::Out)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::{Packet, anno};

    #[test]
    fn sets_the_annotation() {
        let mut t = Harness::new(
            "s :: Source -> a :: SetIPAddress(1.2.3.4) -> SetIPAddress(5.6.7.8, ANNO 20) -> k :: Sink",
        );
        t.push("s", 0, [Packet::new(b"")]);
        t.write("a.addr 4.3.2.1").unwrap();
        t.push("s", 0, [Packet::new(b"")]);
        let seen: Vec<_> = t.take("k").iter().map(|p| p.dst_ip().to_string()).collect();
        assert_eq!((seen.join(" "), t.read("a.addr")), ("1.2.3.4 4.3.2.1".into(), "4.3.2.1".into()));
        t.push("s", 0, [Packet::new(b"")]);
        assert_eq!(t.take("k")[0].anno_bytes(anno::MISC_IP), [5, 6, 7, 8]);
    }
}
