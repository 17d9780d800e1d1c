//! IP6Encap: puts an IPv6 header in front of packets.

use super::prepend::{Destination, prepend};
use crate::values::reconfigure;
use clickwork_packet::Packet;
use clickwork_packet::addr::Ipv6Address;
use clickwork_packet::headers::Ipv6Header;
use clickwork_router::args::{ArgSpec, ArgType, Args, IpProto};
use clickwork_router::{Class, Cx, SimpleElement, Verdict, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "encapsulates packets in IPv6",
    manual: "Puts an IPv6 header in front of each packet: next header PROTO, from SRC to DST, or to the packet's destination \
             annotation if DST is DST_ANNO. HLIM is the hop limit and CLASS the traffic class. The header is marked and the \
             destination annotation set.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> IP6Encap(41, 2001:db8::1, 2001:db8::2) -> CheckIP6Header -> Discard",
    packets: "any/push(ip6)",
    args: &[
        ArgSpec::required("PROTO", ArgType::IpProto, "next header, by name or number"),
        ArgSpec::required("SRC", ArgType::Ip6Addr, "source address"),
        ArgSpec::required("DST", ArgType::Other("IPv6 address or DST_ANNO"), "destination address"),
        ArgSpec::keyword("HLIM", ArgType::U8, "250", "hop limit"),
        ArgSpec::keyword("CLASS", ArgType::U8, "0", "traffic class"),
    ],
    handlers: &[
        read_handler!("src", "source address", |e: &mut IP6Encap, _| e.source.to_string())
            .flags(".")
            .and_write(write_handler!("", "", |e: &mut IP6Encap, text, cx| reconfigure(
                &mut e.source,
                1,
                "SRC",
                text,
                cx
            ))),
        read_handler!("dst", "destination address", |e: &mut IP6Encap, _| e.destination.to_string())
            .flags(".")
            .and_write(write_handler!("", "", |e: &mut IP6Encap, text, cx| {
                reconfigure(&mut e.destination, 2, "DST", text, cx).map_err(|_| BAD_DESTINATION.to_string())
            })),
    ],
    ..Class::new("IP6Encap", "ip6", || Box::<IP6Encap>::default())
};

const BAD_DESTINATION: &str = "DST argument should be IP address or 'DST_ANNO'";

#[derive(Default)]
struct IP6Encap {
    header: Ipv6Header,
    source: Ipv6Address,
    destination: Destination,
}

impl SimpleElement for IP6Encap {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let (mut proto, mut hop_limit, mut class) = (IpProto(0), 250, 0);
        args.read("PROTO", &mut proto).read("HLIM", &mut hop_limit).read("CLASS", &mut class);
        args.read("SRC", &mut self.source);
        match args.raw("DST").is_some() {
            true => match args.get("DST") {
                Some(destination) => self.destination = destination,
                None => args.error(BAD_DESTINATION),
            },
            // Says that it is missing.
            false => drop(args.get::<Destination>("DST")),
        }
        (self.header.next_header, self.header.hop_limit) = (proto.0, hop_limit);
        self.header.set_traffic_class(class);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        let mut header = self.header;
        header.set_source(self.source);
        header.set_destination(self.destination.of(p));
        match prepend(p, header, 0) {
            Some(_) => Verdict::PASS,
            None => Verdict::Drop("too long for IPv6"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::header;
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn the_header_is_as_configured() {
        let mut t = Harness::new(
            "s :: Source -> e :: IP6Encap(udp, 2001:db8::1, 2001:db8::2, HLIM 9, CLASS 33) -> k :: Sink",
        );
        t.push("s", 0, [Packet::new(b"abc"), Packet::zeroed(28, 65535, 0), Packet::zeroed(28, 65536, 0)]);
        let got = t.take("k");
        let ip = header(got[0].data());
        assert_eq!((ip.version(), ip.traffic_class(), ip.flow_label()), (6, 33, 0));
        assert_eq!((ip.payload_len_field(), ip.next_header, ip.hop_limit), (3, 17, 9));
        assert_eq!(got[0].transport_header(), Some(&b"abc"[..]));
        assert_eq!((ip.destination(), got[0].dst_ip6()), (got[0].dst_ip6(), "2001:db8::2".parse().unwrap()));
        assert_eq!((got.len(), t.read("e.drop_reasons")), (2, "1\ttoo long for IPv6\n".into()));
    }

    #[test]
    fn the_destination_may_come_from_the_annotation_and_change() {
        let mut t = Harness::new(
            "s :: Source -> SetIP6Address(2001:db8::3) -> e :: IP6Encap(41, ::1, DST_ANNO) -> k :: Sink",
        );
        t.push("s", 0, [Packet::new(b"abc")]);
        assert_eq!((t.read("e.src"), t.read("e.dst")), ("::0.0.0.1".into(), "DST_ANNO".into()));
        t.write("e.dst 2001:db8::4").unwrap();
        t.push("s", 0, [Packet::new(b"abc")]);
        let destinations: Vec<_> = t.bytes("k").iter().map(|b| b[39]).collect();
        assert_eq!((destinations, t.read("e.dst")), (vec![3, 4], "2001:db8::4".into()));
    }

    #[test]
    fn a_wrong_destination_is_refused() {
        let e = Harness::errors("Idle -> IP6Encap(41, ::1, nowhere) -> Discard");
        assert!(e.contains("DST argument should be IP address or 'DST_ANNO'"), "{e}");
    }
}
