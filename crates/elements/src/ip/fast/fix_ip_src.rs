//! FixIPSrc: pass a packet that is not marked for a new source.

use clickwork_packet::{Packet, anno};

/// What the code knows of the element: nothing.
#[derive(Debug, Default)]
pub struct Constants;

/// The common case.
#[inline(always)]
pub fn fast(_: &Constants, p: &mut Packet) -> Option<u16> {
    (!is_marked(p)).then_some(0)
}

/// Whether the packet is marked for a new source.
#[inline(always)]
pub fn is_marked(p: &Packet) -> bool {
    p.anno_u8(anno::FIX_IP_SRC.offset) != 0
}
