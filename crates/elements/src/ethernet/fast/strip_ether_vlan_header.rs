//! StripEtherVLANHeader: take off the Ethernet header of a frame of some VLAN.

use clickwork_packet::{Packet, anno};

/// What the code knows of the element.
#[derive(Debug)]
pub struct Constants {
    /// The VLAN whose frames have no tag.
    pub native: Option<u16>,
}

/// Frames that pass.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    let data = p.data();
    let header: &[u8; 14] = data.first_chunk()?;
    let (tci, length) = match header[12..] {
        [0x81, 0] => {
            let header: &[u8; 18] = data.first_chunk()?;
            ([header[14], header[15]], 18)
        }
        _ => (c.native?.to_be_bytes(), 14),
    };
    p.set_anno_bytes(anno::VLAN_TCI, &tci);
    p.pull(length);
    Some(0)
}
