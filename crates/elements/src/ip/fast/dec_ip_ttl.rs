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
    if !c.multicast && header[16] & 0xf0 == 0xe0 {
        return Some(0);
    }
    // Time to live, protocol, and above them the checksum. It may be computed in any byte order (RFC 1071 §2 B); in this one
    // the word with the time to live becomes 1 less.
    let fields: &mut [u8; 4] = header[8..].first_chunk_mut()?;
    let old = u32::from_le_bytes(*fields);
    if old & 0xff <= 1 {
        return None;
    }
    // For that, RFC 1624 §3, equation 3, adds 1 to the checksum, and 1 more from 0xfffe on. One addition takes 1 from the
    // lower half and carries 1 into the upper.
    let more = if old >= 0xfffe_0000 { 0x1_0000 } else { 0 };
    *fields = old.wrapping_add(0xffff).wrapping_add(more).to_le_bytes();
    Some(0)
}
