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
             identification counts up from 1; echo, timestamp and information requests and replies have IDENTIFIER and the \
             same sequence number. The header of timestamp messages has 20 bytes, with times of 0, the others 8. The headers \
             are marked and the destination annotation set.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> ICMPIPEncap(1.0.0.1, 2.0.0.2, echo-reply) -> Discard",
    packets: "any/push(ip icmp)",
    args: &[
        ArgSpec::required("SRC", ArgType::IpAddr, "source address"),
        ArgSpec::required("DST", ArgType::IpAddr, "destination address"),
        ArgSpec::required("TYPE", ArgType::Other("ICMP type"), "type, by name or number"),
        ArgSpec::positional("CODE", ArgType::Other("ICMP code"), "0", "code, by name or number"),
        ArgSpec::keyword("IDENTIFIER", ArgType::U16, "0", "identifier of messages that have one"),
    ],
    handlers: HANDLERS,
    ..Class::new("ICMPIPEncap", "icmp", || Box::new(EMPTY))
};

const HANDLERS: &[Handler] = &[
    read_handler!("src", "source address", |e: &mut IcmpEncap, _| e.source.to_string())
        .flags(".")
        .and_write(write_handler!("", "", |e: &mut IcmpEncap, text, _| set(&mut e.source, text))),
    read_handler!("dst", "destination address", |e: &mut IcmpEncap, _| e.destination.to_string())
        .flags(".")
        .and_write(write_handler!("", "", |e: &mut IcmpEncap, text, _| set(&mut e.destination, text))),
];

fn set(address: &mut Ipv4Address, text: &str) -> Result<(), String> {
    store(address, text, "").map_err(|_| "syntax error".to_string())
}

/// Time to live of packets.
const TTL: u8 = 255;
/// Bytes of a timestamp message (RFC 792), with three times.
const TIMESTAMP_HEADER: usize = 20;

/// Bytes of the header of messages of a type.
fn header_len(icmp_type: u8) -> usize {
    match icmp_type {
        icmp_type::TIMESTAMP | icmp_type::TIMESTAMP_REPLY => TIMESTAMP_HEADER,
        _ => size_of::<IcmpHeader>(),
    }
}

/// Whether messages of a type have an identifier and a sequence number.
fn is_numbered(icmp_type: u8) -> bool {
    use icmp_type::{ECHO, ECHO_REPLY, INFORMATION, INFORMATION_REPLY, TIMESTAMP, TIMESTAMP_REPLY};
    matches!(icmp_type, ECHO | ECHO_REPLY | TIMESTAMP | TIMESTAMP_REPLY | INFORMATION | INFORMATION_REPLY)
}

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
        let length = header_len(icmp_type);
        let (_, message) = prepend(p, header, length)?;
        message[..length].fill(0);
        *IcmpHeader::peek_mut(message)? = IcmpHeader::new(icmp_type, code);
        let mut icmp = IcmpMut::new(message)?;
        if is_numbered(icmp_type) {
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
            self.message = type_arg(args, "invalid TYPE")
                .map(|icmp_type| (icmp_type, code_arg(args, icmp_type, "invalid CODE")));
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

    /// As scapy builds them: `IP(src="1.0.0.1", dst="2.0.0.2", ttl=255, id=1) / ICMP(type=TYPE, id=7, seq=1) / b"abc"`,
    /// timestamps with `ts_ori=0, ts_rx=0, ts_tx=0`, errors without id and seq.
    const MESSAGES: &[(&str, &str)] = &[
        ("echo-reply", "4500001f00010000ff01b8da010000010200000200003b9500070001616263"),
        ("echo", "4500001f00010000ff01b8da01000001020000020800339500070001616263"),
        (
            "timestamp",
            "4500002b00010000ff01b8ce01000001020000020d002e9500070001000000000000000000000000616263",
        ),
        (
            "timestamp-reply",
            "4500002b00010000ff01b8ce01000001020000020e002d9500070001000000000000000000000000616263",
        ),
        ("inforeq", "4500001f00010000ff01b8da01000001020000020f002c9500070001616263"),
        ("inforeq-reply", "4500001f00010000ff01b8da010000010200000210002b9500070001616263"),
        ("unreachable", "4500001f00010000ff01b8da01000001020000020300389d00000000616263"),
        ("sourcequench", "4500001f00010000ff01b8da01000001020000020400379d00000000616263"),
        ("redirect", "4500001f00010000ff01b8da01000001020000020500369d00000000616263"),
        ("timeexceeded", "4500001f00010000ff01b8da01000001020000020b00309d00000000616263"),
        ("parameterproblem", "4500001f00010000ff01b8da01000001020000020c002f9d00000000616263"),
    ];

    #[test]
    fn messages_are_those_that_others_build() {
        for (name, digits) in MESSAGES {
            let mut t = Harness::new(&format!(
                "s :: Source -> ICMPIPEncap(1.0.0.1, 2.0.0.2, {name}, 0, IDENTIFIER 7) -> k :: Sink"
            ));
            t.push("s", 0, [Packet::new(b"abc")]);
            let p = t.take("k").remove(0);
            let hex: String = p.data().iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(hex, *digits, "{name}");
            assert_eq!((p.network_offset(), p.transport_offset()), (Some(0), Some(20)));
            assert_eq!(p.dst_ip().to_string(), "2.0.0.2");
        }
    }

    #[test]
    fn identifications_are_never_zero() {
        let mut t = Harness::new("s :: Source -> ICMPIPEncap(1.0.0.1, 2.0.0.2, echo) -> k :: Sink");
        t.push("s", 0, (0..0x10001).map(|_| Packet::new(b"")));
        let numbers: Vec<_> = t.bytes("k").iter().map(|b| [b[4], b[5], b[26], b[27]]).collect();
        assert_eq!(numbers[0xFFFE..], [[0xFF; 4], [0, 1, 0, 1], [0, 2, 0, 2]]);
    }

    #[test]
    fn types_and_codes_are_given_by_name_or_number() {
        for (arguments, expected) in [("11, 1", [11, 1]), ("unreachable, port", [3, 3]), ("13", [13, 0])] {
            let mut t = Harness::new(&format!(
                "s :: Source -> ICMPIPEncap(1.0.0.1, 2.0.0.2, {arguments}) -> k :: Sink"
            ));
            t.push("s", 0, [Packet::new(b"")]);
            assert_eq!(t.bytes("k")[0][20..22], expected, "{arguments}");
        }
        for (arguments, message) in [
            ("", "TYPE"),
            (", 256", "invalid TYPE"),
            (", 3, 256", "invalid CODE"),
            (", echo, port", "invalid CODE"),
        ] {
            let e = Harness::errors(&format!("Idle -> ICMPIPEncap(1.0.0.1, 2.0.0.2{arguments}) -> Discard"));
            assert!(e.contains(message), "{e}");
        }
    }
}
