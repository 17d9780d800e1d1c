//! Chains of IPv6 extension headers (RFC 8200 §4): what stands behind them.
//!
//! Not their processing: a router looks at a chain only to find the upper-layer header, or the place for a fragment
//! header. A chain is read no further than a packet reaches, and no further than [`LONGEST`] headers.

use clickwork_packet::headers::Ipv6;

/// Header numbers of extensions (IANA "IPv6 Extension Header Types").
pub mod next_header {
    /// Hop-by-hop options.
    pub const HOP_BY_HOP: u8 = 0;
    /// Routing.
    pub const ROUTING: u8 = 43;
    /// Fragment.
    pub const FRAGMENT: u8 = 44;
    /// Authentication (RFC 4302).
    pub const AUTHENTICATION: u8 = 51;
    /// Destination options.
    pub const DESTINATION_OPTIONS: u8 = 60;
}

/// Bytes of the fixed header.
pub const FIXED: usize = 40;
/// Bytes of a fragment header.
pub const FRAGMENT_LEN: usize = 8;
/// Headers after which a chain is taken for an attack: more than any sender has reason to use.
const LONGEST: usize = 16;

use next_header::{AUTHENTICATION, DESTINATION_OPTIONS, FRAGMENT, HOP_BY_HOP, ROUTING};

/// A header in a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// What it is.
    pub kind: u8,
    /// Where it begins, from the start of the IPv6 header.
    pub offset: usize,
    /// Where the byte is that says what it is.
    pub named_at: usize,
}

/// The headers of a packet from the first behind the fixed one to the first that is no extension, which may not be there
/// as a whole. The chain ends early if an extension header is cut short or it is too long.
pub fn chain<'p>(ip: &Ipv6<'p>) -> impl Iterator<Item = Link> + use<'p> {
    let payload = ip.payload();
    let first = Link { kind: ip.next_header, offset: FIXED, named_at: 6 };
    std::iter::successors(Some(first), move |link| following(payload, link)).take(LONGEST)
}

fn following(payload: &[u8], link: &Link) -> Option<Link> {
    let rest = payload.get(link.offset - FIXED..)?;
    let &[kind, length, ..] = rest.first_chunk::<8>()?;
    let len = match link.kind {
        HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS => 8 * (usize::from(length) + 1),
        AUTHENTICATION => 4 * (usize::from(length) + 2),
        FRAGMENT => FRAGMENT_LEN,
        _ => return None,
    };
    (len <= rest.len()).then_some(Link { kind, offset: link.offset + len, named_at: link.offset })
}

/// Where a packet's upper layer begins, from the start of the IPv6 header, and what it is. Nothing if the packet is a
/// fragment other than the first, or the chain ends early.
pub fn upper_layer(ip: &Ipv6<'_>) -> Option<(u8, usize)> {
    let last = chain(ip).last()?;
    let is_later = chain(ip).any(|link| link.kind == FRAGMENT && fragment_offset(ip, &link) != 0);
    (!is_extension(last.kind) && !is_later).then_some((last.kind, last.offset))
}

/// Whether this is an extension header whose length says where the next one is.
pub fn is_extension(kind: u8) -> bool {
    matches!(kind, HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS | AUTHENTICATION | FRAGMENT)
}

/// The offset in a fragment header, in units of eight bytes.
fn fragment_offset(ip: &Ipv6<'_>, link: &Link) -> u16 {
    let header = ip.payload().get(link.offset - FIXED..).and_then(<[u8]>::first_chunk::<FRAGMENT_LEN>);
    header.map_or(0, |h| u16::from_be_bytes([h[2], h[3]]) >> 3)
}

#[cfg(test)]
mod tests {
    use super::super::samples::ip6;
    use super::*;

    fn upper(next: u8, payload: &[u8]) -> Option<(u8, usize)> {
        let bytes = ip6("2001:db8::1", "2001:db8::2").payload(next, payload).bytes();
        upper_layer(&Ipv6::new(&bytes).unwrap())
    }

    #[test]
    fn the_upper_layer_is_found_behind_any_extensions() {
        let options = |next: u8| [next, 0, 1, 4, 0, 0, 0, 0];
        let long = [&[17, 1][..], &[0; 14]].concat();
        assert_eq!(upper(17, b""), Some((17, 40)));
        assert_eq!(upper(0, &options(58)), Some((58, 48)));
        assert_eq!(upper(60, &[&options(43)[..], &long].concat()), Some((17, 64)));
        assert_eq!(upper(51, &[&[6, 4][..], &[0; 22]].concat()), Some((6, 64)));
        assert_eq!(upper(50, &[1; 8]), Some((50, 40)));
        assert_eq!(upper(44, &[17, 0, 0, 1, 0, 0, 0, 0]), Some((17, 48)));
        assert_eq!(upper(44, &[17, 0, 0, 8, 0, 0, 0, 0]), None);
    }

    #[test]
    fn chains_that_are_cut_short_or_endless_lead_nowhere() {
        assert_eq!(upper(0, &[17, 0, 0, 0, 0, 0, 0]), None);
        assert_eq!(upper(0, &[17, 1, 0, 0, 0, 0, 0, 0]), None);
        assert_eq!(upper(43, &[43, 255, 0, 0, 0, 0, 0, 0]), None);
        let endless = [60, 0, 1, 4, 0, 0, 0, 0].repeat(1000);
        assert_eq!(upper(60, &endless), None);
        let bytes = ip6("::1", "::2").payload(60, &endless).bytes();
        assert_eq!(chain(&Ipv6::new(&bytes).unwrap()).count(), LONGEST);
    }
}
