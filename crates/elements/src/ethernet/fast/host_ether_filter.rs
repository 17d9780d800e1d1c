//! HostEtherFilter: pass an Ethernet frame that a host should receive, and say who it addresses.

use clickwork_packet::{Packet, PacketType};

/// What the code knows of the element.
#[derive(Debug)]
pub struct Constants {
    /// The host's address.
    pub own: [u8; 6],
    /// Whether frames from the host are refused.
    pub drop_own: bool,
    /// Whether frames to other hosts are refused.
    pub drop_other: bool,
    /// Where the Ethernet header is in the data.
    pub offset: usize,
}

/// Frames that pass.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    let &[a, b, d, e, f, g, ref from @ ..]: &[u8; 12] = p.data().get(c.offset..)?.first_chunk()?;
    let to = [a, b, d, e, f, g];
    if c.drop_own && *from == c.own {
        return None;
    }
    let kind = match to {
        _ if to == c.own => PacketType::Host,
        [0xff, 0xff, 0xff, 0xff, 0xff, 0xff] => PacketType::Broadcast,
        [first, ..] if first & 1 != 0 => PacketType::Multicast,
        _ if c.drop_other => return None,
        _ => PacketType::OtherHost,
    };
    p.set_packet_type(kind);
    Some(0)
}
