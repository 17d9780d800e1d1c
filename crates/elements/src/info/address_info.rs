//! AddressInfo: names for addresses.

use clickwork_packet::addr::{EtherAddress, Ipv4Address, Ipv4Prefix, Ipv6Address, Ipv6Prefix};
use clickwork_router::args::{ArgError, ArgSpec, ArgType, Args, FromArg, NameValue, Names, split_words};
use clickwork_router::facts::phase;
use clickwork_router::{Class, Cx, Element};
use std::mem::{Discriminant, discriminant};

/// The class facts.
pub static CLASS: Class = Class {
    help: "gives names to addresses",
    manual: "Each argument is a name and the addresses it stands for: IPv4 and IPv6 addresses and prefixes, Ethernet \
             addresses, or names of others. Elements in the same compound and in those within may write the name \
             wherever they take such an address; 'name:ip', 'name:ipnet', 'name:bcast', 'name:gw', 'name:ip6', \
             'name:ip6net' and 'name:eth' say which of several is meant. A prefix with host bits, such as 10.0.0.1/8, \
             gives the address as well. The names of network devices stand for their addresses without AddressInfo.",
    example: "AddressInfo(me 10.0.0.1/24 2:0:0:0:0:1); \
              InfiniteSource(LIMIT 1, STOP true) -> EtherEncap(0x0800, me, me) -> Discard",
    ports: "0/0",
    phase: phase::INFO,
    args: &[ArgSpec::rest("NAME", ArgType::Other("NAME ADDRESS..."), "a name and its addresses")],
    ..Class::new("AddressInfo", "info", || Box::new(AddressInfo))
};

struct AddressInfo;

impl Element for AddressInfo {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        for (index, entry) in args.rest().to_vec().iter().enumerate() {
            if let Err(error) = define(entry, args.names()) {
                args.report_in_rest(index, error);
            }
        }
    }
}

/// Defines what one argument says; an empty one says nothing.
fn define(entry: &str, names: &Names) -> Result<(), ArgError> {
    let words = split_words(entry);
    let Some((name, addresses)) = words.split_first() else { return Ok(()) };
    if addresses.is_empty() {
        let error = ArgError::new("expected 'NAME [ADDRS]'");
        return Err(error.hint(format!("write at least one address behind '{name}'")));
    }
    let mut defined = Vec::new();
    for text in addresses {
        let meanings = meanings(text, names);
        if meanings.is_empty() {
            let hint = "expected an IP or Ethernet address, a prefix, or a name of one";
            return Err(ArgError::new(format!("'{text}' is not a recognizable address")).hint(hint));
        }
        let kinds: Vec<Discriminant<NameValue>> = meanings.iter().map(discriminant).collect();
        // A text with one meaning replaces what came before; one with several (a device's name) only fills gaps.
        let fresh = |value: &NameValue| kinds.len() == 1 || !defined.contains(&discriminant(value));
        meanings.into_iter().filter(fresh).for_each(|value| names.define(name, value));
        defined.extend(kinds);
    }
    Ok(())
}

/// All that a text can mean as an address.
fn meanings(text: &str, names: &Names) -> Vec<NameValue> {
    let mut found = Vec::new();
    if let Ok(ether) = EtherAddress::from_arg(text, names) {
        found.push(NameValue::Ether(ether));
    }
    if let Ok(address) = Ipv4Address::from_arg(text, names) {
        found.push(NameValue::Ip(address));
    } else if let Ok(prefix) = Ipv4Prefix::from_arg(text, names) {
        found.push(NameValue::IpPrefix(prefix));
        if prefix.network() != prefix {
            found.push(NameValue::Ip(prefix.address));
        }
    }
    if let Ok(address) = Ipv6Address::from_arg(text, names) {
        found.push(NameValue::Ip6(address));
    } else if let Ok(prefix) = Ipv6Prefix::from_arg(text, names) {
        found.push(NameValue::Ip6Prefix(prefix));
        if prefix.network() != prefix {
            found.push(NameValue::Ip6(prefix.address()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Harness;

    #[test]
    fn a_name_has_addresses_of_several_kinds() {
        let names = Names::default();
        define("h 10.1.0.9/16 0:1:2:3:4:5 3ffe::1/64", &names).unwrap();
        assert_eq!(names.ip("h").unwrap().to_string(), "10.1.0.9");
        assert_eq!(names.ip_prefix("h:ipnet").unwrap().to_string(), "10.1.0.9/16");
        assert_eq!(names.ip("h:bcast").unwrap().to_string(), "10.1.255.255");
        assert_eq!(names.ether("h:eth").unwrap().to_string(), "00-01-02-03-04-05");
        assert_eq!(names.ip6("h").unwrap().to_string(), "3ffe::1");
        assert_eq!(names.ip6_prefix("h").unwrap().to_string(), "3ffe::1/64");
    }

    #[test]
    fn a_network_gives_no_address() {
        let names = Names::default();
        define("net 10.3.0.0/24", &names).unwrap();
        assert_eq!((names.ip("net"), names.ip_prefix("net").is_some()), (None, true));
    }

    #[test]
    fn names_may_be_given_new_names_and_the_last_address_holds() {
        let names = Names::default();
        define("a 1.0.0.1 5:5:5:5:5:5", &names).unwrap();
        define("b 1.0.0.2 a 1.0.0.3", &names).unwrap();
        assert_eq!(names.ip("b").unwrap().to_string(), "1.0.0.3");
        assert_eq!(names.ether("b"), names.ether("a"));
        define("", &names).unwrap();
    }

    #[test]
    fn a_name_with_several_meanings_only_fills_gaps() {
        let names = Names::default();
        define("a 1.0.0.1 5:5:5:5:5:5", &names).unwrap();
        define("b 1.0.0.2 a", &names).unwrap();
        assert_eq!(names.ip("b").unwrap().to_string(), "1.0.0.2");
        assert_eq!(names.ether("b"), names.ether("a"));
    }

    #[test]
    fn inner_names_hide_outer_ones() {
        let mut t = Harness::new(
            "AddressInfo(h 1:1:1:1:1:1); s :: Source -> EtherEncap(0, h, h) -> k :: Sink; \
             a :: { AddressInfo(h 2:2:2:2:2:2); input -> EtherEncap(0, h, h) -> output }; s2 :: Source -> a -> k",
        );
        t.push("s", 0, [clickwork_packet::Packet::new(b"")]);
        t.push("s2", 0, [clickwork_packet::Packet::new(b"")]);
        assert_eq!(t.bytes("k"), [[[1u8; 12], [2; 12]].map(|a| [&a[..], &[0, 0]].concat())].concat());
    }

    #[test]
    fn every_bad_entry_is_reported() {
        let e = Harness::errors("AddressInfo(a, b 1.2.3, c 1.0.0.1)");
        assert!(
            e.contains("expected 'NAME [ADDRS]'") && e.contains("'1.2.3' is not a recognizable address"),
            "{e}"
        );
    }
}
