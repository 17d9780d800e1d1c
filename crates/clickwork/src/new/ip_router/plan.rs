//! What an IP router is to be: its interfaces and routes, read from the command line and checked against each other.
//!
//! It writes nothing; `text.rs` makes the configuration.

use clickwork_packet::addr::{EtherAddress, Ipv4Address, Ipv4Prefix};

/// An interface, as `eth0=10.0.0.1/24`, perhaps with `,ETHER` or `,MTU`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// The device.
    pub name: String,
    /// The router's address there, and the network.
    pub prefix: Ipv4Prefix,
    /// The Ethernet address.
    pub ether: EtherAddress,
    /// The longest packet.
    pub mtu: u16,
}

/// A route, as `192.168.0.0/16,10.0.0.2` or `192.168.0.0/16,10.0.0.2,eth0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Where to.
    pub destination: Ipv4Prefix,
    /// Through whom.
    pub gateway: Ipv4Address,
    /// The index of the interface that reaches the gateway.
    pub interface: usize,
}

/// A router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Its interfaces.
    pub interfaces: Vec<Interface>,
    /// Its routes, beside those to the networks that it is on.
    pub routes: Vec<Route>,
}

/// An interface has a colour of one byte, other than 0.
const MOST_INTERFACES: usize = 255;
/// The least that every IP network must carry (RFC 791 §3.2).
const LEAST_MTU: u16 = 68;
/// Device names in Linux have 15 characters at most.
const LONGEST_NAME: usize = 15;

impl Plan {
    /// Reads interfaces and routes; the error says which of them is wrong, and what to do.
    pub fn new(interfaces: &[String], routes: &[String]) -> Result<Plan, String> {
        if interfaces.len() > MOST_INTERFACES {
            return Err(format!("a router has at most {MOST_INTERFACES} interfaces"));
        }
        let mut plan = Plan { interfaces: Vec::new(), routes: Vec::new() };
        for text in interfaces {
            let interface = Interface::new(text).map_err(|e| format!("'{text}': {e}"))?;
            plan.check_interface(&interface).map_err(|e| format!("'{text}': {e}"))?;
            plan.interfaces.push(interface);
        }
        for text in routes {
            let route = plan.route(text).map_err(|e| format!("--route '{text}': {e}"))?;
            plan.routes.push(route);
        }
        Ok(plan)
    }

    fn check_interface(&self, new: &Interface) -> Result<(), String> {
        for other in &self.interfaces {
            let (name, prefix) = (&other.name, other.prefix);
            if new.name == *name {
                return Err(format!("there is an interface {name} already"));
            }
            let network = prefix.network();
            if network.contains_prefix(new.prefix) || new.prefix.network().contains_prefix(network) {
                return Err(format!("its network overlaps with {network} of {name}"));
            }
            if new.ether == other.ether {
                return Err(format!("its Ethernet address is that of {name}"));
            }
        }
        Ok(())
    }

    fn route(&self, text: &str) -> Result<Route, String> {
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        let (destination, gateway, name) = match parts[..] {
            [destination, gateway] => (destination, gateway, None),
            [destination, gateway, name] => (destination, gateway, Some(name)),
            _ => {
                return Err(
                    "write it as DESTINATION/LENGTH,GATEWAY or DESTINATION/LENGTH,GATEWAY,INTERFACE".into()
                );
            }
        };
        let destination = prefix(destination)?;
        if destination != destination.network() {
            return Err(format!("{destination} is no network: do you mean {}?", destination.network()));
        }
        if self.routes.iter().any(|r| r.destination == destination)
            || self.interfaces.iter().any(|i| i.prefix.network() == destination)
        {
            return Err(format!("there is a route to {destination} already"));
        }
        let gateway: Ipv4Address = gateway.parse().map_err(|_| format!("'{gateway}' is no IP address"))?;
        let interface = self.interface_to(gateway, name)?;
        Ok(Route { destination, gateway, interface })
    }

    /// The interface by which a gateway is reached.
    fn interface_to(&self, gateway: Ipv4Address, name: Option<&str>) -> Result<usize, String> {
        let found = match name {
            Some(name) => Some(
                self.interfaces
                    .iter()
                    .position(|i| i.name == name)
                    .ok_or_else(|| format!("there is no interface {name}"))?,
            ),
            None => self.interfaces.iter().position(|i| i.prefix.contains(gateway)),
        };
        let Some(at) = found.filter(|&at| self.interfaces[at].prefix.contains(gateway)) else {
            let on = name.map_or("the router's interfaces".to_string(), |name| name.to_string());
            return Err(format!("the gateway {gateway} is on no network of {on}"));
        };
        let interface = &self.interfaces[at];
        if gateway == interface.prefix.address || interface.broadcasts().contains(&gateway) {
            return Err(format!("{gateway} is no other router's address on {}", interface.prefix.network()));
        }
        Ok(at)
    }

    /// The router's own addresses.
    pub fn addresses(&self) -> Vec<Ipv4Address> {
        self.interfaces.iter().map(|i| i.prefix.address).collect()
    }

    /// Addresses on its networks that stand for all hosts.
    pub fn broadcasts(&self) -> Vec<Ipv4Address> {
        self.interfaces.iter().flat_map(Interface::broadcasts).collect()
    }

    /// Whether there is a route to everywhere.
    pub fn has_default(&self) -> bool {
        self.routes.iter().any(|r| r.destination == Ipv4Prefix::ALL)
    }
}

impl Interface {
    fn new(text: &str) -> Result<Interface, String> {
        let (name, rest) = text.split_once('=').ok_or("write it as INTERFACE=ADDRESS/LENGTH")?;
        let mut parts = rest.split(',').map(str::trim);
        let own = prefix(parts.next().unwrap_or_default())?;
        check_name(name)?;
        check_host(own)?;
        let [a, b, c, d] = own.address.octets();
        let mut interface = Interface {
            name: name.to_string(),
            prefix: own,
            ether: EtherAddress([2, 0, a, b, c, d]),
            mtu: 1500,
        };
        parts.try_for_each(|part| interface.set(part))?;
        Ok(interface)
    }

    /// An Ethernet address, or an MTU.
    fn set(&mut self, part: &str) -> Result<(), String> {
        if let Ok(ether) = part.parse::<EtherAddress>() {
            self.ether = ether;
            return if ether.is_multicast() || ether.is_zero() {
                Err(format!("{part} is no interface's Ethernet address"))
            } else {
                Ok(())
            };
        }
        let mtu = part.parse().map_err(|_| format!("'{part}' is neither an Ethernet address nor an MTU"))?;
        if mtu < LEAST_MTU {
            return Err(format!("an MTU is at least {LEAST_MTU}"));
        }
        self.mtu = mtu;
        Ok(())
    }

    /// The addresses on its network that stand for all hosts: the broadcast address, and the old one (RFC 1812 §5.3.5.2).
    /// A network of two has none (RFC 3021).
    pub fn broadcasts(&self) -> Vec<Ipv4Address> {
        match self.prefix.prefix_len() {
            Some(31) => Vec::new(),
            _ => vec![self.prefix.broadcast(), self.prefix.network().address],
        }
    }
}

/// A prefix whose address is whole.
fn prefix(text: &str) -> Result<Ipv4Prefix, String> {
    let wrong = || format!("'{text}' is no IP address with a length, such as 10.0.0.1/24");
    let (address, length) = text.split_once('/').ok_or_else(wrong)?;
    let address: Ipv4Address = address.parse().map_err(|_| wrong())?;
    let length: u8 = length.parse().ok().filter(|&length| length <= 32).ok_or_else(wrong)?;
    Ok(Ipv4Prefix::with_len(address, length))
}

fn check_name(name: &str) -> Result<(), String> {
    let is_right = |c: char| c.is_ascii_alphanumeric() || "-_.@:".contains(c);
    match !name.is_empty() && name.len() <= LONGEST_NAME && name.chars().all(is_right) {
        true => Ok(()),
        false => Err(format!("'{name}' is no name of an interface")),
    }
}

/// Whether the address can be that of a router's interface on its network.
fn check_host(own: Ipv4Prefix) -> Result<(), String> {
    let address = own.address;
    let [first, ..] = address.octets();
    if first == 0 || first >= 224 || address.is_loopback() {
        return Err(format!("{address} is no host's address"));
    }
    match own.prefix_len() {
        Some(0 | 32) | None => Err("a network has a length of 1 to 31".to_string()),
        Some(31) => Ok(()),
        _ if own == own.network() => {
            Err(format!("{address} is the network itself: which address has the router?"))
        }
        _ if address == own.broadcast() => Err(format!("{address} is the network's broadcast address")),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(interfaces: &[&str], routes: &[&str]) -> Result<Plan, String> {
        let owned = |texts: &[&str]| texts.iter().map(|t| t.to_string()).collect::<Vec<_>>();
        Plan::new(&owned(interfaces), &owned(routes))
    }

    #[test]
    fn interfaces_and_routes_are_read() {
        let p = plan(
            &["eth0=10.0.0.1/24", "wan.7=192.0.2.2/31,00:11:22:33:44:55,1492"],
            &["0.0.0.0/0,192.0.2.3", "10.9.0.0/16,10.0.0.2,eth0"],
        )
        .unwrap();
        assert_eq!(p.interfaces[0].ether.to_string(), "02-00-0A-00-00-01");
        assert_eq!(
            (p.interfaces[1].ether.to_string().as_str(), p.interfaces[1].mtu),
            ("00-11-22-33-44-55", 1492)
        );
        assert_eq!(p.routes.iter().map(|r| r.interface).collect::<Vec<_>>(), [1, 0]);
        assert_eq!(p.broadcasts(), ["10.0.0.255".parse().unwrap(), "10.0.0.0".parse().unwrap()]);
        assert!(p.has_default());
    }

    #[test]
    fn what_is_wrong_is_said() {
        let wrong = |interfaces: &[&str], routes: &[&str], part: &str| {
            let said = plan(interfaces, routes).unwrap_err();
            assert!(said.contains(part), "{said}");
        };
        wrong(&["eth0"], &[], "write it as INTERFACE=ADDRESS/LENGTH");
        wrong(&["eth0=10.0.0.1"], &[], "'10.0.0.1' is no IP address with a length");
        wrong(&["eth0=10.0.0/24"], &[], "is no IP address with a length");
        wrong(&["eth0=10.0.0.256/24"], &[], "is no IP address with a length");
        wrong(&["eth0=10.0.0.1/33"], &[], "is no IP address with a length");
        wrong(&["eth0=10.0.0.1/32"], &[], "a network has a length of 1 to 31");
        wrong(&["eth0=10.0.0.0/24"], &[], "10.0.0.0 is the network itself");
        wrong(&["eth0=10.0.0.255/24"], &[], "broadcast address");
        wrong(&["eth0=224.0.0.1/24"], &[], "no host's address");
        wrong(&["eth0=127.0.0.1/8"], &[], "no host's address");
        wrong(&["a b=10.0.0.1/24"], &[], "'a b' is no name");
        wrong(&["a-very-long-name=10.0.0.1/24"], &[], "is no name");
        wrong(&["eth0=10.0.0.1/24,fast"], &[], "'fast' is neither an Ethernet address nor an MTU");
        wrong(&["eth0=10.0.0.1/24,60"], &[], "at least 68");
        wrong(&["eth0=10.0.0.1/24,01:00:00:00:00:00"], &[], "no interface's Ethernet address");
        wrong(&["eth0=10.0.0.1/24", "eth0=10.1.0.1/24"], &[], "there is an interface eth0 already");
        wrong(&["eth0=10.0.0.1/24", "eth1=10.0.0.2/25"], &[], "overlaps with 10.0.0.0/24 of eth0");
        wrong(&["eth0=10.0.0.1/25", "eth1=10.0.0.2/8"], &[], "overlaps with 10.0.0.0/25 of eth0");
        wrong(
            &["a=10.0.0.1/24,0:0:0:0:0:1", "b=10.0.1.1/24,0:0:0:0:0:1"],
            &[],
            "Ethernet address is that of a",
        );
        let one = ["eth0=10.0.0.1/24", "eth1=10.0.1.1/24"];
        wrong(&one, &["0.0.0.0/0"], "write it as DESTINATION/LENGTH,GATEWAY");
        wrong(&one, &["10.5.0.1/16,10.0.0.2"], "10.5.0.1/16 is no network: do you mean 10.5.0.0/16?");
        wrong(&one, &["10.5.0.0/16,10.0.0.x"], "'10.0.0.x' is no IP address");
        wrong(&one, &["10.5.0.0/16,10.0.7.2"], "on no network of the router's interfaces");
        wrong(&one, &["10.5.0.0/16,10.0.0.2,eth1"], "on no network of eth1");
        wrong(&one, &["10.5.0.0/16,10.0.0.2,eth2"], "there is no interface eth2");
        wrong(&one, &["10.5.0.0/16,10.0.0.1"], "no other router's address");
        wrong(&one, &["10.5.0.0/16,10.0.0.255"], "no other router's address");
        wrong(&one, &["10.0.1.0/24,10.0.0.2"], "there is a route to 10.0.1.0/24 already");
        wrong(&one, &["0.0.0.0/0,10.0.0.2", "0.0.0.0/0,10.0.0.3"], "there is a route to 0.0.0.0/0 already");
        let many: Vec<String> = (0..256).map(|n| format!("e{n}=10.{n}.0.1/24")).collect();
        assert!(Plan::new(&many, &[]).unwrap_err().contains("at most 255"));
    }
}
