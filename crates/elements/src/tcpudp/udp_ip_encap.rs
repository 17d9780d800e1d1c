//! UDPIPEncap: puts a UDP and an IP header in front of packets.

use crate::ip::prepend::{Destination, prepend};
use crate::values::reconfigure;
use clickwork_packet::Packet;
use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::{Header, Ipv4Header, UdpHeader};
use clickwork_router::args::{ArgSpec, ArgType, Args, UdpPort};
use clickwork_router::{Class, Cx, SimpleElement, Verdict, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "encapsulates packets in UDP and IP",
    manual: "Puts a UDP and an IP header in front of each packet: from SRC and SPORT to DST and DPORT, or to the packet's \
             destination annotation if DST is DST_ANNO. The identification counts up; the UDP checksum is computed \
             if CHECKSUM is true, and is 0 (none) otherwise. The headers are marked and the destination annotation set.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) -> CheckUDPHeader -> Discard",
    packets: "any/push(ip udp)",
    args: &[
        ArgSpec::required("SRC", ArgType::IpAddr, "source address"),
        ArgSpec::required("SPORT", ArgType::UdpPort, "source port"),
        ArgSpec::required("DST", ArgType::Other("IP address or DST_ANNO"), "destination address"),
        ArgSpec::required("DPORT", ArgType::UdpPort, "destination port"),
        ArgSpec::positional("CHECKSUM", ArgType::Bool, "false", "compute the UDP checksum"),
    ],
    handlers: &[
        read_handler!("src", "source address", |e: &mut UDPIPEncap, _| e.source.to_string()).and_write(
            write_handler!("", "", |e: &mut UDPIPEncap, text, cx| reconfigure(
                &mut e.source,
                0,
                "SRC",
                text,
                cx
            )),
        ),
        read_handler!("sport", "source port", |e: &mut UDPIPEncap, _| e.source_port.0).and_write(
            write_handler!("", "", |e: &mut UDPIPEncap, text, cx| reconfigure(
                &mut e.source_port,
                1,
                "SPORT",
                text,
                cx
            )),
        ),
        read_handler!("dst", "destination address", |e: &mut UDPIPEncap, _| e.destination.to_string())
            .and_write(write_handler!("", "", |e: &mut UDPIPEncap, text, cx| reconfigure(
                &mut e.destination,
                2,
                "DST",
                text,
                cx
            ))),
        read_handler!("dport", "destination port", |e: &mut UDPIPEncap, _| e.destination_port.0).and_write(
            write_handler!("", "", |e: &mut UDPIPEncap, text, cx| reconfigure(
                &mut e.destination_port,
                3,
                "DPORT",
                text,
                cx
            )),
        ),
    ],
    flags: "A",
    ..Class::new("UDPIPEncap", "tcpudp", || Box::<UDPIPEncap>::default())
};

/// Time to live of packets.
const TTL: u8 = 250;
/// Bytes of a UDP header.
const UDP: usize = size_of::<UdpHeader>();

struct UDPIPEncap {
    source: Ipv4Address,
    source_port: UdpPort,
    destination: Destination,
    destination_port: UdpPort,
    checksum: bool,
    id: u16,
}

impl Default for UDPIPEncap {
    fn default() -> UDPIPEncap {
        let (source, destination) = (Ipv4Address::UNSPECIFIED, Destination::default());
        let port = UdpPort(0);
        UDPIPEncap { source, source_port: port, destination, destination_port: port, checksum: false, id: 0 }
    }
}

/// Between whom datagrams go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flow {
    pub source: Ipv4Address,
    pub source_port: u16,
    pub destination: Ipv4Address,
    pub destination_port: u16,
}

impl Default for Flow {
    fn default() -> Flow {
        let nobody = Ipv4Address::UNSPECIFIED;
        Flow { source: nobody, source_port: 0, destination: nobody, destination_port: 0 }
    }
}

/// Puts a UDP and an IP header with identification `id` in front of the packet. Nothing if it would become too long.
pub(crate) fn encapsulate(p: &mut Packet, flow: &Flow, id: u16, checksum: bool) -> Option<()> {
    let mut header = Ipv4Header::default();
    (header.protocol, header.ttl) = (protocol::UDP, TTL);
    header.set_source(flow.source);
    header.set_destination(flow.destination);
    header.set_identification(id);
    let (ip, datagram) = prepend(p, header, UDP)?;
    let len = datagram.len() as u16;
    *UdpHeader::peek_mut(datagram)? = UdpHeader::new(flow.source_port, flow.destination_port, len);
    if checksum {
        // RFC 768: 0 says that there is no checksum.
        let checksum = ip.pseudo_sum(len).bytes(datagram).finish();
        UdpHeader::peek_mut(datagram)?.set_checksum(if checksum == 0 { 0xFFFF } else { checksum });
    }
    Some(())
}

impl UDPIPEncap {
    fn flow(&self, p: &Packet) -> Flow {
        Flow {
            source: self.source,
            source_port: self.source_port.0,
            destination: self.destination.of(p),
            destination_port: self.destination_port.0,
        }
    }
}

impl SimpleElement for UDPIPEncap {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("SRC", &mut self.source).read("SPORT", &mut self.source_port);
        args.read("DST", &mut self.destination).read("DPORT", &mut self.destination_port);
        args.read("CHECKSUM", &mut self.checksum);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        if encapsulate(p, &self.flow(p), self.id, self.checksum).is_none() {
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
    use clickwork_packet::headers::{Ipv4, Udp};

    #[test]
    fn packets_become_datagrams() {
        for (config, has_checksum) in
            [(", true", true), ("", false), (", false", false), (", CHECKSUM true", true)]
        {
            let mut t = Harness::new(&format!(
                "s :: Source -> UDPIPEncap(1.0.0.1, 99, 2.0.0.2, domain{config}) -> k :: Sink"
            ));
            t.push("s", 0, [Packet::new(b"abc"), Packet::with_room(0, b"de", 0)]);
            let p = t.take("k").remove(1);
            let ip = Ipv4::new(p.network_header().unwrap()).unwrap();
            let udp = Udp::new(ip.payload()).unwrap();
            assert_eq!((udp.source_port(), udp.destination_port(), udp.payload()), (99, 53, &b"de"[..]));
            assert_eq!((ip.ttl, ip.identification(), ip.checksum_is_right()), (250, 1, true));
            assert_eq!(udp.checksum() != 0, has_checksum);
            assert!(!has_checksum || ip.pseudo_sum(10).bytes(ip.payload()).finish() == 0);
        }
    }

    #[test]
    fn handlers_change_addresses_and_ports() {
        let mut t = Harness::new("s :: Source -> e :: UDPIPEncap(1.0.0.1, 99, 2.0.0.2, 53) -> k :: Sink");
        for (write, read) in
            [("src 9.9.9.9", "src"), ("sport 7", "sport"), ("dst 8.8.8.8", "dst"), ("dport 6", "dport")]
        {
            t.write(&format!("e.{write}")).unwrap();
            assert_eq!(t.read(&format!("e.{read}")), write.split(' ').nth(1).unwrap());
        }
        t.push("s", 0, [Packet::new(b"")]);
        assert_eq!(t.bytes("k")[0][12..24], [9, 9, 9, 9, 8, 8, 8, 8, 0, 7, 0, 6]);
        assert_eq!(t.read("e.config"), "9.9.9.9, 7, 8.8.8.8, 6");
    }

    #[test]
    fn handlers_take_names_and_the_annotation() {
        let mut t = Harness::new(
            "AddressInfo(here 9.9.9.9); s :: Source -> SetIPAddress(7.7.7.7) \
             -> e :: UDPIPEncap(1.0.0.1, 99, 2.0.0.2, 53) -> k :: Sink",
        );
        t.write("e.src here").unwrap();
        t.write("e.dst DST_ANNO").unwrap();
        t.write("e.dport domain").unwrap();
        t.push("s", 0, [Packet::new(b"")]);
        assert_eq!(t.bytes("k")[0][12..24], [9, 9, 9, 9, 7, 7, 7, 7, 0, 99, 0, 53]);
        assert!(t.write("e.dst nowhere").unwrap_err().starts_with("DST"));
    }
}
