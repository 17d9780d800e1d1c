//! One line about an IPv4 packet, in the manner of tcpdump: addresses, ports and what the transport header says.
//!
//! A header that is not whole is shown as far as it goes, then called truncated. Lengths that the headers claim are
//! never trusted.

use clickwork_packet::headers::icmp::{code_name, type_name};
use clickwork_packet::headers::ipv4::protocol::{ICMP, TCP, UDP};
use clickwork_packet::headers::{Header, Ipv4Header};
use std::fmt::Write;

/// A packet whose IP header is whole.
pub struct IpPacket<'a> {
    /// The fixed part of its header.
    pub header: &'a Ipv4Header,
    /// The bytes of the whole IP packet that are there.
    pub bytes: &'a [u8],
    /// The bytes from the transport header on, as far as the IP length says and as they are there.
    pub transport: &'a [u8],
    /// Length of the packet's data.
    pub packet_len: usize,
}

const FIN: u8 = 0x01;
const SYN: u8 = 0x02;
const RST: u8 = 0x04;
const PSH: u8 = 0x08;
const ACK: u8 = 0x10;

impl<'a> IpPacket<'a> {
    /// Looks at `bytes`, which begin with an IP header that says the transport header is `header_len` bytes behind it.
    /// `None` if the header is not whole.
    pub fn new(bytes: &'a [u8], header_len: usize, packet_len: usize) -> Option<IpPacket<'a>> {
        let header = Ipv4Header::peek(bytes)?;
        let there = bytes.get(header_len..).unwrap_or_default();
        let claimed = usize::from(header.total_len()).saturating_sub(header.ihl());
        let transport = &there[..claimed.min(there.len())];
        Some(IpPacket { header, bytes, transport, packet_len })
    }

    /// The length behind the IP header that the header claims; may be negative.
    pub fn payload_len(&self) -> i64 {
        i64::from(self.header.total_len()) - self.header.ihl() as i64
    }

    /// The bytes behind the transport header (of TCP and UDP), to the end of the packet.
    pub fn payload(&self, header_len: usize) -> &'a [u8] {
        let transport = self.bytes.get(header_len..).unwrap_or_default();
        let skip = match (self.header.is_first_fragment(), self.header.protocol) {
            (true, TCP) => transport.get(12).map_or(transport.len(), |offset| usize::from(offset >> 4) * 4),
            (true, UDP) => 8,
            _ => 0,
        };
        transport.get(skip..).unwrap_or_default()
    }

    /// Writes the line. `swap` is whether ICMP identifiers are shown as numbers in network order, as they should be.
    pub fn write(&self, out: &mut Line, swap: bool) {
        match self.header.protocol {
            TCP => self.tcp(out),
            UDP => self.udp(out),
            ICMP => self.icmp(out, swap),
            other => self.addresses(out, &format!(": ip-proto-{other}")),
        }
        self.fragment(out);
    }

    fn addresses(&self, out: &mut Line, rest: &str) {
        out.add(format_args!("{} > {}{rest}", self.header.source(), self.header.destination()));
    }

    /// Addresses with ports, if they are there; otherwise what is said instead.
    fn ports(&self, out: &mut Line, name: &str) -> bool {
        let (Some(from), Some(to)) = (u16_at(self.transport, 0), u16_at(self.transport, 2)) else {
            self.addresses(out, &format!(": truncated-{name}"));
            return false;
        };
        out.add(format_args!("{}.{from} > {}.{to}: ", self.header.source(), self.header.destination()));
        true
    }

    fn tcp(&self, out: &mut Line) {
        if !self.header.is_first_fragment() {
            return self.addresses(out, ": tcp");
        } else if !self.ports(out, "tcp") {
            return;
        }
        let t = self.transport;
        let (Some(sequence), Some(acknowledged), Some(offset), Some(&flags)) =
            (u32_at(t, 4), u32_at(t, 8), t.get(12), t.get(13))
        else {
            return out.text("truncated-tcp");
        };
        let mut length = self.payload_len() - i64::from(offset >> 4) * 4;
        for (flag, letter) in [(SYN, "S"), (FIN, "F"), (RST, "R"), (PSH, "P")] {
            if flags & flag != 0 {
                out.text(letter);
                // RFC 9293 §3.4: SYN and FIN count in the sequence.
                length += i64::from(flag & (SYN | FIN) != 0);
            }
        }
        if flags & (SYN | FIN | RST | PSH) == 0 {
            out.text(".");
        }
        let end = sequence.wrapping_add(length as u32);
        let total = self.header.total_len();
        out.add(format_args!(" {sequence}:{end}({length},{},{total})", self.packet_len));
        if flags & ACK != 0 {
            out.add(format_args!(" ack {acknowledged}"));
        }
        match u16_at(t, 14) {
            Some(window) => out.add(format_args!(" win {window}")),
            None => out.text("truncated-tcp"),
        }
    }

    fn udp(&self, out: &mut Line) {
        if !self.header.is_first_fragment() {
            return self.addresses(out, ": udp");
        } else if !self.ports(out, "udp") {
            return;
        }
        match u16_at(self.transport, 4).filter(|_| self.transport.len() >= 8) {
            Some(length) => out.add(format_args!("udp {length}")),
            None => out.text("truncated-udp"),
        }
    }

    fn icmp(&self, out: &mut Line, swap: bool) {
        self.addresses(out, ": ");
        if !self.header.is_first_fragment() {
            return out.text("icmp");
        }
        let whole = match self.transport {
            [0, _, ..] => self.echo(out, "icmp echo-reply ", swap),
            [8, _, ..] => self.echo(out, "icmp echo ", swap),
            [3, code, ..] => self.unreachable(out, *code),
            [icmp_type, code, ..] => {
                other_icmp(out, *icmp_type, *code);
                Some(())
            }
            _ => None,
        };
        if whole.is_none() {
            out.text("truncated-icmp");
        }
    }

    fn echo(&self, out: &mut Line, name: &str, swap: bool) -> Option<()> {
        out.text(name);
        let number = |at| u16_at(self.transport, at).map(|n| if swap { n } else { n.swap_bytes() });
        let (identifier, sequence) = (number(4)?, number(6)?);
        out.add(format_args!("({identifier}, {sequence})"));
        Some(())
    }

    fn unreachable(&self, out: &mut Line, code: u8) -> Option<()> {
        let name = code_name(3, code).map_or_else(|| format!("code {code}"), str::to_string);
        let Some(inner) = self.transport.get(8..).and_then(Ipv4Header::peek) else {
            out.add(format_args!("icmp unreachable {name} "));
            return None;
        };
        out.add(format_args!("icmp {} unreachable {name}", inner.destination()));
        match code {
            2 => out.add(format_args!(" {}", protocol_name(inner.protocol, ""))),
            3 => {
                out.add(format_args!(" {}", protocol_name(inner.protocol, "protocol ")));
                let port = u16_at(self.transport, 8 + inner.ihl() + 2)?;
                out.add(format_args!("/{port}"));
            }
            4 => {
                if let Some(mtu) = u16_at(self.transport, 6).filter(|&mtu| mtu != 0) {
                    out.add(format_args!(" (mtu {mtu})"));
                }
            }
            _ => {}
        }
        Some(())
    }

    fn fragment(&self, out: &mut Line) {
        if self.header.is_fragment() {
            let (id, at) = (self.header.identification(), self.header.fragment_offset());
            let more = if self.header.more_fragments() { "+" } else { "" };
            out.add(format_args!(" (frag {id}:{}@{at}{more})", self.payload_len()));
        }
    }
}

fn other_icmp(out: &mut Line, icmp_type: u8, code: u8) {
    match type_name(icmp_type) {
        Some(name) => out.add(format_args!("icmp {name}")),
        None => out.add(format_args!("icmp type {icmp_type}")),
    }
    match code_name(icmp_type, code) {
        Some(name) => out.add(format_args!(" {name}")),
        None if code != 0 => out.add(format_args!(" code {code}")),
        None => {}
    }
}

/// A protocol's name, or its number behind `before`.
fn protocol_name(protocol: u8, before: &str) -> String {
    const NAMES: [(u8, &str); 8] = [
        (ICMP, "icmp"),
        (2, "igmp"),
        (4, "ipip"),
        (TCP, "tcp"),
        (UDP, "udp"),
        (33, "dccp"),
        (47, "gre"),
        (132, "sctp"),
    ];
    let name = NAMES.iter().find(|(number, _)| *number == protocol).map(|(_, name)| (*name).to_string());
    name.unwrap_or_else(|| format!("{before}{protocol}"))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// A line that grows.
#[derive(Default)]
pub struct Line(pub String);

impl Line {
    /// Adds text.
    pub fn text(&mut self, text: &str) {
        self.0.push_str(text);
    }

    /// Adds formatted text.
    pub fn add(&mut self, text: std::fmt::Arguments<'_>) {
        // A String takes any text.
        let _ = self.0.write_fmt(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ip::samples::ip;

    /// What is said of a packet from 1.0.0.1 to 2.0.0.2, of which all but `cut` bytes are there.
    fn said(protocol: u8, payload: &[u8], cut: usize) -> String {
        let bytes = ip("1.0.0.1", "2.0.0.2").payload(protocol, payload).bytes();
        let mut line = Line::default();
        let packet = IpPacket::new(&bytes[..bytes.len() - cut], 20, bytes.len()).unwrap();
        packet.write(&mut line, true);
        line.0
    }

    const SYN_ACK: [u8; 20] = [0, 80, 4, 0, 0, 0, 0, 100, 0, 0, 0, 7, 0x50, 0x12, 0x20, 0, 0, 0, 0, 0];

    #[test]
    fn tcp() {
        assert_eq!(said(TCP, &SYN_ACK, 0), "1.0.0.1.80 > 2.0.0.2.1024: S 100:101(1,40,40) ack 7 win 8192");
        assert_eq!(
            said(TCP, &SYN_ACK, 5),
            "1.0.0.1.80 > 2.0.0.2.1024: S 100:101(1,40,40) ack 7truncated-tcp"
        );
        assert_eq!(said(TCP, &SYN_ACK, 7), "1.0.0.1.80 > 2.0.0.2.1024: truncated-tcp");
        assert_eq!(said(TCP, &SYN_ACK, 17), "1.0.0.1 > 2.0.0.2: truncated-tcp");
    }

    #[test]
    fn udp_and_others() {
        assert_eq!(said(UDP, &[0, 1, 0, 2, 0, 8, 0, 0], 0), "1.0.0.1.1 > 2.0.0.2.2: udp 8");
        assert_eq!(said(UDP, &[0, 1, 0, 2, 0, 8, 0, 0], 1), "1.0.0.1.1 > 2.0.0.2.2: truncated-udp");
        assert_eq!(said(99, &[], 0), "1.0.0.1 > 2.0.0.2: ip-proto-99");
    }

    #[test]
    fn icmp() {
        assert_eq!(said(ICMP, &[8, 0, 0, 0, 0, 7, 1, 0], 0), "1.0.0.1 > 2.0.0.2: icmp echo (7, 256)");
        assert_eq!(said(ICMP, &[8, 0, 0, 0, 0, 7], 0), "1.0.0.1 > 2.0.0.2: icmp echo truncated-icmp");
        assert_eq!(said(ICMP, &[11, 0], 0), "1.0.0.1 > 2.0.0.2: icmp timeexceeded transit");
        assert_eq!(said(ICMP, &[99, 5], 0), "1.0.0.1 > 2.0.0.2: icmp type 99 code 5");
        assert_eq!(said(ICMP, &[8], 0), "1.0.0.1 > 2.0.0.2: truncated-icmp");
    }

    #[test]
    fn an_unreachable_says_what_could_not_be_reached() {
        let inner = ip("2.0.0.2", "3.0.0.3").payload(UDP, &[0, 5, 0, 53]).bytes();
        let said_of =
            |code: u8, rest: &[u8]| said(ICMP, &[&[3, code, 0, 0, 0, 0, 2, 64][..], rest].concat(), 0);
        assert_eq!(said_of(3, &inner), "1.0.0.1 > 2.0.0.2: icmp 3.0.0.3 unreachable port udp/53");
        assert_eq!(said_of(2, &inner), "1.0.0.1 > 2.0.0.2: icmp 3.0.0.3 unreachable protocol udp");
        assert_eq!(said_of(4, &inner), "1.0.0.1 > 2.0.0.2: icmp 3.0.0.3 unreachable needfrag (mtu 576)");
        assert_eq!(said_of(1, &inner[..19]), "1.0.0.1 > 2.0.0.2: icmp unreachable host truncated-icmp");
    }

    #[test]
    fn fragments() {
        let bytes = ip("1.0.0.1", "2.0.0.2").payload(UDP, &[1; 16]).fragment(0x2001).bytes();
        let mut line = Line::default();
        IpPacket::new(&bytes, 20, 36).unwrap().write(&mut line, true);
        assert_eq!(line.0, "1.0.0.1 > 2.0.0.2: udp (frag 0:16@8+)");
    }
}
