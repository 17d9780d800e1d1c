//! IPGWOptions: pass a packet without options.

use clickwork_packet::Packet;

/// What the code knows of the element: nothing.
#[derive(Debug, Default)]
pub struct Constants;

/// The common case.
#[inline(always)]
pub fn fast(_: &Constants, p: &mut Packet) -> Option<u16> {
    (!has_options(p)).then_some(0)
}

/// Whether the marked IP header has options.
#[inline(always)]
pub fn has_options(p: &Packet) -> bool {
    p.network_header().and_then(<[u8]>::first).is_some_and(|first| first & 0xF > 5)
}
