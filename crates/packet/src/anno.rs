//! Annotations: 48 bytes that travel with a packet, with Click's names, sizes and places.
//!
//! An [`Anno`] names a place. Multi-byte annotations are stored in the machine's byte order, as Click
//! stores them, except the destination addresses, which are in network order.
#![forbid(unsafe_code)]

/// Where an annotation lies: byte offset and size within the 48 bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Anno {
    /// First byte.
    pub offset: u8,
    /// Bytes.
    pub size: u8,
}

impl Anno {
    /// The annotation of `size` bytes at `offset`.
    pub const fn new(offset: u8, size: u8) -> Self {
        Anno { offset, size }
    }
}

/// Destination IPv4 address (set by GetIPAddress, SetIPAddress, route lookups).
pub const DST_IP: Anno = Anno::new(0, 4);
/// Destination IPv6 address.
pub const DST_IP6: Anno = Anno::new(0, 16);
/// Extra wireless information.
pub const WIFI_EXTRA: Anno = Anno::new(16, 24);
/// Colour given by Paint.
pub const PAINT: Anno = Anno::new(16, 1);
/// Where IPGWOptions found a bad option, for ICMPError.
pub const ICMP_PARAMPROB: Anno = Anno::new(17, 1);
/// Whether FixIPSrc should set the source address.
pub const FIX_IP_SRC: Anno = Anno::new(19, 1);
/// 802.1Q tag control information.
pub const VLAN_TCI: Anno = Anno::new(20, 2);
/// Aggregate number.
pub const AGGREGATE: Anno = Anno::new(20, 4);
/// Forward rate estimate.
pub const FWD_RATE: Anno = Anno::new(20, 4);
/// A further IPv4 address.
pub const MISC_IP: Anno = Anno::new(20, 4);
/// Packets that this one stands for, beyond itself.
pub const EXTRA_PACKETS: Anno = Anno::new(24, 4);
/// Reverse rate estimate.
pub const REV_RATE: Anno = Anno::new(24, 4);
/// Bytes of the original packet that are not in the buffer.
pub const EXTRA_LENGTH: Anno = Anno::new(28, 4);
/// When the first of several packets arrived.
pub const FIRST_TIMESTAMP: Anno = Anno::new(32, 8);
/// Packet number.
pub const PACKET_NUMBER: Anno = Anno::new(32, 4);
/// Sequence number.
pub const SEQUENCE_NUMBER: Anno = Anno::new(36, 4);
/// Performance counter.
pub const PERFCTR: Anno = Anno::new(40, 8);
