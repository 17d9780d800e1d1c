//! MarkIP6Header: note where the IPv6 header is.

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
    p.set_network_header(c.offset as i32, 40);
    Some(0)
}
