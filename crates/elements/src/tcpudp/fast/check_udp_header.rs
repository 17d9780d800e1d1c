//! CheckUDPHeader: pass a good UDP packet without IP options (RFC 768).

use clickwork_packet::Packet;
use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::checksum::Sum;

/// What the code knows of the element: nothing.
#[derive(Debug)]
pub struct Constants;

/// The common case.
#[inline(always)]
pub fn fast(_: &Constants, p: &mut Packet) -> Option<u16> {
    let (ip, rest) = p.network_header()?.split_first_chunk::<20>()?;
    let udp: &[u8; 8] = rest.first_chunk()?;
    let len = u16::from_be_bytes([udp[4], udp[5]]);
    if ip[0] != 0x45 || ip[9] != 17 || len < 8 {
        return None;
    }
    let datagram = rest.get(..usize::from(len))?;
    if udp[6..] == [0, 0] {
        return Some(0);
    }
    let &[_, _, _, _, _, _, _, _, _, _, _, _, s0, s1, s2, s3, d0, d1, d2, d3] = ip;
    let (source, destination) = (Ipv4Address::new(s0, s1, s2, s3), Ipv4Address::new(d0, d1, d2, d3));
    let sum = Sum::ipv4_pseudo(source, destination, 17, len).bytes(datagram);
    (sum.finish() == 0).then_some(0)
}
