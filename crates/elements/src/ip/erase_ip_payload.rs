//! EraseIPPayload: keeps headers and blanks what they carry.

use clickwork_packet::Packet;
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::{Ipv4Mut, TcpMut, UdpMut};
use clickwork_router::{Class, Cx, SimpleElement, Verdict};

/// The class facts.
pub static CLASS: Class = Class {
    help: "sets the payload of TCP and UDP packets to zeros",
    manual: "Overwrites what follows the TCP or UDP header of each packet with zeros, and sets the transport checksum to 0, \
             so that captures can be given away. ICMP packets pass as they are; other packets are dropped.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) -> EraseIPPayload -> Discard",
    packets: "ip/ip",
    ..Class::new("EraseIPPayload", "ip", || Box::new(EraseIPPayload))
};

struct EraseIPPayload;

/// Whether the packet may be given away.
fn erase(p: &mut Packet) -> bool {
    let Some(mut ip) = p.network_header_mut().and_then(Ipv4Mut::new) else { return false };
    let (protocol, is_first) = (ip.protocol, ip.is_first_fragment());
    let payload = ip.payload_mut();
    match protocol {
        protocol::ICMP => return true,
        protocol::TCP | protocol::UDP if !is_first => payload.fill(0),
        protocol::TCP => match TcpMut::new(payload) {
            Some(mut tcp) => {
                tcp.payload_mut().fill(0);
                tcp.set_checksum(0);
            }
            None => payload.fill(0),
        },
        protocol::UDP => match UdpMut::new(payload) {
            Some(mut udp) => {
                udp.set_checksum(0);
                payload[8..].fill(0);
            }
            None => payload.fill(0),
        },
        _ => return false,
    }
    true
}

impl SimpleElement for EraseIPPayload {
    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        if erase(p) { Verdict::PASS } else { Verdict::Drop("neither TCP, UDP nor ICMP") }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::ip;
    use crate::testing::Harness;

    #[test]
    fn headers_stay_and_payloads_go() {
        let mut t = Harness::new("s :: Source -> e :: EraseIPPayload -> k :: Sink");
        let there = || ip("1.0.0.1", "2.0.0.2");
        let mut tcp = vec![7; 24];
        tcp[12] = 0x50;
        let mut erased = tcp.clone();
        erased[16..18].fill(0);
        erased[20..].fill(0);
        t.push(
            "s",
            0,
            [
                there().payload(17, &[0, 1, 0, 2, 0, 11, 9, 9, 7, 7, 7]).marked(),
                there().payload(6, &tcp).marked(),
                there().payload(1, b"ping").marked(),
                there().fragment(3).payload(17, b"secret").marked(),
                there().payload(99, b"other").marked(),
            ],
        );
        let expected = [
            there().payload(17, &[0, 1, 0, 2, 0, 11, 0, 0, 0, 0, 0]),
            there().payload(6, &erased),
            there().payload(1, b"ping"),
            there().fragment(3).payload(17, &[0; 6]),
        ];
        assert_eq!(t.bytes("k"), expected.map(|s| s.bytes()));
        assert_eq!(t.read("e.drop_reasons"), "1\tneither TCP, UDP nor ICMP\n");
    }
}
