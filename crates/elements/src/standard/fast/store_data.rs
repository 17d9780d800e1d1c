//! StoreData: write fixed bytes into a packet that nobody shares.

use clickwork_packet::Packet;

/// What the code knows of the element.
#[derive(Debug)]
pub struct Constants<'a> {
    /// Where they go in the data.
    pub offset: usize,
    /// The bytes. What the packet is too short for is left out.
    pub data: &'a [u8],
}

/// The common case.
#[inline(always)]
pub fn fast(c: &Constants<'_>, p: &mut Packet) -> Option<u16> {
    let place = p.unshared_data_mut()?.get_mut(c.offset..).unwrap_or_default();
    match place.get_mut(..c.data.len()) {
        Some(place) => place.copy_from_slice(c.data),
        None => place.iter_mut().zip(c.data).for_each(|(to, byte)| *to = *byte),
    }
    Some(0)
}
