//! TCP segments as the elements of this family see them: which flow they are of, what sequence numbers they take, and how
//! bare ones are made. None of these elements computes checksums; SetIPChecksum and SetTCPChecksum do.

use clickwork_packet::DEFAULT_HEADROOM;
use clickwork_packet::Packet;
use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::tcp::flag;
use clickwork_packet::headers::{Header, Ipv4Header, Ipv4Mut, TcpHeader};

/// Why a packet is dropped that is none.
pub const NOT_TCP: &str = "no TCP header";
/// IP and TCP header without options.
pub const HEADERS: usize = size_of::<Ipv4Header>() + size_of::<TcpHeader>();
/// The window that segments made here announce.
const WINDOW: u16 = 32120;
/// Minimise delay, as RFC 791 §3.1 had it.
const LOW_DELAY: u8 = 0x10;
const TTL: u8 = 255;
const DONT_FRAGMENT: u16 = 0x4000;

/// Whether sequence number `a` comes before `b` (RFC 9293 §3.4).
pub fn before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

/// The addresses and ports of a segment.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Debug)]
pub struct Flow {
    /// Where it comes from.
    pub source: Ipv4Address,
    /// The port there.
    pub source_port: u16,
    /// Where it goes.
    pub destination: Ipv4Address,
    /// The port there.
    pub destination_port: u16,
}

impl Flow {
    /// The flow of a packet whose headers are marked.
    pub fn of(p: &Packet) -> Option<Flow> {
        let ip = p.network_header().and_then(Ipv4Header::peek)?;
        let tcp = p.transport_header().and_then(TcpHeader::peek)?;
        Some(Flow {
            source: ip.source(),
            source_port: tcp.source_port(),
            destination: ip.destination(),
            destination_port: tcp.destination_port(),
        })
    }

    /// The flow of what comes back.
    pub fn reversed(self) -> Flow {
        Flow {
            source: self.destination,
            source_port: self.destination_port,
            destination: self.source,
            destination_port: self.source_port,
        }
    }

    /// Makes a packet one of this flow.
    pub fn write(self, p: &mut Packet) -> Option<()> {
        // Both headers must be whole before one is changed.
        Flow::of(p)?;
        let ip = p.network_header_mut().and_then(Ipv4Header::peek_mut)?;
        ip.set_source(self.source);
        ip.set_destination(self.destination);
        let tcp = tcp_mut(p)?;
        tcp.set_source_port(self.source_port);
        tcp.set_destination_port(self.destination_port);
        Some(())
    }
}

/// The TCP header of a marked packet.
pub fn tcp(p: &Packet) -> Option<&TcpHeader> {
    p.transport_header().and_then(TcpHeader::peek)
}

/// The same for writing.
pub fn tcp_mut(p: &mut Packet) -> Option<&mut TcpHeader> {
    p.transport_header_mut().and_then(TcpHeader::peek_mut)
}

/// The place of a segment in its stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Its first sequence number.
    pub sequence: u32,
    /// The sequence numbers it takes: bytes of payload by the length that its IP header states, and one for SYN or FIN.
    pub length: u32,
}

impl Segment {
    /// The segment of a packet whose headers are marked.
    pub fn of(p: &Packet) -> Option<Segment> {
        let tcp = tcp(p)?;
        let extra = u32::from(tcp.flags & (flag::SYN | flag::FIN) != 0);
        Some(Segment { sequence: tcp.sequence(), length: payload_len(p)? as u32 + extra })
    }

    /// The sequence number behind it.
    pub fn end(self) -> u32 {
        self.sequence.wrapping_add(self.length)
    }
}

/// Bytes of payload, as the IP header states.
fn payload_len(p: &Packet) -> Option<usize> {
    let ip = p.network_header().and_then(Ipv4Header::peek)?;
    Some(usize::from(ip.total_len()).saturating_sub(ip.ihl() + tcp(p)?.data_offset()))
}

/// The payload, as much as the IP header states and is there.
pub fn payload(p: &Packet) -> Option<&[u8]> {
    let behind = p.transport_header()?.get(tcp(p)?.data_offset()..).unwrap_or_default();
    Some(&behind[..payload_len(p)?.min(behind.len())])
}

/// A segment of no flow yet, with these control bits and this payload; its IP header is marked, and `set` may change the
/// TCP header.
pub fn bare(flags: u8, payload: &[u8], set: impl FnOnce(&mut TcpHeader)) -> Packet {
    let mut p = Packet::zeroed(DEFAULT_HEADROOM, HEADERS + payload.len(), 0);
    let total = p.len() as u16;
    if let Some(mut ip) = start_ip(p.data_mut()) {
        ip.tos = LOW_DELAY;
        ip.set_total_len(total);
        ip.set_fragment_field(DONT_FRAGMENT);
        ip.ttl = TTL;
        ip.protocol = protocol::TCP;
    }
    p.set_network_header(0, size_of::<Ipv4Header>() as u32);
    if let Some(tcp) = tcp_mut(&mut p) {
        *tcp = TcpHeader::default();
        tcp.flags = flags;
        tcp.set_window(WINDOW);
        set(tcp);
    }
    p.data_mut()[HEADERS..].copy_from_slice(payload);
    p
}

/// Begins an IP header in zero bytes.
fn start_ip(bytes: &mut [u8]) -> Option<Ipv4Mut<'_>> {
    *Ipv4Header::peek_mut(bytes)? = Ipv4Header::default();
    Ipv4Mut::new(bytes)
}

/// Segments for tests.
#[cfg(test)]
pub mod samples {
    use super::*;

    /// A marked segment of a flow, `1.0.0.1.1000 > 2.0.0.2.80`, with sequence number and payload.
    pub fn segment(sequence: u32, flags: u8, payload: &[u8]) -> Packet {
        let mut p = bare(flags, payload, |tcp| tcp.set_sequence(sequence));
        flow().write(&mut p).expect("it has headers");
        p
    }

    /// The flow of [`segment`].
    pub fn flow() -> Flow {
        Flow {
            source: Ipv4Address::new(1, 0, 0, 1),
            source_port: 1000,
            destination: Ipv4Address::new(2, 0, 0, 2),
            destination_port: 80,
        }
    }

    /// The sequence numbers of packets.
    pub fn sequences(packets: &[Packet]) -> Vec<u32> {
        packets.iter().map(|p| tcp(p).expect("TCP").sequence()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_numbers_are_compared_around_zero() {
        assert!(before(1, 2) && !before(2, 2) && !before(3, 2));
        assert!(before(u32::MAX, 0) && !before(0, u32::MAX));
    }

    #[test]
    fn a_bare_segment_has_the_header_of_old() {
        let p = bare(flag::PSH, b"hi", |tcp| tcp.set_acknowledgment(7));
        let expected = b"\x45\x10\x00\x2a\0\0\x40\0\xff\x06\0\0\0\0\0\0\0\0\0\0\
                         \0\0\0\0\0\0\0\0\0\0\0\x07\x50\x08\x7d\x78\0\0\0\0hi";
        assert_eq!(p.data(), expected);
        assert_eq!(Segment::of(&p), Some(Segment { sequence: 0, length: 2 }));
        assert_eq!(payload(&p), Some(&b"hi"[..]));
    }

    #[test]
    fn lengths_are_those_of_the_ip_header_but_not_below_nothing() {
        let mut p = samples::segment(5, flag::SYN | flag::FIN, b"abc");
        assert_eq!(Segment::of(&p).map(Segment::end), Some(9));
        p.put(4);
        assert_eq!(payload(&p), Some(&b"abc"[..]));
        tcp_mut(&mut p).unwrap().set_data_offset(60);
        assert_eq!((Segment::of(&p).unwrap().length, payload(&p)), (1, Some(&b""[..])));
    }
}
