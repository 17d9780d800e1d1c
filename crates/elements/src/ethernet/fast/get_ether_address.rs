//! GetEtherAddress: copy an Ethernet address from a packet that is long enough into an annotation.

use clickwork_packet::Packet;
use clickwork_packet::anno::Anno;

/// What the code knows of the element.
#[derive(Debug, Default)]
pub struct Constants {
    /// Where the address is in the data.
    pub offset: usize,
    /// The first byte of the annotation.
    pub anno: u8,
}

/// The common case.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    let address: [u8; 6] = *p.data().get(c.offset..)?.first_chunk()?;
    p.set_anno_bytes(Anno::new(c.anno, 6), &address);
    Some(0)
}
