//! SetIPDSCP, SetIPECN and MarkIPCE: change the type of service of a packet without options (RFC 2474, RFC 3168 §5).

use clickwork_packet::Packet;
use clickwork_packet::checksum::update;

/// What the code knows of the element.
#[derive(Debug, Default)]
pub struct Constants {
    /// The bits that stay.
    pub keep: u8,
    /// The bits that are set then.
    pub set: u8,
    /// Whether packets whose ECN bits are 0 are left to the element.
    pub capable_only: bool,
}

/// The common case.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    let header: &mut [u8; 20] = p.unshared_network_chunk_mut()?;
    let old = header[1];
    if header[0] != 0x45 || (c.capable_only && old & 3 == 0) {
        return None;
    }
    let new = old & c.keep | c.set;
    header[1] = new;
    // The other byte of the word stays.
    let checksum = update(u16::from_be_bytes([header[10], header[11]]), old.into(), new.into());
    [header[10], header[11]] = checksum.to_be_bytes();
    Some(0)
}
