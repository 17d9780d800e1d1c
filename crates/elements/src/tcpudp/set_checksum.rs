//! SetTCPChecksum and SetUDPChecksum: compute the checksum of transport headers.

use super::fast::{set_tcp_checksum, set_udp_checksum};
use super::refusals::pseudo_sum;
use clickwork_packet::Packet;
use clickwork_packet::headers::{Header, Ipv4, TcpHeader, UdpHeader};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, Fast, FastPath, SimpleElement, Verdict, fast_path};

/// The class facts.
pub static TCP: Class = Class {
    help: "sets the TCP checksum",
    manual: "Computes the checksum of the TCP segment behind each packet's marked IP header and stores it. With FIXOFF true, \
             a data offset that lies outside the segment is mended first. Packets whose lengths disagree are dropped.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> IPEncap(tcp, 1.0.0.1, 2.0.0.2) -> SetTCPChecksum(true) \
              -> CheckTCPHeader -> Discard",
    packets: "tcp/tcp",
    args: &[ArgSpec::positional("FIXOFF", ArgType::Bool, "false", "mend a bad data offset")],
    fast: Some(FastPath::of::<SetTCPChecksum>()),
    ..Class::new("SetTCPChecksum", "tcpudp", || Box::<SetTCPChecksum>::default())
};

/// The class facts.
pub static UDP: Class = Class {
    help: "sets the UDP checksum",
    manual: "Computes the checksum of the UDP datagram behind each packet's marked IP header and stores it. Packets that do \
             not hold the whole datagram go to output 1 if it is connected, and are dropped otherwise.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) -> SetUDPChecksum \
              -> CheckUDPHeader -> Discard",
    ports: "1/1-2",
    processing: "a/ah",
    packets: "udp/udp,udp",
    fast: Some(FastPath::of::<SetUDPChecksum>()),
    ..Class::new("SetUDPChecksum", "tcpudp", || {
        Box::new(SetUDPChecksum { constants: set_udp_checksum::Constants, has_told: false })
    })
};

/// Computes the checksum over the `len` bytes behind the IP header, in which the checksum is at `at`.
fn set_checksum(p: &mut Packet, len: usize, at: usize) -> Option<u16> {
    let header_len = p.network_header().and_then(Ipv4::new)?.ihl();
    let segment = p.network_header_mut()?.get_mut(header_len..header_len + len)?;
    segment.get_mut(at..at + 2)?.fill(0);
    let packet = p.network_header()?;
    let ip = Ipv4::new(packet)?;
    let checksum = pseudo_sum(&ip, len).bytes(&packet[header_len..header_len + len]).finish();
    Some(checksum)
}

#[derive(Default)]
struct SetTCPChecksum {
    constants: set_tcp_checksum::Constants,
}

fast_path!(SetTCPChecksum, set_tcp_checksum);

impl SetTCPChecksum {
    fn set(&self, p: &mut Packet) -> Option<()> {
        let packet = p.network_header()?;
        let ip = Ipv4::new(packet)?;
        let len = usize::from(ip.total_len()).checked_sub(ip.ihl())?;
        if !(size_of::<TcpHeader>()..=packet.len() - ip.ihl()).contains(&len) {
            return None;
        }
        let is_fragment = ip.is_fragment();
        if self.constants.mends {
            let tcp = transport::<TcpHeader>(p)?;
            match tcp.data_offset() {
                0..20 => tcp.set_data_offset(20),
                offset if offset > len && !is_fragment => tcp.set_data_offset((len & !3).min(60)),
                _ => {}
            }
        }
        let checksum = set_checksum(p, len, 16)?;
        transport::<TcpHeader>(p)?.set_checksum(checksum);
        Some(())
    }
}

/// The fixed part of the header behind the IP header.
fn transport<H: Header>(p: &mut Packet) -> Option<&mut H> {
    let header_len = p.network_header().and_then(Ipv4::new)?.ihl();
    H::peek_mut(p.network_header_mut()?.get_mut(header_len..)?)
}

impl SimpleElement for SetTCPChecksum {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("FIXOFF", &mut self.constants.mends);
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        if self.common(p).is_some() || self.set(p).is_some() {
            return Verdict::PASS;
        }
        cx.report("SetTCPChecksum: bad lengths", || "SetTCPChecksum: bad lengths".to_string());
        Verdict::Drop("bad lengths")
    }
}

struct SetUDPChecksum {
    constants: set_udp_checksum::Constants,
    /// Whether the first packet without a whole datagram has been reported.
    has_told: bool,
}

fast_path!(SetUDPChecksum, set_udp_checksum);

fn set_udp(p: &mut Packet) -> Option<()> {
    if p.network_header().and_then(Ipv4::new)?.is_fragment() {
        return None;
    }
    let len = usize::from(transport::<UdpHeader>(p)?.length());
    let checksum = set_checksum(p, len, 6)?;
    // RFC 768: 0 says that there is no checksum.
    transport::<UdpHeader>(p)?.set_checksum(if checksum == 0 { 0xFFFF } else { checksum });
    Some(())
}

impl SimpleElement for SetUDPChecksum {
    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        if let Some(port) = self.common(p) {
            return Verdict::Out(port);
        }
        match set_udp(p) {
            Some(()) => Verdict::PASS,
            None => {
                if cx.outputs() == 1 && !std::mem::replace(&mut self.has_told, true) {
                    cx.chatter(&format!("{} :: SetUDPChecksum: fragment or short packet", cx.name()));
                }
                cx.out_or_drop(1, "bad UDP length")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ip::samples::ip;
    use crate::testing::Harness;
    use clickwork_packet::headers::{Ipv4, Tcp, Udp};

    #[test]
    fn checksums_become_right() {
        let mut segment = vec![9; 31];
        segment[12] = 0xF0;
        let there = ip("1.0.0.1", "2.0.0.2").options(&[1]);
        for (config, offset) in [("", 60), ("true", 28)] {
            let mut t = Harness::new(&format!("s :: Source -> SetTCPChecksum({config}) -> k :: Sink"));
            t.push("s", 0, [there.clone().payload(6, &segment).marked()]);
            let p = t.take("k").remove(0);
            let ip = Ipv4::new(p.data()).unwrap();
            assert_eq!(ip.pseudo_sum(31).bytes(ip.payload()).finish(), 0);
            assert_eq!(usize::from(ip.payload()[12] >> 4) * 4, offset);
            assert_eq!(Tcp::new(ip.payload()).is_some(), offset == 28);
        }
        let mut t = Harness::new("s :: Source -> SetUDPChecksum -> k :: Sink");
        t.push("s", 0, [there.payload(17, &[0, 1, 0, 2, 0, 9, 0, 0, 5]).marked()]);
        let p = t.take("k").remove(0);
        let ip = Ipv4::new(p.data()).unwrap();
        assert_eq!(ip.pseudo_sum(9).bytes(ip.payload()).finish(), 0);
        assert_ne!(Udp::new(ip.payload()).unwrap().checksum(), 0);
    }

    #[test]
    fn packets_cut_short_are_refused() {
        let mut t = Harness::new(
            "s :: Source -> SetTCPChecksum -> k :: Sink; u :: Source -> x :: SetUDPChecksum -> k",
        );
        let mut cut = ip("1.0.0.1", "2.0.0.2").payload(6, &[0; 20]).marked();
        cut.take(1);
        t.push("s", 0, [cut]);
        t.push("u", 0, [ip("1.0.0.1", "2.0.0.2").payload(17, &[0, 1, 0, 2, 0, 9, 0, 0]).marked()]);
        assert_eq!((t.bytes("k").len(), t.router.total_drops()), (0, 2));
        let mut fragment = ip("1.0.0.1", "2.0.0.2").payload(17, &[0, 1, 0, 2, 0, 9, 0, 0, 5]).marked();
        fragment.data_mut()[6] = 0x20;
        t.push("u", 0, [fragment]);
        assert_eq!((t.bytes("k").len(), t.router.total_drops()), (0, 3));
        let told = "SetTCPChecksum: bad lengths\nx :: SetUDPChecksum: fragment or short packet\n";
        assert_eq!(t.printed(), told);
    }
}
