//! The one way a header is found in data: fixed part, options, payload.
//!
//! A protocol declares its fixed part as a struct and implements [`Header`]; the views do all length checks, here and
//! nowhere else.

use crate::checksum::Sum;
use std::ops::{Deref, DerefMut};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The fixed part of a protocol header: a struct whose fields are in wire order and big-endian.
pub trait Header: Sized + FromBytes + IntoBytes + Immutable + KnownLayout + Unaligned {
    /// The length in bytes of the whole header with options, as its fields say. A view exists only if this is at least
    /// the size of the fixed part and the data hold it.
    fn header_len(&self) -> usize {
        size_of::<Self>()
    }

    /// Of the `available` bytes after the header, how many belong to it. The views never take more than there are.
    fn payload_len(&self, available: usize) -> usize {
        available
    }

    /// Whether these bytes can be this protocol at all, as far as the layout of the rest depends on it.
    fn is_plausible(&self) -> bool {
        true
    }

    /// The fixed part at the front of `data`, with no other check than that it is whole.
    #[inline]
    fn peek(data: &[u8]) -> Option<&Self> {
        Self::ref_from_prefix(data).ok().map(|(header, _)| header)
    }

    /// The fixed part at the front of `data` for writing, with no other check than that it is whole.
    #[inline]
    fn peek_mut(data: &mut [u8]) -> Option<&mut Self> {
        Self::mut_from_prefix(data).ok().map(|(header, _)| header)
    }
}

/// A whole header in borrowed data, with its options and payload. Dereferences to the fixed part.
#[derive(Debug)]
pub struct View<'a, H> {
    header: &'a H,
    options: &'a [u8],
    payload: &'a [u8],
}

impl<H> Clone for View<'_, H> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<H> Copy for View<'_, H> {}

impl<'a, H: Header> View<'a, H> {
    /// The header at the front of `data`; `None` if the data are cut short or cannot be this protocol.
    #[inline]
    pub fn new(data: &'a [u8]) -> Option<Self> {
        let (header, rest) = H::ref_from_prefix(data).ok()?;
        let (options, rest) = rest.split_at_checked(options_len(header)?)?;
        let payload = &rest[..header.payload_len(rest.len()).min(rest.len())];
        Some(Self { header, options, payload })
    }

    /// The fixed part.
    #[inline]
    pub fn header(&self) -> &'a H {
        self.header
    }

    /// The bytes between the fixed part and the payload.
    #[inline]
    pub fn option_bytes(&self) -> &'a [u8] {
        self.options
    }

    /// What the header carries: at most what its length field says, at most what is there.
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// `sum` continued with header, options and payload.
    #[inline]
    pub fn add_to(&self, sum: Sum) -> Sum {
        sum.bytes(self.header.as_bytes()).bytes(self.options).bytes(self.payload)
    }
}

impl<H> Deref for View<'_, H> {
    type Target = H;

    #[inline]
    fn deref(&self) -> &H {
        self.header
    }
}

/// A whole header in exclusively borrowed data. Dereferences to the fixed part.
///
/// The bounds are those of the moment of the check: a later change of a length field does not move them.
#[derive(Debug)]
pub struct ViewMut<'a, H> {
    header: &'a mut H,
    options: &'a mut [u8],
    payload: &'a mut [u8],
}

impl<'a, H: Header> ViewMut<'a, H> {
    /// The header at the front of `data`; `None` if the data are cut short or cannot be this protocol.
    #[inline]
    pub fn new(data: &'a mut [u8]) -> Option<Self> {
        let (header, rest) = H::mut_from_prefix(data).ok()?;
        let (options, rest) = rest.split_at_mut_checked(options_len(header)?)?;
        let wanted = header.payload_len(rest.len()).min(rest.len());
        let payload = &mut rest[..wanted];
        Some(Self { header, options, payload })
    }

    /// The same header for reading.
    #[inline]
    pub fn as_view(&self) -> View<'_, H> {
        View { header: self.header, options: self.options, payload: self.payload }
    }

    /// The bytes between the fixed part and the payload.
    #[inline]
    pub fn option_bytes_mut(&mut self) -> &mut [u8] {
        self.options
    }

    /// What the header carries.
    #[inline]
    pub fn payload_mut(&mut self) -> &mut [u8] {
        self.payload
    }
}

impl<H> Deref for ViewMut<'_, H> {
    type Target = H;

    #[inline]
    fn deref(&self) -> &H {
        self.header
    }
}

impl<H> DerefMut for ViewMut<'_, H> {
    #[inline]
    fn deref_mut(&mut self) -> &mut H {
        self.header
    }
}

/// How many bytes of options the header claims, or `None` if it claims to be shorter than its fixed part.
#[inline]
fn options_len<H: Header>(header: &H) -> Option<usize> {
    let length = header.header_len().checked_sub(size_of::<H>())?;
    header.is_plausible().then_some(length)
}
