//! GetIPAddress: copies an address from the packet into an annotation.

use super::fast::get_ip_address::{Constants, fast};
use clickwork_packet::Packet;
use clickwork_packet::anno;
use clickwork_router::args::{AnnoOfSize, ArgSpec, ArgType, Args, Word};
use clickwork_router::{Class, Cx, FastPath, SimpleElement, Verdict, fast_path};

/// The class facts.
pub static CLASS: Class = Class {
    help: "copies an IP address from the packet into the destination annotation",
    manual: "Copies four bytes at OFFSET, or the source or destination address of the marked IP header (IP src, IP dst), \
             into the destination annotation or the annotation ANNO. Where the packet is too short the annotation becomes \
             0.0.0.0. GetIPAddress(16) takes the destination of a packet that starts with its IP header.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> GetIPAddress(16) -> Discard",
    args: &[
        ArgSpec::positional("OFFSET", ArgType::I32, "", "where the address is in the packet"),
        ArgSpec::positional("ANNO", ArgType::Anno(4), "DST_IP", "where it is noted"),
        ArgSpec::keyword("IP", ArgType::Choice(&["src", "dst"]), "", "the address of the IP header instead"),
    ],
    fast: Some(FastPath::of::<GetIPAddress>()),
    ..Class::new("GetIPAddress", "ip", || Box::<GetIPAddress>::default())
};

#[derive(Default)]
struct GetIPAddress {
    constants: Constants,
}

fast_path!(GetIPAddress, get_ip_address);

impl SimpleElement for GetIPAddress {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let given = args.get::<i32>("OFFSET");
        if args.has("OFFSET") && given.is_none() {
            return; // It has been said that it is no number.
        }
        let offset = given.and_then(|n| usize::try_from(n).ok());
        let mut anno = anno::DST_IP;
        args.read_with("ANNO", AnnoOfSize(4), &mut anno);
        let field = args.get::<Word>("IP");
        let (offset, in_header) = match (offset, field.as_ref().map(|w| w.0.as_str())) {
            (Some(n), None) => (n, false),
            (None, Some("src")) => (12, true),
            (None, Some("dst")) => (16, true),
            (None, Some(_)) => return args.error("bad IP"),
            _ => return args.error("set one of OFFSET, IP"),
        };
        self.constants = Constants { offset, in_header, anno: anno.offset };
    }

    #[inline]
    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        fast(&self.constants, p).map_or(Verdict::PASS, Verdict::Out)
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::ip;
    use crate::testing::Harness;
    use clickwork_packet::addr::Ipv4Address;
    use clickwork_packet::{Packet, anno};

    #[test]
    fn copies_from_where_it_is_told() {
        for (config, expected) in [("16", [2, 0, 0, 2]), ("IP src", [1, 0, 0, 1]), ("IP dst", [2, 0, 0, 2])] {
            let mut t = Harness::new(&format!("s :: Source -> GetIPAddress({config}) -> k :: Sink"));
            t.push("s", 0, [ip("1.0.0.1", "2.0.0.2").marked()]);
            assert_eq!(t.take("k")[0].dst_ip().octets(), expected, "{config}");
        }
        let mut t = Harness::new("s :: Source -> GetIPAddress(12, ANNO MISC_IP) -> k :: Sink");
        t.push("s", 0, [ip("1.0.0.1", "2.0.0.2").packet()]);
        assert_eq!(t.take("k")[0].anno_bytes(anno::MISC_IP), [1, 0, 0, 1]);
    }

    #[test]
    fn a_short_packet_has_no_address() {
        let mut t = Harness::new("s :: Source -> GetIPAddress(16) -> k :: Sink");
        let mut p = Packet::new(&[9; 19]);
        p.set_dst_ip(Ipv4Address::new(1, 2, 3, 4));
        t.push("s", 0, [p]);
        assert!(t.take("k")[0].dst_ip().is_unspecified());
    }

    #[test]
    fn one_place_must_be_named() {
        for config in ["", "16, IP src", "-1"] {
            let e = Harness::errors(&format!("Idle -> GetIPAddress({config}) -> Discard"));
            assert!(e.contains("set one of OFFSET, IP"), "{config}: {e}");
        }
        assert!(Harness::errors("Idle -> GetIPAddress(IP up) -> Discard").contains("bad IP"));
    }
}
