//! UnstripIPHeader: put a stripped IP header back.

use clickwork_packet::Packet;

/// What the code knows of the element: nothing.
#[derive(Debug)]
pub struct Constants;

/// All cases: there is room for what was stripped.
#[inline(always)]
pub fn fast(_: &Constants, p: &mut Packet) -> Option<u16> {
    if let Some(offset) = p.network_offset().filter(|&offset| offset < 0) {
        let stripped = offset.unsigned_abs() as usize;
        if stripped > p.headroom() {
            return None;
        }
        p.unpull(stripped);
    }
    Some(0)
}
