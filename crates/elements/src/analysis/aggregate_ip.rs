//! AggregateIP: a field of the IP packet becomes its aggregate.

use super::ip_field::{self, IpField, header_name};
use clickwork_packet::headers::{Ipv4, ipv4::protocol};
use clickwork_packet::{Packet, anno};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, SimpleElement, Verdict, read_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "sets the aggregate annotation to a field of the IP packet",
    manual: "Sets the aggregate annotation to the value of FIELD: a header (ip, tcp, udp, tcpudp, icmp, transp for any \
             transport header, payload) and the name of a field (src, dst, sport, proto, ...), or a place in bytes, \
             [OFFSET:LENGTH], or in bits, {OFFSET:LENGTH}. Behind it, /N keeps the first N bits, and & MASK those of the \
             mask: 'ip dst/24', 'tcp[2:2]', 'ip tos & 0x1c'. The field must lie within an aligned word of 32 bits. With \
             INCREMENTAL the value comes behind the aggregate that was there, which moves up; with UNSHIFT_IP_ADDR the \
             first bits of an address stay where they are in the address. Packets without the field leave by output 1, \
             or are dropped.",
    example: "InfiniteSource(LIMIT 3, STOP true) -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) -> AggregateIP(ip dst/8) \
              -> a :: AggregateCounter -> Discard; DriverManager(wait_stop, print a.nagg)",
    ports: "1/1-2",
    processing: "a/ah",
    packets: "ip/ip,ip",
    args: &[
        ArgSpec::required("FIELD", ArgType::Other("IP field"), "the field"),
        ArgSpec::keyword("INCREMENTAL", ArgType::Bool, "false", "whether the aggregate is extended"),
        ArgSpec::keyword(
            "UNSHIFT_IP_ADDR",
            ArgType::Bool,
            "false",
            "whether addresses keep the place of their bits",
        ),
    ],
    handlers: &[
        read_handler!("header", "protocol of the header", |e: &mut AggregateIp, _| header_name(
            e.field.header
        )),
        read_handler!("bit_offset", "first bit of the field", |e: &mut AggregateIp, _| e.field.offset),
        read_handler!("bit_length", "bits of the field", |e: &mut AggregateIp, _| e.field.length),
        read_handler!("field", "the field as text", |e: &mut AggregateIp, _| e.field.text()),
    ],
    ..Class::new("AggregateIP", "analysis", || Box::<AggregateIp>::default())
};

#[derive(Default)]
struct AggregateIp {
    field: IpField,
    incremental: bool,
    /// First byte of the word that the field is in, from the start of the header.
    word: usize,
    shift: u32,
    mask: u32,
}

const UDP_HEADER: usize = 8;
const TCP_HEADER: usize = 20;
/// The bits of the IP header where the addresses are.
const ADDRESSES: std::ops::Range<u32> = 96..160;

impl AggregateIp {
    fn set_field(&mut self, text: &str, unshift: bool, args: &mut Args) -> Result<(), &'static str> {
        let (field, rest) = IpField::parse(text, args.names())?;
        if !rest.is_empty() {
            return Err("garbage after field specification");
        }
        let last = field.offset + field.length - 1;
        if field.offset / 32 != last / 32 {
            return Err("field specification does not fit within a single word");
        } else if field.length == 32 && self.incremental {
            return Err("'INCREMENTAL' is incompatible with field length 32");
        }
        self.mask = u32::MAX >> (32 - field.length);
        self.shift = 31 - last % 32;
        if unshift && field.header == 0 && ADDRESSES.contains(&field.offset) {
            self.mask <<= self.shift;
            self.shift = 0;
        }
        self.word = field.offset as usize / 32 * 4;
        self.field = field;
        Ok(())
    }

    /// The data from the start of the header that the field is in.
    fn header<'a>(&self, p: &'a Packet) -> Option<&'a [u8]> {
        let network = p.network_bytes()?;
        if self.field.header == 0 {
            return Some(network);
        }
        let ip = Ipv4::new(network)?;
        let transport = network.get(p.network_header_len()? as usize..)?;
        ip.is_first_fragment().then_some(())?;
        let is_tcp_or_udp = matches!(ip.protocol, protocol::TCP | protocol::UDP);
        match self.field.header {
            ip_field::TCP_OR_UDP => is_tcp_or_udp.then_some(transport),
            ip_field::TRANSPORT => Some(transport),
            ip_field::PAYLOAD => payload(ip.protocol, transport),
            header => (u32::from(ip.protocol) == header).then_some(transport),
        }
    }
}

fn payload(protocol: u8, transport: &[u8]) -> Option<&[u8]> {
    match protocol {
        protocol::UDP => transport.get(UDP_HEADER..),
        protocol::TCP if transport.len() >= TCP_HEADER => {
            transport.get(usize::from(transport[12] >> 4) * 4..)
        }
        _ => None,
    }
}

impl SimpleElement for AggregateIp {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let mut unshift = false;
        args.read("INCREMENTAL", &mut self.incremental).read("UNSHIFT_IP_ADDR", &mut unshift);
        if let Some(text) = args.raw("FIELD").map(str::to_owned)
            && let Err(e) = self.set_field(&text, unshift, args)
        {
            args.error_in("FIELD", e);
        }
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let word = self.header(p).and_then(|header| header.get(self.word..self.word + 4));
        let Some(&[a, b, c, d]) = word.and_then(|word| word.first_chunk()) else {
            return cx.out_or_drop(1, "no such field");
        };
        let value = u32::from_be_bytes([a, b, c, d]) >> self.shift & self.mask;
        let before = if self.incremental { p.anno_u32(anno::AGGREGATE) << self.field.length } else { 0 };
        p.set_anno_u32(anno::AGGREGATE, before.wrapping_add(value));
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use crate::ip::samples::ip;
    use crate::testing::Harness;
    use clickwork_packet::{Packet, anno};

    fn aggregate(args: &str, packet: Packet) -> Option<u32> {
        let mut t = Harness::new(&format!(
            "s :: Source -> a :: AggregateIP({args}) -> k :: Sink; a [1] -> bad :: Sink"
        ));
        t.push("s", 0, [packet]);
        let got = t.take("k").first().map(|p| p.anno_u32(anno::AGGREGATE));
        assert_eq!(t.take("bad").len(), usize::from(got.is_none()));
        got
    }

    fn tcp() -> Packet {
        let mut header = [0; 24];
        header[..4].copy_from_slice(&[0, 80, 0x1f, 0x90]);
        (header[12], header[13]) = (0x50, 0x12);
        header[20..].copy_from_slice(&[1, 2, 3, 4]);
        let mut p = ip("10.1.2.3", "192.168.7.9").payload(6, &header).marked();
        p.set_anno_u32(anno::AGGREGATE, 3);
        p
    }

    #[test]
    fn fields_become_aggregates() {
        for (args, expected) in [
            ("ip dst", 0xc0a8_0709),
            ("ip dst/16", 0xc0a8),
            ("ip src/8, INCREMENTAL true", 0x30a),
            ("ip dst/16, UNSHIFT_IP_ADDR true", 0xc0a8_0000),
            ("ip proto", 6),
            ("ip ttl", 64),
            ("ip dport", 8080),
            ("tcp sport", 80),
            ("tcpudp [2:2]", 8080),
            ("transp [0:2]", 80),
            ("payload [1]", 2),
            ("tcp syn", 1),
        ] {
            assert_eq!(aggregate(args, tcp()), Some(expected), "{args}");
        }
    }

    #[test]
    fn packets_without_the_field_go_elsewhere() {
        assert_eq!(aggregate("udp sport", tcp()), None);
        assert_eq!(aggregate("payload [4]", tcp()), None);
        assert_eq!(aggregate("icmp type", tcp()), None);
        assert_eq!(aggregate("ip src", Packet::new(&[0x45; 40])), None);
        let fragment = ip("1.1.1.1", "2.2.2.2").fragment(10);
        assert_eq!(aggregate("tcpudp sport", fragment.marked()), None);
        assert_eq!(aggregate("ip src", fragment.marked()), Some(0x0101_0101));
    }

    #[test]
    fn a_stripped_header_is_found() {
        let mut t =
            Harness::new("s :: Source -> CheckIPHeader -> Strip(20) -> AggregateIP(ip src) -> k :: Sink");
        t.push("s", 0, [ip("1.2.3.4", "5.6.7.8").packet()]);
        assert_eq!(t.take("k")[0].anno_u32(anno::AGGREGATE), 0x0102_0304);
    }

    #[test]
    fn says_what_is_wrong() {
        for (args, error) in [
            ("ip bogus", "expected 'HEADER"),
            ("ip dst x", "garbage after field specification"),
            ("ip[2:4]", "does not fit within a single word"),
            ("ip[0:8]", "does not fit within a single word"),
            ("ip dst, INCREMENTAL true", "'INCREMENTAL' is incompatible"),
        ] {
            let e = Harness::errors(&format!("Idle -> AggregateIP({args}) -> Idle"));
            assert!(e.contains(error), "{e}");
        }
    }

    #[test]
    fn handlers_tell_the_field() {
        let mut t = Harness::new(
            "Idle -> a :: AggregateIP(ip dst/24) -> Idle; Idle -> b :: AggregateIP(tcp sport) -> Idle",
        );
        let read = |t: &mut Harness, e: &str| {
            ["header", "bit_offset", "bit_length", "field"].map(|h| t.read(&format!("{e}.{h}")))
        };
        assert_eq!(read(&mut t, "a"), ["0", "128", "24", "ip dst/24"]);
        assert_eq!(read(&mut t, "b"), ["tcp", "0", "16", "tcp sport"]);
    }
}
