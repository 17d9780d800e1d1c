//! IPInputCombo: take a good IP packet out of its Ethernet frame.

use super::check_ip_header;
use clickwork_packet::Packet;

/// What the code knows of the element.
#[derive(Debug)]
pub struct Constants<'a> {
    /// The colour of packets.
    pub color: u8,
    /// The check, which looks behind the Ethernet header.
    pub check: check_ip_header::Constants<'a>,
}

/// The common case.
#[inline(always)]
pub fn fast(c: &Constants<'_>, p: &mut Packet) -> Option<u16> {
    check_ip_header::fast(&c.check, p)?;
    p.pull(c.check.offset);
    p.set_paint(c.color);
    Some(0)
}
