//! Translation of whole packets between IPv4 and IPv6. Read first: RFC 2765 (which Click follows), RFC 7915.
//!
//! Addresses keep their 32 bits behind a [`Prefix`]: `::ffff:1.2.3.4` is 1.2.3.4 and the other way around. Checksums of TCP and UDP are updated,
//! not renewed, so that damage stays recognisable; ICMP messages are renewed, if they were right. A packet quoted in an ICMP
//! error is translated too, without its checksums. Not the elements, which are ProtocolTranslator64 and 46.

pub mod to_ipv4;
pub mod to_ipv6;

use clickwork_packet::addr::{Ipv4Address, Ipv6Address};
use clickwork_packet::checksum::Sum;
use clickwork_packet::headers::ipv4::protocol;

/// The 96 bits in front of an IPv4 address that make it an IPv6 address (RFC 6052 §2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix(u128);

impl Default for Prefix {
    /// That of IPv4-mapped addresses, `::ffff:0:0/96`.
    fn default() -> Prefix {
        Prefix(Ipv6Address::mapped_from(Ipv4Address::UNSPECIFIED).to_bits())
    }
}

impl Prefix {
    /// The first 96 bits of an address.
    pub fn of(address: Ipv6Address) -> Prefix {
        Prefix(address.to_bits() >> 32 << 32)
    }

    fn embed(self, address: Ipv4Address) -> Ipv6Address {
        Ipv6Address::from_bits(self.0 | u128::from(address.to_bits()))
    }

    /// The IPv4 address behind the prefix, unless that is 0.0.0.0.
    fn embedded(self, address: Ipv6Address) -> Option<Ipv4Address> {
        let rest = address.to_bits() ^ self.0;
        u32::try_from(rest).ok().filter(|bits| *bits != 0).map(Ipv4Address::from_bits)
    }
}

/// Where a transport header has its checksum over a pseudo-header.
fn checksum_place(protocol: u8) -> Option<usize> {
    match protocol {
        protocol::TCP => Some(16),
        protocol::UDP => Some(6),
        protocol::ICMP6 => Some(2),
        _ => None,
    }
}

/// Makes the checksum of a TCP, UDP or ICMPv6 header fit other addresses: sums of the pseudo-headers before and after. A datagram
/// without checksum gets one if it is `whole`, as IPv6 wants it; otherwise nothing can be done.
pub fn follow(transport: &mut [u8], protocol: u8, before: Sum, after: Sum, whole: bool) -> Option<()> {
    let Some(place) = checksum_place(protocol) else { return Some(()) };
    let field = transport.get_mut(place..)?.first_chunk_mut::<2>()?;
    let old = u16::from_be_bytes(*field);
    let new = if old == 0 && protocol == protocol::UDP {
        if !whole {
            return None;
        }
        after.bytes(transport).finish()
    } else {
        // RFC 1624 §3: what was in the sum goes out of it, as its complement.
        after.word(!old).word(before.finish()).finish()
    };
    let new = if new == 0 && protocol == protocol::UDP { 0xFFFF } else { new };
    transport[place..place + 2].copy_from_slice(&new.to_be_bytes());
    Some(())
}
