//! HashSwitch: choose an output by the sum of some bytes.

use clickwork_packet::Packet;

/// What the code knows of the element.
#[derive(Debug, Default)]
pub struct Constants {
    /// Where the bytes are in the packet.
    pub offset: usize,
    /// How many they are.
    pub length: usize,
    /// The number of outputs, at least 1.
    pub outputs: usize,
}

/// All cases.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    let Some(bytes) = p.data().get(c.offset..c.offset.saturating_add(c.length)) else { return Some(0) };
    let sum: usize = bytes.iter().map(|&b| usize::from(b)).sum();
    // Few outputs: the upper half of each byte counts too.
    let hash = if matches!(c.outputs, 2 | 4 | 8) { sum ^ sum >> 4 } else { sum };
    Some(hash.checked_rem(c.outputs)? as u16)
}
