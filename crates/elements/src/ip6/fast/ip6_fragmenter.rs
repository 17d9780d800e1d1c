//! IP6Fragmenter: pass a packet that is not too long.

use clickwork_packet::Packet;

/// What the code knows of the element.
#[derive(Debug)]
pub struct Constants {
    /// The greatest length of an IPv6 packet.
    pub mtu: u32,
}

/// The common case.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    fits(c, p).then_some(0)
}

/// Whether the packet is short enough.
#[inline(always)]
pub fn fits(c: &Constants, p: &Packet) -> bool {
    p.len() <= c.mtu as usize
}
