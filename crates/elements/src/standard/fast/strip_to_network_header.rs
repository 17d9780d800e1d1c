//! StripToNetworkHeader: let a packet begin with its network header.

use clickwork_packet::Packet;

/// What the code knows of the element: nothing.
#[derive(Debug)]
pub struct Constants;

/// All cases: there is room for what was stripped.
#[inline(always)]
pub fn fast(_: &Constants, p: &mut Packet) -> Option<u16> {
    match p.network_offset() {
        Some(offset) if offset < 0 => {
            let stripped = offset.unsigned_abs() as usize;
            if stripped > p.headroom() {
                return None;
            }
            p.unpull(stripped);
        }
        Some(offset) => p.pull(offset as usize),
        None => {}
    }
    Some(0)
}
