//! From IPv6 to IPv4 (RFC 7915 §5).

use super::super::extension::{FIXED, Link, chain, is_extension, next_header};
use super::{Prefix, follow};
use clickwork_packet::addr::Ipv4Address;
use clickwork_packet::checksum::{Sum, checksum};
use clickwork_packet::headers::icmp::{self, icmp_type};
use clickwork_packet::headers::icmp6::{icmp6_type, parameter_problem};
use clickwork_packet::headers::ipv4::{DONT_FRAGMENT, MORE_FRAGMENTS, protocol};
use clickwork_packet::headers::{Icmp6, IcmpHeader, Ipv4Header, Ipv6};
use zerocopy::IntoBytes;

/// Bytes of an IPv4 header without options.
const LEN: usize = 20;

/// The fragment that an IPv6 packet is, in the terms of IPv4.
#[derive(Clone, Copy)]
struct Fragment {
    identification: u16,
    field: u16,
}

/// An IPv6 packet taken apart: what IPv4 has no place for is gone.
struct Parts<'p> {
    protocol: u8,
    source: Ipv4Address,
    destination: Ipv4Address,
    fragment: Option<Fragment>,
    /// Bytes of headers between the fixed one and the upper layer.
    extensions: usize,
    upper: &'p [u8],
}

impl<'p> Parts<'p> {
    fn of(ip: &Ipv6<'p>, prefix: Prefix) -> Result<Parts<'p>, &'static str> {
        let mapped = |a| prefix.embedded(a).ok_or("not an IPv4-mapped address");
        let (source, destination) = (mapped(ip.source())?, mapped(ip.destination())?);
        let links: Vec<Link> = chain(ip).collect();
        let last = *links.last().ok_or("bad extension headers")?;
        let fragment = links.iter().find(|link| link.kind == next_header::FRAGMENT);
        let fragment = fragment.map(|link| fragment_at(ip, link)).transpose()?;
        let payload = ip.payload();
        if links.iter().any(|link| link.kind == next_header::ROUTING && segments_left(ip, link) != 0) {
            // RFC 7915 §5.1.
            return Err("routing header with segments left");
        }
        let upper = payload.get(last.offset - FIXED..).ok_or("bad extension headers")?;
        if is_extension(last.kind) || links.iter().any(|link| link.kind == next_header::AUTHENTICATION) {
            return Err("bad extension headers");
        }
        Ok(Parts {
            protocol: last.kind,
            source,
            destination,
            fragment,
            extensions: last.offset - FIXED,
            upper,
        })
    }

    /// The header in front of `len` bytes.
    fn header(&self, hop_limit: u8, len: usize) -> Option<Ipv4Header> {
        let mut header = Ipv4Header::default();
        header.set_total_len(u16::try_from(LEN + len).ok()?);
        header.ttl = hop_limit;
        header.protocol = if self.protocol == protocol::ICMP6 { protocol::ICMP } else { self.protocol };
        header.set_source(self.source);
        header.set_destination(self.destination);
        match self.fragment {
            None => header.set_fragment_field(DONT_FRAGMENT),
            Some(fragment) => {
                header.set_identification(fragment.identification);
                header.set_fragment_field(fragment.field);
            }
        }
        header.set_checksum(checksum(header.as_bytes()));
        Some(header)
    }
}

fn fragment_at(ip: &Ipv6<'_>, link: &Link) -> Result<Fragment, &'static str> {
    let bytes = ip.payload().get(link.offset - FIXED..).and_then(<[u8]>::first_chunk::<8>);
    let &[_, _, a, b, _, _, c, d] = bytes.ok_or("bad extension headers")?;
    let field = u16::from_be_bytes([a, b]);
    let more = if field & 1 != 0 { MORE_FRAGMENTS } else { 0 };
    Ok(Fragment { identification: u16::from_be_bytes([c, d]), field: field >> 3 | more })
}

fn segments_left(ip: &Ipv6<'_>, link: &Link) -> u8 {
    ip.payload().get(link.offset - FIXED + 3).copied().unwrap_or_default()
}

/// The IPv4 packet that stands for an IPv6 packet, or why there is none.
pub fn translate(bytes: &[u8], prefix: Prefix) -> Result<Vec<u8>, &'static str> {
    let ip = Ipv6::new(bytes).filter(|ip| ip.version() == 6).ok_or("no IPv6 header")?;
    if ip.payload().len() != usize::from(ip.payload_len_field()) {
        return Err("bad IP length");
    }
    let parts = Parts::of(&ip, prefix)?;
    let upper = match parts.protocol {
        protocol::ICMP6 => message(&ip, &parts, prefix)?,
        _ => transport(&ip, &parts)?,
    };
    let header = parts.header(ip.hop_limit, upper.len()).ok_or("too long for IP")?;
    Ok([header.as_bytes(), &upper].concat())
}

fn transport(ip: &Ipv6<'_>, parts: &Parts<'_>) -> Result<Vec<u8>, &'static str> {
    let mut upper = parts.upper.to_vec();
    let is_later = parts.fragment.is_some_and(|f| f.field & !MORE_FRAGMENTS != 0);
    if !is_later {
        // Lengths are the same in both pseudo-headers; that of a fragment is that of its whole.
        let len = upper.len() as u16;
        let before = Sum::ipv6_pseudo(ip.source(), ip.destination(), parts.protocol, len.into());
        let after = Sum::ipv4_pseudo(parts.source, parts.destination, parts.protocol, len);
        let followed = follow(&mut upper, parts.protocol, before, after, parts.fragment.is_none());
        followed.ok_or("bad transport header")?;
    }
    Ok(upper)
}

/// The ICMP message that stands for an ICMPv6 message.
fn message(ip: &Ipv6<'_>, parts: &Parts<'_>, prefix: Prefix) -> Result<Vec<u8>, &'static str> {
    if parts.fragment.is_some() {
        // Its checksum is over what is not here.
        return Err("fragment of an ICMPv6 message");
    }
    let icmp6 = Icmp6::new(parts.upper).ok_or("no ICMPv6 header")?;
    if !icmp6.checksum_is_right(ip.pseudo_sum(protocol::ICMP6, parts.upper.len() as u32)) {
        return Err("bad ICMPv6 checksum");
    }
    let (icmp_type, code, rest) = kind(icmp6.icmp_type, icmp6.code, icmp6.rest())?;
    let mut header = IcmpHeader::new(icmp_type, code);
    header.set_rest(rest);
    let body = if header.is_error() { quoted(icmp6.payload(), prefix) } else { icmp6.payload().to_vec() };
    let mut message = [header.as_bytes(), &body].concat();
    let sum = checksum(&message);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    Ok(message)
}

/// Type, code and last four bytes of the ICMP message for an ICMPv6 message. Codes are those of RFC 2765 as Click has them.
fn kind(icmp6_type: u8, code: u8, rest: u32) -> Result<(u8, u8, u32), &'static str> {
    /// A pointer that says nothing.
    const NOWHERE: u8 = 255;
    let pointer = |p: u8| u32::from(p) << 24;
    Ok(match icmp6_type {
        icmp6_type::ECHO => (icmp_type::ECHO, 0, rest),
        icmp6_type::ECHO_REPLY => (icmp_type::ECHO_REPLY, 0, rest),
        icmp6_type::UNREACHABLE => {
            let code = [0, 10, 5, 1, 3].get(usize::from(code)).copied().unwrap_or_default();
            (icmp_type::UNREACHABLE, code, 0)
        }
        icmp6_type::PACKET_TOO_BIG => {
            // What fits a header that is 20 bytes longer.
            let mtu = rest.saturating_sub((FIXED - LEN) as u32).min(0xFFFF);
            (icmp_type::UNREACHABLE, icmp::unreachable::NEED_FRAGMENT, mtu)
        }
        icmp6_type::TIME_EXCEEDED => (icmp_type::TIME_EXCEEDED, code, 0),
        icmp6_type::PARAMETER_PROBLEM => match code {
            parameter_problem::NEXT_HEADER => (icmp_type::UNREACHABLE, icmp::unreachable::PROTOCOL, 0),
            parameter_problem::OPTION => (icmp_type::PARAMETER_PROBLEM, 0, pointer(NOWHERE)),
            parameter_problem::HEADER_FIELD => {
                let places = [(4, 2), (7, 8), (6, 9), (8, 12), (24, NOWHERE)];
                let place = places.iter().find(|(from, _)| *from == rest).map_or(0, |(_, to)| *to);
                (icmp_type::PARAMETER_PROBLEM, 0, pointer(place))
            }
            _ => return Err("ICMPv6 message without counterpart"),
        },
        _ => return Err("ICMPv6 message without counterpart"),
    })
}

/// A packet that an error quotes, perhaps cut short; as it is, if it cannot be translated.
fn quoted(bytes: &[u8], prefix: Prefix) -> Vec<u8> {
    let translated = Ipv6::new(bytes).and_then(|ip| {
        let parts = Parts::of(&ip, prefix).ok()?;
        let len = usize::from(ip.payload_len_field()).checked_sub(parts.extensions)?;
        let mut upper = parts.upper.to_vec();
        if let (protocol::ICMP6, Some([icmp_type, ..])) = (parts.protocol, upper.first_chunk_mut::<4>()) {
            *icmp_type = kind(*icmp_type, 0, 0).map_or(*icmp_type, |(icmp_type, ..)| icmp_type);
        }
        Some([parts.header(ip.hop_limit, len)?.as_bytes(), &upper].concat())
    });
    translated.unwrap_or_else(|| bytes.to_vec())
}
