//! SetEtherAddress: note an Ethernet address.

use clickwork_packet::Packet;
use clickwork_packet::anno::Anno;

/// What the code knows of the element.
#[derive(Debug)]
pub struct Constants {
    /// The address.
    pub address: [u8; 6],
    /// The first byte of the annotation.
    pub anno: u8,
}

/// All cases.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    p.set_anno_bytes(Anno::new(c.anno, 6), &c.address);
    Some(0)
}
