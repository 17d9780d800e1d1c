//! ICMPPingEncap and ICMPIPEncap: put an ICMP and an IP header in front of packets.

use super::names::{code_arg, type_arg};
use crate::ip::prepend::prepend;
use crate::values::store;
use clickwork_packet::Packet;
use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::headers::icmp::icmp_type;
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::{Header, IcmpHeader, IcmpMut, Ipv4Header};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::handler::Handler;
use clickwork_router::{Class, Cx, SimpleElement, Verdict, read_handler, write_handler};

/// The class facts.
pub static PING: Class = Class {
    help: "encapsulates packets in ICMP echo requests",
    manual: "Puts an ICMP echo request and an IP header in front of each packet, from SRC to DST. The sequence number and the \
             IP identification count up from 1. The headers are marked and the destination annotation set.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> ICMPPingEncap(1.0.0.1, 2.0.0.2) -> CheckICMPHeader -> Discard",
    packets: "any/push(ip icmp)",
    args: &[
        ArgSpec::required("SRC", ArgType::IpAddr, "source address"),
        ArgSpec::required("DST", ArgType::IpAddr, "destination address"),
        ArgSpec::keyword("IDENTIFIER", ArgType::U16, "0", "identifier of the requests"),
    ],
    handlers: HANDLERS,
    flags: "A",
    ..Class::new("ICMPPingEncap", "icmp", || {
        Box::new(IcmpEncap { message: Some((icmp_type::ECHO, 0)), ..EMPTY })
    })
};

/// The class facts.
pub static ANY: Class = Class {
    help: "encapsulates packets in ICMP messages",
    manual: "Puts an ICMP header of TYPE and CODE and an IP header in front of each packet, from SRC to DST. The IP \
             identification counts up from 1; echo requests and replies have IDENTIFIER and the same sequence number. The \
             headers are marked and the destination annotation set.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> ICMPIPEncap(1.0.0.1, 2.0.0.2, echo-reply) -> Discard",
    packets: "any/push(ip icmp)",
    args: &[
        ArgSpec::required("SRC", ArgType::IpAddr, "source address"),
        ArgSpec::required("DST", ArgType::IpAddr, "destination address"),
        ArgSpec::required("TYPE", ArgType::Other("ICMP type"), "type, by name or number"),
        ArgSpec::positional("CODE", ArgType::Other("ICMP code"), "0", "code, by name or number"),
        ArgSpec::keyword("IDENTIFIER", ArgType::U16, "0", "identifier of echo messages"),
    ],
    handlers: HANDLERS,
    ..Class::new("ICMPIPEncap", "icmp", || Box::new(EMPTY))
};

const HANDLERS: &[Handler] = &[
    read_handler!("src", "source address", |e: &mut IcmpEncap, _| e.source.to_string())
        .and_write(write_handler!("", "", |e: &mut IcmpEncap, text, _| set(&mut e.source, text))),
    read_handler!("dst", "destination address", |e: &mut IcmpEncap, _| e.destination.to_string())
        .and_write(write_handler!("", "", |e: &mut IcmpEncap, text, _| set(&mut e.destination, text))),
];

fn set(address: &mut Ipv4Address, text: &str) -> Result<(), String> {
    store(address, text, "").map_err(|_| "syntax error".to_string())
}

/// Time to live of packets.
const TTL: u8 = 255;

const EMPTY: IcmpEncap = IcmpEncap {
    source: Ipv4Address::UNSPECIFIED,
    destination: Ipv4Address::UNSPECIFIED,
    message: None,
    identifier: 0,
    id: 1,
};

struct IcmpEncap {
    source: Ipv4Address,
    destination: Ipv4Address,
    /// Type and code; none until they are configured.
    message: Option<(u8, u8)>,
    identifier: u16,
    id: u16,
}

impl IcmpEncap {
    fn encapsulate(&self, p: &mut Packet, icmp_type: u8, code: u8) -> Option<()> {
        let mut header = Ipv4Header::default();
        (header.protocol, header.ttl) = (protocol::ICMP, TTL);
        header.set_source(self.source);
        header.set_destination(self.destination);
        header.set_identification(self.id);
        let (_, message) = prepend(p, header, size_of::<IcmpHeader>())?;
        *IcmpHeader::peek_mut(message)? = IcmpHeader::new(icmp_type, code);
        let mut icmp = IcmpMut::new(message)?;
        if matches!(icmp_type, icmp_type::ECHO | icmp_type::ECHO_REPLY) {
            icmp.set_identifier(self.identifier);
            icmp.set_sequence(self.id);
        }
        icmp.fill_checksum();
        Some(())
    }
}

impl SimpleElement for IcmpEncap {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("SRC", &mut self.source).read("DST", &mut self.destination);
        args.read("IDENTIFIER", &mut self.identifier);
        if self.message.is_none() {
            self.message = type_arg(args).map(|icmp_type| (icmp_type, code_arg(args, icmp_type)));
        }
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        let (icmp_type, code) = self.message.unwrap_or_default();
        if self.encapsulate(p, icmp_type, code).is_none() {
            return Verdict::Drop("too long for IP");
        }
        // Never 0.
        self.id = self.id.checked_add(1).unwrap_or(1);
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn a_wrong_address_is_refused() {
        let mut t = Harness::new("s :: Source -> e :: ICMPPingEncap(1.0.0.1, 2.0.0.2) -> k :: Sink");
        assert!(t.write("e.src x").unwrap_err().contains("syntax error"));
        t.write("e.dst 3.0.0.3").unwrap();
        assert_eq!([t.read("e.src"), t.read("e.dst")], ["1.0.0.1", "3.0.0.3"]);
    }

    #[test]
    fn pings_are_numbered_from_1() {
        let config = "s :: Source -> e :: ICMPPingEncap(1.0.0.1, 2.0.0.2, IDENTIFIER 5) -> CheckIPHeader
            -> CheckICMPHeader -> k :: Sink";
        let mut t = Harness::new(config);
        t.push("s", 0, [Packet::new(b"abc"), Packet::with_room(0, b"", 0)]);
        let got = t.bytes("k");
        let words = |n: u16| [5u16.to_be_bytes(), n.to_be_bytes()].concat();
        assert_eq!(
            (&got[0][20..22], &got[0][24..28], &got[0][28..]),
            (&[8u8, 0][..], &words(1)[..], &b"abc"[..])
        );
        assert_eq!((&got[1][4..6], &got[1][24..28]), (&[0u8, 2][..], &words(2)[..]));
        assert_eq!((got[0][8], t.read("e.dst")), (255, "2.0.0.2".into()));
    }

    #[test]
    fn other_messages_have_no_number() {
        let mut t =
            Harness::new("s :: Source -> ICMPIPEncap(1.0.0.1, 2.0.0.2, 11, 1, IDENTIFIER 5) -> k :: Sink");
        t.push("s", 0, [Packet::new(b"")]);
        let bytes = t.bytes("k").remove(0);
        assert_eq!((&bytes[20..22], &bytes[24..]), (&[11, 1][..], &[0; 4][..]));
        assert!(Harness::errors("Idle -> ICMPIPEncap(1.0.0.1, 2.0.0.2) -> Discard").contains("TYPE"));
    }
}
