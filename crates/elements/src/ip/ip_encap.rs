//! IPEncap: puts an IP header in front of packets.

use super::prepend::{Destination, prepend};
use crate::values::reconfigure;
use clickwork_packet::Packet;
use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::headers::{Ipv4Header, ipv4::DONT_FRAGMENT};
use clickwork_router::args::{ArgSpec, ArgType, Args, FromArg, IpProto};
use clickwork_router::{Class, Cx, SimpleElement, Verdict, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "encapsulates packets in IP",
    manual: "Puts an IP header in front of each packet: protocol PROTO, from SRC to DST, or to the packet's destination \
             annotation if DST is DST_ANNO. The identification counts up. Type of service is TOS, or DSCP with ECT (1 or \
             2) or CE. The headers are marked and the destination annotation set.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> IPEncap(4, 1.0.0.1, 2.0.0.2) -> CheckIPHeader -> Discard",
    packets: "any/push(ip)",
    args: &[
        ArgSpec::required("PROTO", ArgType::IpProto, "protocol, by name or number"),
        ArgSpec::required("SRC", ArgType::IpAddr, "source address"),
        ArgSpec::required("DST", ArgType::Other("IP address or DST_ANNO"), "destination address"),
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
    handlers: &[
        read_handler!("src", "source address", |e: &mut IPEncap, _| e.source.to_string())
            .flags(".")
            .and_write(write_handler!("", "", |e: &mut IPEncap, text, cx| reconfigure(
                &mut e.source,
                1,
                "SRC",
                text,
                cx
            ))),
        read_handler!("dst", "destination address", |e: &mut IPEncap, _| e.destination.to_string())
            .flags(".")
            .and_write(write_handler!("", "", |e: &mut IPEncap, text, cx| {
                reconfigure(&mut e.destination, 2, "DST", text, cx).map_err(|_| BAD_DESTINATION.to_string())
            })),
    ],
    flags: "A",
    ..Class::new("IPEncap", "ip", || Box::<IPEncap>::default())
};

const BAD_DESTINATION: &str = "DST argument should be IP address or 'DST_ANNO'";

#[derive(Default)]
struct IPEncap {
    header: Ipv4Header,
    source: Ipv4Address,
    destination: Destination,
    id: u16,
}

/// The number of an argument that may be at most `max`.
fn small(args: &mut Args, name: &str, max: u8) -> Option<u8> {
    let number: i32 = args.get(name)?;
    let fitting = u8::try_from(number).ok().filter(|n| *n <= max);
    // -1 is as good as none.
    if fitting.is_none() && number != -1 {
        args.error(format!("{name} too large; max {max}"));
    }
    fitting
}

/// The type of service that TOS, or DSCP, ECT and CE ask for.
pub(crate) fn type_of_service(args: &mut Args) -> u8 {
    let (tos, dscp) = (small(args, "TOS", 255), small(args, "DSCP", 63));
    // A truth value will do for ECT.
    let ect = match args.raw("ECT") {
        None => 0,
        Some("2") => 2,
        Some(other) => match bool::from_arg(other, args.names()) {
            Ok(is_capable) => is_capable.into(),
            Err(_) => {
                let wrong = format!("bad ECT value '{other}'");
                args.error(wrong);
                0
            }
        },
    };
    let ce = args.get("CE") == Some(true);
    if tos.is_some() && dscp.is_some() {
        args.error("cannot set both TOS and DSCP");
    } else if tos.is_some() && (ect > 0 || ce) {
        args.error("cannot set both TOS and ECN bits");
    } else if ect > 0 && ce {
        args.error("can set at most one ECN option");
    }
    tos.unwrap_or_else(|| dscp.unwrap_or_default() << 2 | if ce { 3 } else { ect })
}

impl SimpleElement for IPEncap {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let (mut proto, mut ttl) = (IpProto(0), 250);
        match args.raw("PROTO").and_then(|text| i32::from_arg(text, args.names()).ok()) {
            Some(number) if u8::try_from(number).is_err() => args.error("bad IP protocol"),
            _ => {
                args.read("PROTO", &mut proto);
            }
        }
        args.read("SRC", &mut self.source).read("TTL", &mut ttl);
        match args.raw("DST").map(|text| Destination::from_arg(text, args.names())) {
            Some(Err(_)) => args.error(BAD_DESTINATION),
            _ => {
                args.read("DST", &mut self.destination);
            }
        }
        (self.header.protocol, self.header.ttl, self.header.tos) = (proto.0, ttl, type_of_service(args));
        if args.get("DF") == Some(true) {
            self.header.set_fragment_field(DONT_FRAGMENT);
        }
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        let mut header = self.header;
        header.set_source(self.source);
        header.set_destination(self.destination.of(p));
        header.set_identification(self.id);
        if prepend(p, header, 0).is_none() {
            return Verdict::Drop("too long for IP");
        }
        self.id = self.id.wrapping_add(1);
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use clickwork_packet::headers::Ipv4;

    #[test]
    fn the_header_is_as_configured() {
        let mut t = Harness::new(
            "s :: Source -> e :: IPEncap(udp, 1.0.0.1, 2.0.0.2, TTL 9, DSCP 2, ECT 1, DF true) -> k :: Sink",
        );
        t.push("s", 0, [Packet::new(b"abc"), Packet::new(b"de")]);
        let got = t.take("k");
        let ip = Ipv4::new(got[1].network_header().unwrap()).unwrap();
        assert!(ip.checksum_is_right() && ip.dont_fragment());
        assert_eq!((ip.payload(), ip.total_len(), ip.identification()), (&b"de"[..], 22, 1));
        assert_eq!((ip.ttl, ip.tos, ip.protocol), (9, 9, 17));
        assert_eq!(
            (ip.source().to_string(), got[1].dst_ip().to_string()),
            ("1.0.0.1".into(), "2.0.0.2".into())
        );
    }

    #[test]
    fn the_destination_may_come_from_the_annotation_and_change() {
        let mut t = Harness::new(
            "s :: Source -> SetIPAddress(3.3.3.3) -> e :: IPEncap(4, 1.0.0.1, DST_ANNO) -> k :: Sink",
        );
        t.push("s", 0, [Packet::new(b"abc")]);
        t.write("e.dst 4.4.4.4").unwrap();
        t.push("s", 0, [Packet::new(b"abc"), Packet::new(&[0; 65530])]);
        let destinations: Vec<_> = t.bytes("k").iter().map(|b| b[16]).collect();
        assert_eq!((destinations, t.read("e.drop_reasons")), (vec![3, 4], "1\ttoo long for IP\n".into()));
        t.write("e.dst DST_ANNO").unwrap();
        assert_eq!((t.read("e.dst"), t.read("e.config")), ("DST_ANNO".into(), "4, 1.0.0.1, DST_ANNO".into()));
    }

    #[test]
    fn handlers_take_names() {
        let mut t = Harness::new(
            "AddressInfo(here 9.9.9.9, there 8.8.8.8); s :: Source -> a :: SetIPAddress(1.2.3.4) \
             -> e :: IPEncap(4, 1.0.0.1, DST_ANNO) -> k :: Sink",
        );
        t.write("e.src here").unwrap();
        t.write("a.addr there").unwrap();
        t.push("s", 0, [Packet::new(b"")]);
        assert_eq!(
            (&t.bytes("k")[0][12..], t.read("e.config")),
            (&[9, 9, 9, 9, 8, 8, 8, 8][..], "4, here, DST_ANNO".into())
        );
        assert_eq!(t.write("a.addr nowhere").unwrap_err(), "expected IP address");
    }

    #[test]
    fn what_is_no_protocol_or_address_is_refused() {
        for (config, error) in [
            ("300, 1.0.0.1, 2.0.0.2", "bad IP protocol"),
            ("4, 1.0.0.1, nowhere", "DST argument should be IP address or 'DST_ANNO'"),
            ("4, 1.0.0.1", "DST: required argument missing"),
        ] {
            let e = Harness::errors(&format!("Idle -> IPEncap({config}) -> Discard"));
            assert!(e.contains(error), "{config}: {e}");
        }
    }

    #[test]
    fn the_type_of_service_is_made_of_its_parts() {
        for (config, tos) in [
            ("TOS 255", 255),
            ("TOS -1, DSCP 3", 12),
            ("ECT true", 1),
            ("ECT y", 1),
            ("ECT f", 0),
            ("ECT 2", 2),
            ("CE 1, DSCP -1", 3),
        ] {
            let mut t =
                Harness::new(&format!("s :: Source -> IPEncap(4, 1.0.0.1, 2.0.0.2, {config}) -> k :: Sink"));
            t.push("s", 0, [Packet::new(b"")]);
            assert_eq!(t.bytes("k")[0][1], tos, "{config}");
        }
    }

    #[test]
    fn contradictions_are_refused() {
        for (config, error) in [
            ("TOS 1, DSCP 1", "cannot set both TOS and DSCP"),
            ("TOS 1, CE true", "cannot set both TOS and ECN bits"),
            ("ECT 1, CE true", "can set at most one ECN option"),
            ("DSCP 64", "DSCP too large; max 63"),
            ("TOS 256", "TOS too large; max 255"),
            ("ECT 3", "bad ECT value '3'"),
        ] {
            let e = Harness::errors(&format!("Idle -> IPEncap(4, 1.0.0.1, 2.0.0.2, {config}) -> Discard"));
            assert!(e.contains(error), "{config}: {e}");
        }
    }
}
