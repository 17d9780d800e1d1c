//! Putting an IPv6 header in front of packets, for the encapsulating elements.

use clickwork_packet::Packet;
use clickwork_packet::addr::Ipv6Address;
use clickwork_packet::headers::{Header, Ipv6Header};
use clickwork_router::args::{BadValue, FromArg, Names};
use std::fmt;

/// Where encapsulated packets go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// To this address.
    Address(Ipv6Address),
    /// To what the packet's destination annotation says.
    Annotation,
}

impl Destination {
    /// The address for a packet.
    pub fn of(self, p: &Packet) -> Ipv6Address {
        match self {
            Destination::Address(address) => address,
            Destination::Annotation => p.dst_ip6(),
        }
    }
}

impl Default for Destination {
    fn default() -> Destination {
        Destination::Address(Ipv6Address::UNSPECIFIED)
    }
}

/// An address, or `DST_ANNO`.
impl FromArg for Destination {
    fn from_arg(text: &str, names: &Names) -> Result<Self, BadValue> {
        match text {
            "DST_ANNO" => Ok(Destination::Annotation),
            _ => Ipv6Address::from_arg(text, names).map(Destination::Address),
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

/// Length of the header put in front.
const LEN: usize = size_of::<Ipv6Header>();

/// Puts `header` and `below` bytes for the next header in front of the packet, marks both, and sets the destination
/// annotation; the payload length is filled in. Returns the IPv6 header and what follows it, or nothing if the packet would
/// become longer than IPv6 allows.
pub fn prepend(p: &mut Packet, mut header: Ipv6Header, below: usize) -> Option<(&Ipv6Header, &mut [u8])> {
    header.set_payload_len(u16::try_from(p.len() + below).ok()?);
    p.push(LEN + below);
    p.set_network_header(0, LEN as u32);
    p.set_dst_ip6(header.destination());
    let (head, rest) = p.data_mut().split_at_mut(LEN);
    *Ipv6Header::peek_mut(head)? = header;
    Some((Ipv6Header::peek(head)?, rest))
}
