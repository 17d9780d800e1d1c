//! DecIP6HLIM: lower the hop limit of a packet that has some left (RFC 8200 §3).

use clickwork_packet::Packet;

/// What the code knows of the element: nothing.
#[derive(Debug, Default)]
pub struct Constants;

/// The common case.
#[inline(always)]
pub fn fast(_: &Constants, p: &mut Packet) -> Option<u16> {
    let header: &mut [u8; 40] = p.unshared_network_chunk_mut()?;
    if header[7] <= 1 {
        return None;
    }
    header[7] -= 1;
    Some(0)
}
