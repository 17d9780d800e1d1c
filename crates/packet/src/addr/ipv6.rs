//! IPv6 addresses and prefixes.

use super::{AddressError, Ipv4Address, decimal};
use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;

/// An IPv6 address, ordered as a number.
///
/// Printed as Click does, by RFC 5952: the longest run of zero groups is shortened, the first of several. IPv4-mapped and
/// IPv4-compatible addresses (RFC 4291 §2.5.5) end in dotted form, `::ffff:1.2.3.4` and `::1.2.3.4`; so `::1` is `::0.0.0.1`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Ipv6Address(u128);

impl Ipv6Address {
    /// `::`.
    pub const UNSPECIFIED: Self = Self(0);

    /// The address whose first byte on the wire is the high byte of `bits`.
    pub const fn from_bits(bits: u128) -> Self {
        Self(bits)
    }

    /// The address as a number, first byte highest.
    pub const fn to_bits(self) -> u128 {
        self.0
    }

    /// The address from its bytes in wire order.
    pub const fn from_octets(octets: [u8; 16]) -> Self {
        Self(u128::from_be_bytes(octets))
    }

    /// The bytes in wire order.
    pub const fn octets(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// The eight 16-bit groups.
    pub const fn segments(self) -> [u16; 8] {
        Ipv6Addr::from_bits(self.0).segments()
    }

    /// The mask with `length` leading ones; lengths above 128 count as 128.
    pub const fn mask_of_len(length: u8) -> Self {
        match length {
            0 => Self(0),
            1..=127 => Self(u128::MAX << (128 - length)),
            _ => Self(u128::MAX),
        }
    }

    /// For a mask of leading ones, their number; `None` for any other bits.
    pub const fn mask_to_prefix_len(self) -> Option<u8> {
        let length = self.0.leading_ones() as u8;
        if Self::mask_of_len(length).0 == self.0 { Some(length) } else { None }
    }

    /// Whether the address agrees with `address` in the bits of `mask`.
    pub const fn matches_prefix(self, address: Self, mask: Self) -> bool {
        (self.0 ^ address.0) & mask.0 == 0
    }

    /// Whether this is `::`.
    pub const fn is_unspecified(self) -> bool {
        self.0 == 0
    }

    /// Whether the address is in `ff00::/8`.
    pub const fn is_multicast(self) -> bool {
        self.0 >> 120 == 0xFF
    }

    /// Whether the address is in `fe80::/10`.
    pub const fn is_link_local(self) -> bool {
        self.0 >> 118 == 0x3FA
    }

    /// The IPv4 address inside the IPv4-mapped address `::ffff:a.b.c.d`, else `None`.
    pub const fn mapped_ipv4(self) -> Option<Ipv4Address> {
        if self.0 >> 32 == 0xFFFF { Some(Ipv4Address::from_bits(self.0 as u32)) } else { None }
    }

    /// The IPv4-mapped address of an IPv4 address.
    pub const fn mapped_from(address: Ipv4Address) -> Self {
        Self(0xFFFF << 32 | address.to_bits() as u128)
    }

    /// The solicited-node multicast address of this address (RFC 4291 §2.7.1).
    pub const fn solicited_node(self) -> Self {
        Self(0xFF02_0000_0000_0000_0000_0001_FF00_0000 | self.0 & 0xFF_FFFF)
    }

    /// All eight groups, none left out: `0:0:0:0:0:0:0:1`.
    pub fn expanded(self) -> String {
        self.segments().map(|group| format!("{group:x}")).join(":")
    }
}

impl fmt::Display for Ipv6Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = Ipv4Address::from_bits(self.0 as u32);
        f.pad(&match self.0 >> 32 {
            0 if self.0 != 0 => format!("::{end}"),
            0xFFFF => format!("::ffff:{end}"),
            _ => shortened(self.segments()),
        })
    }
}

/// The groups with the longest run of zeros, of two or more, as `::`.
fn shortened(groups: [u16; 8]) -> String {
    let (mut start, mut run) = (0, 1);
    for i in 0..8 {
        let zeros = groups[i..].iter().take_while(|&&group| group == 0).count();
        (start, run) = if zeros > run { (i, zeros) } else { (start, run) };
    }
    let joined =
        |groups: &[u16]| groups.iter().map(|group| format!("{group:x}")).collect::<Vec<_>>().join(":");
    match run {
        1 => joined(&groups),
        _ => format!("{}::{}", joined(&groups[..start]), joined(&groups[start + run..])),
    }
}

impl fmt::Debug for Ipv6Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Ipv6Addr> for Ipv6Address {
    fn from(address: Ipv6Addr) -> Self {
        Self(address.to_bits())
    }
}

impl From<Ipv6Address> for Ipv6Addr {
    fn from(address: Ipv6Address) -> Self {
        Self::from_bits(address.0)
    }
}

/// Any form of RFC 4291 §2.2.
impl FromStr for Ipv6Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let parsed = text.parse::<Ipv6Addr>().map(Self::from);
        parsed.map_err(|_| AddressError::new(text, "an IPv6 address such as '2001:db8::1'"))
    }
}

/// An IPv6 address with a prefix length. Host bits are kept as given; [`Ipv6Prefix::network`] clears them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Ipv6Prefix {
    address: Ipv6Address,
    length: u8,
}

impl Ipv6Prefix {
    /// The prefix of an address and a number of leading ones; lengths above 128 count as 128.
    pub const fn new(address: Ipv6Address, length: u8) -> Self {
        Self { address, length: if length > 128 { 128 } else { length } }
    }

    /// The address, host bits included.
    pub const fn address(self) -> Ipv6Address {
        self.address
    }

    /// The number of bits that count, 0 to 128.
    pub const fn prefix_len(self) -> u8 {
        self.length
    }

    /// The bits that count.
    pub const fn mask(self) -> Ipv6Address {
        Ipv6Address::mask_of_len(self.length)
    }

    /// The same set of addresses with the host bits clear.
    pub const fn network(self) -> Self {
        Self { address: Ipv6Address(self.address.0 & self.mask().0), length: self.length }
    }

    /// Whether `address` is in the set.
    pub const fn contains(self, address: Ipv6Address) -> bool {
        address.matches_prefix(self.address, self.mask())
    }
}

impl fmt::Display for Ipv6Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}

impl fmt::Debug for Ipv6Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// `ADDRESS/LENGTH`, `ADDRESS/MASK` with a mask of leading ones, or an address alone, which means that one host.
impl FromStr for Ipv6Prefix {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        parse_prefix(text).ok_or_else(|| AddressError::new(text, "an IPv6 prefix such as '2001:db8::/32'"))
    }
}

fn parse_prefix(text: &str) -> Option<Ipv6Prefix> {
    let Some((address, mask)) = text.split_once('/') else {
        return Some(Ipv6Prefix::new(text.parse().ok()?, 128));
    };
    let length = match decimal(mask, 128) {
        Some(length) => length as u8,
        None => mask.parse::<Ipv6Address>().ok()?.mask_to_prefix_len()?,
    };
    Some(Ipv6Prefix::new(address.parse().ok()?, length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn prints_as_click_does() {
        for (input, printed) in [
            ("::", "::"),
            ("::1", "::0.0.0.1"),
            ("::102:304", "::1.2.3.4"),
            ("::ffff:1.2.3.4", "::ffff:1.2.3.4"),
            ("3FFE:1:0:0:0:0:0:1", "3ffe:1::1"),
            ("fe80::9", "fe80::9"),
            ("1:0:2:0:0:0:0:3", "1:0:2::3"),
            ("0:1:2:3:4:5:6:7", "0:1:2:3:4:5:6:7"),
            ("1:0:0:2:0:0:0:3", "1:0:0:2::3"),
            ("1:0:0:2:0:0:3:4", "1::2:0:0:3:4"),
            ("::1:0:0", "::1:0:0"),
            ("0:0:1::", "0:0:1::"),
            ("1:2:3::", "1:2:3::"),
            ("1:2:3:4:5:6:7:0", "1:2:3:4:5:6:7:0"),
        ] {
            assert_eq!(input.parse::<Ipv6Address>().unwrap().to_string(), printed);
        }
        assert_eq!("::1".parse::<Ipv6Address>().unwrap().expanded(), "0:0:0:0:0:0:0:1");
    }

    #[test]
    fn reads_prefixes() {
        let wide: Ipv6Prefix = "3ffe:2::/32".parse().unwrap();
        assert_eq!(wide, "3ffe:2::/ffff:ffff::".parse().unwrap());
        assert!(wide.contains("3ffe:2::7".parse().unwrap()) && !wide.contains("3ffe:3::7".parse().unwrap()));
        assert_eq!("::1".parse::<Ipv6Prefix>().unwrap().prefix_len(), 128);
        for text in ["", "1.2.3.4", "::/129", "::/", "::/ff0f::", "1:2:3"] {
            assert!(text.parse::<Ipv6Prefix>().is_err(), "{text}");
        }
    }

    #[test]
    fn knows_special_addresses() {
        let address: Ipv6Address = "fe80::1:203:405".parse().unwrap();
        assert!(address.is_link_local() && !address.is_multicast());
        assert_eq!(address.solicited_node(), "ff02::1:ff03:405".parse().unwrap());
        assert_eq!(address.mapped_ipv4(), None);
        assert_eq!(
            "::ffff:1.2.3.4".parse::<Ipv6Address>().unwrap().mapped_ipv4(),
            Some(Ipv4Address::new(1, 2, 3, 4))
        );
    }

    proptest! {
        #[test]
        fn printed_addresses_read_back(bits: u128, zeroed: u8, length in 0u8..=128) {
            let groups: u128 = (0..8).filter(|i| zeroed >> i & 1 == 0).map(|i| 0xFFFF << (16 * i)).sum();
            for address in [Ipv6Address(bits), Ipv6Address(bits & groups)] {
                prop_assert_eq!(address.to_string().parse::<Ipv6Address>().unwrap(), address);
                let prefix = Ipv6Prefix::new(address, length);
                prop_assert_eq!(prefix.to_string().parse::<Ipv6Prefix>().unwrap(), prefix);
            }
        }
    }
}
