//! EnsureEther: let a packet that begins with its network header, or with an Ethernet header before that, have one.

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
    match p.network_offset() {
        Some(14) if has_header(p) => Some(0),
        Some(0) if p.headroom() >= 14 => {
            p.unpull(14);
            if !has_header(p) {
                p.pull(14);
                *p.unshared_push()? = c.header;
            }
            Some(0)
        }
        Some(0..) => None,
        _ => Some(0),
    }
}

/// Whether the packet begins with an Ethernet header for IP.
#[inline(always)]
pub fn has_header(p: &Packet) -> bool {
    p.data().first_chunk().is_some_and(|header: &[u8; 14]| {
        matches!(u16::from_be_bytes([header[12], header[13]]), 0x0800 | 0x86dd)
    })
}
