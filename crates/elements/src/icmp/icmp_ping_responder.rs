//! ICMPPingResponder: answers pings.

use clickwork_packet::Packet;
use clickwork_packet::checksum::update;
use clickwork_packet::headers::icmp::icmp_type;
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::{Icmp, IcmpMut, Ipv4, Ipv4Mut};
use clickwork_router::{Class, Cx, SimpleElement, Verdict};

/// The class facts.
pub static CLASS: Class = Class {
    help: "answers ICMP echo requests",
    manual: "Turns ICMP echo requests into replies: addresses change places, the time to live becomes 255, flags are \
             cleared, the destination annotation is the new destination, the paint annotation 0. Other packets go to \
             output 1 if it is connected, and are dropped otherwise. Addresses are not looked at: route only your own here.",
    example: "InfiniteSource(DATA \\<4500001c00000000 400166df0a0000010a000002 0800f7fd00010001>, LIMIT 1, STOP true) \
              -> CheckIPHeader -> ICMPPingResponder -> Discard",
    ports: "1/1-2",
    processing: "a/ah",
    packets: "only icmp/icmp unpainted,same",
    ..Class::new("ICMPPingResponder", "icmp", || Box::new(ICMPPingResponder))
};

/// Time to live of replies.
const TTL: u8 = 255;

struct ICMPPingResponder;

fn is_request(p: &Packet) -> bool {
    let Some(ip) = p.network_header().and_then(Ipv4::new) else { return false };
    let echo = p.transport_header().and_then(Icmp::new);
    ip.protocol == protocol::ICMP && echo.is_some_and(|echo| echo.icmp_type == icmp_type::ECHO)
}

/// Turns the IP header around. The checksum is updated, not renewed: a header damaged on its way stays recognisable.
fn turn_ip(ip: &mut Ipv4Mut<'_>) {
    let (source, destination) = (ip.source(), ip.destination());
    ip.set_source(destination);
    ip.set_destination(source);
    let unflagged = update(ip.checksum(), ip.fragment_field(), 0);
    ip.set_fragment_field(0);
    let before = u16::from_be_bytes([ip.ttl, ip.protocol]);
    ip.ttl = TTL;
    let checksum = update(unflagged, before, u16::from_be_bytes([TTL, ip.protocol]));
    ip.set_checksum(checksum);
}

/// Makes the request a reply, updating its checksum likewise.
fn turn_icmp(icmp: &mut IcmpMut<'_>) {
    let before = u16::from_be_bytes([icmp.icmp_type, icmp.code]);
    (icmp.icmp_type, icmp.code) = (icmp_type::ECHO_REPLY, 0);
    let checksum = update(icmp.checksum(), before, 0);
    // RFC 1624 §5: the sum of nothing but zeros is the other zero.
    let is_zero = checksum == 0 && icmp.rest() == 0 && icmp.payload_mut().iter().all(|&b| b == 0);
    icmp.set_checksum(if is_zero { 0xFFFF } else { checksum });
}

impl SimpleElement for ICMPPingResponder {
    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        if !is_request(p) {
            return cx.out_or_drop(1, "not an echo request");
        }
        if let Some(mut ip) = p.network_header_mut().and_then(Ipv4Mut::new) {
            turn_ip(&mut ip);
            let destination = ip.destination();
            p.set_dst_ip(destination);
        }
        if let Some(mut icmp) = p.transport_header_mut().and_then(IcmpMut::new) {
            turn_icmp(&mut icmp);
        }
        p.set_timestamp(cx.now());
        p.set_paint(0);
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use crate::ip::samples::ip;
    use crate::testing::Harness;
    use clickwork_packet::headers::{Icmp, IcmpMut, Ipv4};

    fn echo(payload: &[u8]) -> Vec<u8> {
        let mut bytes = [&[8, 0, 0, 0], payload].concat();
        IcmpMut::new(&mut bytes).unwrap().fill_checksum();
        bytes
    }

    #[test]
    fn requests_come_back_as_replies() {
        let mut t = Harness::new("s :: Source -> Paint(3) -> ICMPPingResponder -> k :: Sink");
        for payload in [&b"\x00\x07\x00\x01hello"[..], &[0; 4], &[0; 9]] {
            let request = ip("1.0.0.1", "2.0.0.2").ttl(3).fragment(0x4000).payload(1, &echo(payload));
            t.push("s", 0, [request.marked()]);
            let p = t.take("k").remove(0);
            let ip = Ipv4::new(p.data()).unwrap();
            let icmp = Icmp::new(ip.payload()).unwrap();
            assert_eq!((ip.source().to_string(), ip.ttl, ip.fragment_field()), ("2.0.0.2".into(), 255, 0));
            assert_eq!((p.dst_ip().to_string(), p.paint()), ("1.0.0.1".into(), 0));
            assert!(ip.checksum_is_right() && icmp.checksum_is_right(), "{payload:?}");
            assert_eq!((icmp.icmp_type, &ip.payload()[4..]), (0, payload));
            assert_ne!(icmp.checksum(), 0);
        }
    }

    #[test]
    fn other_packets_leave_by_output_1() {
        let mut t = Harness::new("s :: Source -> r :: ICMPPingResponder -> k :: Sink; r[1] -> x :: Sink");
        let udp = ip("1.0.0.1", "2.0.0.2");
        let others = [udp.clone(), udp.clone().payload(1, &[0; 8]), udp.payload(1, &[8; 7])];
        t.push("s", 0, others.iter().map(|o| o.marked()).chain([others[0].packet()]));
        assert_eq!((t.bytes("k").len(), t.bytes("x").len()), (0, 4));
    }
}
