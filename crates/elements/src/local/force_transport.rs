//! ForceTCP, ForceUDP and ForceICMP: make a valid header of their protocol out of what follows the IP header.

use crate::icmp::names::{CODE_RANGE, TYPE_RANGE, code_arg, type_arg};
use clickwork_packet::Packet;
use clickwork_packet::headers::{Header, IcmpMut, Ipv4Header, TcpHeader, TcpMut, UdpHeader, UdpMut};
use clickwork_router::args::{ArgSpec, ArgType, Args, TcpPort, UdpPort};
use clickwork_router::{Class, Cx, SimpleElement, Verdict};

/// The class facts of ForceTCP.
pub static TCP: Class = Class {
    help: "makes a valid TCP header behind the IP header",
    manual: "For tests with random packets. Takes what follows the marked IP header for a TCP header, replaces a data offset that \
             cannot be by a random one, and computes the checksum. With FLAGS, the control bits are set, with DPORT the \
             destination port. With RANDOM_DPORT, two of eight packets get port 80 and one a random one below 1024. \
             Packets whose IP lengths are wrong are dropped with a message.",
    example: "RandomSource(60, LIMIT 3, STOP true) -> ForceIP -> ForceTCP(80) -> Discard",
    packets: "ip/ip",
    args: &[
        ArgSpec::positional("DPORT", ArgType::TcpPort, "0", "destination port; 0 to leave it"),
        ArgSpec::positional(
            "RANDOM_DPORT",
            ArgType::Bool,
            "false",
            "whether some destination ports are random",
        ),
        ArgSpec::positional("FLAGS", ArgType::I32, "-1", "control bits; -1 to leave them"),
    ],
    ..Class::new("ForceTCP", "local", || Box::<ForceTcp>::default())
};

/// The class facts of ForceUDP.
pub static UDP: Class = Class {
    help: "makes a valid UDP header behind the IP header",
    manual: "For tests with random packets. Takes what follows the marked IP header for a UDP header, sets its length and \
             checksum, and its destination port to DPORT, or to a random one below 1024 if that is -1. Packets whose IP \
             lengths are wrong are dropped with a message.",
    example: "RandomSource(60, LIMIT 3, STOP true) -> ForceIP -> ForceUDP(53) -> Discard",
    packets: "ip/ip",
    args: &[ArgSpec::positional("DPORT", ArgType::UdpPort, "-1", "destination port; -1 for random ones")],
    ..Class::new("ForceUDP", "local", || Box::<ForceUdp>::default())
};

/// The class facts of ForceICMP.
pub static ICMP: Class = Class {
    help: "makes a valid ICMP header behind the IP header",
    manual: "For tests with random packets. Takes what follows the marked IP header for an ICMP header, sets its type and code, \
             and computes the checksum. Packets whose IP lengths are wrong are dropped with a message.",
    example: "RandomSource(60, LIMIT 3, STOP true) -> ForceIP -> ForceICMP(echo, 0) -> Discard",
    packets: "ip/ip",
    args: &[
        ArgSpec::required("TYPE", ArgType::Other("ICMP type"), "type, by name or number"),
        ArgSpec::required("CODE", ArgType::Other("ICMP code"), "code, by name or number"),
    ],
    ..Class::new("ForceICMP", "local", || Box::<ForceIcmp>::default())
};

/// The IP header and what it carries, if its lengths are right and it carries `least` bytes.
fn carried(p: &mut Packet, least: usize) -> Option<(Ipv4Header, &mut [u8])> {
    let network = p.network_header_mut()?;
    let header = *Ipv4Header::peek(network)?;
    let (start, end) = (header.ihl(), usize::from(header.total_len()));
    let right = start >= size_of::<Ipv4Header>() && end >= start + least;
    right.then(|| network.get_mut(start..end)).flatten().map(|carried| (header, carried))
}

/// What to do with a packet whose header was made valid, or could not be.
fn verdict(done: Option<()>, cx: &Cx<'_>) -> Verdict {
    if done.is_some() {
        return Verdict::PASS;
    }
    cx.report("bad lengths", || format!("{}: bad lengths", cx.info().class.name));
    Verdict::Drop("bad lengths")
}

#[derive(Default)]
struct ForceTcp {
    port: u16,
    random: bool,
    flags: Option<u8>,
    count: u32,
}

impl ForceTcp {
    fn force(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Option<()> {
        let (ip, carried) = carried(p, size_of::<TcpHeader>())?;
        let length = carried.len();
        if !(size_of::<TcpHeader>()..=length).contains(&TcpHeader::peek(carried)?.data_offset()) {
            let room = length - size_of::<TcpHeader>();
            let offset = if room > 0 { cx.random() as usize % room } else { length };
            // The field has four bits, in the upper half of its byte, and counts words.
            carried[12] = (carried[12] & 0xf) | ((offset & 0x3c) << 2) as u8;
        }
        let tcp = TcpHeader::peek_mut(carried)?;
        if let Some(flags) = self.flags {
            tcp.flags = flags;
        }
        match self.count & 7 {
            _ if self.port > 0 => tcp.set_destination_port(self.port),
            0 | 1 if self.random => tcp.set_destination_port(80),
            3 if self.random => tcp.set_destination_port((cx.random() % 1024) as u16),
            _ => {}
        }
        self.count = self.count.wrapping_add(1);
        fill_tcp_checksum(&ip, carried)
    }
}

/// The checksum of a segment whatever its data offset says.
fn fill_tcp_checksum(ip: &Ipv4Header, segment: &mut [u8]) -> Option<()> {
    let pseudo = ip.pseudo_sum(segment.len() as u16);
    if let Some(mut tcp) = TcpMut::new(segment) {
        tcp.fill_checksum(pseudo);
        return Some(());
    }
    TcpHeader::peek_mut(segment)?.set_checksum(0);
    let sum = pseudo.bytes(segment).finish();
    TcpHeader::peek_mut(segment)?.set_checksum(sum);
    Some(())
}

impl SimpleElement for ForceTcp {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        self.port = args.get("DPORT").map_or(0, |TcpPort(port)| port);
        args.read("RANDOM_DPORT", &mut self.random);
        self.flags = args.get::<i32>("FLAGS").filter(|flags| *flags != -1).map(|flags| flags as u8);
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let done = self.force(p, cx);
        verdict(done, cx)
    }
}

#[derive(Default)]
struct ForceUdp {
    port: Option<u16>,
}

impl SimpleElement for ForceUdp {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        if args.raw("DPORT") != Some("-1") {
            self.port = args.get("DPORT").map(|UdpPort(port)| port);
        }
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let port = self.port.unwrap_or_else(|| (cx.random() % 1024) as u16);
        let done = carried(p, size_of::<UdpHeader>()).and_then(|(ip, datagram)| {
            let length = datagram.len() as u16;
            UdpHeader::peek_mut(datagram)?.set_length(length);
            let mut udp = UdpMut::new(datagram)?;
            udp.set_destination_port(port);
            udp.fill_checksum(ip.pseudo_sum(length));
            Some(())
        });
        verdict(done, cx)
    }
}

#[derive(Default)]
struct ForceIcmp {
    icmp_type: u8,
    code: u8,
}

/// Bytes of the shortest ICMP header that Click knows.
const ICMP_HEADER: usize = 8;

impl SimpleElement for ForceIcmp {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        if let Some(icmp_type) = type_arg(args, TYPE_RANGE) {
            (self.icmp_type, self.code) = (icmp_type, code_arg(args, icmp_type, CODE_RANGE));
        }
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let done = carried(p, ICMP_HEADER).and_then(|(_, message)| {
            let mut icmp = IcmpMut::new(message)?;
            (icmp.icmp_type, icmp.code) = (self.icmp_type, self.code);
            icmp.fill_checksum();
            Some(())
        });
        verdict(done, cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ip::samples::ip;
    use crate::testing::Harness;
    use clickwork_packet::headers::{Icmp, Ipv4, Tcp, Udp};

    fn through(element: &str, packets: Vec<Packet>) -> (Vec<Packet>, Harness) {
        let mut t = Harness::new(&format!("s :: Source -> f :: {element} -> k :: Sink"));
        t.push("s", 0, packets);
        (t.take("k"), t)
    }

    fn of(protocol: u8, payload: &[u8]) -> Packet {
        ip("1.0.0.1", "2.0.0.2").payload(protocol, payload).marked()
    }

    #[test]
    fn tcp_headers_become_valid() {
        let (out, _) = through("ForceTCP(99, FLAGS 2)", vec![of(6, &[0xff; 40]), of(6, &[0x55; 20])]);
        for p in &out {
            let ip = Ipv4::new(p.data()).unwrap();
            let sum = ip.pseudo_sum(ip.payload().len() as u16).bytes(ip.payload());
            let tcp = TcpHeader::peek(ip.payload()).unwrap();
            assert_eq!((sum.finish(), tcp.destination_port(), tcp.flags), (0, 99, 2));
            assert!(tcp.data_offset() <= ip.payload().len());
        }
        assert_eq!(Tcp::new(Ipv4::new(out[1].data()).unwrap().payload()).unwrap().data_offset(), 20);
        let (out, _) = through("ForceTCP(RANDOM_DPORT true)", (0..8).map(|_| of(6, &[0x50; 24])).collect());
        let ports: Vec<_> =
            out.iter().map(|p| TcpHeader::peek(&p.data()[20..]).unwrap().destination_port()).collect();
        assert_eq!((ports[0], ports[1], ports[2], ports[4]), (80, 80, 0x5050, 0x5050));
        assert!(ports[3] < 1024);
    }

    #[test]
    fn udp_headers_become_valid() {
        for (element, port) in [("ForceUDP(53)", Some(53)), ("ForceUDP(-1)", None), ("ForceUDP", None)] {
            let (out, _) = through(element, vec![of(17, &[0xff; 11])]);
            let ip = Ipv4::new(out[0].data()).unwrap();
            let udp = Udp::new(ip.payload()).unwrap();
            assert!(udp.length() == 11 && udp.checksum_is_right(ip.pseudo_sum(11)));
            assert!(port.map_or(udp.destination_port() < 1024, |port| udp.destination_port() == port));
        }
    }

    #[test]
    fn icmp_headers_become_valid() {
        let (out, _) = through("ForceICMP(unreachable, port)", vec![of(1, &[0xff; 13])]);
        let icmp = Icmp::new(Ipv4::new(out[0].data()).unwrap().payload()).unwrap();
        assert_eq!((icmp.icmp_type, icmp.code, icmp.checksum_is_right()), (3, 3, true));
        let e = Harness::errors("Idle -> ForceICMP(300, 0) -> Discard");
        assert!(e.contains("ICMP type must be between 0 and 255"), "{e}");
        let e = Harness::errors("Idle -> ForceICMP(echo, x) -> Discard");
        assert!(e.contains("argument 2 takes ICMP code"), "{e}");
    }

    #[test]
    fn wrong_lengths_are_dropped() {
        let cut = |p: &Packet| {
            let mut p = p.clone();
            p.take(1);
            p
        };
        for (element, least) in [("ForceTCP", 20), ("ForceUDP", 8), ("ForceICMP(0, 0)", 8)] {
            let short = of(6, &vec![0; least - 1]);
            let long = of(6, &[0; 30]);
            let (out, mut t) = through(element, vec![short, cut(&long), Packet::new(b"no header"), long]);
            assert_eq!(out.len(), 1, "{element}");
            assert_eq!(t.read("f.drop_reasons"), "3\tbad lengths\n");
            assert_eq!(t.printed().matches(": bad lengths\n").count(), 3);
        }
    }
}
