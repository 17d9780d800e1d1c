//! ICMPv6 messages (RFC 4443) and the fixed part of neighbor discovery (RFC 4861 §4).

use super::view::{Header, View, ViewMut};
use crate::checksum::Sum;
use zerocopy::byteorder::big_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Message types (IANA "ICMPv6 Parameters").
pub mod icmp6_type {
    /// Destination unreachable; codes in [`super::unreachable`].
    pub const UNREACHABLE: u8 = 1;
    /// Packet too big.
    pub const PACKET_TOO_BIG: u8 = 2;
    /// Time exceeded; codes in [`super::time_exceeded`].
    pub const TIME_EXCEEDED: u8 = 3;
    /// Parameter problem; codes in [`super::parameter_problem`].
    pub const PARAMETER_PROBLEM: u8 = 4;
    /// Echo request.
    pub const ECHO: u8 = 128;
    /// Echo reply.
    pub const ECHO_REPLY: u8 = 129;
    /// Router solicitation.
    pub const ROUTER_SOLICITATION: u8 = 133;
    /// Router advertisement.
    pub const ROUTER_ADVERTISEMENT: u8 = 134;
    /// Neighbor solicitation.
    pub const NEIGHBOR_SOLICITATION: u8 = 135;
    /// Neighbor advertisement.
    pub const NEIGHBOR_ADVERTISEMENT: u8 = 136;
    /// Redirect.
    pub const REDIRECT: u8 = 137;
}

/// Codes of "destination unreachable" (RFC 4443 §3.1).
pub mod unreachable {
    /// No route.
    pub const NO_ROUTE: u8 = 0;
    /// Administratively prohibited.
    pub const PROHIBITED: u8 = 1;
    /// Beyond the scope of the source address.
    pub const BEYOND_SCOPE: u8 = 2;
    /// Address unreachable.
    pub const ADDRESS: u8 = 3;
    /// Port unreachable.
    pub const PORT: u8 = 4;
}

/// Codes of "time exceeded" (RFC 4443 §3.3).
pub mod time_exceeded {
    /// In transit: the hop limit ran out.
    pub const TRANSIT: u8 = 0;
    /// While fragments were reassembled.
    pub const REASSEMBLY: u8 = 1;
}

/// Codes of "parameter problem" (RFC 4443 §3.4).
pub mod parameter_problem {
    /// Erroneous header field.
    pub const HEADER_FIELD: u8 = 0;
    /// Unrecognised next header.
    pub const NEXT_HEADER: u8 = 1;
    /// Unrecognised option.
    pub const OPTION: u8 = 2;
}

/// An ICMPv6 message for reading.
pub type Icmp6<'a> = View<'a, Icmp6Header>;
/// An ICMPv6 message for writing.
pub type Icmp6Mut<'a> = ViewMut<'a, Icmp6Header>;

/// The 8 bytes that the messages above start with. The last four mean what the type says.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Default, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[repr(C)]
pub struct Icmp6Header {
    /// One of [`icmp6_type`]; below 128 an error.
    pub icmp_type: u8,
    /// What the type says.
    pub code: u8,
    checksum: U16,
    rest: U32,
}

impl Header for Icmp6Header {}

impl Icmp6Header {
    /// A header with everything after type and code zero.
    pub const fn new(icmp_type: u8, code: u8) -> Self {
        Self { icmp_type, code, checksum: U16::ZERO, rest: U32::ZERO }
    }

    /// Whether the message reports an error in a packet (RFC 4443 §2.1).
    pub const fn is_error(&self) -> bool {
        self.icmp_type < 128
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

    /// The identifier of an echo message.
    #[inline]
    pub fn identifier(&self) -> u16 {
        (self.rest.get() >> 16) as u16
    }

    /// The sequence number of an echo message.
    #[inline]
    pub fn sequence(&self) -> u16 {
        self.rest.get() as u16
    }

    /// Sets identifier and sequence number of an echo message.
    #[inline]
    pub fn set_echo(&mut self, identifier: u16, sequence: u16) {
        self.rest.set(u32::from(identifier) << 16 | u32::from(sequence));
    }

    /// The last four bytes as a number: the MTU of "packet too big", the pointer of a parameter problem, the flags of a
    /// neighbor advertisement.
    #[inline]
    pub fn rest(&self) -> u32 {
        self.rest.get()
    }

    /// Sets the last four bytes.
    #[inline]
    pub fn set_rest(&mut self, rest: u32) {
        self.rest.set(rest);
    }
}

impl Icmp6<'_> {
    /// Whether the checksum is right, given the sum of the pseudo-header.
    #[inline]
    pub fn checksum_is_right(&self, pseudo: Sum) -> bool {
        self.add_to(pseudo).finish() == 0
    }
}

impl Icmp6Mut<'_> {
    /// Computes the checksum, given the sum of the pseudo-header, and stores it.
    #[inline]
    pub fn fill_checksum(&mut self, pseudo: Sum) {
        self.set_checksum(0);
        let checksum = self.as_view().add_to(pseudo).finish();
        self.set_checksum(checksum);
    }
}
