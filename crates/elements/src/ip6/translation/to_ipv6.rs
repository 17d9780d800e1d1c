//! From IPv4 to IPv6 (RFC 7915 §4).

use super::super::extension::{FRAGMENT_LEN, next_header};
use super::{Prefix, follow};
use clickwork_packet::addr::Ipv6Address;
use clickwork_packet::checksum::Sum;
use clickwork_packet::headers::icmp::{icmp_type, unreachable};
use clickwork_packet::headers::icmp6::{self, icmp6_type};
use clickwork_packet::headers::ipv4::{MORE_FRAGMENTS, protocol};
use clickwork_packet::headers::{Icmp, Icmp6Header, Ipv4, Ipv6Header};
use zerocopy::IntoBytes;

/// The IPv6 packet that stands for an IPv4 packet, or why there is none.
pub fn translate(bytes: &[u8], prefix: Prefix) -> Result<Vec<u8>, &'static str> {
    let ip = Ipv4::new(bytes).filter(|ip| ip.version() == 4).ok_or("no IP header")?;
    let payload = ip.payload();
    if usize::from(ip.total_len()) != ip.ihl() + payload.len() {
        return Err("bad IP length");
    }
    let upper = match ip.protocol {
        protocol::ICMP => message(&ip, prefix)?,
        _ => transport(&ip, prefix)?,
    };
    let headers = headers(&ip, upper.len(), prefix).ok_or("too long for IPv6")?;
    Ok([headers, upper].concat())
}

fn addresses(ip: &Ipv4<'_>, prefix: Prefix) -> (Ipv6Address, Ipv6Address) {
    (prefix.embed(ip.source()), prefix.embed(ip.destination()))
}

fn is_fragment(ip: &Ipv4<'_>) -> bool {
    ip.fragment_field() & (MORE_FRAGMENTS | 0x1FFF) != 0
}

/// The IPv6 header, and a fragment header if need be, in front of `len` bytes.
fn headers(ip: &Ipv4<'_>, len: usize, prefix: Prefix) -> Option<Vec<u8>> {
    let protocol = if ip.protocol == protocol::ICMP { protocol::ICMP6 } else { ip.protocol };
    let (source, destination) = addresses(ip, prefix);
    let mut header = Ipv6Header::default();
    header.next_header = protocol;
    // Click's way from a time to live that began with 255 to a hop limit that begins with 64.
    header.hop_limit = ip.ttl.wrapping_add(64).wrapping_sub(255);
    header.set_source(source);
    header.set_destination(destination);
    if !is_fragment(ip) {
        header.set_payload_len(u16::try_from(len).ok()?);
        return Some(header.as_bytes().to_vec());
    }
    header.next_header = next_header::FRAGMENT;
    header.set_payload_len(u16::try_from(len + FRAGMENT_LEN).ok()?);
    let more = u16::from(ip.fragment_field() & MORE_FRAGMENTS != 0);
    let [a, b] = (ip.fragment_field() << 3 | more).to_be_bytes();
    let [c, d] = ip.identification().to_be_bytes();
    Some([header.as_bytes(), &[protocol, 0, a, b, 0, 0, c, d]].concat())
}

fn transport(ip: &Ipv4<'_>, prefix: Prefix) -> Result<Vec<u8>, &'static str> {
    let mut upper = ip.payload().to_vec();
    if ip.is_first_fragment() {
        let len = upper.len() as u16;
        let (source, destination) = addresses(ip, prefix);
        let before = Sum::ipv4_pseudo(ip.source(), ip.destination(), ip.protocol, len);
        let after = Sum::ipv6_pseudo(source, destination, ip.protocol, len.into());
        let followed = follow(&mut upper, ip.protocol, before, after, !is_fragment(ip));
        followed.ok_or("bad transport header")?;
    }
    Ok(upper)
}

/// The ICMPv6 message that stands for an ICMP message.
fn message(ip: &Ipv4<'_>, prefix: Prefix) -> Result<Vec<u8>, &'static str> {
    if is_fragment(ip) {
        // Its checksum is over what is not here.
        return Err("fragment of an ICMP message");
    }
    let icmp = Icmp::new(ip.payload()).ok_or("no ICMP header")?;
    if !icmp.checksum_is_right() {
        return Err("bad ICMP checksum");
    }
    let (icmp6_type, code, rest) = kind(icmp.icmp_type, icmp.code, icmp.rest())?;
    let mut header = Icmp6Header::new(icmp6_type, code);
    header.set_rest(rest);
    let body = if header.is_error() { quoted(icmp.payload(), prefix) } else { icmp.payload().to_vec() };
    let mut message = [header.as_bytes(), &body].concat();
    let (source, destination) = addresses(ip, prefix);
    let pseudo = Sum::ipv6_pseudo(source, destination, protocol::ICMP6, message.len() as u32);
    let sum = pseudo.bytes(&message).finish();
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    Ok(message)
}

/// Type, code and last four bytes of the ICMPv6 message for an ICMP message. Codes are those of RFC 2765 as Click has them.
fn kind(icmp_type: u8, code: u8, rest: u32) -> Result<(u8, u8, u32), &'static str> {
    Ok(match icmp_type {
        icmp_type::ECHO => (icmp6_type::ECHO, 0, rest),
        icmp_type::ECHO_REPLY => (icmp6_type::ECHO_REPLY, 0, rest),
        icmp_type::UNREACHABLE => match code {
            // The next header field is at fault.
            unreachable::PROTOCOL => {
                (icmp6_type::PARAMETER_PROBLEM, icmp6::parameter_problem::NEXT_HEADER, 6)
            }
            unreachable::NEED_FRAGMENT => (icmp6_type::PACKET_TOO_BIG, 0, mtu(rest & 0xFFFF)),
            unreachable::PORT => (icmp6_type::UNREACHABLE, icmp6::unreachable::PORT, 0),
            unreachable::SOURCE_ROUTE_FAILED => {
                (icmp6_type::UNREACHABLE, icmp6::unreachable::BEYOND_SCOPE, 0)
            }
            unreachable::NET_PROHIBITED | unreachable::HOST_PROHIBITED => {
                (icmp6_type::UNREACHABLE, icmp6::unreachable::PROHIBITED, 0)
            }
            _ => (icmp6_type::UNREACHABLE, icmp6::unreachable::NO_ROUTE, 0),
        },
        icmp_type::TIME_EXCEEDED => (icmp6_type::TIME_EXCEEDED, code, 0),
        icmp_type::PARAMETER_PROBLEM => {
            let places = [(0, 0), (2, 4), (8, 7), (9, 6), (12, 8), (16, 24)];
            let place = places.iter().find(|(from, _)| *from == rest >> 24);
            (icmp6_type::PARAMETER_PROBLEM, 0, place.map_or(u32::MAX, |(_, to)| *to))
        }
        _ => return Err("ICMP message without counterpart"),
    })
}

/// The MTU that an ICMPv6 message says: that of the IPv4 link and what the IPv6 header is longer; at least the least one of
/// IPv6, also where an old router says none (RFC 7915 §4.2).
fn mtu(of_link: u32) -> u32 {
    (of_link + 20).max(1280)
}

/// A packet that an error quotes, perhaps cut short; as it is, if it cannot be translated.
fn quoted(bytes: &[u8], prefix: Prefix) -> Vec<u8> {
    let translated = Ipv4::new(bytes).and_then(|ip| {
        let len = usize::from(ip.total_len()).checked_sub(ip.ihl())?;
        let mut upper = ip.payload().to_vec();
        if let (protocol::ICMP, Some([icmp_type, ..])) = (ip.protocol, upper.first_chunk_mut::<4>()) {
            *icmp_type = kind(*icmp_type, 0, 0).map_or(*icmp_type, |(icmp_type, ..)| icmp_type);
        }
        Some([headers(&ip, len, prefix)?, upper].concat())
    });
    translated.unwrap_or_else(|| bytes.to_vec())
}
