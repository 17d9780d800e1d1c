//! Null: pass a packet.

use clickwork_packet::Packet;

/// What the code knows of the element: nothing.
#[derive(Debug, Default)]
pub struct Constants;

/// All cases.
#[inline(always)]
pub fn fast(_: &Constants, _: &mut Packet) -> Option<u16> {
    Some(0)
}
