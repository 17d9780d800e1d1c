//! IP headers: taken apart and checked on the way in, written on the way out.
//!
//! RFC 791 and RFC 1122 §3.2.1, RFC 8200. Fragments are refused: what is below puts them together, if anything does.
//! Options and extension headers are stepped over.

use clickwork_packet::checksum;

use super::counters::Drops;
use super::flow::{Address, V4, V6};

/// Protocol numbers.
pub(crate) const ICMP: u8 = 1;
/// See [`ICMP`].
pub(crate) const TCP: u8 = 6;
/// See [`ICMP`].
pub(crate) const ICMP6: u8 = 58;

/// Bytes of an IPv4 header without options.
pub(crate) const V4_HEADER: usize = 20;
/// Bytes of an IPv6 header.
pub(crate) const V6_HEADER: usize = 40;

const MORE_FRAGMENTS_OR_OFFSET: u16 = 0x3FFF;
const DONT_FRAGMENT: u16 = 0x4000;
/// RFC 1122 §3.2.1.7 and RFC 8200 §3: what hosts commonly use.
pub(crate) const HOP_LIMIT: u8 = 64;

/// What an IP header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Datagram {
    pub family: u8,
    pub source: Address,
    pub destination: Address,
    /// Of what lies behind the header and its extensions.
    pub protocol: u8,
    pub ecn: u8,
    /// Where that begins.
    pub offset: usize,
    /// And ends: what follows is padding of the link.
    pub end: usize,
}

/// Which drop it is.
pub(crate) type Reason = fn(&mut Drops) -> &mut u64;

/// Takes the header apart.
#[inline]
pub(crate) fn parse(data: &[u8]) -> Result<Datagram, Reason> {
    match data.first().map(|byte| byte >> 4) {
        Some(V4) => parse_v4(data, true),
        Some(V6) => parse_v6(data, true),
        Some(_) => Err(|drops| &mut drops.version),
        None => Err(|drops| &mut drops.truncated),
    }
}

/// Takes apart the header of a packet that an ICMP message quotes: the packet is cut off, its checksum may be out of date.
pub(crate) fn parse_quoted(data: &[u8]) -> Result<Datagram, Reason> {
    match data.first().map(|byte| byte >> 4) {
        Some(V4) => parse_v4(data, false),
        Some(V6) => parse_v6(data, false),
        _ => Err(|drops| &mut drops.icmp),
    }
}

fn word(data: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([data[at], data[at + 1]])
}

#[inline]
fn parse_v4(data: &[u8], whole: bool) -> Result<Datagram, Reason> {
    let Some(header) = data.first_chunk::<V4_HEADER>() else { return Err(|drops| &mut drops.truncated) };
    let offset = usize::from(header[0] & 15) * 4;
    let total = usize::from(word(header, 2));
    if offset < V4_HEADER || total < offset {
        return Err(|drops| &mut drops.ip_header);
    }
    if data.len() < offset || (whole && data.len() < total) {
        return Err(|drops| &mut drops.truncated);
    }
    if whole && !sums_up(header, &data[..offset]) {
        return Err(|drops| &mut drops.ip_checksum);
    }
    if word(header, 6) & MORE_FRAGMENTS_OR_OFFSET != 0 {
        return Err(|drops| &mut drops.fragment);
    }
    Ok(Datagram {
        family: V4,
        source: v4_address(&header[12..16]),
        destination: v4_address(&header[16..20]),
        protocol: header[9],
        ecn: header[1] & 3,
        offset,
        end: total.min(data.len()),
    })
}

#[inline]
fn sums_up(header: &[u8; V4_HEADER], with_options: &[u8]) -> bool {
    let sum = if with_options.len() == V4_HEADER {
        checksum::checksum_20(header)
    } else {
        checksum::checksum(with_options)
    };
    sum == 0
}

#[inline]
fn v4_address(bytes: &[u8]) -> Address {
    let mut address = [0; 16];
    address[..4].copy_from_slice(bytes);
    address
}

#[inline]
fn parse_v6(data: &[u8], whole: bool) -> Result<Datagram, Reason> {
    let Some(header) = data.first_chunk::<V6_HEADER>() else { return Err(|drops| &mut drops.truncated) };
    let end = V6_HEADER + usize::from(word(header, 4));
    if whole && data.len() < end {
        return Err(|drops| &mut drops.truncated);
    }
    let end = end.min(data.len());
    let (protocol, offset) = match header[6] {
        TCP => (TCP, V6_HEADER),
        next => skip_extensions(&data[..end], next)?,
    };
    Ok(Datagram {
        family: V6,
        source: *header[8..].first_chunk().expect("the header has 40 bytes"),
        destination: *header[24..].first_chunk().expect("the header has 40 bytes"),
        protocol,
        ecn: (header[1] >> 4) & 3,
        offset,
        end,
    })
}

/// RFC 8200 §4: extension headers begin with the number of what follows and their length in units of 8 bytes.
fn skip_extensions(data: &[u8], mut next: u8) -> Result<(u8, usize), Reason> {
    const HOP_BY_HOP: u8 = 0;
    const ROUTING: u8 = 43;
    const FRAGMENT: u8 = 44;
    const AUTHENTICATION: u8 = 51;
    const DESTINATION: u8 = 60;
    let mut offset = V6_HEADER;
    while matches!(next, HOP_BY_HOP | ROUTING | FRAGMENT | AUTHENTICATION | DESTINATION) {
        let Some(extension) = data.get(offset..).and_then(|rest| rest.first_chunk::<8>()) else {
            return Err(|drops| &mut drops.truncated);
        };
        let length = match next {
            // RFC 6946: a packet of one fragment is not fragmented. The lower three bits are two reserved and "more".
            FRAGMENT if word(extension, 2) & !6 != 0 => return Err(|drops| &mut drops.fragment),
            FRAGMENT => 8,
            // RFC 8200 §4.4: segments left; then the packet is on its way to somebody else.
            ROUTING if extension[3] != 0 => return Err(|drops| &mut drops.ip_header),
            // RFC 4302 §2.2 counts in units of 4 bytes, less 2.
            AUTHENTICATION => (usize::from(extension[1]) + 2) * 4,
            _ => (usize::from(extension[1]) + 1) * 8,
        };
        next = extension[0];
        offset += length;
    }
    if offset > data.len() { Err(|drops| &mut drops.truncated) } else { Ok((next, offset)) }
}

/// What is to stand in the header of a packet.
pub(crate) struct Outgoing<'a> {
    pub source: &'a Address,
    pub destination: &'a Address,
    /// DSCP and ECN.
    pub class: u8,
    pub hop_limit: u8,
    pub dont_fragment: bool,
    /// IPv4's.
    pub identification: u16,
    /// IPv6's.
    pub flow_label: u32,
    /// Bytes behind the IP header.
    pub length: usize,
}

impl Outgoing<'_> {
    /// RFC 791 §3.1.
    #[inline]
    pub fn write_v4(&self, header: &mut [u8; V4_HEADER]) {
        let flags = if self.dont_fragment { DONT_FRAGMENT } else { 0 };
        header[0] = 0x45;
        header[1] = self.class;
        header[2..4].copy_from_slice(&((V4_HEADER + self.length) as u16).to_be_bytes());
        header[4..6].copy_from_slice(&self.identification.to_be_bytes());
        header[6..8].copy_from_slice(&flags.to_be_bytes());
        header[8] = self.hop_limit;
        header[9] = TCP;
        header[10..12].fill(0);
        header[12..16].copy_from_slice(&self.source[..4]);
        header[16..20].copy_from_slice(&self.destination[..4]);
        let sum = checksum::checksum_20(header);
        header[10..12].copy_from_slice(&sum.to_be_bytes());
    }

    /// RFC 8200 §3.
    #[inline]
    pub fn write_v6(&self, header: &mut [u8; V6_HEADER]) {
        let first = 6 << 28 | u32::from(self.class) << 20 | (self.flow_label & 0xF_FFFF);
        header[..4].copy_from_slice(&first.to_be_bytes());
        header[4..6].copy_from_slice(&(self.length as u16).to_be_bytes());
        header[6] = TCP;
        header[7] = self.hop_limit;
        header[8..24].copy_from_slice(self.source);
        header[24..40].copy_from_slice(self.destination);
    }
}

/// The sum of TCP's pseudo-header in memory order, not folded (RFC 9293 §3.1, RFC 8200 §8.1). Unused bytes of IPv4
/// addresses are 0 and add nothing.
#[inline]
pub(crate) fn pseudo_sum(source: &Address, destination: &Address, protocol: u8, length: usize) -> u64 {
    let words = |address: &Address| -> u64 {
        address.as_chunks::<4>().0.iter().map(|&word| u64::from(u32::from_ne_bytes(word))).sum()
    };
    words(source)
        + words(destination)
        + u64::from((length as u32).to_be())
        + u64::from(u16::from(protocol).to_be())
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::{IpEcn, Ipv4HeaderSlice, Ipv6HeaderSlice};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn headers_out_are_what_another_implementation_reads_and_we_too(
            mut source: [u8; 16], mut destination: [u8; 16], class: u8, hop_limit: u8, dont_fragment: bool,
            identification: u16, flow_label: u32, length in 0usize..100,
        ) {
            let ecn_of = |value: IpEcn| value.value();
            let out = Outgoing {
                source: &source, destination: &destination, class, hop_limit, dont_fragment, identification, flow_label, length,
            };
            let mut v6 = vec![0xAA; 40 + length];
            out.write_v6(v6.first_chunk_mut().unwrap());
            let seen = Ipv6HeaderSlice::from_slice(&v6).unwrap().to_header();
            prop_assert_eq!((seen.source, seen.destination), (source, destination));
            prop_assert_eq!(seen.traffic_class, class);
            prop_assert_eq!(seen.flow_label.value(), flow_label & 0xF_FFFF);
            prop_assert_eq!((usize::from(seen.payload_length), seen.hop_limit), (length, hop_limit));
            let back = parse(&v6).ok().unwrap();
            prop_assert_eq!((back.source, back.destination, back.ecn), (source, destination, class & 3));
            prop_assert_eq!((back.protocol, back.offset, back.end), (TCP, 40, 40 + length));

            let mut v4 = vec![0xAA; 20 + length];
            out.write_v4(v4.first_chunk_mut().unwrap());
            let seen = Ipv4HeaderSlice::from_slice(&v4).unwrap().to_header();
            prop_assert_eq!(&seen.source[..], &source[..4]);
            prop_assert_eq!(&seen.destination[..], &destination[..4]);
            prop_assert_eq!(seen.time_to_live, hop_limit);
            prop_assert_eq!((seen.dscp.value() << 2 | ecn_of(seen.ecn), seen.dont_fragment), (class, dont_fragment));
            prop_assert_eq!((seen.identification, usize::from(seen.total_len)), (identification, 20 + length));
            prop_assert_eq!(seen.header_checksum, seen.calc_header_checksum());
            source[4..].fill(0);
            destination[4..].fill(0);
            let back = parse(&v4).ok().unwrap();
            prop_assert_eq!((back.source, back.destination, back.ecn), (source, destination, class & 3));
            prop_assert_eq!((back.protocol, back.offset, back.end), (TCP, 20, 20 + length));
        }

        #[test]
        fn bytes_of_chance_are_parsed_or_not(data in proptest::collection::vec(any::<u8>(), 0..120), six: bool) {
            let mut data = data;
            if let Some(first) = data.first_mut() {
                *first = if six { 0x60 } else { 0x40 } | (*first & 15);
            }
            for datagram in [parse(&data), parse_quoted(&data)].into_iter().flatten() {
                prop_assert!(datagram.offset <= datagram.end || datagram.end <= data.len());
                prop_assert!(datagram.end <= data.len());
            }
        }
    }
}
