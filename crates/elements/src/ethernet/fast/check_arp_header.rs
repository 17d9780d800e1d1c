//! CheckARPHeader: pass an ARP packet for Ethernet and IPv4 addresses (RFC 826).

use clickwork_packet::Packet;

/// What the code knows of the element.
#[derive(Debug, Default)]
pub struct Constants {
    /// Where the header is in the data.
    pub offset: usize,
}

/// The common case.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    let header: &[u8; 28] = p.data().get(c.offset..)?.first_chunk()?;
    if header[..6] != [0, 1, 8, 0, 6, 4] {
        return None;
    }
    p.set_network_header(c.offset as i32, 28);
    Some(0)
}
