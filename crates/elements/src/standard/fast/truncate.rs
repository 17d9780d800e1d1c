//! Truncate: limit the length of a packet.

use clickwork_packet::{Packet, anno};

/// What the code knows of the element.
#[derive(Debug)]
pub struct Constants {
    /// The greatest length.
    pub length: u16,
    /// Whether the bytes cut off are noted.
    pub notes: bool,
}

/// All cases.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    let extra = p.len().saturating_sub(c.length.into());
    if extra > 0 {
        p.take(extra);
        if c.notes {
            let noted = p.anno_u32(anno::EXTRA_LENGTH).wrapping_add(extra as u32);
            p.set_anno_u32(anno::EXTRA_LENGTH, noted);
        }
    }
    Some(0)
}
