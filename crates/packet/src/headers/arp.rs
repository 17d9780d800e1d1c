//! ARP for IPv4 over Ethernet (RFC 826). Not ARP for other address families: those give no view.

use super::ethernet::ethertype;
use super::view::{Header, View, ViewMut};
use crate::addr::{EtherAddress, Ipv4Address};
use zerocopy::byteorder::big_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Operations (RFC 826, RFC 903).
pub mod operation {
    /// Who has the target address?
    pub const REQUEST: u16 = 1;
    /// The sender has the sender's address.
    pub const REPLY: u16 = 2;
    /// Reverse ARP: which address has the target?
    pub const REVERSE_REQUEST: u16 = 3;
    /// Reverse ARP: the answer.
    pub const REVERSE_REPLY: u16 = 4;
}

/// An ARP packet for reading.
pub type Arp<'a> = View<'a, ArpHeader>;
/// An ARP packet for writing.
pub type ArpMut<'a> = ViewMut<'a, ArpHeader>;

const HARDWARE_ETHERNET: U16 = U16::new(1);
const PROTOCOL_IPV4: U16 = U16::new(ethertype::IPV4);

/// The 28 bytes of an ARP packet for IPv4 over Ethernet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct ArpHeader {
    hardware: U16,
    protocol: U16,
    hardware_len: u8,
    protocol_len: u8,
    operation: U16,
    /// The Ethernet address of the sender.
    pub sender_ether: EtherAddress,
    sender_ip: U32,
    /// The Ethernet address of the target; zero in a request.
    pub target_ether: EtherAddress,
    target_ip: U32,
}

impl Header for ArpHeader {
    fn is_plausible(&self) -> bool {
        self.hardware == HARDWARE_ETHERNET
            && self.protocol == PROTOCOL_IPV4
            && (self.hardware_len, self.protocol_len) == (6, 4)
    }
}

impl ArpHeader {
    /// A packet from its operation and the addresses of sender and target.
    pub const fn new(
        operation: u16,
        sender: (EtherAddress, Ipv4Address),
        target: (EtherAddress, Ipv4Address),
    ) -> Self {
        Self {
            hardware: HARDWARE_ETHERNET,
            protocol: PROTOCOL_IPV4,
            hardware_len: 6,
            protocol_len: 4,
            operation: U16::new(operation),
            sender_ether: sender.0,
            sender_ip: U32::new(sender.1.to_bits()),
            target_ether: target.0,
            target_ip: U32::new(target.1.to_bits()),
        }
    }

    /// One of [`operation`].
    #[inline]
    pub fn operation(&self) -> u16 {
        self.operation.get()
    }

    /// Sets the operation.
    #[inline]
    pub fn set_operation(&mut self, operation: u16) {
        self.operation.set(operation);
    }

    /// The IP address of the sender.
    #[inline]
    pub fn sender_ip(&self) -> Ipv4Address {
        Ipv4Address::from_bits(self.sender_ip.get())
    }

    /// Sets the IP address of the sender.
    #[inline]
    pub fn set_sender_ip(&mut self, address: Ipv4Address) {
        self.sender_ip.set(address.to_bits());
    }

    /// The IP address asked for or answered to.
    #[inline]
    pub fn target_ip(&self) -> Ipv4Address {
        Ipv4Address::from_bits(self.target_ip.get())
    }

    /// Sets the IP address asked for or answered to.
    #[inline]
    pub fn set_target_ip(&mut self, address: Ipv4Address) {
        self.target_ip.set(address.to_bits());
    }
}
