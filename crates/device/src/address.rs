//! The addresses of an interface, by its name: what a configuration means when it says `eth0` for an address.

use crate::error::{DeviceError, Fault, Result};
use crate::sys::ifaddrs::{self, Address};
use std::fs;
use std::net::{Ipv4Addr, Ipv6Addr};

/// All addresses of one interface, in the kernel's order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InterfaceAddresses {
    /// IPv4 addresses with prefix lengths.
    pub ipv4: Vec<(Ipv4Addr, u8)>,
    /// IPv6 addresses with prefix lengths, link-local ones too.
    pub ipv6: Vec<(Ipv6Addr, u8)>,
    /// The Ethernet address.
    pub ethernet: Option<[u8; 6]>,
}

impl InterfaceAddresses {
    /// The addresses of the interface of this name. An interface may have none.
    pub fn of(name: &str) -> Result<InterfaceAddresses> {
        const ACTION: &str = "look up its addresses";
        let all = ifaddrs::addresses().map_err(|error| DeviceError::system(name, ACTION, &error))?;
        let mut of_this = all.into_iter().filter(|(interface, _)| interface == name).peekable();
        if of_this.peek().is_none() {
            return Err(DeviceError::new(name, ACTION, Fault::NoSuchDevice, "no such interface"));
        }
        let mut addresses = InterfaceAddresses::default();
        of_this.for_each(|(_, address)| addresses.add(address));
        Ok(addresses)
    }

    fn add(&mut self, address: Address) {
        match address {
            Address::V4(ip, mask) => self.ipv4.push((ip, u32::from(mask).count_ones() as u8)),
            Address::V6(ip, mask) => self.ipv6.push((ip, u128::from(mask).count_ones() as u8)),
            Address::Link(mac) => self.ethernet = Some(mac),
        }
    }
}

/// The gateway of the IPv4 default route through this interface, if there is one.
pub fn default_gateway(name: &str) -> Option<Ipv4Addr> {
    // Not /proc/net: that is the main thread's network namespace.
    gateway_in(&fs::read_to_string("/proc/thread-self/net/route").ok()?, name)
}

/// Reads the format of `/proc/net/route`: interface, destination, gateway, ..., addresses as hexadecimal
/// numbers in the machine's byte order.
fn gateway_in(table: &str, name: &str) -> Option<Ipv4Addr> {
    table.lines().skip(1).find_map(|line| {
        let mut fields = line.split_whitespace();
        let (interface, destination, gateway) = (fields.next()?, fields.next()?, fields.next()?);
        let gateway = u32::from_str_radix(gateway, 16).ok()?;
        let wanted = interface == name && destination == "00000000" && gateway != 0;
        wanted.then(|| Ipv4Addr::from(gateway.to_ne_bytes()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_interface_has_its_address() {
        let lo = InterfaceAddresses::of("lo").unwrap();
        if Interface::find("lo").unwrap().up {
            assert!(lo.ipv4.contains(&(Ipv4Addr::LOCALHOST, 8)), "{lo:?}");
        }
    }

    #[test]
    fn an_unknown_interface_is_an_error() {
        let error = InterfaceAddresses::of("absent0").unwrap_err();
        assert_eq!(error.fault(), Fault::NoSuchDevice);
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn the_default_route_of_the_interface_counts() {
        let table = "Iface\tDestination\tGateway\tFlags\n\
                     eth1\t00000000\t0100000A\t0003\n\
                     eth0\t0000000A\t00000000\t0001\n\
                     eth0\t00000000\t01FEA8C0\t0003\n";
        assert_eq!(gateway_in(table, "eth0"), Some(Ipv4Addr::new(192, 168, 254, 1)));
        assert_eq!(gateway_in(table, "eth2"), None);
    }

    use crate::Interface;
}
