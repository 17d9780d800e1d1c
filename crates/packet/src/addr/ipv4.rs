//! IPv4 addresses, masks and prefixes.

use super::{AddressError, decimal};
use std::fmt;
use std::net::Ipv4Addr;
use std::ops::{BitAnd, BitOr, Not};
use std::str::FromStr;

/// An IPv4 address or mask, ordered as a number. Zero (`0.0.0.0`) is Click's "no address".
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Ipv4Address(u32);

impl Ipv4Address {
    /// `0.0.0.0`.
    pub const UNSPECIFIED: Self = Self(0);
    /// `255.255.255.255`; also the mask of a host.
    pub const BROADCAST: Self = Self(u32::MAX);

    /// `a.b.c.d`.
    pub const fn new(a: u8, b: u8, c: u8, d: u8) -> Self {
        Self(u32::from_be_bytes([a, b, c, d]))
    }

    /// The address whose first byte on the wire is the high byte of `bits`.
    pub const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// The address as a number, first byte highest.
    pub const fn to_bits(self) -> u32 {
        self.0
    }

    /// The address from its bytes in wire order.
    pub const fn from_octets(octets: [u8; 4]) -> Self {
        Self(u32::from_be_bytes(octets))
    }

    /// The bytes in wire order.
    pub const fn octets(self) -> [u8; 4] {
        self.0.to_be_bytes()
    }

    /// The mask with `length` leading ones; lengths above 32 count as 32.
    pub const fn mask_of_len(length: u8) -> Self {
        match length {
            0 => Self(0),
            1..=31 => Self(u32::MAX << (32 - length)),
            _ => Self(u32::MAX),
        }
    }

    /// For a mask of leading ones, their number; `None` for any other bits.
    pub const fn mask_to_prefix_len(self) -> Option<u8> {
        let length = self.0.leading_ones() as u8;
        if Self::mask_of_len(length).0 == self.0 { Some(length) } else { None }
    }

    /// For masks: whether this one fixes every bit that `other` fixes.
    pub const fn mask_as_specific(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether the address agrees with `address` in the bits of `mask`.
    pub const fn matches_prefix(self, address: Self, mask: Self) -> bool {
        (self.0 ^ address.0) & mask.0 == 0
    }

    /// Whether this is `0.0.0.0`.
    pub const fn is_unspecified(self) -> bool {
        self.0 == 0
    }

    /// Whether the address is in `224.0.0.0/4` (RFC 1112 §4).
    pub const fn is_multicast(self) -> bool {
        self.0 >> 28 == 0xE
    }

    /// Whether this is the limited broadcast address `255.255.255.255`.
    pub const fn is_broadcast(self) -> bool {
        self.0 == u32::MAX
    }

    /// Whether the address is in `127.0.0.0/8`.
    pub const fn is_loopback(self) -> bool {
        self.0 >> 24 == 127
    }

    /// Whether the address is in `169.254.0.0/16` (RFC 3927 §2.1).
    pub const fn is_link_local(self) -> bool {
        self.0 >> 16 == 0xA9FE
    }

    /// Click's text for this address used as a mask: the prefix length, or four numbers if there is none.
    pub fn unparse_mask(self) -> String {
        match self.mask_to_prefix_len() {
            Some(length) => length.to_string(),
            None => self.to_string(),
        }
    }

    /// Click's text for this address with a mask: `10.0.0.0/8`, or `10.0.0.0/255.0.255.0`.
    pub fn unparse_with_mask(self, mask: Self) -> String {
        format!("{self}/{}", mask.unparse_mask())
    }
}

impl fmt::Display for Ipv4Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ipv4Addr::from(*self).fmt(f)
    }
}

impl fmt::Debug for Ipv4Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Ipv4Addr> for Ipv4Address {
    fn from(address: Ipv4Addr) -> Self {
        Self(address.to_bits())
    }
}

impl From<Ipv4Address> for Ipv4Addr {
    fn from(address: Ipv4Address) -> Self {
        Self::from_bits(address.0)
    }
}

impl BitAnd for Ipv4Address {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for Ipv4Address {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Not for Ipv4Address {
    type Output = Self;
    fn not(self) -> Self {
        Self(!self.0)
    }
}

/// Four decimal numbers from 0 to 255 joined by dots.
impl FromStr for Ipv4Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        leading_octets(text)
            .and_then(|(address, octets)| (octets == 4).then_some(address))
            .ok_or_else(|| AddressError::new(text, "an IP address such as '10.0.0.1'"))
    }
}

/// One to four dotted numbers, the missing ones taken as zero, with their count.
fn leading_octets(text: &str) -> Option<(Ipv4Address, usize)> {
    let mut octets = [0; 4];
    let mut count = 0;
    for part in text.split('.') {
        *octets.get_mut(count)? = decimal(part, 255)? as u8;
        count += 1;
    }
    Some((Ipv4Address::from_octets(octets), count))
}

/// An address with a mask: a set of addresses, or an interface address with its network. The mask need not be
/// contiguous. Host bits are kept as given; [`Ipv4Prefix::network`] clears them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Ipv4Prefix {
    /// The address, host bits included.
    pub address: Ipv4Address,
    /// The bits that count.
    pub mask: Ipv4Address,
}

impl Ipv4Prefix {
    /// Every address: `0.0.0.0/0`.
    pub const ALL: Self = Self { address: Ipv4Address::UNSPECIFIED, mask: Ipv4Address::UNSPECIFIED };

    /// The prefix of an address and a mask.
    pub const fn new(address: Ipv4Address, mask: Ipv4Address) -> Self {
        Self { address, mask }
    }

    /// The prefix of an address and a number of leading ones; lengths above 32 count as 32.
    pub const fn with_len(address: Ipv4Address, length: u8) -> Self {
        Self { address, mask: Ipv4Address::mask_of_len(length) }
    }

    /// The prefix of one address.
    pub const fn host(address: Ipv4Address) -> Self {
        Self { address, mask: Ipv4Address::BROADCAST }
    }

    /// The same set of addresses with the host bits clear.
    pub fn network(self) -> Self {
        Self { address: self.address & self.mask, mask: self.mask }
    }

    /// The directed broadcast address of the network: all host bits set.
    pub fn broadcast(self) -> Ipv4Address {
        self.address | !self.mask
    }

    /// The number of leading ones of a contiguous mask, else `None`.
    pub const fn prefix_len(self) -> Option<u8> {
        self.mask.mask_to_prefix_len()
    }

    /// Whether `address` is in the set.
    pub const fn contains(self, address: Ipv4Address) -> bool {
        address.matches_prefix(self.address, self.mask)
    }

    /// Whether every address of `other` is in this set.
    pub const fn contains_prefix(self, other: Self) -> bool {
        self.contains(other.address) && other.mask.mask_as_specific(self.mask)
    }
}

impl fmt::Display for Ipv4Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.prefix_len() {
            Some(length) => write!(f, "{}/{length}", self.address),
            None => write!(f, "{}/{}", self.address, self.mask),
        }
    }
}

impl fmt::Debug for Ipv4Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// `ADDRESS/LENGTH` or `ADDRESS/MASK`, where the address may leave out trailing numbers (`18.26/16`, `0/0`); or a whole
/// address alone, which means that one host.
impl FromStr for Ipv4Prefix {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        parse_prefix(text).ok_or_else(|| {
            AddressError::new(text, "an IP prefix such as '10.0.0.0/8' or '10.0.0.0/255.0.0.0'")
        })
    }
}

fn parse_prefix(text: &str) -> Option<Ipv4Prefix> {
    let Some((address, mask)) = text.split_once('/') else {
        return text.parse().ok().map(Ipv4Prefix::host);
    };
    let (address, _) = leading_octets(address)?;
    match decimal(mask, 32) {
        Some(length) => Some(Ipv4Prefix::with_len(address, length as u8)),
        None => mask.parse().ok().map(|mask| Ipv4Prefix::new(address, mask)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn prefix(text: &str) -> Ipv4Prefix {
        text.parse().unwrap()
    }

    #[test]
    fn reads_and_prints_addresses() {
        let address: Ipv4Address = "10.0.200.1".parse().unwrap();
        assert_eq!(address, Ipv4Address::new(10, 0, 200, 1));
        assert_eq!(address.to_string(), "10.0.200.1");
        for text in
            ["", "10", "10.0.0", "10.0.0.256", "10.0.0.1.2", "10.0.0.", " 10.0.0.1", "+1.2.3.4", "h.0.0.1"]
        {
            assert!(text.parse::<Ipv4Address>().is_err(), "{text}");
        }
    }

    #[test]
    fn reads_every_form_of_prefix() {
        let ten = prefix("10.0.0.0/8");
        assert_eq!(ten, prefix("10.0.0.0/255.0.0.0"));
        assert_eq!(ten, prefix("10/8"));
        assert_eq!(prefix("0/0"), Ipv4Prefix::ALL);
        assert_eq!(prefix("1.2.3.4"), prefix("1.2.3.4/32"));
        assert_eq!(prefix("10.1.2.3/24").network().to_string(), "10.1.2.0/24");
        for text in ["10", "10.0.0.0/33", "10.0.0.0/", "/8", "10.0.0.0/8/8", "10.0.0.0/255.0", "10.0.0.0/-1"]
        {
            assert!(text.parse::<Ipv4Prefix>().is_err(), "{text}");
        }
    }

    #[test]
    fn prints_masks_with_holes_in_full() {
        assert_eq!(prefix("10.0.3.0/255.0.255.0").to_string(), "10.0.3.0/255.0.255.0");
        assert_eq!(
            Ipv4Address::new(1, 2, 3, 4).unparse_with_mask(Ipv4Address::mask_of_len(20)),
            "1.2.3.4/20"
        );
        assert!(prefix("10.0.3.0/255.0.255.0").contains(Ipv4Address::new(10, 99, 3, 0)));
    }

    #[test]
    fn knows_special_addresses() {
        assert!(
            Ipv4Address::new(224, 0, 0, 1).is_multicast() && !Ipv4Address::new(240, 0, 0, 1).is_multicast()
        );
        assert!(Ipv4Address::BROADCAST.is_broadcast() && !Ipv4Address::BROADCAST.is_multicast());
        assert_eq!(prefix("10.0.0.7/24").broadcast(), Ipv4Address::new(10, 0, 0, 255));
    }

    proptest! {
        #[test]
        fn printed_prefixes_read_back(address: u32, mask: u32, length in 0u8..=32) {
            let address = Ipv4Address::from_bits(address);
            for p in [Ipv4Prefix::new(address, Ipv4Address::from_bits(mask)), Ipv4Prefix::with_len(address, length)] {
                prop_assert_eq!(p.to_string().parse::<Ipv4Prefix>().unwrap(), p);
            }
            prop_assert_eq!(Ipv4Address::mask_of_len(length).mask_to_prefix_len(), Some(length));
        }

        #[test]
        fn containment_agrees_with_its_definition(a: u32, b: u32, x in 0u8..=32, y in 0u8..=32, probe: u32) {
            let (p, q) = (Ipv4Prefix::with_len(Ipv4Address::from_bits(a), x), Ipv4Prefix::with_len(Ipv4Address::from_bits(b), y));
            let probe = Ipv4Address::from_bits(probe);
            if p.contains_prefix(q) && q.contains(probe) {
                prop_assert!(p.contains(probe));
            }
            prop_assert!(p.contains_prefix(p) && p.contains(p.broadcast()) && p.contains(p.network().address));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[0-9./x-]{0,20}") {
            let _ = text.parse::<Ipv4Prefix>();
            let _ = text.parse::<Ipv4Address>();
        }
    }
}
