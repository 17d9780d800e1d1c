//! MarkIPHeader: note where the IP header is.

use clickwork_packet::Packet;

/// What the code knows of the element.
#[derive(Debug, Default)]
pub struct Constants {
    /// Where the header is in the data.
    pub offset: u32,
}

/// All cases.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    let first = p.data().get(c.offset as usize).copied().unwrap_or_default();
    p.set_network_header(c.offset as i32, u32::from(first & 0xF) * 4);
    Some(0)
}
