//! StripIPHeader: remove the IP header.

use clickwork_packet::Packet;

/// What the code knows of the element: nothing.
#[derive(Debug)]
pub struct Constants;

/// All cases.
#[inline(always)]
pub fn fast(_: &Constants, p: &mut Packet) -> Option<u16> {
    let first = p.network_header().and_then(<[u8]>::first).copied().unwrap_or_default();
    p.pull(usize::from(first & 0xF) * 4);
    Some(0)
}
