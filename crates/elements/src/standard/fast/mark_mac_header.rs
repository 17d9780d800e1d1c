//! MarkMACHeader: note where the link-level header is.

use clickwork_packet::Packet;

/// What the code knows of the element.
#[derive(Debug, Default)]
pub struct Constants {
    /// Where the header is in the data.
    pub offset: i32,
    /// Its length, or 0 if that is not known.
    pub length: u32,
}

/// All cases.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    match c.length {
        0 => p.set_mac_offset(c.offset),
        length => p.set_mac_header(c.offset, length),
    }
    Some(0)
}
