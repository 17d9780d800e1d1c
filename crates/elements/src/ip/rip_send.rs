//! RIPSend: advertises a route by RIP version 2 (RFC 2453).

use super::prepend::prepend;
use clickwork_packet::Packet;
use clickwork_packet::addr::{Ipv4Address, Ipv4Prefix};
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::{Header, Ipv4Header, UdpHeader};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, Element};
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "advertises a route by RIP",
    manual: "Three seconds after the start, and every 30 seconds from then on, sends a RIP version 2 response from SRC to DST \
             that offers a route to PREFIX with next hop SRC and a cost of METRIC.",
    example: "RIPSend(18.26.4.24, 224.0.0.9, 10.0.0.0/8, 1) -> CheckIPHeader -> CheckUDPHeader -> Discard; \
              DriverManager(wait 4s, stop)",
    ports: "0/1",
    processing: "h/h",
    packets: "/new udp",
    args: &[
        ArgSpec::required("SRC", ArgType::IpAddr, "source address, and next hop"),
        ArgSpec::required("DST", ArgType::IpAddr, "destination address"),
        ArgSpec::required("PREFIX", ArgType::IpPrefix, "where the route leads"),
        ArgSpec::required("METRIC", ArgType::I32, "its cost, 1 to 16"),
    ],
    ..Class::new("RIPSend", "ip", || Box::<RipSend>::default())
};

const FIRST: Duration = Duration::from_secs(3);
const INTERVAL: Duration = Duration::from_secs(30);
const PORT: u16 = 520;
const TTL: u8 = 200;
/// The command "response" and the version, with two bytes of zeros (RFC 2453 §4).
const RESPONSE: [u8; 4] = [2, 2, 0, 0];
/// The address family of IP, with a route tag of 0.
const IP_FAMILY: [u8; 4] = [0, 2, 0, 0];

struct RipSend {
    source: Ipv4Address,
    destination: Ipv4Address,
    prefix: Ipv4Prefix,
    metric: i32,
}

impl Default for RipSend {
    fn default() -> RipSend {
        let nobody = Ipv4Address::UNSPECIFIED;
        RipSend { source: nobody, destination: nobody, prefix: Ipv4Prefix::ALL, metric: 0 }
    }
}

impl RipSend {
    fn message(&self) -> Option<Packet> {
        let Ipv4Prefix { address, mask } = self.prefix;
        let route = [address.octets(), mask.octets(), self.source.octets(), self.metric.to_be_bytes()];
        let mut p = Packet::with_room(64, &[[RESPONSE, IP_FAMILY].concat(), route.concat()].concat(), 0);
        let mut header = Ipv4Header::default();
        (header.protocol, header.ttl) = (protocol::UDP, TTL);
        header.set_source(self.source);
        header.set_destination(self.destination);
        let (ip, datagram) = prepend(&mut p, header, size_of::<UdpHeader>())?;
        let length = datagram.len() as u16;
        *UdpHeader::peek_mut(datagram)? = UdpHeader::new(PORT, PORT, length);
        let checksum = ip.pseudo_sum(length).bytes(datagram).finish();
        UdpHeader::peek_mut(datagram)?.set_checksum(if checksum == 0 { 0xFFFF } else { checksum });
        // The next hop is for others to find.
        p.set_dst_ip(Ipv4Address::UNSPECIFIED);
        Some(p)
    }
}

impl Element for RipSend {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("SRC", &mut self.source).read("DST", &mut self.destination);
        args.read("PREFIX", &mut self.prefix).read("METRIC", &mut self.metric);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        cx.schedule_timer_after(0, FIRST);
        Ok(())
    }

    fn run_timer(&mut self, slot: usize, cx: &mut Cx<'_>) {
        if let Some(p) = self.message() {
            cx.emit(0, p);
        }
        cx.schedule_timer_after(slot, INTERVAL);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use std::time::Duration;

    #[test]
    fn responses_come_every_half_minute() {
        let mut t = Harness::new(
            "RIPSend(18.26.4.24, 224.0.0.9, 10.1.0.0/16, 7) -> CheckIPHeader -> CheckUDPHeader -> k :: Sink",
        );
        t.run_for(Duration::from_millis(33_500));
        let got = t.bytes("k");
        assert_eq!((got.len(), got[0].len()), (2, 52));
        assert_eq!(got[0][..10], *b"\x45\0\0\x34\0\0\0\0\xc8\x11");
        assert_eq!(got[0][12..20], *b"\x12\x1a\x04\x18\xe0\0\0\x09");
        assert_eq!(got[0][20..26], *b"\x02\x08\x02\x08\0\x20");
        let entry = b"\x02\x02\0\0\0\x02\0\0\x0a\x01\0\0\xff\xff\0\0\x12\x1a\x04\x18\0\0\0\x07";
        assert_eq!(got[1][28..], *entry);
    }
}
