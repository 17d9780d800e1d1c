//! Who talks to whom: the two ends of a connection, as TCBs and IP headers write them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::abi::Tcb;

/// An address as a TCB holds it: an IPv4 address stands in the first four bytes, the others are 0.
pub(crate) type Address = [u8; 16];

/// IPv4's number.
pub(crate) const V4: u8 = 4;
/// IPv6's number.
pub(crate) const V6: u8 = 6;

/// The ends of a connection, seen from here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Flow {
    pub family: u8,
    pub local: Address,
    pub remote: Address,
    pub local_port: u16,
    pub remote_port: u16,
}

impl Flow {
    /// # Safety
    /// `tcb` points to a TCB.
    #[inline]
    pub unsafe fn of(tcb: *const Tcb) -> Flow {
        // SAFETY: the caller's; fields are read one by one, without a reference to the TCB.
        unsafe {
            Flow {
                family: (*tcb).family,
                local: (*tcb).local_address,
                remote: (*tcb).remote_address,
                local_port: (*tcb).local_port,
                remote_port: (*tcb).remote_port,
            }
        }
    }

    /// # Safety
    /// `tcb` points to a TCB that is not in use elsewhere.
    pub unsafe fn write(&self, tcb: *mut Tcb) {
        // SAFETY: the caller's.
        unsafe {
            (*tcb).family = self.family;
            (*tcb).local_address = self.local;
            (*tcb).remote_address = self.remote;
            (*tcb).local_port = self.local_port;
            (*tcb).remote_port = self.remote_port;
            (*tcb).ip_header_length = self.ip_header_length();
        }
    }

    /// The header that is sent, which has no options.
    pub fn ip_header_length(&self) -> u16 {
        if self.family == V4 { 20 } else { 40 }
    }

    pub fn local(&self) -> SocketAddr {
        SocketAddr::new(join(self.family, &self.local), self.local_port)
    }

    pub fn remote(&self) -> SocketAddr {
        SocketAddr::new(join(self.family, &self.remote), self.remote_port)
    }

    /// For hashing: all of it in three words.
    #[inline]
    pub fn words(&self) -> (u128, u128, u64) {
        let ports = u64::from(self.local_port) << 16 | u64::from(self.remote_port);
        let family = u64::from(self.family) << 32;
        (u128::from_ne_bytes(self.local), u128::from_ne_bytes(self.remote), family | ports)
    }

    /// For hashing by other means.
    pub fn bytes(&self) -> [u8; 37] {
        let mut bytes = [0; 37];
        bytes[..16].copy_from_slice(&self.local);
        bytes[16..32].copy_from_slice(&self.remote);
        bytes[32..34].copy_from_slice(&self.local_port.to_be_bytes());
        bytes[34..36].copy_from_slice(&self.remote_port.to_be_bytes());
        bytes[36] = self.family;
        bytes
    }
}

/// The family of an address and its bytes.
pub(crate) fn split(address: IpAddr) -> (u8, Address) {
    match address {
        IpAddr::V4(v4) => {
            let mut bytes = [0; 16];
            bytes[..4].copy_from_slice(&v4.octets());
            (V4, bytes)
        }
        IpAddr::V6(v6) => (V6, v6.octets()),
    }
}

/// The address of these bytes.
pub(crate) fn join(family: u8, bytes: &Address) -> IpAddr {
    if family == V4 {
        IpAddr::V4(Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3]))
    } else {
        IpAddr::V6(Ipv6Addr::from(*bytes))
    }
}

/// An IPv4 address that is written as an IPv6 one becomes an IPv4 address.
pub(crate) fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// Whether TCP may use the address as that of one host (RFC 9293 §3.9.2.3, RFC 1122 §3.2.1.3).
pub(crate) fn is_unicast(family: u8, address: &Address) -> bool {
    if family == V4 { is_unicast_v4(address) } else { address[0] != 0xFF && *address != [0; 16] }
}

fn is_unicast_v4(address: &Address) -> bool {
    // 224/4 are groups, 240/4 is reserved and has the broadcast address, 0/8 is this network.
    address[0] < 224 && address[0] != 0
}
