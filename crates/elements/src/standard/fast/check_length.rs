//! CheckLength: pass a packet that is not too long.

use clickwork_packet::Packet;

/// What the code knows of the element.
#[derive(Debug, Default)]
pub struct Constants {
    /// The greatest length.
    pub length: u32,
}

/// The common case.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    (p.len() <= c.length as usize).then_some(0)
}
