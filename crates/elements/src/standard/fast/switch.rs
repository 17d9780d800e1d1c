//! Switch and StaticSwitch: send a packet to the one output.

use clickwork_packet::Packet;

/// What the code knows of the element.
#[derive(Debug, Default)]
pub struct Constants {
    /// The output; negative if packets are dropped.
    pub output: i32,
}

/// All cases but dropping.
#[inline(always)]
pub fn fast(c: &Constants, _: &mut Packet) -> Option<u16> {
    u16::try_from(c.output).ok()
}
