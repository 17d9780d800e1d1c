//! The fixed IPv6 header (RFC 8200 §3). Extension headers are part of the payload.

use super::view::{Header, View, ViewMut};
use crate::addr::Ipv6Address;
use crate::checksum::Sum;
use zerocopy::byteorder::big_endian::{U16, U32, U128};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

/// An IPv6 header for reading. Its payload ends where the payload length says.
pub type Ipv6<'a> = View<'a, Ipv6Header>;
/// An IPv6 header for writing.
pub type Ipv6Mut<'a> = ViewMut<'a, Ipv6Header>;

/// The 40 bytes that every IPv6 packet starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Ipv6Header {
    version_class_flow: U32,
    payload_len: U16,
    /// What follows: an extension header or one of [`super::ipv4::protocol`].
    pub next_header: u8,
    /// The hop limit.
    pub hop_limit: u8,
    source: U128,
    destination: U128,
}

impl Default for Ipv6Header {
    /// Version 6, everything else zero.
    fn default() -> Self {
        Self { version_class_flow: U32::new(6 << 28), ..Self::new_zeroed() }
    }
}

impl Header for Ipv6Header {
    #[inline]
    fn payload_len(&self, _available: usize) -> usize {
        usize::from(self.payload_len.get())
    }
}

impl Ipv6Header {
    /// The version: 6, if this is IPv6.
    #[inline]
    pub fn version(&self) -> u8 {
        (self.version_class_flow.get() >> 28) as u8
    }

    /// The traffic class: DSCP and ECN.
    #[inline]
    pub fn traffic_class(&self) -> u8 {
        (self.version_class_flow.get() >> 20) as u8
    }

    /// The flow label, 20 bits.
    #[inline]
    pub fn flow_label(&self) -> u32 {
        self.version_class_flow.get() & 0xF_FFFF
    }

    /// Sets version 6, the traffic class, and the lower 20 bits of the flow label.
    #[inline]
    pub fn set_class_and_flow(&mut self, traffic_class: u8, flow_label: u32) {
        self.version_class_flow.set(6 << 28 | u32::from(traffic_class) << 20 | flow_label & 0xF_FFFF);
    }

    /// Sets the traffic class; version and flow label stay.
    #[inline]
    pub fn set_traffic_class(&mut self, traffic_class: u8) {
        let others = self.version_class_flow.get() & !(0xFF << 20);
        self.version_class_flow.set(others | u32::from(traffic_class) << 20);
    }

    /// The length in bytes of what follows this header, extension headers included.
    #[inline]
    pub fn payload_len_field(&self) -> u16 {
        self.payload_len.get()
    }

    /// Sets the length in bytes of what follows this header.
    #[inline]
    pub fn set_payload_len(&mut self, bytes: u16) {
        self.payload_len.set(bytes);
    }

    /// The sender.
    #[inline]
    pub fn source(&self) -> Ipv6Address {
        Ipv6Address::from_bits(self.source.get())
    }

    /// Sets the sender.
    #[inline]
    pub fn set_source(&mut self, address: Ipv6Address) {
        self.source.set(address.to_bits());
    }

    /// The receiver.
    #[inline]
    pub fn destination(&self) -> Ipv6Address {
        Ipv6Address::from_bits(self.destination.get())
    }

    /// Sets the receiver.
    #[inline]
    pub fn set_destination(&mut self, address: Ipv6Address) {
        self.destination.set(address.to_bits());
    }

    /// The start of the checksum of an upper-layer packet of `length` bytes: the pseudo-header.
    #[inline]
    pub fn pseudo_sum(&self, next_header: u8, length: u32) -> Sum {
        Sum::ipv6_pseudo(self.source(), self.destination(), next_header, length)
    }
}
