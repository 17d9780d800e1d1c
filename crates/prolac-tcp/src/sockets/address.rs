//! `struct sockaddr_in` and `struct sockaddr_in6` as bytes: what users hand in, checked as Linux checks it, and what they
//! get back.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use super::linux::{AF_INET, AF_INET6, AF_UNSPEC};
use super::{Domain, Errno};

/// Bytes of `struct sockaddr_in`.
const IPV4_LENGTH: usize = 16;
/// Bytes of `struct sockaddr_in6` without its scope (RFC 2133 had none); Linux takes these too.
const IPV6_LENGTH_OLD: usize = 24;

/// An address in the form of C, of the right length for its family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawAddress {
    bytes: [u8; 28],
    length: usize,
}

impl RawAddress {
    /// As the user of a socket of the domain sees it: on an IPv6 socket IPv4 addresses are mapped ones.
    pub fn of(domain: Domain, address: SocketAddr) -> RawAddress {
        match (domain, address) {
            (Domain::V4, SocketAddr::V4(v4)) => RawAddress::v4(v4),
            (_, SocketAddr::V6(v6)) => RawAddress::v6(v6),
            (Domain::V6, SocketAddr::V4(v4)) => {
                RawAddress::v6(SocketAddrV6::new(mapped(*v4.ip()), v4.port(), 0, 0))
            }
        }
    }

    fn v4(address: SocketAddrV4) -> RawAddress {
        let mut bytes = [0; 28];
        bytes[..2].copy_from_slice(&(AF_INET as u16).to_ne_bytes());
        bytes[2..4].copy_from_slice(&address.port().to_be_bytes());
        bytes[4..8].copy_from_slice(&address.ip().octets());
        RawAddress { bytes, length: IPV4_LENGTH }
    }

    fn v6(address: SocketAddrV6) -> RawAddress {
        let mut bytes = [0; 28];
        bytes[..2].copy_from_slice(&(AF_INET6 as u16).to_ne_bytes());
        bytes[2..4].copy_from_slice(&address.port().to_be_bytes());
        bytes[4..8].copy_from_slice(&address.flowinfo().to_be_bytes());
        bytes[8..24].copy_from_slice(&address.ip().octets());
        bytes[24..].copy_from_slice(&address.scope_id().to_ne_bytes());
        RawAddress { bytes, length: 28 }
    }

    /// The bytes of the structure.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl From<SocketAddr> for RawAddress {
    fn from(address: SocketAddr) -> RawAddress {
        let domain = if address.is_ipv4() { Domain::V4 } else { Domain::V6 };
        RawAddress::of(domain, address)
    }
}

/// An IPv4 address in the form `::ffff:a.b.c.d`.
fn mapped(address: Ipv4Addr) -> Ipv6Addr {
    address.to_ipv6_mapped()
}

/// The family that the bytes name, if they are long enough to name one.
pub fn family(bytes: &[u8]) -> Option<i32> {
    Some(i32::from(u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?)))
}

/// An address to bind to, as `inet_bind` and `inet6_bind` read it.
pub fn to_bind(domain: Domain, bytes: &[u8]) -> Result<SocketAddr, Errno> {
    let address = decode(domain, bytes)?;
    let unspecified_any = family(bytes) == Some(AF_UNSPEC) && address.ip().is_unspecified();
    match (domain, family(bytes)) {
        (Domain::V4, Some(AF_INET)) | (Domain::V6, Some(AF_INET6)) => Ok(address),
        (Domain::V4, _) if unspecified_any => Ok(address),
        _ => Err(Errno::AFNOSUPPORT),
    }
}

/// An address to connect to, as `tcp_v4_connect` and `tcp_v6_connect` read it. Mapped addresses are still mapped.
pub fn to_connect(domain: Domain, bytes: &[u8]) -> Result<SocketAddr, Errno> {
    let address = decode(domain, bytes)?;
    match (domain, family(bytes)) {
        (Domain::V4, Some(AF_INET)) | (Domain::V6, Some(AF_INET6)) => Ok(address),
        _ => Err(Errno::AFNOSUPPORT),
    }
}

fn decode(domain: Domain, bytes: &[u8]) -> Result<SocketAddr, Errno> {
    let least = if domain == Domain::V4 { IPV4_LENGTH } else { IPV6_LENGTH_OLD };
    if bytes.len() < least {
        return Err(Errno::INVAL);
    }
    let port = u16::from_be_bytes([bytes[2], bytes[3]]);
    Ok(match domain {
        Domain::V4 => {
            let octets: [u8; 4] = bytes[4..8].try_into().expect("four bytes");
            SocketAddr::new(IpAddr::V4(octets.into()), port)
        }
        Domain::V6 => {
            let octets: [u8; 16] = bytes[8..24].try_into().expect("sixteen bytes");
            let scope =
                bytes.get(24..28).map_or(0, |b| u32::from_ne_bytes(b.try_into().expect("four bytes")));
            SocketAddr::V6(SocketAddrV6::new(octets.into(), port, 0, scope))
        }
    })
}

/// With a mapped address as the IPv4 address that it is.
pub fn unmapped(address: SocketAddr) -> SocketAddr {
    match address {
        SocketAddr::V6(v6) => match v6.ip().to_ipv4_mapped() {
            Some(ip) => SocketAddr::new(IpAddr::V4(ip), v6.port()),
            None => address,
        },
        SocketAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn addresses_survive_their_form_in_c() {
        let v4 = address("192.0.2.1:80");
        assert_eq!(to_connect(Domain::V4, RawAddress::from(v4).as_bytes()), Ok(v4));
        let v6 = address("[2001:db8::1]:443");
        assert_eq!(to_connect(Domain::V6, RawAddress::from(v6).as_bytes()), Ok(v6));
        let seen = RawAddress::of(Domain::V6, v4);
        let decoded = to_connect(Domain::V6, seen.as_bytes()).unwrap();
        assert_eq!(decoded, address("[::ffff:192.0.2.1]:80"));
        assert_eq!(unmapped(decoded), v4);
    }

    #[test]
    fn short_and_foreign_addresses_are_refused() {
        let v4 = RawAddress::from(address("0.0.0.0:80"));
        assert_eq!(to_bind(Domain::V4, &v4.as_bytes()[..15]), Err(Errno::INVAL));
        assert_eq!(to_bind(Domain::V6, v4.as_bytes()), Err(Errno::INVAL));
        let mut other = *v4.as_bytes().first_chunk::<16>().unwrap();
        other[0] = 1;
        assert_eq!(to_bind(Domain::V4, &other), Err(Errno::AFNOSUPPORT));
        other[0] = 0;
        assert_eq!(
            to_bind(Domain::V4, &other),
            Ok(address("0.0.0.0:80")),
            "old programs bind with AF_UNSPEC"
        );
        assert_eq!(to_connect(Domain::V4, &other), Err(Errno::AFNOSUPPORT));
    }
}
