//! SetVLANAnno: note a VLAN tag.

use clickwork_packet::{Packet, anno};

/// What the code knows of the element.
#[derive(Debug)]
pub struct Constants {
    /// The tag.
    pub tci: [u8; 2],
}

/// All cases.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    p.set_anno_bytes(anno::VLAN_TCI, &c.tci);
    Some(0)
}
