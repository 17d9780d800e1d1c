//! CheckPaint: pass a packet of the colour.

use clickwork_packet::Packet;

/// What the code knows of the element.
#[derive(Debug)]
pub struct Constants {
    /// The colour of packets that pass.
    pub color: u8,
    /// The annotation byte it is in.
    pub anno: u8,
}

/// The common case.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    (p.anno_u8(c.anno) == c.color).then_some(0)
}
