//! CheckICMPHeader: pass a good echo or its reply, without IP options (RFC 792).

use clickwork_packet::Packet;
use clickwork_packet::checksum::checksum;

/// What the code knows of the element: nothing.
#[derive(Debug)]
pub struct Constants;

/// The common case.
#[inline(always)]
pub fn fast(_: &Constants, p: &mut Packet) -> Option<u16> {
    let ip: &[u8; 20] = p.network_header()?.first_chunk()?;
    let message = p.transport_header()?;
    let header: &[u8; 8] = message.first_chunk()?;
    let is_echo = ip[0] == 0x45 && ip[9] == 1 && matches!(header[0], 0 | 8);
    (is_echo && checksum(message) == 0).then_some(0)
}
