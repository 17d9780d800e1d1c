//! UDPIP6Encap: puts a UDP and an IPv6 header in front of packets.

use super::prepend::{Destination, prepend};
use crate::values::reconfigure;
use clickwork_packet::Packet;
use clickwork_packet::addr::Ipv6Address;
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::{Header, Ipv6Header, UdpHeader, UdpMut};
use clickwork_router::args::{ArgSpec, ArgType, Args, UdpPort};
use clickwork_router::{Class, Cx, SimpleElement, Verdict, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "encapsulates packets in UDP and IPv6",
    manual: "Puts a UDP and an IPv6 header in front of each packet: from SRC and SPORT to DST and DPORT, or to the packet's \
             destination annotation if DST is DST_ANNO. The checksum is computed, the hop limit is 255. The headers are \
             marked and the destination annotation set.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> UDPIP6Encap(2001:db8::1, 1, 2001:db8::2, 2) -> CheckIP6Header \
              -> Discard",
    packets: "any/push(ip6 udp)",
    args: &[
        ArgSpec::required("SRC", ArgType::Ip6Addr, "source address"),
        ArgSpec::required("SPORT", ArgType::UdpPort, "source port"),
        ArgSpec::required("DST", ArgType::Other("IPv6 address or DST_ANNO"), "destination address"),
        ArgSpec::required("DPORT", ArgType::UdpPort, "destination port"),
    ],
    handlers: &[
        read_handler!("src", "source address", |e: &mut UDPIP6Encap, _| e.source.to_string()).and_write(
            write_handler!("", "", |e: &mut UDPIP6Encap, text, cx| reconfigure(
                &mut e.source,
                0,
                "SRC",
                text,
                cx
            )),
        ),
        read_handler!("sport", "source port", |e: &mut UDPIP6Encap, _| e.source_port.0).and_write(
            write_handler!("", "", |e: &mut UDPIP6Encap, text, cx| reconfigure(
                &mut e.source_port,
                1,
                "SPORT",
                text,
                cx
            )),
        ),
        read_handler!("dst", "destination address; '::' for DST_ANNO", |e: &mut UDPIP6Encap, _| e
            .shown_destination())
        .and_write(write_handler!("", "", |e: &mut UDPIP6Encap, text, cx| reconfigure(
            &mut e.destination,
            2,
            "DST",
            text,
            cx
        ))),
        read_handler!("dport", "destination port", |e: &mut UDPIP6Encap, _| e.destination_port.0).and_write(
            write_handler!("", "", |e: &mut UDPIP6Encap, text, cx| reconfigure(
                &mut e.destination_port,
                3,
                "DPORT",
                text,
                cx
            )),
        ),
    ],
    ..Class::new("UDPIP6Encap", "ip6", || {
        let (source, destination, port) = (Ipv6Address::UNSPECIFIED, Destination::default(), UdpPort(0));
        Box::new(UDPIP6Encap { source, source_port: port, destination, destination_port: port })
    })
};

/// Hop limit of packets.
const HOP_LIMIT: u8 = 255;
/// Bytes of a UDP header.
const UDP: usize = size_of::<UdpHeader>();

struct UDPIP6Encap {
    source: Ipv6Address,
    source_port: UdpPort,
    destination: Destination,
    destination_port: UdpPort,
}

impl UDPIP6Encap {
    fn shown_destination(&self) -> String {
        match self.destination {
            Destination::Address(address) => address.to_string(),
            Destination::Annotation => Ipv6Address::UNSPECIFIED.to_string(),
        }
    }

    fn encapsulate(&self, p: &mut Packet) -> Option<()> {
        let mut header = Ipv6Header::default();
        (header.next_header, header.hop_limit) = (protocol::UDP, HOP_LIMIT);
        header.set_source(self.source);
        header.set_destination(self.destination.of(p));
        let (ip, datagram) = prepend(p, header, UDP)?;
        let len = datagram.len() as u16;
        *UdpHeader::peek_mut(datagram)? = UdpHeader::new(self.source_port.0, self.destination_port.0, len);
        UdpMut::new(datagram)?.fill_checksum(ip.pseudo_sum(protocol::UDP, len.into()));
        Some(())
    }
}

impl SimpleElement for UDPIP6Encap {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("SRC", &mut self.source).read("SPORT", &mut self.source_port);
        args.read("DST", &mut self.destination).read("DPORT", &mut self.destination_port);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        self.encapsulate(p).map_or(Verdict::Drop("too long for IPv6"), |()| Verdict::PASS)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use clickwork_packet::headers::{Ipv6, Udp};

    #[test]
    fn packets_become_datagrams() {
        for destination in ["2001:db8::2", "DST_ANNO"] {
            let mut t = Harness::new(&format!(
                "s :: Source -> SetIP6Address(2001:db8::2) \
                 -> e :: UDPIP6Encap(2001:db8::1, 99, {destination}, domain) -> k :: Sink"
            ));
            t.push("s", 0, [Packet::new(b"abc"), Packet::zeroed(0, 65528, 0)]);
            let p = t.take("k").remove(0);
            let ip = Ipv6::new(p.network_header().unwrap()).unwrap();
            let udp = Udp::new(ip.payload()).unwrap();
            assert_eq!((udp.source_port(), udp.destination_port(), udp.payload()), (99, 53, &b"abc"[..]));
            assert!(udp.checksum() != 0 && udp.checksum_is_right(ip.pseudo_sum(17, 11)));
            assert_eq!((ip.hop_limit, ip.version(), p.dst_ip6()), (255, 6, ip.destination()));
            assert_eq!(ip.destination().to_string(), "2001:db8::2");
            assert_eq!(t.read("e.drop_reasons"), "1\ttoo long for IPv6\n");
        }
    }

    #[test]
    fn handlers_change_addresses_and_ports() {
        let mut t = Harness::new("s :: Source -> e :: UDPIP6Encap(::1, 99, DST_ANNO, 53) -> k :: Sink");
        assert_eq!(t.read("e.dst"), "::");
        for (write, read) in [
            ("src 2001:db8::9", "src"),
            ("sport 7", "sport"),
            ("dst 2001:db8::8", "dst"),
            ("dport 6", "dport"),
        ] {
            t.write(&format!("e.{write}")).unwrap();
            assert_eq!(t.read(&format!("e.{read}")), write.split(' ').nth(1).unwrap());
        }
        t.push("s", 0, [Packet::new(b"")]);
        assert_eq!(t.bytes("k")[0][38..44], [0, 8, 0, 7, 0, 6]);
    }
}
