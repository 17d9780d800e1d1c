//! FastUDPSourceIP6: makes frames of one UDP flow over IPv6, whose ports may count up.

use super::fast_udp_source::{UdpFrame, UdpSource};
use super::{
    ACTIVE, CHECKSUM, DSTETH, ETHER, HEADROOM, LENGTH, LIMIT, RATE, SRCETH, TTL, class, read_length,
};
use clickwork_packet::Packet;
use clickwork_packet::headers::ethernet::{EthernetHeader, ethertype};
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::{Ipv6Header, UdpHeader, UdpMut};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx};
use zerocopy::IntoBytes;

/// The class facts.
pub static CLASS: Class = Class {
    help: "makes UDP packets over IPv6 for load tests",
    manual: "Gives whoever pulls RATE Ethernet frames of LENGTH bytes per second, spread evenly, that carry UDP over IPv6 \
             from SRCIP6 and SPORT to DSTIP6 and DPORT with a payload of zeros, until it has made LIMIT of them. After \
             every INTERVAL packets both ports count up by one, if INTERVAL is not 0. The IPv6 header is marked and the \
             destination annotation set. The headers alone are 62 bytes long, so frames are at least that.",
    example: "FastUDPSourceIP6(1000, 10, 80, 2:0:0:0:0:1, 2001:db8::1, 1234, 2:0:0:0:0:2, 2001:db8::2, 1234) -> Unqueue \
              -> Strip(14) -> CheckIP6Header -> Discard",
    packets: "/ether-ip6",
    args: &[
        RATE,
        LIMIT,
        LENGTH,
        SRCETH,
        ArgSpec::required("SRCIP6", ArgType::Ip6Addr, "source IPv6 address"),
        ArgSpec::required("SPORT", ArgType::UdpPort, "source port"),
        DSTETH,
        ArgSpec::required("DSTIP6", ArgType::Ip6Addr, "destination IPv6 address"),
        ArgSpec::required("DPORT", ArgType::UdpPort, "destination port"),
        CHECKSUM,
        ArgSpec::positional(
            "INTERVAL",
            ArgType::U32,
            "0",
            "packets between changes of the ports; 0 for none",
        ),
        ACTIVE,
    ],
    ..class::<UdpSource<Frame6>>("FastUDPSourceIP6")
};

const IP6: usize = size_of::<Ipv6Header>();
const UDP: usize = size_of::<UdpHeader>();

#[derive(Default)]
struct Frame6 {
    ether: EthernetHeader,
    ip: Ipv6Header,
    /// Bytes behind the IPv6 header.
    transport_len: usize,
}

impl UdpFrame for Frame6 {
    fn read(args: &mut Args, cx: &Cx<'_>) -> Frame6 {
        let (destination, source) = (args.get("DSTETH"), args.get("SRCETH"));
        let ether =
            EthernetHeader::new(destination.unwrap_or_default(), source.unwrap_or_default(), ethertype::IPV6);
        let mut ip = Ipv6Header::default();
        ip.set_source(args.get("SRCIP6").unwrap_or_default());
        ip.set_destination(args.get("DSTIP6").unwrap_or_default());
        let transport_len = (read_length(args, cx) as usize).saturating_sub(ETHER + IP6);
        let transport_len = transport_len.clamp(UDP, usize::from(u16::MAX));
        (ip.next_header, ip.hop_limit) = (protocol::UDP, TTL);
        ip.set_payload_len(transport_len as u16);
        Frame6 { ether, ip, transport_len }
    }

    fn udp(&self, source: u16, destination: u16, checksum: bool) -> Packet {
        let len = self.transport_len as u16;
        let header = UdpHeader::new(source, destination, len);
        let mut p = Packet::zeroed(HEADROOM, ETHER + IP6 + self.transport_len, 0);
        let data = p.data_mut();
        data[..ETHER].copy_from_slice(self.ether.as_bytes());
        data[ETHER..ETHER + IP6].copy_from_slice(self.ip.as_bytes());
        data[ETHER + IP6..][..UDP].copy_from_slice(header.as_bytes());
        if let Some(mut udp) = UdpMut::new(&mut data[ETHER + IP6..]).filter(|_| checksum) {
            udp.fill_checksum(self.ip.pseudo_sum(protocol::UDP, len.into()));
        }
        p.set_network_header(ETHER as i32, IP6 as u32);
        p.set_dst_ip6(self.ip.destination());
        p
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::headers::{Ipv6, Udp};

    const ENDS: &str = "2:0:0:0:0:1, 2001:db8::1, 1000, 2:0:0:0:0:2, 2001:db8::2, 2000";

    #[test]
    fn frames_are_whole_and_ports_count_up() {
        for (checksum, has_checksum) in [("true", true), ("false", false)] {
            let mut t = Harness::new(&format!(
                "FastUDPSourceIP6(0, 3, 100, {ENDS}, {checksum}, 2) -> Unqueue -> k :: Sink"
            ));
            t.run();
            let ports = |p: &clickwork_packet::Packet| {
                assert_eq!(
                    (p.len(), &p.data()[..14]),
                    (100, &b"\x02\0\0\0\0\x02\x02\0\0\0\0\x01\x86\xdd"[..])
                );
                let ip = Ipv6::new(p.network_header().unwrap()).unwrap();
                let udp = Udp::new(ip.payload()).unwrap();
                assert_eq!((ip.version(), ip.hop_limit, ip.payload_len_field()), (6, 250, 46));
                assert_eq!(udp.checksum() != 0, has_checksum);
                assert!(udp.checksum_is_right(ip.pseudo_sum(17, 46)));
                assert_eq!((p.dst_ip6(), ip.source().to_string()), (ip.destination(), "2001:db8::1".into()));
                (udp.source_port(), udp.destination_port())
            };
            let got: Vec<_> = t.take("k").iter().map(ports).collect();
            assert_eq!(got, [(1000, 2000), (1000, 2000), (1001, 2001)]);
        }
    }

    #[test]
    fn headers_are_never_cut() {
        for (length, expected) in [(10, 62), (60, 62), (62, 62), (63, 63), (65549, 65549)] {
            let mut t =
                Harness::new(&format!("FastUDPSourceIP6(0, 1, {length}, {ENDS}) -> Unqueue -> k :: Sink"));
            t.run();
            assert_eq!(t.bytes("k")[0].len(), expected);
            assert_eq!(t.printed().contains("packet length < 60, defaulting to 60"), length < 60);
        }
    }
}
