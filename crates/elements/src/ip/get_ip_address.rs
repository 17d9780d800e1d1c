//! GetIPAddress: copies an address from the packet into an annotation.

use clickwork_packet::Packet;
use clickwork_packet::anno::{self, Anno};
use clickwork_packet::headers::{Header, Ipv4Header};
use clickwork_router::args::{AnnoOfSize, ArgSpec, ArgType, Args, Word};
use clickwork_router::{Class, Cx, SimpleElement, Verdict};

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
    ..Class::new("GetIPAddress", "ip", || {
        Box::new(GetIPAddress { from: From::Offset(0), anno: anno::DST_IP })
    })
};

/// Where the address is.
#[derive(Clone, Copy)]
enum From {
    Offset(usize),
    Source,
    Destination,
}

struct GetIPAddress {
    from: From,
    anno: Anno,
}

impl SimpleElement for GetIPAddress {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let offset = args.get::<i32>("OFFSET").and_then(|n| usize::try_from(n).ok());
        args.read_with("ANNO", AnnoOfSize(4), &mut self.anno);
        let field = args.get::<Word>("IP");
        self.from = match (offset, field.as_ref().map(|w| w.0.as_str())) {
            (Some(n), None) => From::Offset(n),
            (None, Some("src")) => From::Source,
            (None, Some("dst")) => From::Destination,
            (None, Some(_)) => return args.error("bad IP"),
            _ => return args.error("set one of OFFSET, IP"),
        };
    }

    #[inline]
    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        let header = || p.network_header().and_then(Ipv4Header::peek);
        let octets = match self.from {
            From::Offset(n) => p.data().get(n..).and_then(<[u8]>::first_chunk).copied(),
            From::Source => header().map(|h| h.source().octets()),
            From::Destination => header().map(|h| h.destination().octets()),
        };
        p.set_anno_bytes(self.anno, &octets.unwrap_or_default());
        Verdict::PASS
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
