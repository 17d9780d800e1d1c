//! GetIP6Address: copy an address from the packet into the destination annotation.

use clickwork_packet::Packet;
use clickwork_packet::anno;

/// What the code knows of the element.
#[derive(Debug, Default)]
pub struct Constants {
    /// Where the address is in the data.
    pub offset: usize,
}

/// All cases.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    let octets: Option<[u8; 16]> = p.data().get(c.offset..).and_then(|from| from.first_chunk().copied());
    p.set_anno_bytes(anno::DST_IP6, &octets.unwrap_or_default());
    Some(0)
}
