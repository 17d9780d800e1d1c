//! The headers of a packet that are compressed together: IPv4 or IPv6, and the TCP or UDP header right behind it. What follows,
//! be it another header, is payload here.

use clickwork_packet::headers::ipv4::protocol;
use clickwork_packet::headers::{Header, Ipv4, Ipv4Mut, Ipv6Header, Tcp, Udp};

/// Length of an IPv4 header without options: others are not compressed.
pub const IPV4: usize = 20;
/// Length of an IPv6 header.
pub const IPV6: usize = 40;
/// Length of a TCP header without options.
pub const TCP: usize = 20;
/// Length of a UDP header.
pub const UDP: usize = 8;

/// What is behind the IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
    /// Something else.
    Other,
}

/// Which headers a packet has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chain {
    /// IPv6, not IPv4.
    pub is_ipv6: bool,
    /// What is behind the IP header.
    pub transport: Transport,
    /// Length of all headers.
    pub len: usize,
}

impl Chain {
    /// Length of the IP header.
    pub fn ip_len(self) -> usize {
        if self.is_ipv6 { IPV6 } else { IPV4 }
    }

    /// The headers of an IP packet of exactly these bytes; nothing if they cannot be restored from a compressed packet:
    /// wrong lengths, a wrong checksum of the IP header, options, fragments.
    pub fn of(data: &[u8]) -> Option<Chain> {
        let (is_ipv6, next, ip_len) = match data.first()? >> 4 {
            4 => {
                let ip = Ipv4::new(data)?;
                let plain = ip.ihl() == IPV4 && !ip.is_fragment() && ip.checksum_is_right();
                let next = (plain && usize::from(ip.total_len()) == data.len()).then_some(ip.protocol)?;
                (false, next, IPV4)
            }
            6 => {
                let ip = Ipv6Header::peek(data)?;
                let right = IPV6 + usize::from(ip.payload_len_field()) == data.len();
                (true, right.then_some(ip.next_header)?, IPV6)
            }
            _ => return None,
        };
        let rest = &data[ip_len..];
        let (transport, len) = match next {
            protocol::TCP => (Transport::Tcp, Tcp::new(rest)?.data_offset()),
            protocol::UDP => {
                let udp = Udp::new(rest)?;
                (usize::from(udp.length()) == rest.len()).then_some((Transport::Udp, UDP))?
            }
            _ => (Transport::Other, 0),
        };
        Some(Chain { is_ipv6, transport, len: ip_len + len })
    }

    /// Whether the TCP checksum of a packet with these headers is right.
    pub fn tcp_checksum_is_right(self, data: &[u8]) -> bool {
        let (ip, segment) = data.split_at(self.ip_len());
        let pseudo = if self.is_ipv6 {
            Ipv6Header::peek(ip).map(|h| h.pseudo_sum(protocol::TCP, segment.len() as u32))
        } else {
            Ipv4::new(ip).map(|h| h.pseudo_sum(segment.len() as u16))
        };
        pseudo.zip(Tcp::new(segment)).is_some_and(|(pseudo, tcp)| tcp.checksum_is_right(pseudo))
    }
}

/// Where the length field of the IP header is.
fn length_at(is_ipv6: bool) -> usize {
    if is_ipv6 { 4 } else { 2 }
}

/// The length fields of a full header, in which the context's name travels (RFC 2507 §5.3.2).
pub fn length_fields(data: &[u8], chain: Chain) -> (u16, Option<u16>) {
    let word = |at: usize| data.get(at..at + 2).map_or(0, |b| u16::from_be_bytes([b[0], b[1]]));
    let second = (chain.transport == Transport::Udp).then(|| word(chain.ip_len() + 4));
    (word(length_at(chain.is_ipv6)), second)
}

/// Overwrites the length fields.
pub fn set_length_fields(data: &mut [u8], chain: Chain, first: u16, second: u16) {
    let at = length_at(chain.is_ipv6);
    data[at..at + 2].copy_from_slice(&first.to_be_bytes());
    if chain.transport == Transport::Udp {
        let at = chain.ip_len() + 4;
        data[at..at + 2].copy_from_slice(&second.to_be_bytes());
    }
}

/// Puts the right lengths into headers whose payload is behind them.
pub fn restore_lengths(data: &mut [u8], chain: Chain) {
    let behind_ip = data.len() - chain.ip_len();
    let first = if chain.is_ipv6 { behind_ip } else { data.len() };
    set_length_fields(data, chain, first as u16, behind_ip as u16);
}

/// Computes the checksum of the IP header, if it has one.
pub fn restore_checksum(data: &mut [u8], chain: Chain) {
    if !chain.is_ipv6
        && let Some(mut ip) = Ipv4Mut::new(data)
    {
        ip.fill_checksum();
    }
}

/// The headers of a full header, whose length fields hold something else; nothing if it cannot be one.
pub fn chain_of_full(data: &[u8]) -> Option<Chain> {
    let (is_ipv6, ip_len, next) = match data.first()? {
        0x45 => (false, IPV4, *data.get(9)?),
        first if first >> 4 == 6 => (true, IPV6, *data.get(6)?),
        _ => return None,
    };
    let rest = data.get(ip_len..)?;
    let (transport, len) = match next {
        protocol::TCP => (Transport::Tcp, usize::from(rest.get(12)? >> 4) * 4),
        protocol::UDP => (Transport::Udp, UDP),
        _ => (Transport::Other, 0),
    };
    let least = if transport == Transport::Tcp { TCP } else { len };
    (len >= least && len <= rest.len()).then_some(Chain { is_ipv6, transport, len: ip_len + len })
}

/// What tells a packet stream from others (RFC 2507 §4): the fields that define it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stream([u8; 42]);

impl Stream {
    /// The stream of a packet.
    pub fn of(data: &[u8], chain: Chain) -> Stream {
        let mut key = [0; 42];
        if chain.is_ipv6 {
            // Addresses, flow label, next header.
            key[..32].copy_from_slice(&data[8..40]);
            key[32..36].copy_from_slice(&[6, data[1] & 0xF, data[2], data[3]]);
            key[36] = data[6];
        } else {
            key[..8].copy_from_slice(&data[12..20]);
            (key[32], key[36]) = (4, data[9]);
        }
        if chain.transport != Transport::Other {
            key[38..].copy_from_slice(&data[chain.ip_len()..chain.ip_len() + 4]);
        }
        Stream(key)
    }
}
