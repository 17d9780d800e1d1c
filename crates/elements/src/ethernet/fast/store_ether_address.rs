//! StoreEtherAddress: write an Ethernet address into a packet that is long enough and that nobody shares.

use clickwork_packet::Packet;

/// What the code knows of the element.
#[derive(Debug)]
pub struct Constants {
    /// The address.
    pub address: [u8; 6],
    /// The first byte of the annotation that has the address instead.
    pub anno: Option<u8>,
    /// Where the address goes in the data.
    pub offset: usize,
}

/// The common case.
#[inline(always)]
pub fn fast(c: &Constants, p: &mut Packet) -> Option<u16> {
    let address = match c.anno {
        Some(anno) => *p.annotations().get(usize::from(anno)..)?.first_chunk()?,
        None => c.address,
    };
    let place: &mut [u8; 6] = p.unshared_data_mut()?.get_mut(c.offset..)?.first_chunk_mut()?;
    *place = address;
    Some(0)
}
