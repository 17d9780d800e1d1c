//! Putting an IP header in front of packets, for the encapsulating elements.

use clickwork_packet::Packet;
use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::headers::{Header, Ipv4Header, Ipv4Mut};
use clickwork_router::args::{BadValue, FromArg, Names};
use std::fmt;

/// Where encapsulated packets go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// To this address.
    Address(Ipv4Address),
    /// To what the packet's destination annotation says.
    Annotation,
}

impl Destination {
    /// The address for a packet.
    pub fn of(self, p: &Packet) -> Ipv4Address {
        match self {
            Destination::Address(address) => address,
            Destination::Annotation => p.dst_ip(),
        }
    }
}

impl Default for Destination {
    fn default() -> Destination {
        Destination::Address(Ipv4Address::UNSPECIFIED)
    }
}

/// An address, or `DST_ANNO`.
impl FromArg for Destination {
    fn from_arg(text: &str, names: &Names) -> Result<Self, BadValue> {
        match text {
            "DST_ANNO" => Ok(Destination::Annotation),
            _ => Ipv4Address::from_arg(text, names).map(Destination::Address),
        }
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Destination::Address(address) => address.fmt(f),
            Destination::Annotation => f.write_str("DST_ANNO"),
        }
    }
}

/// Length of the headers put in front.
const LEN: usize = size_of::<Ipv4Header>();
/// Length of the longest IP packet.
const LONGEST: usize = 65535;

/// Puts `header` and `below` bytes for the next header in front of the packet, marks both, and sets the destination
/// annotation; total length and checksum are filled in. Returns the IP header and what follows it, or nothing if the
/// packet would become longer than IP allows.
pub fn prepend(p: &mut Packet, header: Ipv4Header, below: usize) -> Option<(&Ipv4Header, &mut [u8])> {
    let total = p.len() + LEN + below;
    if total > LONGEST {
        return None;
    }
    p.push(LEN + below);
    p.set_network_header(0, LEN as u32);
    p.set_dst_ip(header.destination());
    let (head, rest) = p.data_mut().split_at_mut(LEN);
    *Ipv4Header::peek_mut(head)? = header;
    let mut ip = Ipv4Mut::new(head)?;
    ip.set_total_len(total as u16);
    ip.fill_checksum();
    Some((Ipv4Header::peek(head)?, rest))
}
