//! Ethernet II frames (IEEE 802.3 §3.2.6, type interpretation). Not 802.3 length frames with LLC.

use super::view::{Header, View, ViewMut};
use crate::addr::EtherAddress;
use zerocopy::byteorder::big_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Ethertypes, as printed in IANA's registry "IEEE 802 Numbers".
pub mod ethertype {
    /// IPv4.
    pub const IPV4: u16 = 0x0800;
    /// ARP.
    pub const ARP: u16 = 0x0806;
    /// Reverse ARP.
    pub const RARP: u16 = 0x8035;
    /// A customer VLAN tag (IEEE 802.1Q).
    pub const VLAN: u16 = 0x8100;
    /// IPv6.
    pub const IPV6: u16 = 0x86DD;
    /// A service VLAN tag (IEEE 802.1ad).
    pub const SERVICE_VLAN: u16 = 0x88A8;
}

/// An Ethernet header for reading.
pub type Ethernet<'a> = View<'a, EthernetHeader>;
/// An Ethernet header for writing.
pub type EthernetMut<'a> = ViewMut<'a, EthernetHeader>;

/// The 14 bytes in front of an Ethernet frame.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Default, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[repr(C)]
pub struct EthernetHeader {
    /// The receiver.
    pub destination: EtherAddress,
    /// The sender.
    pub source: EtherAddress,
    ethertype: U16,
}

impl Header for EthernetHeader {}

impl EthernetHeader {
    /// A header from its fields.
    pub const fn new(destination: EtherAddress, source: EtherAddress, ethertype: u16) -> Self {
        Self { destination, source, ethertype: U16::new(ethertype) }
    }

    /// What the frame carries, one of [`ethertype`]; below 0x600 a length.
    #[inline]
    pub fn ethertype(&self) -> u16 {
        self.ethertype.get()
    }

    /// Sets what the frame carries.
    #[inline]
    pub fn set_ethertype(&mut self, ethertype: u16) {
        self.ethertype.set(ethertype);
    }
}
