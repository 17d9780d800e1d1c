//! DecIPTTL: lower the time to live of a packet that has some left (RFC 1812 §5.3.1).

use clickwork_packet::Packet;

/// What the code knows of the element.
#[derive(Debug)]
pub struct Constants {
    /// Whether anything is done.
    pub active: bool,
    /// Whether multicast packets are treated too.
    pub multicast: bool,
}

impl Default for Constants {
    fn default() -> Constants {
        Constants { active: true, multicast: true }
    }
}

/// The common case.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    if !c.active {
        return Some(0);
    }
    let header: &mut [u8; 20] = p.unshared_network_chunk_mut()?;
    let (ttl, is_multicast) = (header[8], header[16] & 0xf0 == 0xe0);
    if is_multicast && !c.multicast {
        return Some(0);
    }
    if ttl <= 1 {
        return None;
    }
    header[8] = ttl - 1;
    // RFC 1624 §3, equation 3, for a word that becomes 0x100 less.
    let sum = u32::from(!u16::from_be_bytes([header[10], header[11]])) + 0xfeff;
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    Some(0)
}
