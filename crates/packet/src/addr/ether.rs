//! Ethernet (MAC-48) addresses.

use super::AddressError;
use std::fmt;
use std::str::FromStr;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// An Ethernet address in wire order. Printed as Click does: `00-00-C0-AE-67-EF`.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    FromBytes,
    IntoBytes,
    Immutable,
    KnownLayout,
    Unaligned,
)]
#[repr(transparent)]
pub struct EtherAddress(pub [u8; 6]);

impl EtherAddress {
    /// `FF-FF-FF-FF-FF-FF`.
    pub const BROADCAST: Self = Self([0xFF; 6]);

    /// Whether the address names a group of stations (broadcast is such a group).
    pub const fn is_multicast(self) -> bool {
        self.0[0] & 1 != 0
    }

    /// Whether this is the all-ones address.
    pub fn is_broadcast(self) -> bool {
        self == Self::BROADCAST
    }

    /// Whether the address was given by an administrator rather than a manufacturer.
    pub const fn is_local(self) -> bool {
        self.0[0] & 2 != 0
    }

    /// Whether all bytes are zero, Click's "no address".
    pub fn is_zero(self) -> bool {
        self.0 == [0; 6]
    }

    /// The group address that carries an IPv4 multicast group (RFC 1112 §6.4).
    pub fn ipv4_multicast(group: super::Ipv4Address) -> Self {
        let [_, b, c, d] = group.octets();
        Self([0x01, 0x00, 0x5E, b & 0x7F, c, d])
    }

    /// The group address that carries an IPv6 multicast group (RFC 2464 §7): `33:33` and its last four bytes.
    pub fn ipv6_multicast(group: super::Ipv6Address) -> Self {
        let [.., a, b, c, d] = group.octets();
        Self([0x33, 0x33, a, b, c, d])
    }

    /// The form with colons, `00:00:C0:AE:67:EF`.
    pub fn with_colons(self) -> String {
        self.join(':')
    }

    fn join(self, separator: char) -> String {
        let [a, b, c, d, e, f] = self.0;
        let s = separator;
        format!("{a:02X}{s}{b:02X}{s}{c:02X}{s}{d:02X}{s}{e:02X}{s}{f:02X}")
    }
}

impl fmt::Display for EtherAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.join('-'))
    }
}

impl fmt::Debug for EtherAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<[u8; 6]> for EtherAddress {
    fn from(bytes: [u8; 6]) -> Self {
        Self(bytes)
    }
}

/// Six groups of one or two hexadecimal digits, all joined by `:` or all by `-`.
impl FromStr for EtherAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let separator = if text.contains('-') { '-' } else { ':' };
        parse_groups(text, separator)
            .map(Self)
            .ok_or_else(|| AddressError::new(text, "an Ethernet address such as '00:00:C0:AE:67:EF'"))
    }
}

fn parse_groups(text: &str, separator: char) -> Option<[u8; 6]> {
    let mut bytes = [0; 6];
    let mut groups = text.split(separator);
    for byte in &mut bytes {
        let group = groups.next()?;
        let well_formed = matches!(group.len(), 1 | 2) && group.bytes().all(|b| b.is_ascii_hexdigit());
        *byte = u8::from_str_radix(group, 16).ok().filter(|_| well_formed)?;
    }
    groups.next().is_none().then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_colons_dashes_and_short_groups_and_prints_dashes() {
        for text in ["00:00:c0:ae:67:ef", "00-00-C0-AE-67-EF", "0:0:c0:ae:67:ef"] {
            assert_eq!(text.parse::<EtherAddress>().unwrap().to_string(), "00-00-C0-AE-67-EF");
        }
        let ether = EtherAddress([0, 0, 0xC0, 0xAE, 0x67, 0xEF]);
        assert_eq!(ether.with_colons(), "00:00:C0:AE:67:EF");
    }

    #[test]
    fn refuses_what_is_not_six_groups() {
        for text in
            ["", "1:2:3:4:5", "1:2:3:4:5:6:7", "1:2:3:4:5:", "1:2:3:4:5:+6", "1:2-3:4:5:6", "111:2:3:4:5:6"]
        {
            let error = text.parse::<EtherAddress>().unwrap_err();
            assert!(error.to_string().contains(&format!("not '{text}'")), "{error}");
        }
    }

    #[test]
    fn knows_groups() {
        assert!(EtherAddress::BROADCAST.is_broadcast() && EtherAddress::BROADCAST.is_multicast());
        let group = EtherAddress::ipv4_multicast("239.129.2.3".parse().unwrap());
        assert_eq!(group, EtherAddress([1, 0, 0x5E, 1, 2, 3]));
        assert!(group.is_multicast() && !group.is_broadcast() && !group.is_local());
        assert!(!EtherAddress([2, 0, 0, 0, 0, 1]).is_multicast());
    }
}
