//! DropBroadcasts: pass a packet that came to one host.

use clickwork_packet::{Packet, PacketType};

/// What the code knows of the element: nothing.
#[derive(Debug, Default)]
pub struct Constants;

/// The common case.
#[inline(always)]
pub fn fast(_: &Constants, p: &mut Packet) -> Option<u16> {
    (!is_for_many(p)).then_some(0)
}

/// Whether the packet arrived as a link-level broadcast or multicast.
#[inline(always)]
pub fn is_for_many(p: &Packet) -> bool {
    matches!(p.packet_type(), PacketType::Broadcast | PacketType::Multicast)
}
