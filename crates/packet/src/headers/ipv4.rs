//! The IPv4 header (RFC 791 §3.1), with its options.

use super::options::Options;
use super::view::{Header, View, ViewMut};
use crate::addr::Ipv4Address;
use crate::checksum::{self, Sum};
use zerocopy::byteorder::big_endian::{U16, U32};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Protocol numbers (IANA "Protocol Numbers"), which are also IPv6's next headers.
pub mod protocol {
    /// ICMP.
    pub const ICMP: u8 = 1;
    /// IGMP.
    pub const IGMP: u8 = 2;
    /// IPv4 in IPv4 (RFC 2003).
    pub const IPIP: u8 = 4;
    /// TCP.
    pub const TCP: u8 = 6;
    /// UDP.
    pub const UDP: u8 = 17;
    /// DCCP.
    pub const DCCP: u8 = 33;
    /// GRE.
    pub const GRE: u8 = 47;
    /// ESP.
    pub const ESP: u8 = 50;
    /// AH.
    pub const AH: u8 = 51;
    /// ICMPv6.
    pub const ICMP6: u8 = 58;
    /// SCTP.
    pub const SCTP: u8 = 132;
}

/// Option kinds, copied flag and class included (RFC 791 §3.1).
pub mod option {
    /// Record route.
    pub const RECORD_ROUTE: u8 = 7;
    /// Internet timestamp.
    pub const TIMESTAMP: u8 = 68;
    /// Security.
    pub const SECURITY: u8 = 130;
    /// Loose source and record route.
    pub const LOOSE_SOURCE_ROUTE: u8 = 131;
    /// Stream identifier.
    pub const STREAM_ID: u8 = 136;
    /// Strict source and record route.
    pub const STRICT_SOURCE_ROUTE: u8 = 137;
    /// Router alert (RFC 2113).
    pub const ROUTER_ALERT: u8 = 148;
    /// In the kind: the option goes into every fragment.
    pub const COPIED: u8 = 0x80;
}

/// "Don't fragment", in the field [`Ipv4Header::fragment_field`].
pub const DONT_FRAGMENT: u16 = 0x4000;
/// "More fragments", in the same field.
pub const MORE_FRAGMENTS: u16 = 0x2000;
/// The offset in units of 8 bytes, in the same field.
pub const OFFSET_MASK: u16 = 0x1FFF;
/// The reserved bit, in the same field.
pub const RESERVED_FLAG: u16 = 0x8000;

/// An IPv4 header for reading. Its payload ends where the total length says, so Ethernet padding is left out.
pub type Ipv4<'a> = View<'a, Ipv4Header>;
/// An IPv4 header for writing.
pub type Ipv4Mut<'a> = ViewMut<'a, Ipv4Header>;

/// The 20 bytes that every IPv4 header starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Ipv4Header {
    version_and_len: u8,
    /// The type of service: DSCP in the upper six bits (RFC 2474), ECN in the lower two (RFC 3168).
    pub tos: u8,
    total_len: U16,
    identification: U16,
    fragment: U16,
    /// The time to live, in hops.
    pub ttl: u8,
    /// What the packet carries, one of [`protocol`].
    pub protocol: u8,
    checksum: U16,
    source: U32,
    destination: U32,
}

impl Default for Ipv4Header {
    /// Version 4, no options, everything else zero.
    fn default() -> Self {
        Self { version_and_len: 0x45, ..Self::new_zeroed() }
    }
}

impl Header for Ipv4Header {
    #[inline]
    fn header_len(&self) -> usize {
        self.ihl()
    }

    #[inline]
    fn payload_len(&self, _available: usize) -> usize {
        usize::from(self.total_len.get()).saturating_sub(self.ihl())
    }
}

impl Ipv4Header {
    /// The version: 4, if this is IPv4.
    #[inline]
    pub fn version(&self) -> u8 {
        self.version_and_len >> 4
    }

    /// The header length field in bytes, 0 to 60. Views have at least 20.
    #[inline]
    pub fn ihl(&self) -> usize {
        usize::from(self.version_and_len & 0xF) * 4
    }

    /// Sets version 4 and the header length, a multiple of 4 from 20 to 60 bytes.
    #[inline]
    pub fn set_ihl(&mut self, bytes: usize) {
        debug_assert!(bytes.is_multiple_of(4) && (20..=60).contains(&bytes));
        self.version_and_len = 0x40 | (bytes / 4) as u8 & 0xF;
    }

    /// The length in bytes of header and payload.
    #[inline]
    pub fn total_len(&self) -> u16 {
        self.total_len.get()
    }

    /// Sets the length in bytes of header and payload.
    #[inline]
    pub fn set_total_len(&mut self, bytes: u16) {
        self.total_len.set(bytes);
    }

    /// The identification, equal in all fragments of a packet.
    #[inline]
    pub fn identification(&self) -> u16 {
        self.identification.get()
    }

    /// Sets the identification.
    #[inline]
    pub fn set_identification(&mut self, identification: u16) {
        self.identification.set(identification);
    }

    /// Flags and fragment offset together.
    #[inline]
    pub fn fragment_field(&self) -> u16 {
        self.fragment.get()
    }

    /// Sets flags and fragment offset together.
    #[inline]
    pub fn set_fragment_field(&mut self, field: u16) {
        self.fragment.set(field);
    }

    /// Whether routers must not fragment the packet.
    #[inline]
    pub fn dont_fragment(&self) -> bool {
        self.fragment.get() & DONT_FRAGMENT != 0
    }

    /// Whether other fragments follow this one.
    #[inline]
    pub fn more_fragments(&self) -> bool {
        self.fragment.get() & MORE_FRAGMENTS != 0
    }

    /// Where the payload stands in the whole packet's, in bytes.
    #[inline]
    pub fn fragment_offset(&self) -> usize {
        usize::from(self.fragment.get() & OFFSET_MASK) * 8
    }

    /// Whether this is one fragment of several.
    #[inline]
    pub fn is_fragment(&self) -> bool {
        self.fragment.get() & (MORE_FRAGMENTS | OFFSET_MASK) != 0
    }

    /// Whether the transport header is at the front of the payload.
    #[inline]
    pub fn is_first_fragment(&self) -> bool {
        self.fragment.get() & OFFSET_MASK == 0
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

    /// The sender.
    #[inline]
    pub fn source(&self) -> Ipv4Address {
        Ipv4Address::from_bits(self.source.get())
    }

    /// Sets the sender; the checksum stays.
    #[inline]
    pub fn set_source(&mut self, address: Ipv4Address) {
        self.source.set(address.to_bits());
    }

    /// The receiver.
    #[inline]
    pub fn destination(&self) -> Ipv4Address {
        Ipv4Address::from_bits(self.destination.get())
    }

    /// Sets the receiver; the checksum stays.
    #[inline]
    pub fn set_destination(&mut self, address: Ipv4Address) {
        self.destination.set(address.to_bits());
    }

    /// Lowers the time to live by one hop and updates the checksum (RFC 1812 §5.3.1, RFC 1624). A time to live of 0
    /// stays.
    #[inline]
    pub fn decrement_ttl(&mut self) {
        if self.ttl == 0 {
            return;
        }
        self.ttl -= 1;
        // RFC 1624 §3, equation 3, for a word that becomes 0x100 less: ~m + m' is 0xFEFF whatever m is.
        let sum = u32::from(!self.checksum.get()) + 0xFEFF;
        self.checksum.set(!((sum & 0xFFFF) + (sum >> 16)) as u16);
    }

    /// The start of the checksum of what this packet carries: the pseudo-header for `length` bytes.
    #[inline]
    pub fn pseudo_sum(&self, length: u16) -> Sum {
        Sum::ipv4_pseudo(self.source(), self.destination(), self.protocol, length)
    }
}

impl<'a> Ipv4<'a> {
    /// The header's options.
    #[inline]
    pub fn options(&self) -> Options<'a> {
        Options::new(self.option_bytes())
    }

    /// Whether the checksum of the header is right.
    #[inline]
    pub fn checksum_is_right(&self) -> bool {
        header_checksum(self.header(), self.option_bytes()) == 0
    }
}

impl Ipv4Mut<'_> {
    /// Computes the checksum of the header and stores it.
    #[inline]
    pub fn fill_checksum(&mut self) {
        self.set_checksum(0);
        let view = self.as_view();
        let checksum = header_checksum(view.header(), view.option_bytes());
        self.set_checksum(checksum);
    }
}

#[inline]
fn header_checksum(header: &Ipv4Header, options: &[u8]) -> u16 {
    if options.is_empty() {
        return checksum::checksum_20(&zerocopy::transmute!(*header));
    }
    Sum::new().bytes(header.as_bytes()).bytes(options).finish()
}
