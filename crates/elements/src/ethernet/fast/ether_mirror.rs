//! EtherMirror: swap the addresses of an Ethernet frame that nobody shares.

use clickwork_packet::Packet;

/// What the code knows of the element: nothing.
#[derive(Debug)]
pub struct Constants;

/// The common case.
#[inline(always)]
pub fn fast(_: &Constants, p: &mut Packet) -> Option<u16> {
    let header: &mut [u8; 14] = p.unshared_data_mut()?.first_chunk_mut()?;
    let &mut [a, b, c, d, e, f, g, h, i, j, k, l, _, _] = header;
    header[..12].copy_from_slice(&[g, h, i, j, k, l, a, b, c, d, e, f]);
    Some(0)
}
