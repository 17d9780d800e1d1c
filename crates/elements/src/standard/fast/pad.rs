//! Pad: extend a packet where it lies.

use clickwork_packet::{Packet, anno};

/// What the code knows of the element.
#[derive(Debug)]
pub struct Constants {
    /// The least length; 0: as the extra length annotation says.
    pub length: u32,
    /// Whether new bytes are set to 0.
    pub zero: bool,
}

/// Packets are not made longer than this.
pub const LONGEST: u32 = u16::MAX as u32;

/// The common case.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    let wanted = wanted(c, p);
    if wanted > p.len() {
        if wanted > LONGEST as usize {
            return None;
        }
        let added = p.unshared_put(wanted - p.len())?;
        if c.zero {
            added.fill(0);
        }
    }
    p.set_anno_u32(anno::EXTRA_LENGTH, 0);
    Some(0)
}

/// The length that the packet should have at least.
#[inline(always)]
pub fn wanted(c: &Constants, p: &Packet) -> usize {
    match c.length {
        0 => p.len().saturating_add(p.anno_u32(anno::EXTRA_LENGTH) as usize),
        length => length as usize,
    }
}
