//! ProtocolTranslator64 and ProtocolTranslator46: translate packets between IPv6 and IPv4 (RFC 2765).

use super::translation::{Prefix, to_ipv4, to_ipv6};
use clickwork_packet::addr::Ipv6Prefix;
use clickwork_packet::headers::{Ipv4, Ipv6};
use clickwork_packet::{DEFAULT_HEADROOM, Packet};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, Element, SimpleElement, Verdict};

/// The facts of the class that makes IPv4 packets.
pub static CLASS64: Class = Class {
    help: "translates IPv6 packets to IPv4",
    manual: "Takes IPv6 packets between IPv4-mapped addresses (::ffff:1.2.3.4, or with another PREFIX) and makes IPv4 \
             packets of them: TCP and UDP with their checksums updated, ICMPv6 messages as their ICMP counterparts, errors \
             with the packet that they quote translated, fragments as fragments, and other protocols as they are. The time \
             to live is the hop limit, the type of service 0, and \"don't fragment\" set. Packets between other addresses, \
             and what IPv4 cannot express, are dropped. The header is marked and the destination annotation set.",
    example: "InfiniteSource(DATA \\<6000000000081140 00000000000000000000ffff01020304 \
              00000000000000000000ffff05060708 000700090008efba>, LIMIT 1, STOP true) -> MarkIP6Header -> \
              ProtocolTranslator64 -> Discard",
    packets: "ip6/new ip",
    args: ARGS,
    ..Class::new("ProtocolTranslator64", "ip6", || Translator::boxed(ipv4_packet))
};

/// The facts of the class that makes IPv6 packets.
pub static CLASS46: Class = Class {
    help: "translates IPv4 packets to IPv6",
    manual: "Takes IPv4 packets and makes IPv6 packets between the IPv4-mapped addresses (::ffff:1.2.3.4, or with another \
             PREFIX) of them: TCP and UDP with their checksums updated, or computed where there was none; ICMP messages as \
             their ICMPv6 counterparts, errors with the packet that they quote translated; fragments as fragments; and other \
             protocols as they are. Options are left out. As in Click the hop limit is the time to live and 64 less 255, \
             modulo 256. What IPv6 cannot express is dropped. The header is marked and the destination annotation set.",
    example: "InfiniteSource(DATA \\<4500001400000000 40ff65e90a0000010a000002>, LIMIT 1, STOP true) -> MarkIPHeader \
              -> ProtocolTranslator46 -> Discard",
    packets: "ip/new ip6",
    args: ARGS,
    ..Class::new("ProtocolTranslator46", "ip6", || Translator::boxed(ipv6_packet))
};

const ARGS: &[ArgSpec] = &[ArgSpec::keyword(
    "PREFIX",
    ArgType::Ip6Prefix,
    "::ffff:0:0/96",
    "the 96 bits in front of IPv4 addresses, such as 64:ff9b::/96 (RFC 6052)",
)];

struct Translator {
    translate: fn(&[u8], Prefix) -> Result<Packet, &'static str>,
    prefix: Prefix,
}

impl Translator {
    fn boxed(translate: fn(&[u8], Prefix) -> Result<Packet, &'static str>) -> Box<dyn Element> {
        Box::new(Translator { translate, prefix: Prefix::default() })
    }
}

fn ipv4_packet(bytes: &[u8], prefix: Prefix) -> Result<Packet, &'static str> {
    let bytes = to_ipv4::translate(bytes, prefix)?;
    let mut p = Packet::with_room(DEFAULT_HEADROOM, &bytes, 0);
    p.set_network_header(0, 20);
    let destination = Ipv4::new(&bytes).map(|ip| ip.destination());
    destination.into_iter().for_each(|to| p.set_dst_ip(to));
    Ok(p)
}

fn ipv6_packet(bytes: &[u8], prefix: Prefix) -> Result<Packet, &'static str> {
    let bytes = to_ipv6::translate(bytes, prefix)?;
    let mut p = Packet::with_room(DEFAULT_HEADROOM, &bytes, 0);
    p.set_network_header(0, 40);
    let destination = Ipv6::new(&bytes).map(|ip| ip.destination());
    destination.into_iter().for_each(|to| p.set_dst_ip6(to));
    Ok(p)
}

impl SimpleElement for Translator {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        match args.get::<Ipv6Prefix>("PREFIX") {
            Some(prefix) if prefix.prefix_len() == 96 => self.prefix = Prefix::of(prefix.address()),
            Some(_) => args.error_in("PREFIX", "must be 96 bits long"),
            None => {}
        }
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        match (self.translate)(p.network_header().unwrap_or(p.data()), self.prefix) {
            Ok(translated) => {
                *p = translated;
                Verdict::PASS
            }
            Err(reason) => Verdict::Drop(reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{Sample, ip6};
    use crate::ip::samples::{self as ip4, ip};
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use clickwork_packet::headers::ipv4::{DONT_FRAGMENT, MORE_FRAGMENTS};
    use clickwork_packet::headers::{IcmpMut, Ipv4, Ipv6, TcpMut, UdpMut};

    fn translate(config: &str, p: Packet) -> Result<Vec<u8>, String> {
        let mut t = Harness::new(&format!("s :: Source -> t :: {config} -> k :: Sink"));
        t.push("s", 0, [p]);
        t.bytes("k").pop().ok_or_else(|| t.read("t.drop_reasons"))
    }

    fn to4(sample: &Sample) -> Result<Vec<u8>, String> {
        translate("ProtocolTranslator64", sample.marked())
    }

    fn to6(sample: &ip4::Sample) -> Result<Vec<u8>, String> {
        translate("ProtocolTranslator46", sample.marked())
    }

    fn from6() -> Sample {
        ip6("::ffff:1.2.3.4", "::ffff:5.6.7.8")
    }

    fn from4() -> ip4::Sample {
        ip("1.2.3.4", "5.6.7.8")
    }

    /// A TCP segment and a datagram without checksums.
    fn transports() -> [(u8, Vec<u8>); 2] {
        let tcp = [&[0, 80, 4, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 2, 32, 0, 0, 0, 0, 0][..], b"hello"].concat();
        let udp = [&[0, 53, 4, 0, 0, 12, 0, 0][..], b"name"].concat();
        [(6, tcp), (17, udp)]
    }

    fn with_checksum(protocol: u8, mut bytes: Vec<u8>, pseudo: clickwork_packet::checksum::Sum) -> Vec<u8> {
        match protocol {
            6 => TcpMut::new(&mut bytes).unwrap().fill_checksum(pseudo),
            _ => UdpMut::new(&mut bytes).unwrap().fill_checksum(pseudo),
        }
        bytes
    }

    fn pseudo6(protocol: u8, len: usize) -> clickwork_packet::checksum::Sum {
        Ipv6::new(&from6().bytes()).unwrap().pseudo_sum(protocol, len as u32)
    }

    fn pseudo4(protocol: u8, len: usize) -> clickwork_packet::checksum::Sum {
        let bytes = from4().payload(protocol, b"").bytes();
        Ipv4::new(&bytes).unwrap().pseudo_sum(len as u16)
    }

    #[test]
    fn transport_headers_keep_right_checksums_both_ways() {
        for (protocol, bytes) in transports() {
            let in6 = with_checksum(protocol, bytes.clone(), pseudo6(protocol, bytes.len()));
            let in4 = with_checksum(protocol, bytes.clone(), pseudo4(protocol, bytes.len()));
            let (p6, p4) = (from6().payload(protocol, &in6), from4().payload(protocol, &in4));
            assert_eq!(to4(&p6).unwrap(), p4.clone().fragment(DONT_FRAGMENT).bytes());
            assert_eq!(to6(&p4.ttl(255)).unwrap(), p6.bytes());
            // What was damaged stays so.
            let mut damaged = in6.clone();
            damaged[7] ^= 1;
            let translated = to4(&from6().payload(protocol, &damaged)).unwrap();
            let mut expected = in4.clone();
            expected[7] ^= 1;
            assert_eq!(translated[20..], expected);
        }
    }

    #[test]
    fn a_datagram_without_checksum_gets_one() {
        let (_, udp) = transports()[1].clone();
        let in6 = with_checksum(17, udp.clone(), pseudo6(17, udp.len()));
        assert_eq!(to6(&from4().ttl(255).payload(17, &udp)).unwrap(), from6().payload(17, &in6).bytes());
        // But not in pieces.
        assert!(to6(&from4().payload(17, &udp).fragment(MORE_FRAGMENTS)).is_err());
    }

    #[test]
    fn addresses_may_stand_behind_another_prefix() {
        let far = ip6("64:ff9b::102:304", "64:ff9b::506:708").payload(99, b"abc");
        let near = from4().payload(99, b"abc").ttl(255);
        let there = translate("ProtocolTranslator64(PREFIX 64:ff9b::/96)", far.marked()).unwrap();
        assert_eq!(there[12..], near.bytes()[12..]);
        assert_eq!(
            translate("ProtocolTranslator46(PREFIX 64:ff9b::/96)", near.marked()).unwrap(),
            far.bytes()
        );
        assert!(translate("ProtocolTranslator64(PREFIX 64:ff9b::/96)", from6().marked()).is_err());
        let e = Harness::errors("Idle -> ProtocolTranslator64(PREFIX 64:ff9b::/64) -> Discard");
        assert!(e.contains("PREFIX: must be 96 bits long"), "{e}");
    }

    #[test]
    fn hop_limits_are_clicks() {
        for (ttl, hop_limit) in [(255, 64), (191, 0), (64, 129), (0, 65)] {
            assert_eq!(to6(&from4().payload(99, b"").ttl(ttl)).unwrap()[7], hop_limit);
        }
        assert_eq!(to4(&from6().payload(99, b"").hop_limit(7)).unwrap()[8], 7);
    }

    #[test]
    fn fragments_stay_fragments() {
        let fragment =
            |next: u8, field: [u8; 2]| [&[next, 0, field[0], field[1], 0, 1, 2, 3][..], &[9; 16]].concat();
        for (next, field4) in [([0, 8 | 1], MORE_FRAGMENTS | 1), ([0x12, 0x30], 0x246)] {
            let p6 = from6().payload(44, &fragment(99, next));
            let p4 = to4(&p6).unwrap();
            let ip = Ipv4::new(&p4).unwrap();
            assert_eq!((ip.fragment_field(), ip.identification(), ip.protocol), (field4, 0x203, 99));
            assert_eq!((ip.payload(), ip.checksum_is_right()), (&[9; 16][..], true));
            let mut again = p6.hop_limit(64).bytes();
            again[45] = 0;
            let mut p = Packet::new(&p4);
            p.data_mut()[8] = 255;
            assert_eq!(translate("ProtocolTranslator46", p).unwrap(), again);
        }
    }

    #[test]
    fn pings_are_translated_both_ways() {
        let echo4 = |icmp_type: u8| {
            let mut bytes = [&[icmp_type, 0, 0, 0, 0, 7, 0, 1][..], &[5; 300]].concat();
            IcmpMut::new(&mut bytes).unwrap().fill_checksum();
            from4().payload(1, &bytes).ttl(255)
        };
        let echo6 = |icmp_type: u8| from6().icmp6(icmp_type, 0, &[&[0, 7, 0, 1][..], &[5; 300]].concat());
        for (type4, type6) in [(8, 128), (0, 129)] {
            assert_eq!(
                to4(&echo6(type6).hop_limit(255)).unwrap(),
                echo4(type4).fragment(DONT_FRAGMENT).bytes()
            );
            assert_eq!(to6(&echo4(type4)).unwrap(), echo6(type6).bytes());
        }
    }

    /// Type, code, the four bytes behind the checksum, and the packet quoted, of a translated error.
    fn error4(icmp6_type: u8, code: u8, rest: [u8; 4], quote: &[u8]) -> Option<(u8, u8, [u8; 4], Vec<u8>)> {
        let bytes = to4(&from6().icmp6(icmp6_type, code, &[&rest[..], quote].concat())).ok()?;
        assert_eq!(clickwork_packet::checksum::checksum(&bytes[20..]), 0);
        Some((bytes[20], bytes[21], bytes[24..28].try_into().unwrap(), bytes[28..].to_vec()))
    }

    fn error6(icmp_type: u8, code: u8, rest: [u8; 4], quote: &[u8]) -> Option<(u8, u8, [u8; 4], Vec<u8>)> {
        let mut message = [&[icmp_type, code, 0, 0][..], &rest, quote].concat();
        IcmpMut::new(&mut message).unwrap().fill_checksum();
        let bytes = to6(&from4().payload(1, &message)).ok()?;
        assert_eq!(pseudo6(58, bytes.len() - 40).bytes(&bytes[40..]).finish(), 0);
        Some((bytes[40], bytes[41], bytes[44..48].try_into().unwrap(), bytes[48..].to_vec()))
    }

    #[test]
    fn errors_are_translated_with_what_they_quote() {
        let back6 = ip6("::ffff:5.6.7.8", "::ffff:1.2.3.4").payload(17, b"ports and more").bytes();
        let back4 = ip("5.6.7.8", "1.2.3.4").payload(17, b"ports and more");
        let in4 = back4.clone().fragment(DONT_FRAGMENT).ttl(64).bytes();
        let mtu = |n: u16| [0, 0, (n >> 8) as u8, n as u8];
        for (icmp6_type, code, rest, expected) in [
            (1, 0, [0; 4], (3, 0, [0; 4])),
            (1, 1, [0; 4], (3, 10, [0; 4])),
            (1, 4, [0; 4], (3, 3, [0; 4])),
            (2, 0, mtu(1300), (3, 4, mtu(1280))),
            (3, 1, [0; 4], (11, 1, [0; 4])),
            (4, 0, [0, 0, 0, 7], (12, 0, [8, 0, 0, 0])),
            (4, 1, [0, 0, 0, 6], (3, 2, [0; 4])),
            (4, 2, [0; 4], (12, 0, [255, 0, 0, 0])),
        ] {
            let (t, c, r, quote) = error4(icmp6_type, code, rest, &back6).unwrap();
            assert_eq!(((t, c, r), quote), (expected, in4.clone()), "{icmp6_type} {code}");
        }
        let in6 = {
            let mut bytes = back6.clone();
            bytes[7] = 129;
            bytes
        };
        for (icmp_type, code, rest, expected) in [
            (3, 0, [0; 4], (1, 0, [0; 4])),
            (3, 2, [0; 4], (4, 1, [0, 0, 0, 6])),
            (3, 3, [0; 4], (1, 4, [0; 4])),
            (3, 4, mtu(1400), (2, 0, mtu(1420))),
            (3, 4, mtu(0), (2, 0, mtu(1280))),
            (3, 5, [0; 4], (1, 2, [0; 4])),
            (3, 9, [0; 4], (1, 1, [0; 4])),
            (11, 0, [0; 4], (3, 0, [0; 4])),
            (12, 0, [8, 0, 0, 0], (4, 0, [0, 0, 0, 7])),
            (12, 0, [3, 0, 0, 0], (4, 0, [255; 4])),
        ] {
            let (t, c, r, quote) = error6(icmp_type, code, rest, &back4.bytes()).unwrap();
            assert_eq!(((t, c, r), quote), (expected, in6.clone()), "{icmp_type} {code}");
        }
        // What is quoted may be cut short, or be nonsense.
        assert_eq!(error4(3, 0, [0; 4], &back6[..44]).unwrap().3, in4[..24]);
        assert_eq!(error4(3, 0, [0; 4], &[7; 50]).unwrap().3, [7; 50]);
        assert_eq!(error6(11, 0, [0; 4], &[7; 10]).unwrap().3, [7; 10]);
        assert_eq!(error4(135, 0, [0; 4], &[]), None);
        assert_eq!(error6(13, 0, [0; 4], &[]), None);
    }

    #[test]
    fn extension_headers_are_left_out_if_they_can_be() {
        let options = |next: u8| [next, 0, 1, 4, 0, 0, 0, 0];
        let (_, udp) = transports()[1].clone();
        let udp = with_checksum(17, udp.clone(), pseudo6(17, udp.len()));
        let chain = [&options(60)[..], &options(43), &[17, 0, 0, 0, 0, 0, 0, 0], &udp].concat();
        assert_eq!(to4(&from6().payload(0, &chain)).unwrap().len(), 20 + udp.len());
        let mut segments_left = chain.clone();
        segments_left[19] = 1;
        assert!(to4(&from6().payload(0, &segments_left)).unwrap_err().contains("segments left"));
        assert!(to4(&from6().payload(51, &[&[17, 4][..], &[0; 40]].concat())).is_err());
        assert!(to4(&from6().payload(60, &options(60).repeat(100))).is_err());
        assert!(to4(&from6().payload(0, &[17, 9, 0, 0, 0, 0, 0, 0])).is_err());
    }

    #[test]
    fn what_cannot_be_translated_is_dropped_with_the_reason() {
        for (p, why) in [
            (ip6("2001:db8::1", "::ffff:5.6.7.8").marked(), "not an IPv4-mapped address"),
            (ip6("::ffff:1.2.3.4", "::ffff:0.0.0.0").marked(), "not an IPv4-mapped address"),
            (from6().payload(6, &[0; 17]).marked(), "bad transport header"),
            (from6().payload(58, &[128, 0, 1, 2, 0, 0, 0, 0]).marked(), "bad ICMPv6 checksum"),
            (Packet::new(&from6().bytes()[..47]), "bad IP length"),
            (Packet::new(&[0x60; 39]), "no IPv6 header"),
        ] {
            assert_eq!(translate("ProtocolTranslator64", p), Err(format!("1\t{why}\n")));
        }
        for (p, why) in [
            (Packet::new(&from4().bytes()[..27]), "bad IP length"),
            (from4().payload(1, &[8, 0, 0, 0, 0, 0, 0, 0]).marked(), "bad ICMP checksum"),
            (from4().payload(1, &[0; 8]).fragment(3).marked(), "fragment of an ICMP message"),
            (Packet::new(b""), "no IP header"),
        ] {
            assert_eq!(translate("ProtocolTranslator46", p), Err(format!("1\t{why}\n")));
        }
    }
}
