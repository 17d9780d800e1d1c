//! Align: pass a packet whose data lie right.

use clickwork_packet::Packet;

/// What the code knows of the element.
#[derive(Debug)]
pub struct Constants {
    /// 2, 4 or 8.
    pub modulus: u32,
    /// What the address of the data should leave when divided by that.
    pub offset: u32,
}

/// The common case.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    (p.data().as_ptr().addr().checked_rem(c.modulus as usize)? == c.offset as usize).then_some(0)
}
