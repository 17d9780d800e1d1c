//! Packets as bytes: those that a script sends are built here, those of the stack are taken apart and their checksums,
//! lengths and option padding looked at.

use std::net::IpAddr;

use super::script::{Icmp, PacketSpec, TcpOption};

/// Who talks to whom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ends {
    pub source: IpAddr,
    pub destination: IpAddr,
    pub source_port: u16,
    pub destination_port: u16,
}

impl Ends {
    pub fn reversed(self) -> Ends {
        Ends {
            source: self.destination,
            destination: self.source,
            source_port: self.destination_port,
            destination_port: self.source_port,
        }
    }
}

/// A packet of the stack.
#[derive(Debug)]
pub struct Parsed {
    pub ends: Ends,
    pub spec: PacketSpec,
    pub dont_fragment: bool,
}

fn sum(bytes: &[u8], start: u32) -> u32 {
    let mut sum = start;
    for pair in bytes.chunks(2) {
        sum += u32::from(u16::from_be_bytes([pair[0], *pair.get(1).unwrap_or(&0)]));
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => v6.octets().to_vec(),
    }
}

fn pseudo_sum(ends: &Ends, protocol: u8, length: usize) -> u32 {
    let addresses = [octets(ends.source), octets(ends.destination)].concat();
    sum(&addresses, u32::from(protocol) + sum(&(length as u32).to_be_bytes(), 0))
}

/// A packet from the peer. Text is all zero, as in packetdrill.
pub fn build(ends: &Ends, spec: &PacketSpec) -> Vec<u8> {
    let mut segment = Vec::new();
    segment.extend(ends.source_port.to_be_bytes());
    segment.extend(ends.destination_port.to_be_bytes());
    segment.extend(spec.seq.to_be_bytes());
    segment.extend(spec.ack.to_be_bytes());
    let options = options_bytes(spec.options.as_deref().unwrap_or_default());
    segment.push((((20 + options.len()) / 4) << 4) as u8);
    segment.push(spec.flags);
    segment.extend(spec.window.unwrap_or(0).to_be_bytes());
    segment.extend([0, 0]);
    segment.extend(spec.urgent.to_be_bytes());
    segment.extend(options);
    segment.resize(segment.len() + spec.length as usize, 0);
    let checksum = !(sum(&segment, pseudo_sum(ends, 6, segment.len()))) as u16;
    segment[16..18].copy_from_slice(&checksum.to_be_bytes());
    ip_packet(ends, 6, spec.ecn.unwrap_or(0), &segment)
}

fn options_bytes(options: &[TcpOption]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for option in options {
        match option {
            TcpOption::Nop => bytes.push(1),
            TcpOption::End => bytes.push(0),
            TcpOption::Mss(mss) => bytes.extend([&[2, 4][..], &mss.to_be_bytes()].concat()),
            TcpOption::WindowScale(scale) => bytes.extend([3, 3, *scale]),
            TcpOption::SackOk => bytes.extend([4, 2]),
            TcpOption::Sack(blocks) => {
                bytes.extend([5, 2 + 8 * blocks.len() as u8]);
                for (left, right) in blocks {
                    bytes.extend(left.to_be_bytes());
                    bytes.extend(right.to_be_bytes());
                }
            }
            TcpOption::Timestamp { value, echo } => {
                bytes.extend([8, 10]);
                bytes.extend(value.to_be_bytes());
                bytes.extend(echo.to_be_bytes());
            }
            TcpOption::FastOpen(cookie) => {
                bytes.extend([34, 2 + cookie.len() as u8]);
                bytes.extend(cookie);
            }
            TcpOption::Other(kind, data) => {
                bytes.extend([*kind, 2 + data.len() as u8]);
                bytes.extend(data);
            }
        }
    }
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn ip_packet(ends: &Ends, protocol: u8, ecn: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = Vec::new();
    if ends.source.is_ipv4() {
        packet.extend([0x45, ecn]);
        packet.extend((20 + payload.len() as u16).to_be_bytes());
        packet.extend([0, 0, 0, 0, 255, protocol, 0, 0]);
        packet.extend(octets(ends.source));
        packet.extend(octets(ends.destination));
        let checksum = !(sum(&packet, 0)) as u16;
        packet[10..12].copy_from_slice(&checksum.to_be_bytes());
    } else {
        packet.extend([0x60, ecn << 4, 0, 0]);
        packet.extend((payload.len() as u16).to_be_bytes());
        packet.extend([protocol, 255]);
        packet.extend(octets(ends.source));
        packet.extend(octets(ends.destination));
    }
    packet.extend(payload);
    packet
}

/// An ICMP message from the peer's address about a segment that the stack has sent with these ends.
pub fn build_icmp(sent: &Ends, seq: u32, length: u32, icmp: &Icmp) -> Vec<u8> {
    let mut quoted = Vec::new();
    quoted.extend(sent.source_port.to_be_bytes());
    quoted.extend(sent.destination_port.to_be_bytes());
    quoted.extend(seq.to_be_bytes());
    quoted.resize(20, 0);
    quoted[12] = 5 << 4;
    let v4 = sent.source.is_ipv4();
    let mut inner = ip_packet(sent, 6, 0, &quoted);
    let whole = 20 + length as u16 + if v4 { 20 } else { 0 };
    let at = if v4 { 2 } else { 4 };
    inner[at..at + 2].copy_from_slice(&whole.to_be_bytes());
    let (kind, code) = icmp_numbers(v4, &icmp.code);
    let mut message = vec![kind, code, 0, 0, 0, 0];
    message.extend(icmp.mtu.to_be_bytes());
    message.extend(inner);
    let ends = sent.reversed();
    let start = if v4 { 0 } else { pseudo_sum(&ends, 58, message.len()) };
    let checksum = !(sum(&message, start)) as u16;
    message[2..4].copy_from_slice(&checksum.to_be_bytes());
    ip_packet(&ends, if v4 { 1 } else { 58 }, 0, &message)
}

fn icmp_numbers(v4: bool, code: &str) -> (u8, u8) {
    match (v4, code) {
        (true, "net_unreachable") => (3, 0),
        (true, "host_unreachable") => (3, 1),
        (true, "protocol_unreachable") => (3, 2),
        (true, "port_unreachable") => (3, 3),
        (true, _) => (3, 4),
        (false, "net_unreachable") => (1, 0),
        (false, "host_unreachable") => (1, 3),
        (false, "port_unreachable") => (1, 4),
        (false, "protocol_unreachable") => (4, 1),
        (false, _) => (2, 0),
    }
}

/// Takes a packet of the stack apart.
pub fn parse(packet: &[u8]) -> Result<Parsed, String> {
    match packet.first().map(|byte| byte >> 4) {
        Some(4) => parse_v4(packet),
        Some(6) => parse_v6(packet),
        _ => Err(format!("no IP packet: {packet:02x?}")),
    }
}

fn parse_v4(packet: &[u8]) -> Result<Parsed, String> {
    if packet.len() < 40 || packet[0] != 0x45 {
        return Err("not an IPv4 packet without options".into());
    }
    if sum(&packet[..20], 0) != 0xffff {
        return Err("bad checksum of the IPv4 header".into());
    }
    let total = usize::from(u16::from_be_bytes([packet[2], packet[3]]));
    if total != packet.len() || packet[9] != 6 {
        return Err(format!("IPv4 says {total} bytes of protocol {}, there are {}", packet[9], packet.len()));
    }
    let address = |at: usize| IpAddr::from(<[u8; 4]>::try_from(&packet[at..at + 4]).unwrap());
    parse_tcp(address(12), address(16), &packet[20..], packet[1] & 3, packet[6] & 0x40 != 0)
}

fn parse_v6(packet: &[u8]) -> Result<Parsed, String> {
    if packet.len() < 60 || packet[6] != 6 {
        return Err("not an IPv6 packet with TCP".into());
    }
    let payload = usize::from(u16::from_be_bytes([packet[4], packet[5]]));
    if payload + 40 != packet.len() {
        return Err(format!("IPv6 says {payload} bytes, there are {}", packet.len() - 40));
    }
    let address = |at: usize| IpAddr::from(<[u8; 16]>::try_from(&packet[at..at + 16]).unwrap());
    parse_tcp(address(8), address(24), &packet[40..], packet[1] >> 4 & 3, true)
}

fn parse_tcp(source: IpAddr, destination: IpAddr, tcp: &[u8], ecn: u8, df: bool) -> Result<Parsed, String> {
    let short = |at: usize| u16::from_be_bytes([tcp[at], tcp[at + 1]]);
    let long = |at: usize| u32::from_be_bytes(tcp[at..at + 4].try_into().unwrap());
    let ends = Ends { source, destination, source_port: short(0), destination_port: short(2) };
    if sum(tcp, pseudo_sum(&ends, 6, tcp.len())) != 0xffff {
        return Err("bad checksum of the TCP segment".into());
    }
    let header = usize::from(tcp[12] >> 4) * 4;
    if header < 20 || header > tcp.len() || tcp[12] & 15 != 0 {
        return Err(format!("bad data offset or reserved bits: {:02x}", tcp[12]));
    }
    if tcp[header..].iter().any(|byte| *byte != 0) {
        return Err("text that was never written".into());
    }
    let spec = PacketSpec {
        connection: 0,
        flags: tcp[13],
        seq: long(4),
        length: (tcp.len() - header) as u32,
        ack: long(8),
        window: Some(short(14)),
        urgent: short(18),
        options: Some(parse_options(&tcp[20..header])?),
        ecn: Some(ecn),
        icmp: None,
    };
    Ok(Parsed { ends, spec, dont_fragment: df })
}

fn parse_options(mut bytes: &[u8]) -> Result<Vec<TcpOption>, String> {
    let mut options = Vec::new();
    while let [kind, rest @ ..] = bytes {
        if *kind <= 1 {
            options.push(if *kind == 0 { TcpOption::End } else { TcpOption::Nop });
            bytes = rest;
            continue;
        }
        let length = usize::from(*rest.first().ok_or("an option without a length")?);
        let data = bytes.get(2..length).ok_or("an option longer than the header")?;
        let long = |at: usize| u32::from_be_bytes(data[at..at + 4].try_into().unwrap());
        options.push(match (kind, data.len()) {
            (2, 2) => TcpOption::Mss(u16::from_be_bytes([data[0], data[1]])),
            (3, 1) => TcpOption::WindowScale(data[0]),
            (4, 0) => TcpOption::SackOk,
            (5, 8 | 16 | 24 | 32) => {
                TcpOption::Sack((0..data.len() / 8).map(|i| (long(8 * i), long(8 * i + 4))).collect())
            }
            (8, 8) => TcpOption::Timestamp { value: long(0), echo: long(4) },
            (34, _) => TcpOption::FastOpen(data.to_vec()),
            _ => TcpOption::Other(*kind, data.to_vec()),
        });
        bytes = &bytes[length..];
    }
    Ok(options)
}
