//! SetIP6Address: note an address.

use clickwork_packet::Packet;
use clickwork_packet::anno;

/// What the code knows of the element.
#[derive(Debug)]
pub struct Constants {
    /// The address.
    pub octets: [u8; 16],
}

/// All cases.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    p.set_anno_bytes(anno::DST_IP6, &c.octets);
    Some(0)
}
