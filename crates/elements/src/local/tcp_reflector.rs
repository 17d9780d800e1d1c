//! TCPReflector: a server that needs no memory: it answers each segment by what stands in it.

use clickwork_packet::Packet;
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::tcp::flag;
use clickwork_packet::headers::{Ipv4, Ipv4Mut, Tcp, TcpMut};
use clickwork_router::{Class, Cx, SimpleElement, Verdict};

/// The class facts.
pub static CLASS: Class = Class {
    help: "answers TCP segments as a server would, without state",
    manual: "For tests of clients. Takes packets that begin with an IP header. A SYN is answered with SYN-ACK, data with an \
             acknowledgement, FIN with FIN; the answer is the packet itself, payload and all, sent back. Other segments \
             are dropped.",
    example: "Idle -> TCPReflector -> Discard; Script(stop)",
    packets: "ip/ip",
    ..Class::new("TCPReflector", "local", || Box::new(TcpReflector))
};

const TTL: u8 = 250;
const WINDOW: u16 = 60 * 1024;

struct TcpReflector;

/// Control bits, sequence and acknowledgement number of an answer.
type Answer = (u8, u32, u32);

/// The answer to a segment with so many bytes of payload.
fn answer(tcp: &Tcp<'_>, payload: u32, random: u32) -> Option<Answer> {
    let (flags, end) = (tcp.flags & !flag::PSH, tcp.sequence().wrapping_add(payload));
    if flags == flag::SYN {
        return Some((flag::SYN | flag::ACK, random, tcp.sequence().wrapping_add(1)));
    }
    if flags & (flag::SYN | flag::RST) != 0 {
        return None;
    }
    match flags & flag::FIN != 0 {
        true => Some((flag::ACK | flag::FIN, tcp.acknowledgment(), end.wrapping_add(1))),
        false => (payload > 0).then_some((flag::ACK, tcp.acknowledgment(), end)),
    }
}

fn reflect(p: &mut Packet, random: u32) -> Result<(), &'static str> {
    let ip = Ipv4::new(p.data()).ok_or("no IP header")?;
    let tcp = Tcp::new(ip.payload()).filter(|_| ip.protocol == protocol::TCP).ok_or("no TCP header")?;
    let (length, payload) = (ip.payload().len(), tcp.payload().len() as u32);
    let (flags, sequence, acknowledgment) = answer(&tcp, payload, random).ok_or("needs no answer")?;
    let (client, server) = (ip.source(), ip.destination());
    let mut ip = Ipv4Mut::new(p.data_mut()).ok_or("no IP header")?;
    ip.set_source(server);
    ip.set_destination(client);
    ip.ttl = TTL;
    ip.fill_checksum();
    let pseudo = ip.pseudo_sum(length as u16);
    let mut tcp = TcpMut::new(ip.payload_mut()).ok_or("no TCP header")?;
    let (from, to) = (tcp.source_port(), tcp.destination_port());
    tcp.set_source_port(to);
    tcp.set_destination_port(from);
    tcp.flags = flags;
    tcp.set_sequence(sequence);
    tcp.set_acknowledgment(acknowledgment);
    tcp.set_window(WINDOW);
    tcp.fill_checksum(pseudo);
    p.set_dst_ip(client);
    Ok(())
}

impl SimpleElement for TcpReflector {
    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        reflect(p, cx.random()).map_or_else(Verdict::Drop, |()| Verdict::PASS)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tcp::samples::{flow, segment};
    use super::super::tcp::{Flow, tcp_mut};
    use super::*;
    use crate::testing::Harness;

    #[test]
    fn segments_are_answered() {
        let mut t = Harness::new("s :: Source -> r :: TCPReflector -> k :: Sink");
        let acknowledging = |flags, data: &[u8]| {
            let mut p = segment(100, flags, data);
            tcp_mut(&mut p).unwrap().set_acknowledgment(700);
            p
        };
        t.push(
            "s",
            0,
            [
                segment(100, flag::SYN | flag::PSH, b""),
                acknowledging(flag::ACK | flag::PSH, b"abc"),
                acknowledging(flag::ACK | flag::FIN, b"z"),
                acknowledging(flag::ACK, b""),
                acknowledging(flag::RST, b"abc"),
                acknowledging(flag::SYN | flag::ACK, b"abc"),
                Packet::new(b"?"),
            ],
        );
        let mut answers = Vec::new();
        for p in t.take("k") {
            let ip = Ipv4::new(p.data()).unwrap();
            let tcp = Tcp::new(ip.payload()).unwrap();
            assert!(
                ip.checksum_is_right() && tcp.checksum_is_right(ip.pseudo_sum(ip.payload().len() as u16))
            );
            assert_eq!((Flow::of(&p), p.dst_ip()), (Some(flow().reversed()), flow().source));
            answers.push((tcp.flags, tcp.acknowledgment()));
        }
        assert_eq!(answers, [(flag::SYN | flag::ACK, 101), (flag::ACK, 103), (flag::ACK | flag::FIN, 102)]);
        assert_eq!(t.read("r.drop_reasons"), "3\tneeds no answer\n1\tno IP header\n");
    }
}
