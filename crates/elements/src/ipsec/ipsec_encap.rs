//! IPsecEncap: puts an IP header to a tunnel's other end in front of packets, as Click did.

use crate::ip::ip_encap::type_of_service;
use crate::ip::prepend::prepend;
use clickwork_packet::Packet;
use clickwork_packet::anno::FIX_IP_SRC;
use clickwork_packet::headers::{Ipv4Header, ipv4::DONT_FRAGMENT};
use clickwork_router::args::{ArgSpec, ArgType, Args, IpProto};
use clickwork_router::{Class, Cx, SimpleElement, Verdict};

/// The class facts.
pub static CLASS: Class = Class {
    help: "encapsulates packets in IP towards the annotated gateway, as Click did",
    manual: "For old configurations; IPsecESPEncrypt makes its own IP header.\n\n\
             Puts an IP header in front of each packet: protocol PROTO (50 for ESP), to the packet's destination annotation, \
             which RadixIPsecLookup has set to the gateway. The source address is left zero, and the packet is annotated \
             so that FixIPSrc fills it in. The identification counts up. The header is marked.",
    example: super::OLD_EXAMPLE,
    packets: "any/push(ip)",
    args: &[
        ArgSpec::required("PROTO", ArgType::IpProto, "protocol, by name or number"),
        ArgSpec::keyword("TOS", ArgType::U8, "", "type of service"),
        ArgSpec::keyword("TTL", ArgType::U8, "250", "time to live"),
        ArgSpec::keyword(
            "DSCP",
            ArgType::IntRange { min: 0, max: 63 },
            "",
            "differentiated services code point",
        ),
        ArgSpec::keyword(
            "ECT",
            ArgType::IntRange { min: 0, max: 2 },
            "0",
            "ECN-capable transport code point",
        ),
        ArgSpec::keyword("CE", ArgType::Bool, "false", "congestion experienced"),
        ArgSpec::keyword("DF", ArgType::Bool, "false", "don't fragment"),
    ],
    flags: "A",
    ..Class::new("IPsecEncap", "ipsec", || Box::<IPsecEncap>::default())
};

#[derive(Default)]
struct IPsecEncap {
    header: Ipv4Header,
    id: u16,
}

impl SimpleElement for IPsecEncap {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let (mut proto, mut ttl) = (IpProto(0), 250);
        args.read("PROTO", &mut proto).read("TTL", &mut ttl);
        (self.header.protocol, self.header.ttl, self.header.tos) = (proto.0, ttl, type_of_service(args));
        if args.get("DF") == Some(true) {
            self.header.set_fragment_field(DONT_FRAGMENT);
        }
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        let mut header = self.header;
        header.set_destination(p.dst_ip());
        header.set_identification(self.id);
        if prepend(p, header, 0).is_none() {
            return Verdict::Drop("too long for IP");
        }
        p.set_anno_u8(FIX_IP_SRC.offset, 1);
        self.id = self.id.wrapping_add(1);
        Verdict::PASS
    }
}
