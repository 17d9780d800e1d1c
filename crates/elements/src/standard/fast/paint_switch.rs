//! PaintSwitch: send a packet to the output that its colour names.

use clickwork_packet::Packet;

/// What the code knows of the element.
#[derive(Debug)]
pub struct Constants {
    /// The annotation byte that the colour is in.
    pub anno: u8,
    /// The number of outputs.
    pub outputs: usize,
}

/// The colour that goes everywhere.
pub const ALL: u8 = 255;

/// Packets that go to one output.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    let color = p.anno_u8(c.anno);
    (color != ALL && usize::from(color) < c.outputs).then_some(color.into())
}
