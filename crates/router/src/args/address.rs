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
        written_prefix(text, names).or_else(|| names.ip_prefix(text)).ok_or(BadValue::Mismatch)
    }
}

/// A prefix that is written with a slash.
fn written_prefix(text: &str, names: &Names) -> Option<Ipv4Prefix> {
    let (address, mask) = text.rsplit_once('/')?;
    if let Ok(prefix) = text.parse::<Ipv4Prefix>() {
        let given = Ipv4Address::mask_of_len(8 * address.split('.').count() as u8);
        return (prefix.mask & !given == Ipv4Address::UNSPECIFIED).then_some(prefix);
    }
    let address = Ipv4Address::from_arg(address, names).ok()?;
    match mask.parse::<u8>() {
        Ok(length) if length <= 32 => Some(Ipv4Prefix::with_len(address, length)),
        _ => Some(Ipv4Prefix::new(address, Ipv4Address::from_arg(mask, names).ok()?)),
    }
}

/// Hexadecimal parts; the last two may be an IPv4 address (`::10.0.0.1`), or the name of one (`64:ff9b::gate`).
impl FromArg for Ipv6Address {
    fn from_arg(text: &str, names: &Names) -> Result<Self, BadValue> {
        let with_name = || with_named_end(text, names);
        text.parse().ok().or_else(with_name).or_else(|| names.ip6(text)).ok_or(BadValue::Mismatch)
    }
}

/// An IPv6 address whose last four bytes are named, or written as only IPv4 addresses are (`::10.0.0.01`).
fn with_named_end(text: &str, names: &Names) -> Option<Ipv6Address> {
    let name = text.find(|c: char| c != ':' && !c.is_ascii_hexdigit())?;
    let colon = text[..name].rfind(':')?;
    let (parts, name) = text.split_at(colon + 1);
    format!("{parts}{}", Ipv4Address::from_arg(name, names).ok()?).parse().ok()
}

/// `ADDRESS/LENGTH`, `ADDRESS/MASK`, or the name of a prefix. Host bits are kept.
impl FromArg for Ipv6Prefix {
    fn from_arg(text: &str, names: &Names) -> Result<Self, BadValue> {
        written_prefix6(text, names).or_else(|| names.ip6_prefix(text)).ok_or(BadValue::Mismatch)
    }
}

/// An IPv6 prefix that is written with a slash.
fn written_prefix6(text: &str, names: &Names) -> Option<Ipv6Prefix> {
    let (address, mask) = text.rsplit_once('/')?;
    let address = Ipv6Address::from_arg(address, names).ok()?;
    match mask.parse::<u8>() {
        Ok(length) if length <= 128 => Some(Ipv6Prefix::new(address, length)),
        _ => format!("{address}/{}", Ipv6Address::from_arg(mask, names).ok()?).parse().ok(),
    }
}

/// An address or a prefix; an address alone is the prefix of that one host. A name that has both means the address:
/// its prefix is `NAME:ipnet`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostOrPrefix<P>(pub P);

impl FromArg for HostOrPrefix<Ipv4Prefix> {
    fn from_arg(text: &str, names: &Names) -> Result<Self, BadValue> {
        let host = || Ipv4Address::from_arg(text, names).ok().map(Ipv4Prefix::host);
        let prefix = written_prefix(text, names).or_else(host).or_else(|| names.ip_prefix(text));
        prefix.map(HostOrPrefix).ok_or(BadValue::Mismatch)
    }
}

impl FromArg for HostOrPrefix<Ipv6Prefix> {
    fn from_arg(text: &str, names: &Names) -> Result<Self, BadValue> {
        let host = || Ipv6Address::from_arg(text, names).ok().map(|address| Ipv6Prefix::new(address, 128));
        let prefix = written_prefix6(text, names).or_else(host).or_else(|| names.ip6_prefix(text));
        prefix.map(HostOrPrefix).ok_or(BadValue::Mismatch)
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
        names.define("if0", NameValue::Ip(Ipv4Address::new(10, 0, 0, 254)));
        names.define("if0", NameValue::IpPrefix("10.0.0.254/24".parse().unwrap()));
        names.define("mask", NameValue::Ip(Ipv4Address::new(255, 255, 0, 0)));
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

    /// How each text is read as an address, as a prefix, and where either may stand.
    fn readings<A, P>(text: &str) -> [String; 3]
    where
        A: FromArg + ToString,
        P: FromArg + ToString,
        HostOrPrefix<P>: FromArg,
    {
        let shown = |value: Result<String, BadValue>| value.unwrap_or_else(|_| "-".to_string());
        [
            shown(read::<A>(text).map(|a| a.to_string())),
            shown(read::<P>(text).map(|p| p.to_string())),
            shown(read::<HostOrPrefix<P>>(text).map(|HostOrPrefix(p)| p.to_string())),
        ]
    }

    #[test]
    fn a_name_with_an_address_and_a_prefix_means_the_address_where_both_can_stand() {
        // Text; as an address, as a prefix, as either.
        let table = [
            ("if0", "10.0.0.254", "10.0.0.254/24", "10.0.0.254/32"),
            ("if0:ip", "10.0.0.254", "-", "10.0.0.254/32"),
            ("if0:ip4", "10.0.0.254", "-", "10.0.0.254/32"),
            ("if0:net", "-", "10.0.0.254/24", "10.0.0.254/24"),
            ("if0:ipnet", "-", "10.0.0.254/24", "10.0.0.254/24"),
            ("if0:IP4NET", "-", "10.0.0.254/24", "10.0.0.254/24"),
            ("if0:bcast", "10.0.0.255", "-", "10.0.0.255/32"),
            ("if0:gw", "10.0.0.1", "-", "10.0.0.1/32"),
            ("if0:eth", "-", "-", "-"),
            ("if0/8", "-", "10.0.0.254/8", "10.0.0.254/8"),
            ("if0:gw/255.0.0.0", "-", "10.0.0.1/8", "10.0.0.1/8"),
            ("10.1.0.0/mask", "-", "10.1.0.0/16", "10.1.0.0/16"),
            ("if0/33", "-", "-", "-"),
            ("net", "-", "10.0.0.0/8", "10.0.0.0/8"),
            ("net/9", "-", "-", "-"),
            ("gate", "10.0.0.9", "-", "10.0.0.9/32"),
        ];
        for (text, address, prefix, either) in table {
            assert_eq!(readings::<Ipv4Address, Ipv4Prefix>(text), [address, prefix, either], "{text}");
        }
    }

    #[test]
    fn names_of_ipv6_addresses_go_the_same_way() {
        let table = [
            ("six", "2001:db8::1", "2001:db8::/32", "2001:db8::1/128"),
            ("six:ip6", "2001:db8::1", "-", "2001:db8::1/128"),
            ("six:ip6net", "-", "2001:db8::/32", "2001:db8::/32"),
            ("six/64", "-", "2001:db8::1/64", "2001:db8::1/64"),
            ("2001:db8::/ffff::", "-", "2001:db8::/16", "2001:db8::/16"),
            ("six/129", "-", "-", "-"),
            ("64:ff9b::if0", "64:ff9b::a00:fe", "-", "64:ff9b::a00:fe/128"),
            ("::ffff:if0:bcast", "::ffff:10.0.0.255", "-", "::ffff:10.0.0.255/128"),
            ("64:ff9b::gate/96", "-", "64:ff9b::a00:9/96", "64:ff9b::a00:9/96"),
            ("face:gate", "-", "-", "-"),
            ("::ffff:010.0.0.01", "::ffff:10.0.0.1", "-", "::ffff:10.0.0.1/128"),
            ("1:2:3:4:5:6:1.2.3.4/100", "-", "1:2:3:4:5:6:102:304/100", "1:2:3:4:5:6:102:304/100"),
            ("1:2:3:4:5:6:7:1.2.3.4", "-", "-", "-"),
            ("1::2:1.2.3", "-", "-", "-"),
            (":::1", "-", "-", "-"),
            ("1::2::3", "-", "-", "-"),
            ("12345::", "-", "-", "-"),
            ("fe80::/ffff::", "-", "fe80::/16", "fe80::/16"),
            ("fe80::/fe0f::", "-", "-", "-"),
            ("fe80::1/::", "-", "fe80::1/0", "fe80::1/0"),
            ("fe80::1/0x40", "-", "-", "-"),
            ("fe80::1/064", "-", "fe80::1/64", "fe80::1/64"),
            ("/64", "-", "-", "-"),
            ("fe80::1/", "-", "-", "-"),
            ("if0", "-", "-", "-"),
        ];
        for (text, address, prefix, either) in table {
            assert_eq!(readings::<Ipv6Address, Ipv6Prefix>(text), [address, prefix, either], "{text}");
        }
    }

    #[test]
    fn ethernet_addresses_have_three_suffixes() {
        for text in ["gate", "gate:eth", "gate:Ether", "gate:ethernet"] {
            assert_eq!(read(text), Ok(EtherAddress([1, 2, 3, 4, 5, 6])), "{text}");
        }
        assert!(read::<EtherAddress>("gate:ip").is_err());
    }
}
