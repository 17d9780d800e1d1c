//! Addresses of either family, as arguments and handlers give them.

use clickwork_packet::addr::{Ipv4Address, Ipv6Address};
use clickwork_router::args::{ArgType, BadValue, FromArg, Names};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// What arguments that hold an [`Address`] are called.
pub const ADDRESS: ArgType = ArgType::Other("IP or IPv6 address");

/// An IPv4 or IPv6 address, as a number or by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address(pub IpAddr);

impl FromArg for Address {
    fn from_arg(text: &str, names: &Names) -> Result<Address, BadValue> {
        if let Ok(address) = Ipv4Address::from_arg(text, names) {
            return Ok(Address(Ipv4Addr::from_bits(address.to_bits()).into()));
        }
        Ipv6Address::from_arg(text, names).map(|address| Address(Ipv6Addr::from(address.octets()).into()))
    }
}

/// `ADDRESS:PORT`, an IPv6 address in brackets.
///
/// # Errors
/// If the text is something else.
pub fn endpoint(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| format!("'{text}' should be ADDRESS:PORT, or [ADDRESS]:PORT for IPv6"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_families_are_read() {
        let read = |text| Address::from_arg(text, &Names::default()).map(|a| a.0.to_string());
        assert_eq!(read("10.0.0.1").as_deref(), Ok("10.0.0.1"));
        assert_eq!(read("2001:db8::1").as_deref(), Ok("2001:db8::1"));
        assert_eq!(read("10.0.0"), Err(BadValue::Mismatch));
        assert_eq!(endpoint("[::1]:7").map(|e| e.port()), Ok(7));
        assert!(endpoint("10.0.0.1").unwrap_err().contains("ADDRESS:PORT"));
    }
}
