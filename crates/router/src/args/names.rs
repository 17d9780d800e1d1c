//! Names that arguments may use instead of values: addresses, ports, protocols and annotations.
//!
//! A name is defined (by AddressInfo, IPNameInfo, ...) in a compound element and holds there and in the compound elements
//! within. A look-up goes outwards from its own compound element, then to built-in names, then to network devices.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use clickwork_packet::addr::{EtherAddress, Ipv4Address, Ipv4Prefix, Ipv6Address, Ipv6Prefix};
use clickwork_packet::anno::Anno;

use super::{annotation, services};

/// What a name stands for. One name may stand for several values of different kinds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NameValue {
    /// An IPv4 address.
    Ip(Ipv4Address),
    /// An IPv4 prefix.
    IpPrefix(Ipv4Prefix),
    /// An IPv6 address.
    Ip6(Ipv6Address),
    /// An IPv6 prefix.
    Ip6Prefix(Ipv6Prefix),
    /// An Ethernet address.
    Ether(EtherAddress),
    /// A TCP port.
    TcpPort(u16),
    /// A UDP port.
    UdpPort(u16),
    /// An IP protocol.
    IpProto(u8),
    /// A packet annotation.
    Anno(Anno),
}

/// What is known about the network devices of this machine, whose names stand for their addresses.
pub trait DeviceAddresses: Send + Sync {
    /// The device's IPv4 address and network.
    fn ip(&self, device: &str) -> Option<Ipv4Prefix>;
    /// The device's Ethernet address.
    fn ether(&self, device: &str) -> Option<EtherAddress>;
    /// The default gateway reached through the device.
    fn gateway(&self, device: &str) -> Option<Ipv4Address>;
}

/// What has been defined: by kind, then by context and name written together (`a/b/name`).
#[derive(Default)]
struct Tables {
    ip: Table<Ipv4Address>,
    ip_prefix: Table<Ipv4Prefix>,
    ip6: Table<Ipv6Address>,
    ip6_prefix: Table<Ipv6Prefix>,
    ether: Table<EtherAddress>,
    tcp_port: Table<u16>,
    udp_port: Table<u16>,
    ip_proto: Table<u8>,
    anno: Table<Anno>,
    devices: Option<Arc<dyn DeviceAddresses>>,
}

type Table<T> = HashMap<String, T>;

/// The names defined in a router, seen from one of its compound elements. Clones share what is defined, so that each
/// element can have its own view and define names for others.
#[derive(Clone, Default)]
pub struct Names {
    tables: Arc<RwLock<Tables>>,
    context: String,
}

impl Names {
    /// The same names seen from `context`: empty, or the name of a compound element and a slash (`a/b/`).
    pub fn within(&self, context: &str) -> Self {
        Self { context: context.to_owned(), tables: self.tables.clone() }
    }

    /// The same names seen from the element called `element` (`a/b/queue`), that is, from the compound around it.
    pub fn for_element(&self, element: &str) -> Self {
        self.within(element.rfind('/').map_or("", |slash| &element[..=slash]))
    }

    /// Defines `name` in this context, replacing an earlier value of the same kind.
    pub fn define(&self, name: &str, value: NameValue) {
        let name = format!("{}{name}", self.context);
        let mut tables = self.tables.write().unwrap_or_else(PoisonError::into_inner);
        match value {
            NameValue::Ip(address) => store(&mut tables.ip, name, address),
            NameValue::IpPrefix(prefix) => store(&mut tables.ip_prefix, name, prefix),
            NameValue::Ip6(address) => store(&mut tables.ip6, name, address),
            NameValue::Ip6Prefix(prefix) => store(&mut tables.ip6_prefix, name, prefix),
            NameValue::Ether(address) => store(&mut tables.ether, name, address),
            NameValue::TcpPort(port) => store(&mut tables.tcp_port, name, port),
            NameValue::UdpPort(port) => store(&mut tables.udp_port, name, port),
            NameValue::IpProto(number) => store(&mut tables.ip_proto, name, number),
            NameValue::Anno(anno) => store(&mut tables.anno, name, anno),
        }
    }

    /// Lets the names of network devices stand for their addresses.
    pub fn set_devices(&self, devices: Arc<dyn DeviceAddresses>) {
        self.tables.write().unwrap_or_else(PoisonError::into_inner).devices = Some(devices);
    }

    /// An IPv4 address by name, or by name and `:ip`, `:bcast` (of a prefix) or `:gw` (the gateway; for a prefix, its
    /// first address).
    pub fn ip(&self, name: &str) -> Option<Ipv4Address> {
        match split_suffix(name) {
            (base, "" | "ip" | "ip4") => self.ip_of(base),
            (base, "bcast") => self.ip_prefix(base).map(|prefix| prefix.network().broadcast()),
            (base, "gw") => self.ip_of(name).or_else(|| self.gateway(base)),
            _ => None,
        }
    }

    /// An IPv4 prefix by name, or by name and `:ipnet`.
    pub fn ip_prefix(&self, name: &str) -> Option<Ipv4Prefix> {
        let (base, "" | "net" | "ipnet" | "ip4net") = split_suffix(name) else { return None };
        self.find(base, |tables| &tables.ip_prefix).or_else(|| self.devices()?.ip(base))
    }

    /// An IPv6 address by name, or by name and `:ip6`.
    pub fn ip6(&self, name: &str) -> Option<Ipv6Address> {
        let (base, "" | "ip6") = split_suffix(name) else { return None };
        self.find(base, |tables| &tables.ip6)
    }

    /// An IPv6 prefix by name, or by name and `:ip6net`.
    pub fn ip6_prefix(&self, name: &str) -> Option<Ipv6Prefix> {
        let (base, "" | "ip6net") = split_suffix(name) else { return None };
        self.find(base, |tables| &tables.ip6_prefix)
    }

    /// An Ethernet address by name, or by name and `:eth`, `:ether` or `:ethernet`.
    pub fn ether(&self, name: &str) -> Option<EtherAddress> {
        let (base, "" | "eth") = split_suffix(name) else { return None };
        self.find(base, |tables| &tables.ether).or_else(|| self.devices()?.ether(base))
    }

    /// A TCP port by name.
    pub fn tcp_port(&self, name: &str) -> Option<u16> {
        self.find(name, |tables| &tables.tcp_port).or_else(|| services::tcp_service(name))
    }

    /// A UDP port by name.
    pub fn udp_port(&self, name: &str) -> Option<u16> {
        self.find(name, |tables| &tables.udp_port).or_else(|| services::udp_service(name))
    }

    /// An IP protocol by name.
    pub fn ip_proto(&self, name: &str) -> Option<u8> {
        self.find(name, |tables| &tables.ip_proto).or_else(|| services::protocol(name))
    }

    /// A packet annotation by name.
    pub fn anno(&self, name: &str) -> Option<Anno> {
        self.find(name, |tables| &tables.anno).or_else(|| annotation::named(name))
    }

    fn ip_of(&self, name: &str) -> Option<Ipv4Address> {
        let device = || Some(self.devices()?.ip(name)?.address);
        self.find(name, |tables| &tables.ip).or_else(device)
    }

    fn gateway(&self, name: &str) -> Option<Ipv4Address> {
        let first = |prefix: Ipv4Prefix| prefix.network().address | Ipv4Address::from_bits(1);
        let device = || self.devices()?.gateway(name);
        self.find(name, |tables| &tables.ip_prefix)
            .map(first)
            .or_else(device)
            .or_else(|| self.ip_prefix(name).map(first))
    }

    fn devices(&self) -> Option<Arc<dyn DeviceAddresses>> {
        self.read().devices.clone()
    }

    fn read(&self) -> RwLockReadGuard<'_, Tables> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value that `name` has in this context or in the nearest one around it.
    fn find<T: Copy>(&self, name: &str, table: impl Fn(&Tables) -> &Table<T>) -> Option<T> {
        let tables = self.read();
        let mut context = self.context.as_str();
        loop {
            if let Some(value) = table(&tables).get(&format!("{context}{name}")) {
                return Some(*value);
            }
            if context.is_empty() {
                return None;
            }
            let compound = context.trim_end_matches('/');
            context = compound.rfind('/').map_or("", |slash| &compound[..=slash]);
        }
    }
}

fn store<T>(table: &mut Table<T>, name: String, value: T) {
    table.insert(name, value);
}

/// The name before the last colon and the kind of value that the suffix after it asks for; no suffix if it is not known.
fn split_suffix(name: &str) -> (&str, &'static str) {
    const SUFFIXES: [&str; 10] =
        ["ip", "ip4", "bcast", "gw", "net", "ipnet", "ip4net", "ip6", "ip6net", "eth"];
    let Some((base, suffix)) = name.rsplit_once(':') else { return (name, "") };
    match SUFFIXES.iter().find(|known| known.eq_ignore_ascii_case(suffix)) {
        Some(known) => (base, known),
        None if ["ether", "ethernet"].iter().any(|long| long.eq_ignore_ascii_case(suffix)) => (base, "eth"),
        None => (name, ""),
    }
}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Names").field("context", &self.context).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> Ipv4Address {
        text.parse().unwrap()
    }

    struct OneDevice;

    impl DeviceAddresses for OneDevice {
        fn ip(&self, device: &str) -> Option<Ipv4Prefix> {
            (device == "eth0").then(|| "192.168.1.7/24".parse().unwrap())
        }

        fn ether(&self, device: &str) -> Option<EtherAddress> {
            (device == "eth0").then_some(EtherAddress([2, 0, 0, 0, 0, 1]))
        }

        fn gateway(&self, device: &str) -> Option<Ipv4Address> {
            (device == "eth0").then(|| "192.168.1.254".parse().unwrap())
        }
    }

    #[test]
    fn look_ups_go_outwards() {
        let names = Names::default();
        names.define("host", NameValue::Ip(ip("1.1.1.1")));
        let inner = names.within("a/");
        inner.define("host", NameValue::Ip(ip("2.2.2.2")));
        assert_eq!(names.ip("host"), Some(ip("1.1.1.1")), "an inner definition does not show outside");
        assert_eq!(names.within("a/").ip("host"), Some(ip("2.2.2.2")), "views share what is defined");
        assert_eq!(inner.for_element("a/b/c/queue").ip("host"), Some(ip("2.2.2.2")));
        assert_eq!(inner.for_element("ab/queue").ip("host"), Some(ip("1.1.1.1")));
        assert_eq!(inner.for_element("queue").ip("host"), Some(ip("1.1.1.1")));
        assert_eq!(inner.ip("other"), None);
    }

    #[test]
    fn a_name_may_have_values_of_several_kinds() {
        let names = Names::default();
        names.define("gate", NameValue::Ip(ip("10.0.0.9")));
        names.define("gate", NameValue::IpPrefix("10.0.0.9/8".parse().unwrap()));
        names.define("gate", NameValue::Ether(EtherAddress([1, 2, 3, 4, 5, 6])));
        assert_eq!(names.ip("gate:ip"), Some(ip("10.0.0.9")));
        assert_eq!(names.ip("gate:bcast"), Some(ip("10.255.255.255")));
        assert_eq!(names.ip("gate:gw"), Some(ip("10.0.0.1")));
        assert_eq!(names.ip_prefix("gate:ipnet"), Some("10.0.0.9/8".parse().unwrap()));
        assert_eq!(names.ether("gate:ETH"), Some(EtherAddress([1, 2, 3, 4, 5, 6])));
        assert_eq!(names.ip("gate:eth"), None);
        assert_eq!(names.ip6("gate"), None);
    }

    #[test]
    fn devices_come_last() {
        let names = Names::default();
        names.set_devices(Arc::new(OneDevice));
        assert_eq!(names.ip("eth0"), Some(ip("192.168.1.7")));
        assert_eq!(names.ip("eth0:gw"), Some(ip("192.168.1.254")));
        assert_eq!(names.ip("eth0:bcast"), Some(ip("192.168.1.255")));
        assert_eq!(names.ether("eth0:eth"), Some(EtherAddress([2, 0, 0, 0, 0, 1])));
        assert_eq!(names.ip("eth1"), None);
        names.define("eth0", NameValue::Ip(ip("3.3.3.3")));
        assert_eq!(names.ip("eth0"), Some(ip("3.3.3.3")));
    }

    #[test]
    fn built_in_names_may_be_redefined() {
        let names = Names::default();
        assert_eq!((names.tcp_port("http"), names.udp_port("http")), (Some(80), None));
        names.define("http", NameValue::TcpPort(8080));
        names.define("tcp", NameValue::IpProto(99));
        names.define("PAINT", NameValue::Anno(Anno::new(40, 1)));
        names.define("echo", NameValue::UdpPort(8));
        assert_eq!(names.tcp_port("http"), Some(8080));
        assert_eq!(names.ip_proto("tcp"), Some(99));
        assert_eq!(names.anno("PAINT"), Some(Anno::new(40, 1)));
        assert_eq!((names.udp_port("echo"), names.tcp_port("echo")), (Some(8), Some(7)));
    }

    #[test]
    fn ip6_names() {
        let names = Names::default();
        names.define("h", NameValue::Ip6("::1".parse().unwrap()));
        names.define("h", NameValue::Ip6Prefix("2001:db8::/32".parse().unwrap()));
        assert_eq!(names.ip6("h:ip6"), Some("::1".parse().unwrap()));
        assert_eq!(names.ip6_prefix("h:ip6net"), Some("2001:db8::/32".parse().unwrap()));
    }
}
