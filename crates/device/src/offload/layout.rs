//! Where the headers of a frame are: just enough parsing for checksums and segmentation.
#![forbid(unsafe_code)]

use super::Unfinishable;
use super::checksum::sum;

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const VLAN_TAGS: [u16; 2] = [0x8100, 0x88a8];
pub(super) const TCP: u8 = 6;
pub(super) const UDP: u8 = 17;

/// The place of the network and transport headers of a TCP or UDP packet, in bytes from the frame's start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// First byte of the IP header.
    pub(super) network: usize,
    pub(super) ipv6: bool,
    /// First byte of the transport header.
    pub(super) transport: usize,
    pub(super) protocol: u8,
    /// One past the last byte, by the IP header; 0 length fields (merged packets over 64 KiB) give
    /// `usize::MAX`.
    pub(super) end: usize,
}

impl Layout {
    /// Finds the headers of an Ethernet frame, behind VLAN tags and IPv6 extension headers.
    pub(super) fn of_ethernet(frame: &[u8]) -> Result<Layout, Unfinishable> {
        let mut at = 12;
        let mut ethertype = be16(frame, at)?;
        for _ in 0..2 {
            if VLAN_TAGS.contains(&ethertype) {
                at += 4;
                ethertype = be16(frame, at)?;
            }
        }
        match ethertype {
            IPV4 => Layout::of_ipv4(frame, at + 2),
            IPV6 => Layout::of_ipv6(frame, at + 2),
            _ => Err(Unfinishable::NotTransport),
        }
    }

    fn of_ipv4(frame: &[u8], network: usize) -> Result<Layout, Unfinishable> {
        let header = frame.get(network..).filter(|h| h.len() >= 20).ok_or(Unfinishable::Truncated)?;
        let header_length = usize::from(header[0] & 0x0f) * 4;
        let fragment = be16(header, 6)? & 0x3fff;
        if header[0] >> 4 != 4 || header_length < 20 || fragment != 0 {
            return Err(Unfinishable::NotTransport);
        }
        let transport = network + header_length;
        let end = end_of(network, usize::from(be16(header, 2)?));
        Layout { network, ipv6: false, transport, protocol: header[9], end }.checked(frame)
    }

    fn of_ipv6(frame: &[u8], network: usize) -> Result<Layout, Unfinishable> {
        let header = frame.get(network..).filter(|h| h.len() >= 40).ok_or(Unfinishable::Truncated)?;
        if header[0] >> 4 != 6 {
            return Err(Unfinishable::NotTransport);
        }
        let (mut protocol, mut transport) = (header[6], network + 40);
        // Hop-by-hop, routing and destination options (RFC 8200 §4): type, then length in 8-byte units.
        while matches!(protocol, 0 | 43 | 60) {
            let extension = frame.get(transport..transport + 2).ok_or(Unfinishable::Truncated)?;
            protocol = extension[0];
            transport += 8 + usize::from(extension[1]) * 8;
        }
        let end = match be16(header, 4)? {
            0 => usize::MAX,
            length => network + 40 + usize::from(length),
        };
        Layout { network, ipv6: true, transport, protocol, end }.checked(frame)
    }

    /// The transport header must lie inside the packet.
    fn checked(self, frame: &[u8]) -> Result<Layout, Unfinishable> {
        let length = match self.protocol {
            TCP => 20,
            UDP => 8,
            _ => return Err(Unfinishable::NotTransport),
        };
        let inside = self.transport + length <= self.end.min(frame.len());
        if inside { Ok(self) } else { Err(Unfinishable::Truncated) }
    }

    /// Where the transport checksum is.
    pub(super) fn checksum_field(&self) -> Result<usize, Unfinishable> {
        match self.protocol {
            TCP => Ok(self.transport + 16),
            UDP => Ok(self.transport + 6),
            _ => Err(Unfinishable::NotTransport),
        }
    }

    /// The sum of the pseudo-header (RFC 9293 §3.1, RFC 8200 §8.1) for a packet that ends where `frame` or
    /// the IP header says, whichever is first.
    pub(super) fn pseudo_header_sum(&self, frame: &[u8]) -> Result<u64, Unfinishable> {
        let addresses = if self.ipv6 { 8..40 } else { 12..20 };
        let addresses = self.network + addresses.start..self.network + addresses.end;
        let addresses = frame.get(addresses).ok_or(Unfinishable::Truncated)?;
        let length = self.end.min(frame.len()).checked_sub(self.transport).ok_or(Unfinishable::Truncated)?;
        Ok(sum(addresses, u64::from(self.protocol) + length as u64))
    }
}

/// The end of an IPv4 packet. Total length 0 means "longer than 65535, ask the buffer".
fn end_of(network: usize, total_length: usize) -> usize {
    if total_length == 0 { usize::MAX } else { network + total_length }
}

/// The 16-bit field at `at`.
pub(super) fn be16(bytes: &[u8], at: usize) -> Result<u16, Unfinishable> {
    let field = bytes.get(at..).and_then(<[u8]>::first_chunk).ok_or(Unfinishable::Truncated)?;
    Ok(u16::from_be_bytes(*field))
}
