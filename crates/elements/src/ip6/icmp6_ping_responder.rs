//! ICMP6PingResponder: answers ICMPv6 echo requests (RFC 4443 §4). Click has none.

use super::extension::{FIXED, upper_layer};
use clickwork_packet::Packet;
use clickwork_packet::headers::icmp6::{Icmp6Mut, icmp6_type};
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::{Header, Ipv6, Ipv6Header};
use clickwork_router::{Class, Cx, SimpleElement, Verdict};

/// The class facts.
pub static CLASS: Class = Class {
    help: "answers ICMPv6 echo requests",
    manual: "Turns ICMPv6 echo requests with a right checksum into replies: addresses change places, the hop limit becomes \
             255, the destination annotation is the new destination, the paint annotation 0. Requests behind extension \
             headers, to a multicast address or from one that is nobody's, and other packets go to output 1 if it is \
             connected, and are dropped otherwise. Addresses are not looked at otherwise: route only your own here.",
    example: "InfiniteSource(DATA \\<6000000000083a40 20010db8000000000000000000000001 20010db8000000000000000000000002 \
              8000244600010001>, LIMIT 1, STOP true) -> CheckIP6Header -> ICMP6PingResponder -> Discard",
    ports: "1/1-2",
    processing: "a/ah",
    packets: "only icmp6/icmp6 unpainted,same",
    ..Class::new("ICMP6PingResponder", "ip6", || Box::new(ICMP6PingResponder))
};

/// Hop limit of replies.
const HOP_LIMIT: u8 = 255;

struct ICMP6PingResponder;

/// Whether this is a request that can be answered by turning it around.
fn is_request(p: &Packet) -> bool {
    let Some(ip) = p.network_header().and_then(Ipv6::new) else { return false };
    let is_whole = ip.payload().len() == usize::from(ip.payload_len_field());
    let pseudo = ip.pseudo_sum(protocol::ICMP6, ip.payload().len() as u32);
    is_whole
        && upper_layer(&ip) == Some((protocol::ICMP6, FIXED))
        && ip.payload().len() >= 8
        && ip.payload()[..2] == [icmp6_type::ECHO, 0]
        && pseudo.bytes(ip.payload()).finish() == 0
        && !ip.destination().is_multicast()
        && !ip.source().is_multicast()
        && !ip.source().is_unspecified()
}

impl SimpleElement for ICMP6PingResponder {
    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        if !is_request(p) {
            return cx.out_or_drop(1, "not an echo request");
        }
        let bytes = p.network_header_mut().unwrap_or_default();
        let Some(header) = Ipv6Header::peek_mut(bytes) else { return Verdict::Drop("no IPv6 header") };
        let (source, destination) = (header.source(), header.destination());
        header.set_source(destination);
        header.set_destination(source);
        header.hop_limit = HOP_LIMIT;
        let len = header.payload_len_field();
        let pseudo = header.pseudo_sum(protocol::ICMP6, len.into());
        if let Some(mut icmp) = Icmp6Mut::new(&mut bytes[FIXED..FIXED + usize::from(len)]) {
            icmp.icmp_type = icmp6_type::ECHO_REPLY;
            icmp.fill_checksum(pseudo);
        }
        p.set_dst_ip6(source);
        p.set_timestamp(cx.now());
        p.set_paint(0);
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{Sample, ip6};
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    fn request(body: &[u8]) -> Sample {
        ip6("2001:db8::1", "2001:db8::2").icmp6(128, 0, body)
    }

    #[test]
    fn requests_come_back_as_replies() {
        let mut t = Harness::new("s :: Source -> Paint(3) -> ICMP6PingResponder -> k :: Sink");
        for body in [&b"\x00\x07\x00\x01hello"[..], &[0; 4], &[0; 9]] {
            t.push("s", 0, [request(body).hop_limit(3).marked()]);
            let p = t.take("k").remove(0);
            let reply = ip6("2001:db8::2", "2001:db8::1").hop_limit(255).icmp6(129, 0, body);
            assert_eq!((p.data(), p.paint()), (&reply.bytes()[..], 0));
            assert_eq!(p.dst_ip6().to_string(), "2001:db8::1");
        }
    }

    #[test]
    fn padding_behind_the_packet_is_no_part_of_the_message() {
        let mut t = Harness::new("s :: Source -> MarkIP6Header -> ICMP6PingResponder -> k :: Sink");
        t.push("s", 0, [Packet::new(&[request(&[0, 1, 0, 2]).bytes(), vec![9; 5]].concat())]);
        let reply = ip6("2001:db8::2", "2001:db8::1").hop_limit(255).icmp6(129, 0, &[0, 1, 0, 2]);
        assert_eq!(t.bytes("k")[0][..48], reply.bytes());
    }

    #[test]
    fn other_packets_leave_by_output_1() {
        let mut t = Harness::new("s :: Source -> r :: ICMP6PingResponder -> k :: Sink; r[1] -> x :: Sink");
        let mut damaged = request(&[1, 2, 3, 4]).marked();
        damaged.data_mut()[44] ^= 1;
        let mut cut = request(&[0; 40]).marked();
        cut.take(1);
        let behind = [&[58, 0, 1, 4, 0, 0, 0, 0][..], &request(&[0; 4]).bytes()[40..]].concat();
        t.push(
            "s",
            0,
            [
                damaged,
                cut,
                request(&[0; 3]).marked(),
                request(&[0; 4]).packet(),
                ip6("::", "2001:db8::2").icmp6(128, 0, &[0; 4]).marked(),
                ip6("ff02::1", "2001:db8::2").icmp6(128, 0, &[0; 4]).marked(),
                ip6("2001:db8::1", "ff02::1").icmp6(128, 0, &[0; 4]).marked(),
                ip6("2001:db8::1", "2001:db8::2").icmp6(129, 0, &[0; 4]).marked(),
                ip6("2001:db8::1", "2001:db8::2").payload(60, &behind).marked(),
            ],
        );
        assert_eq!((t.bytes("k").len(), t.bytes("x").len()), (0, 9));
    }
}
