//! StoreIPAddress: write an address into a packet that nobody shares, at an offset. Not: into the IP header.

use clickwork_packet::Packet;

/// What the code knows of the element.
#[derive(Debug)]
pub struct Constants {
    /// The address; by default the destination annotation.
    pub octets: Option<[u8; 4]>,
    /// Where it goes in the data.
    pub offset: usize,
}

/// The common case.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    // An annotation of 0.0.0.0 is one that was not set.
    let octets = c.octets.or(Some(p.dst_ip().octets()).filter(|o| *o != [0; 4]))?;
    let place: &mut [u8; 4] = p.unshared_data_mut()?.get_mut(c.offset..)?.first_chunk_mut()?;
    *place = octets;
    Some(0)
}
