//! Paint and SetAnnoByte: colour a packet, or set another annotation byte.

use clickwork_packet::Packet;

/// What the code knows of the element.
#[derive(Debug)]
pub struct Constants {
    /// The colour, or the value.
    pub color: u8,
    /// The annotation byte it goes to.
    pub anno: u8,
}

/// All cases.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    p.set_anno_u8(c.anno, c.color);
    Some(0)
}
