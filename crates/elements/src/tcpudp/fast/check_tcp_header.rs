//! CheckTCPHeader: pass a good TCP packet without IP options (RFC 9293 §3.1).

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
    let &[first, _, l0, l1, _, _, _, _, _, protocol, _, _, s0, s1, s2, s3, d0, d1, d2, d3] = ip;
    let len = u16::from_be_bytes([l0, l1]).checked_sub(20)?;
    let segment = rest.get(..usize::from(len))?;
    let tcp: &[u8; 20] = segment.first_chunk()?;
    let header_len = usize::from(tcp[12] >> 4) * 4;
    if first != 0x45 || protocol != 6 || header_len < 20 || header_len > segment.len() {
        return None;
    }
    let (source, destination) = (Ipv4Address::new(s0, s1, s2, s3), Ipv4Address::new(d0, d1, d2, d3));
    let sum = Sum::ipv4_pseudo(source, destination, 6, len).bytes(segment);
    (sum.finish() == 0).then_some(0)
}
