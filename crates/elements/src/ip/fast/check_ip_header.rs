//! CheckIPHeader: let a good packet without options through (RFC 1812 §5.2.2).

use clickwork_packet::Packet;
use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::checksum::checksum_20;

/// What the code knows of the element.
#[derive(Debug)]
pub struct Constants<'a> {
    /// Where the header is in the data.
    pub offset: usize,
    /// Whether the checksum is looked at.
    pub checksum: bool,
    /// Sources that are not let through without more ado.
    pub bad_sources: Addresses<'a>,
}

/// A set of addresses. Most of those that are not in it are told apart without a search.
#[derive(Debug)]
pub struct Addresses<'a> {
    /// Which values of an address's last six bits occur.
    pub endings: u64,
    /// The addresses.
    pub sorted: &'a [u32],
}

impl Addresses<'_> {
    #[inline(always)]
    fn contains(&self, bits: u32) -> bool {
        self.endings >> (bits & 63) & 1 != 0 && self.sorted.binary_search(&bits).is_ok()
    }
}

/// The common case.
#[inline(always)]
pub fn fast(c: &Constants<'_>, p: &mut Packet) -> Option<u16> {
    let ip = p.data().get(c.offset..)?;
    let header: &[u8; 20] = ip.first_chunk()?;
    let &[first, _, l0, l1, _, _, _, _, _, _, _, _, s0, s1, s2, s3, d0, d1, d2, d3] = header;
    let len = usize::from(u16::from_be_bytes([l0, l1]));
    if first != 0x45 || len < 20 || len > ip.len() || (c.checksum && checksum_20(header) != 0) {
        return None;
    }
    if c.bad_sources.contains(u32::from_be_bytes([s0, s1, s2, s3])) {
        return None;
    }
    p.set_network_header(c.offset as i32, 20);
    p.set_dst_ip(Ipv4Address::new(d0, d1, d2, d3));
    p.truncate(c.offset + len);
    Some(0)
}
