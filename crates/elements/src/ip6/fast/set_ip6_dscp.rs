//! SetIP6DSCP: change the code point of a packet (RFC 2474).

use clickwork_packet::Packet;

/// What the code knows of the element.
#[derive(Debug, Default)]
pub struct Constants {
    /// The code point.
    pub dscp: u8,
}

/// The common case.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    let header: &mut [u8; 40] = p.unshared_network_chunk_mut()?;
    // Four bits of version, six of code point, two for ECN.
    header[0] = header[0] & 0xf0 | c.dscp >> 2;
    header[1] = header[1] & 0x3f | c.dscp << 6;
    Some(0)
}
