//! Unstrip: put bytes back at the front of a packet that has room for them.

use clickwork_packet::Packet;

/// What the code knows of the element.
#[derive(Debug, Default)]
pub struct Constants {
    /// Bytes to add.
    pub length: u32,
}

/// The common case.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    if p.headroom() < c.length as usize {
        return None;
    }
    p.unpull(c.length as usize);
    Some(0)
}
