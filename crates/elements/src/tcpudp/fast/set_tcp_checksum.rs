//! SetTCPChecksum: compute the checksum of a whole segment that nobody shares, without IP options (RFC 9293 §3.1).

use clickwork_packet::Packet;
use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::checksum::Sum;

/// What the code knows of the element.
#[derive(Debug, Default)]
pub struct Constants {
    /// Whether a data offset outside of the segment is mended.
    pub mends: bool,
}

/// The common case.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    let (ip, rest) = p.unshared_network_header_mut()?.split_first_chunk_mut::<20>()?;
    let &mut [first, _, l0, l1, _, _, _, _, _, protocol, _, _, s0, s1, s2, s3, d0, d1, d2, d3] = ip;
    let len = u16::from_be_bytes([l0, l1]).checked_sub(20)?;
    let segment = rest.get_mut(..usize::from(len))?;
    let header: &mut [u8; 20] = segment.first_chunk_mut()?;
    let header_len = u16::from(header[12] >> 4) * 4;
    if first != 0x45 || (c.mends && (header_len < 20 || header_len > len)) {
        return None;
    }
    [header[16], header[17]] = [0, 0];
    let (source, destination) = (Ipv4Address::new(s0, s1, s2, s3), Ipv4Address::new(d0, d1, d2, d3));
    let sum = Sum::ipv4_pseudo(source, destination, protocol, len).bytes(segment).finish();
    segment[16..18].copy_from_slice(&sum.to_be_bytes());
    Some(0)
}
