//! What tells flows apart: addresses and ports.

use clickwork_packet::addr::Ipv4Address;
use std::fmt;

/// The addresses and ports of a packet. Rewriters of addresses leave the ports 0.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct FlowId {
    /// Source address.
    pub source: u32,
    /// Destination address.
    pub destination: u32,
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
}

impl FlowId {
    /// Of two addresses and two ports.
    pub fn new(
        source: Ipv4Address,
        source_port: u16,
        destination: Ipv4Address,
        destination_port: u16,
    ) -> Self {
        let (source, destination) = (source.to_bits(), destination.to_bits());
        FlowId { source, destination, source_port, destination_port }
    }

    /// As addresses and ports stand in headers.
    pub fn from_octets(octets: &[u8; 12]) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = *octets;
        let (source, destination) = (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]));
        let (source_port, destination_port) = (u16::from_be_bytes([i, j]), u16::from_be_bytes([k, l]));
        FlowId { source, destination, source_port, destination_port }
    }

    /// Addresses and ports as they stand in headers.
    pub fn octets(&self) -> [u8; 12] {
        let mut octets = [0; 12];
        for (to, word) in octets.chunks_exact_mut(2).zip(self.words()) {
            to.copy_from_slice(&word.to_be_bytes());
        }
        octets
    }

    /// Of two addresses alone.
    pub fn of_addresses(source: Ipv4Address, destination: Ipv4Address) -> Self {
        FlowId::new(source, 0, destination, 0)
    }

    /// The flow of the answers.
    #[must_use]
    pub fn reverse(self) -> Self {
        FlowId {
            source: self.destination,
            destination: self.source,
            source_port: self.destination_port,
            destination_port: self.source_port,
        }
    }

    /// The source address.
    pub fn source(&self) -> Ipv4Address {
        Ipv4Address::from_bits(self.source)
    }

    /// The destination address.
    pub fn destination(&self) -> Ipv4Address {
        Ipv4Address::from_bits(self.destination)
    }

    /// The 16-bit words that checksums see: addresses first, then ports.
    pub fn words(&self) -> [u16; 6] {
        let halves = |address: u32| [(address >> 16) as u16, address as u16];
        let ([a, b], [c, d]) = (halves(self.source), halves(self.destination));
        [a, b, c, d, self.source_port, self.destination_port]
    }
}

impl fmt::Display for FlowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (source, destination) = (self.source(), self.destination());
        write!(f, "({source}, {}, {destination}, {})", self.source_port, self.destination_port)
    }
}
