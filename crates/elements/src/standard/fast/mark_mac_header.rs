//! MarkMACHeader: note where the link-level header is.

use clickwork_packet::Packet;

/// What the code knows of the element.
#[derive(Debug, Default)]
pub struct Constants {
    /// Where the header is in the data.
    pub offset: i32,
    /// Its length, or 0 if that is not known.
    pub length: i32,
}

/// All cases.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    p.set_mac_offset(c.offset);
    if c.length > 0 {
        p.set_network_header(c.offset + c.length, 0);
    }
    Some(0)
}
