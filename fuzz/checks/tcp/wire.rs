//! Packets of a peer, written byte by byte, and a look at the stack's.

use std::net::{IpAddr, SocketAddr};

pub const FIN: u8 = 1;
pub const SYN: u8 = 2;
pub const RST: u8 = 4;
pub const ACK: u8 = 16;
pub const URG: u8 = 32;

/// A TCP header.
pub struct Header {
    pub flags: u8,
    pub seq: u32,
    pub ack: u32,
    pub window: u16,
    pub urgent: u16,
    /// At most 40 bytes; padded.
    pub options: Vec<u8>,
    /// The byte of the data offset, if it is to lie.
    pub offset: Option<u8>,
}

/// An IP packet with a TCP segment.
pub fn packet(from: SocketAddr, to: SocketAddr, header: &Header, text: &[u8]) -> Vec<u8> {
    let mut options = header.options.clone();
    options.resize(options.len().next_multiple_of(4), 0);
    let mut segment = Vec::with_capacity(60 + text.len());
    segment.extend(from.port().to_be_bytes());
    segment.extend(to.port().to_be_bytes());
    segment.extend(header.seq.to_be_bytes());
    segment.extend(header.ack.to_be_bytes());
    segment.push(header.offset.unwrap_or(((20 + options.len()) as u8) << 2));
    segment.push(header.flags);
    segment.extend(header.window.to_be_bytes());
    segment.extend([0, 0]);
    segment.extend(header.urgent.to_be_bytes());
    segment.extend(options);
    segment.extend(text);
    ip(from.ip(), to.ip(), 6, &segment)
}

/// An ICMP message that quotes a segment which `to` has sent to `from`, without its last `cut` bytes.
pub fn icmp(from: SocketAddr, to: SocketAddr, kind: u8, code: u8, mtu: u16, seq: u32, cut: usize) -> Vec<u8> {
    let header = Header { flags: ACK, seq, ack: 0, window: 0, urgent: 0, options: Vec::new(), offset: None };
    let quoted = packet(to, from, &header, &[]);
    let mut message = vec![kind, code, 0, 0, 0, 0];
    message.extend(mtu.to_be_bytes());
    message.extend(&quoted[..quoted.len() - cut]);
    ip(from.ip(), to.ip(), if from.is_ipv6() { 58 } else { 1 }, &message)
}

fn ip(from: IpAddr, to: IpAddr, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let length = payload.len();
    let mut bytes = match (from, to) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            let total = ((length + 20) as u16).to_be_bytes();
            let mut bytes = vec![0x45, 0, total[0], total[1], 0, 0, 0x40, 0, 64, protocol, 0, 0];
            bytes.extend(from.octets());
            bytes.extend(to.octets());
            bytes
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            let length = (length as u16).to_be_bytes();
            let mut bytes = vec![0x60, 0, 0, 0, length[0], length[1], protocol, 64];
            bytes.extend(from.octets());
            bytes.extend(to.octets());
            bytes
        }
        _ => panic!("addresses of one family"),
    };
    bytes.extend(payload);
    sum_up(&mut bytes);
    bytes
}

/// Makes the checksums of a packet right, as far as it looks like one.
pub fn sum_up(bytes: &mut [u8]) {
    let v6 = bytes[0] >> 4 == 6;
    let (start, protocol) = if v6 { (40, bytes[6]) } else { (20, bytes[9]) };
    if bytes.len() < start + 20 {
        return;
    }
    if !v6 {
        bytes[10..12].fill(0);
        let sum = !fold(sum(&bytes[..20]));
        bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    }
    let place = start + if protocol == 6 { 16 } else { 2 };
    bytes[place..place + 2].fill(0);
    let pseudo = if protocol == 1 { 0 } else { pseudo(bytes, start, protocol) };
    let sum = !fold(pseudo + sum(&bytes[start..]));
    bytes[place..place + 2].copy_from_slice(&sum.to_be_bytes());
}

fn pseudo(bytes: &[u8], start: usize, protocol: u8) -> u64 {
    let addresses = if start == 40 { 8..40 } else { 12..20 };
    sum(&bytes[addresses]) + u64::from(protocol) + (bytes.len() - start) as u64
}

fn sum(bytes: &[u8]) -> u64 {
    bytes.chunks(2).map(|pair| u64::from(pair[0]) << 8 | u64::from(*pair.get(1).unwrap_or(&0))).sum()
}

fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// What the peer knows of the stack.
#[derive(Debug, Default)]
pub struct Seen {
    /// What the stack wants next.
    pub next: u32,
    /// Behind the last number that it sent, and behind the last but one.
    pub end: u32,
    pub unacked: u32,
    /// Its last timestamp.
    pub stamp: u32,
    pub any: bool,
}

impl Seen {
    /// Looks at a packet of the stack: it must be well formed.
    pub fn look(&mut self, bytes: &[u8], partial: bool, size: u16, here: SocketAddr, there: SocketAddr) {
        let start = if bytes[0] >> 4 == 6 { 40 } else { 20 };
        let length = usize::from(u16::from_be_bytes(if start == 40 {
            [bytes[4], bytes[5]]
        } else {
            [bytes[2], bytes[3]]
        }));
        let total = if start == 40 { length + 40 } else { length };
        assert_eq!(total, bytes.len(), "the length in the IP header");
        if start == 20 {
            assert_eq!(fold(sum(&bytes[..20])), 0xffff, "the checksum of the IP header");
        }
        if !partial && bytes[if start == 40 { 6 } else { 9 }] == 6 {
            assert_eq!(
                fold(pseudo(bytes, start, 6) + sum(&bytes[start..])),
                0xffff,
                "the checksum of the segment"
            );
        }
        let tcp = &bytes[start..];
        let header = usize::from(tcp[12] >> 4) * 4;
        assert!((20..=tcp.len()).contains(&header), "the length of the TCP header");
        check_options(&tcp[20..header]);
        let text = tcp.len() - header;
        assert!(size != 0 || total <= 1500, "{total} bytes in a packet");
        let ports = (u16::from_be_bytes([tcp[0], tcp[1]]), u16::from_be_bytes([tcp[2], tcp[3]]));
        if ports != (here.port(), there.port()) || tcp[13] & RST != 0 {
            return;
        }
        let long = |at: usize| u32::from_be_bytes(tcp[at..at + 4].try_into().expect("four bytes"));
        let span = text as u32 + u32::from(tcp[13] & SYN != 0) + u32::from(tcp[13] & FIN != 0);
        let end = long(4).wrapping_add(span);
        if !self.any || tcp[13] & SYN != 0 || (end.wrapping_sub(self.end) as i32) > 0 {
            (self.unacked, self.end) = (self.end, end);
            self.any = true;
        }
        if tcp[13] & ACK != 0 {
            self.next = long(8);
        }
        if header >= 32 && tcp[20..24] == [1, 1, 8, 10] {
            self.stamp = long(24);
        }
    }
}

/// Options follow each other without a gap.
fn check_options(mut options: &[u8]) {
    while let Some(kind) = options.first() {
        let length = match kind {
            0 => return,
            1 => 1,
            _ => usize::from(*options.get(1).expect("an option has a length")),
        };
        assert!(*kind == 1 || length >= 2, "an option of {length} bytes");
        options = options.get(length..).expect("options end with the header");
    }
}
