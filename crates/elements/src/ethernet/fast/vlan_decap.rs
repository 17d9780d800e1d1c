//! VLANDecap: take the tag out of an Ethernet frame that nobody shares.

use clickwork_packet::{Packet, anno};

/// What the code knows of the element.
#[derive(Debug)]
pub struct Constants {
    /// Whether the annotation is set.
    pub annotate: bool,
    /// The tag's Ethernet type.
    pub ethertype: u16,
}

/// The common case.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    let is_tagged = p.data().first_chunk().is_some_and(|f: &[u8; 16]| f[12..14] == c.ethertype.to_be_bytes());
    let mut tci = [0, 0];
    if is_tagged {
        let front: &mut [u8; 16] = p.unshared_data_mut()?.first_chunk_mut()?;
        tci = [front[14], front[15]];
        front.copy_within(..12, 4);
        p.pull(4);
    }
    p.set_mac_header(0, 14);
    if c.annotate {
        p.set_anno_bytes(anno::VLAN_TCI, &tci);
    }
    Some(0)
}
