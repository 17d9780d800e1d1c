//! SetPacketType: say who a packet was addressed to.

use clickwork_packet::{Packet, PacketType};

/// What the code knows of the element.
#[derive(Default)]
pub struct Constants {
    /// The packet type.
    pub packet_type: PacketType,
}

/// All cases.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    p.set_packet_type(c.packet_type);
    Some(0)
}
