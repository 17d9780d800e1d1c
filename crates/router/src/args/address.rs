//! Addresses and prefixes, as numbers or by name.

use clickwork_packet::addr::{EtherAddress, Ipv4Address, Ipv4Prefix, Ipv6Address, Ipv6Prefix};

use super::{BadValue, FromArg, Names};

impl FromArg for Ipv4Address {
    fn from_arg(text: &str, names: &Names) -> Result<Self, BadValue> {
        text.parse().ok().or_else(|| names.ip(text)).ok_or(BadValue::Mismatch)
    }
}

/// `ADDRESS/LENGTH`, `ADDRESS/MASK`, or the name of a prefix. The address may leave out trailing numbers that the mask
/// leaves out too (`18.26/16`). Host bits are kept.
impl FromArg for Ipv4Prefix {
    fn from_arg(text: &str, names: &Names) -> Result<Self, BadValue> {
        let Some((address, mask)) = text.split_once('/') else {
            return names.ip_prefix(text).ok_or(BadValue::Mismatch);
        };
        if let Ok(prefix) = text.parse::<Ipv4Prefix>() {
            let given = Ipv4Address::mask_of_len(8 * address.split('.').count() as u8);
            let is_covered = prefix.mask & !given == Ipv4Address::UNSPECIFIED;
            return if is_covered { Ok(prefix) } else { Err(BadValue::Mismatch) };
        }
        let address = Ipv4Address::from_arg(address, names)?;
        match mask.parse::<u8>() {
            Ok(length) if length <= 32 => Ok(Ipv4Prefix::with_len(address, length)),
            _ => Ok(Ipv4Prefix::new(address, Ipv4Address::from_arg(mask, names)?)),
        }
    }
}

impl FromArg for Ipv6Address {
    fn from_arg(text: &str, names: &Names) -> Result<Self, BadValue> {
        text.parse().ok().or_else(|| names.ip6(text)).ok_or(BadValue::Mismatch)
    }
}

/// `ADDRESS/LENGTH`, `ADDRESS/MASK`, or the name of a prefix. Host bits are kept.
impl FromArg for Ipv6Prefix {
    fn from_arg(text: &str, names: &Names) -> Result<Self, BadValue> {
        let prefix = if text.contains('/') { text.parse().ok() } else { names.ip6_prefix(text) };
        prefix.ok_or(BadValue::Mismatch)
    }
}

/// An address or a prefix; an address alone is the prefix of that one host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostOrPrefix<P>(pub P);

impl FromArg for HostOrPrefix<Ipv4Prefix> {
    fn from_arg(text: &str, names: &Names) -> Result<Self, BadValue> {
        let host = || Ipv4Address::from_arg(text, names).map(Ipv4Prefix::host);
        Ipv4Prefix::from_arg(text, names).or_else(|_| host()).map(HostOrPrefix)
    }
}

impl FromArg for HostOrPrefix<Ipv6Prefix> {
    fn from_arg(text: &str, names: &Names) -> Result<Self, BadValue> {
        let host = || Ipv6Address::from_arg(text, names).map(|address| Ipv6Prefix::new(address, 128));
        Ipv6Prefix::from_arg(text, names).or_else(|_| host()).map(HostOrPrefix)
    }
}

impl FromArg for EtherAddress {
    fn from_arg(text: &str, names: &Names) -> Result<Self, BadValue> {
        text.parse().ok().or_else(|| names.ether(text)).ok_or(BadValue::Mismatch)
    }
}

#[cfg(test)]
mod tests {
    use super::super::NameValue;
    use super::*;

    fn names() -> Names {
        let names = Names::default();
        names.define("gate", NameValue::Ip(Ipv4Address::new(10, 0, 0, 9)));
        names.define("net", NameValue::IpPrefix("10.0.0.0/8".parse().unwrap()));
        names.define("gate", NameValue::Ether(EtherAddress([1, 2, 3, 4, 5, 6])));
        names.define("six", NameValue::Ip6("2001:db8::1".parse().unwrap()));
        names.define("six", NameValue::Ip6Prefix("2001:db8::/32".parse().unwrap()));
        names
    }

    fn read<T: FromArg>(text: &str) -> Result<T, BadValue> {
        T::from_arg(text, &names())
    }

    #[test]
    fn addresses_are_numbers_or_names() {
        assert_eq!(read("10.0.0.1"), Ok(Ipv4Address::new(10, 0, 0, 1)));
        assert_eq!(read("gate"), Ok(Ipv4Address::new(10, 0, 0, 9)));
        assert_eq!(read("net:bcast"), Ok(Ipv4Address::new(10, 255, 255, 255)));
        assert_eq!(read("gate"), Ok(EtherAddress([1, 2, 3, 4, 5, 6])));
        assert_eq!(read("1:2:3:4:5:6"), Ok(EtherAddress([1, 2, 3, 4, 5, 6])));
        assert_eq!(read("six"), Ok("2001:db8::1".parse::<Ipv6Address>().unwrap()));
        for text in ["", "10.0.0", "10.0.0.256", "other", "10.0.0.1/8", "net"] {
            assert_eq!(read::<Ipv4Address>(text), Err(BadValue::Mismatch), "{text}");
        }
        assert_eq!(read::<EtherAddress>("1:2:3:4:5"), Err(BadValue::Mismatch));
        assert_eq!(read::<Ipv6Address>("::1::"), Err(BadValue::Mismatch));
    }

    #[test]
    fn prefixes_have_a_length_or_a_mask() {
        let prefix = |text: &str| Ok(text.parse::<Ipv4Prefix>().unwrap());
        assert_eq!(read("10.0.0.0/255.0.0.0"), prefix("10.0.0.0/8"));
        assert_eq!(read("18.26.4/24"), prefix("18.26.4.0/24"));
        assert_eq!(read("0/0"), Ok(Ipv4Prefix::ALL));
        assert_eq!(read("10.1.2.3/8"), prefix("10.1.2.3/8"));
        assert_eq!(read("net"), prefix("10.0.0.0/8"));
        assert_eq!(read("gate/16"), prefix("10.0.0.9/16"));
        for text in ["18.26.4/28", "10.0.0.1", "10.0.0.0/33", "10.0.0.0/", "/8", "other/8", "gate"] {
            assert_eq!(read::<Ipv4Prefix>(text), Err(BadValue::Mismatch), "{text}");
        }
    }

    #[test]
    fn hosts_may_stand_for_prefixes_where_allowed() {
        let host = |text: &str| Ok(HostOrPrefix(text.parse::<Ipv4Prefix>().unwrap()));
        assert_eq!(read("10.0.0.1"), host("10.0.0.1/32"));
        assert_eq!(read("gate"), host("10.0.0.9/32"));
        assert_eq!(read("net"), host("10.0.0.0/8"));
        assert!(read::<HostOrPrefix<Ipv4Prefix>>("other").is_err());
        assert_eq!(read("::1"), Ok(HostOrPrefix("::1/128".parse::<Ipv6Prefix>().unwrap())));
        assert_eq!(read("six"), Ok("2001:db8::/32".parse::<Ipv6Prefix>().unwrap()));
        assert!(read::<Ipv6Prefix>("::1").is_err());
    }
}
