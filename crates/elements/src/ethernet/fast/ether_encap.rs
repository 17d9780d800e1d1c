//! EtherEncap: put a packet that has room in front into an Ethernet frame.

use clickwork_packet::Packet;

/// What the code knows of the element.
#[derive(Debug)]
pub struct Constants {
    /// The Ethernet header.
    pub header: [u8; 14],
}

/// The common case.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    *p.unshared_push()? = c.header;
    p.set_mac_header(0, 14);
    Some(0)
}
