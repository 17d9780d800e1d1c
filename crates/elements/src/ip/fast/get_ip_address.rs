//! GetIPAddress: copy an address from the packet into an annotation.

use clickwork_packet::Packet;
use clickwork_packet::anno::Anno;

/// What the code knows of the element.
#[derive(Debug, Default)]
pub struct Constants {
    /// Where the address is: in the data, or in the IP header.
    pub offset: usize,
    /// Whether it is in the IP header.
    pub in_header: bool,
    /// The first byte of the annotation.
    pub anno: u8,
}

/// All cases.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    let from = if c.in_header { p.network_header().filter(|h| h.len() >= 20) } else { Some(p.data()) };
    let octets: Option<[u8; 4]> = from.and_then(|from| from.get(c.offset..)?.first_chunk().copied());
    p.set_anno_bytes(Anno::new(c.anno, 4), &octets.unwrap_or_default());
    Some(0)
}
