//! SetUDPChecksum: compute the checksum of a whole datagram that nobody shares, without IP options (RFC 768).

use clickwork_packet::Packet;
use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::checksum::Sum;

/// What the code knows of the element: nothing.
#[derive(Debug)]
pub struct Constants;

/// The common case.
#[inline(always)]
pub fn fast(_: &Constants, p: &mut Packet) -> Option<u16> {
    let (ip, rest) = p.unshared_network_header_mut()?.split_first_chunk_mut::<20>()?;
    let &mut [first, _, _, _, _, _, f0, f1, _, protocol, _, _, s0, s1, s2, s3, d0, d1, d2, d3] = ip;
    let &mut [_, _, _, _, l0, l1, _, _] = rest.first_chunk_mut()?;
    let len = u16::from_be_bytes([l0, l1]);
    let datagram = rest.get_mut(..usize::from(len))?;
    let is_fragment = (f0 & 0x3F, f1) != (0, 0);
    if first != 0x45 || len < 8 || is_fragment {
        return None;
    }
    let (source, destination) = (Ipv4Address::new(s0, s1, s2, s3), Ipv4Address::new(d0, d1, d2, d3));
    datagram[6..8].fill(0);
    let sum = Sum::ipv4_pseudo(source, destination, protocol, len).bytes(datagram).finish();
    // 0 says that there is no checksum.
    let sum = if sum == 0 { 0xffff } else { sum };
    datagram[6..8].copy_from_slice(&sum.to_be_bytes());
    Some(0)
}
