//! The UDP header (RFC 768).

use super::view::{Header, View, ViewMut};
use crate::checksum::Sum;
use zerocopy::byteorder::big_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// A UDP header for reading. Its payload ends where the length field says.
pub type Udp<'a> = View<'a, UdpHeader>;
/// A UDP header for writing.
pub type UdpMut<'a> = ViewMut<'a, UdpHeader>;

/// The 8 bytes of a UDP header.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Default, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[repr(C)]
pub struct UdpHeader {
    source_port: U16,
    destination_port: U16,
    length: U16,
    checksum: U16,
}

impl Header for UdpHeader {
    #[inline]
    fn payload_len(&self, _available: usize) -> usize {
        usize::from(self.length.get()).saturating_sub(size_of::<Self>())
    }
}

impl UdpHeader {
    /// A header with checksum 0, "none"; `length` counts header and payload in bytes.
    pub const fn new(source_port: u16, destination_port: u16, length: u16) -> Self {
        Self {
            source_port: U16::new(source_port),
            destination_port: U16::new(destination_port),
            length: U16::new(length),
            checksum: U16::ZERO,
        }
    }

    /// The sender's port.
    #[inline]
    pub fn source_port(&self) -> u16 {
        self.source_port.get()
    }

    /// Sets the sender's port; the checksum stays.
    #[inline]
    pub fn set_source_port(&mut self, port: u16) {
        self.source_port.set(port);
    }

    /// The receiver's port.
    #[inline]
    pub fn destination_port(&self) -> u16 {
        self.destination_port.get()
    }

    /// Sets the receiver's port; the checksum stays.
    #[inline]
    pub fn set_destination_port(&mut self, port: u16) {
        self.destination_port.set(port);
    }

    /// The length in bytes of header and payload.
    #[inline]
    pub fn length(&self) -> u16 {
        self.length.get()
    }

    /// Sets the length in bytes of header and payload.
    #[inline]
    pub fn set_length(&mut self, bytes: u16) {
        self.length.set(bytes);
    }

    /// The checksum field; 0 means that the sender computed none.
    #[inline]
    pub fn checksum(&self) -> u16 {
        self.checksum.get()
    }

    /// Sets the checksum field.
    #[inline]
    pub fn set_checksum(&mut self, checksum: u16) {
        self.checksum.set(checksum);
    }
}

impl Udp<'_> {
    /// Whether the checksum is right or absent, given the sum of the pseudo-header.
    #[inline]
    pub fn checksum_is_right(&self, pseudo: Sum) -> bool {
        self.checksum() == 0 || self.add_to(pseudo).finish() == 0
    }
}

impl UdpMut<'_> {
    /// Computes the checksum, given the sum of the pseudo-header, and stores it; never as 0, which means "none".
    #[inline]
    pub fn fill_checksum(&mut self, pseudo: Sum) {
        self.set_checksum(0);
        let checksum = self.as_view().add_to(pseudo).finish();
        self.set_checksum(if checksum == 0 { 0xFFFF } else { checksum });
    }
}
