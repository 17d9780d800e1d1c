//! CheckIP6Header: let a good packet through (RFC 8200 §3).

use clickwork_packet::Packet;

/// What the code knows of the element.
#[derive(Debug)]
pub struct Constants<'a> {
    /// Where the header is in the data.
    pub offset: usize,
    /// Sources that are not let through without more ado, beside the one of nothing but ones.
    pub bad_sources: &'a [u128],
}

/// The common case.
#[inline(always)]
pub fn fast(c: &Constants<'_>, p: &mut Packet) -> Option<u16> {
    let ip = p.data().get(c.offset..)?;
    let header: &[u8; 40] = ip.first_chunk()?;
    let source: &[u8; 16] = header[8..].first_chunk()?;
    let source = u128::from_be_bytes(*source);
    let len = 40 + usize::from(u16::from_be_bytes([header[4], header[5]]));
    if header[0] >> 4 != 6 || len > ip.len() || source == u128::MAX || c.bad_sources.contains(&source) {
        return None;
    }
    p.set_network_header(c.offset as i32, 40);
    p.truncate(c.offset + len);
    Some(0)
}
