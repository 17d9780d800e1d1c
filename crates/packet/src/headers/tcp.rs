//! The TCP header (RFC 9293 §3.1), with its options.

use super::options::Options;
use super::view::{Header, View, ViewMut};
use crate::checksum::Sum;
use zerocopy::byteorder::big_endian::{U16, U32};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Control bits (RFC 9293 §3.1).
pub mod flag {
    /// The sender has no more data.
    pub const FIN: u8 = 0x01;
    /// Sequence numbers are being synchronised.
    pub const SYN: u8 = 0x02;
    /// The connection is reset.
    pub const RST: u8 = 0x04;
    /// Data should be pushed to the receiver.
    pub const PSH: u8 = 0x08;
    /// The acknowledgment number counts.
    pub const ACK: u8 = 0x10;
    /// The urgent pointer counts.
    pub const URG: u8 = 0x20;
    /// ECN echo (RFC 3168 §6.1).
    pub const ECE: u8 = 0x40;
    /// Congestion window reduced (RFC 3168 §6.1).
    pub const CWR: u8 = 0x80;
}

/// Option kinds (IANA "TCP Option Kind Numbers").
pub mod option {
    /// Maximum segment size.
    pub const MAXIMUM_SEGMENT_SIZE: u8 = 2;
    /// Window scale (RFC 7323 §2).
    pub const WINDOW_SCALE: u8 = 3;
    /// Selective acknowledgment permitted (RFC 2018 §2).
    pub const SACK_PERMITTED: u8 = 4;
    /// Selective acknowledgment (RFC 2018 §3).
    pub const SACK: u8 = 5;
    /// Timestamps (RFC 7323 §3).
    pub const TIMESTAMPS: u8 = 8;
}

/// A TCP header for reading.
pub type Tcp<'a> = View<'a, TcpHeader>;
/// A TCP header for writing.
pub type TcpMut<'a> = ViewMut<'a, TcpHeader>;

/// The 20 bytes that every TCP header starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct TcpHeader {
    source_port: U16,
    destination_port: U16,
    sequence: U32,
    acknowledgment: U32,
    data_offset: u8,
    /// The control bits of [`flag`].
    pub flags: u8,
    window: U16,
    checksum: U16,
    urgent: U16,
}

impl Default for TcpHeader {
    /// No options, everything else zero.
    fn default() -> Self {
        Self { data_offset: 0x50, ..Self::new_zeroed() }
    }
}

impl Header for TcpHeader {
    #[inline]
    fn header_len(&self) -> usize {
        self.data_offset()
    }
}

impl TcpHeader {
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

    /// SEG.SEQ, the number of the first byte of data (or of the SYN).
    #[inline]
    pub fn sequence(&self) -> u32 {
        self.sequence.get()
    }

    /// Sets SEG.SEQ.
    #[inline]
    pub fn set_sequence(&mut self, number: u32) {
        self.sequence.set(number);
    }

    /// SEG.ACK, the next number expected, if [`flag::ACK`] is set.
    #[inline]
    pub fn acknowledgment(&self) -> u32 {
        self.acknowledgment.get()
    }

    /// Sets SEG.ACK.
    #[inline]
    pub fn set_acknowledgment(&mut self, number: u32) {
        self.acknowledgment.set(number);
    }

    /// The length of the header in bytes, 0 to 60. Views have at least 20.
    #[inline]
    pub fn data_offset(&self) -> usize {
        usize::from(self.data_offset >> 4) * 4
    }

    /// Sets the length of the header, a multiple of 4 from 20 to 60 bytes.
    #[inline]
    pub fn set_data_offset(&mut self, bytes: usize) {
        debug_assert!(bytes.is_multiple_of(4) && (20..=60).contains(&bytes));
        self.data_offset = self.data_offset & 0xF | ((bytes / 4) as u8) << 4;
    }

    /// SEG.WND, not scaled.
    #[inline]
    pub fn window(&self) -> u16 {
        self.window.get()
    }

    /// Sets SEG.WND.
    #[inline]
    pub fn set_window(&mut self, window: u16) {
        self.window.set(window);
    }

    /// The checksum field.
    #[inline]
    pub fn checksum(&self) -> u16 {
        self.checksum.get()
    }

    /// Sets the checksum field.
    #[inline]
    pub fn set_checksum(&mut self, checksum: u16) {
        self.checksum.set(checksum);
    }

    /// SEG.UP, the urgent pointer, if [`flag::URG`] is set.
    #[inline]
    pub fn urgent(&self) -> u16 {
        self.urgent.get()
    }

    /// Sets SEG.UP.
    #[inline]
    pub fn set_urgent(&mut self, pointer: u16) {
        self.urgent.set(pointer);
    }
}

impl<'a> Tcp<'a> {
    /// The header's options.
    #[inline]
    pub fn options(&self) -> Options<'a> {
        Options::new(self.option_bytes())
    }

    /// Whether the checksum is right, given the sum of the pseudo-header.
    #[inline]
    pub fn checksum_is_right(&self, pseudo: Sum) -> bool {
        self.add_to(pseudo).finish() == 0
    }
}

impl TcpMut<'_> {
    /// Computes the checksum, given the sum of the pseudo-header, and stores it.
    #[inline]
    pub fn fill_checksum(&mut self, pseudo: Sum) {
        self.set_checksum(0);
        let checksum = self.as_view().add_to(pseudo).finish();
        self.set_checksum(checksum);
    }
}
