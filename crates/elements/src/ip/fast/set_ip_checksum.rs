//! SetIPChecksum: compute the checksum of a header without options.

use clickwork_packet::Packet;
use clickwork_packet::checksum::checksum_20;

/// What the code knows of the element: nothing.
#[derive(Debug)]
pub struct Constants;

/// The common case.
#[inline(always)]
pub fn fast(_: &Constants, p: &mut Packet) -> Option<u16> {
    let header: &mut [u8; 20] = p.unshared_network_chunk_mut()?;
    if header[0] != 0x45 {
        return None;
    }
    [header[10], header[11]] = [0, 0];
    [header[10], header[11]] = checksum_20(header).to_be_bytes();
    Some(0)
}
