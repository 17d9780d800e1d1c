//! IPOutputCombo: send a packet out that needs nothing but a lower time to live.

use super::{dec_ip_ttl, fix_ip_src, ip_gw_options};
use clickwork_packet::{Packet, PacketType};

/// What the code knows of the element.
#[derive(Debug, Default)]
pub struct Constants {
    /// The colour of packets that are copied.
    pub color: u8,
    /// The greatest length of a packet.
    pub mtu: u32,
}

/// The common case.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    let is_for_many = matches!(p.packet_type(), PacketType::Broadcast | PacketType::Multicast);
    if is_for_many || p.paint() == c.color || ip_gw_options::has_options(p) || fix_ip_src::is_marked(p) {
        return None;
    }
    dec_ip_ttl::fast(&dec_ip_ttl::Constants { active: true, multicast: true }, p)?;
    Some(if p.len() > c.mtu as usize { 4 } else { 0 })
}
