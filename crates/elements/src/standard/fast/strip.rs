//! Strip: remove bytes from the front of a packet.

use clickwork_packet::Packet;

/// What the code knows of the element.
#[derive(Debug, Default)]
pub struct Constants {
    /// Bytes to remove.
    pub length: u32,
}

/// All cases.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    p.pull(c.length as usize);
    Some(0)
}
