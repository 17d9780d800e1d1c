//! IPFragmenter: pass a packet that need not be cut.

use clickwork_packet::Packet;

/// What the code knows of the element.
#[derive(Debug)]
pub struct Constants {
    /// The greatest length of an IP packet.
    pub mtu: u32,
}

/// The common case.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    fits(c, p).then_some(0)
}

/// Whether the packet need not be cut.
#[inline(always)]
pub fn fits(c: &Constants, p: &Packet) -> bool {
    let mtu = c.mtu as usize;
    p.len() <= mtu || p.network_header().is_some_and(|ip| ip.len() <= mtu)
}
