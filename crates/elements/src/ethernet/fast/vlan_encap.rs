//! VLANEncap: put a tag into an Ethernet frame that has room in front.

use clickwork_packet::{Packet, anno};

/// What the code knows of the element.
#[derive(Debug)]
pub struct Constants {
    /// The tag; by default the packet's VLAN annotation.
    pub tci: Option<u16>,
    /// The VLAN whose frames have no tag.
    pub native: Option<u16>,
    /// The tag's Ethernet type.
    pub ethertype: u16,
}

/// The common case.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    let tci = c.tci.unwrap_or(u16::from_be(p.anno_u16(anno::VLAN_TCI)));
    let is_tagged = c.native != Some(tci & 0xfff);
    if is_tagged {
        let addresses: [u8; 12] = *p.data().first_chunk()?;
        p.unshared_push::<4>()?;
        // There are 16 bytes now, which nobody shares.
        if let Some(front) = p.unshared_data_mut().and_then(|data| data.first_chunk_mut::<16>()) {
            front[..12].copy_from_slice(&addresses);
            front[12..14].copy_from_slice(&c.ethertype.to_be_bytes());
            front[14..].copy_from_slice(&tci.to_be_bytes());
        }
    }
    p.set_mac_header(0, if is_tagged { 18 } else { 14 });
    Some(0)
}
