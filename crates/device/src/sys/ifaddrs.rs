//! The addresses of all interfaces, from getifaddrs(3).

use std::ffi::CStr;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::ptr;

/// One address of one interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// Address and mask.
    V4(Ipv4Addr, Ipv4Addr),
    /// Address and mask.
    V6(Ipv6Addr, Ipv6Addr),
    /// Ethernet address.
    Link([u8; 6]),
}

/// All addresses, with the names of their interfaces.
pub(crate) fn addresses() -> io::Result<Vec<(String, Address)>> {
    let mut list = ptr::null_mut();
    // SAFETY: getifaddrs writes the head of a list that it allocates.
    if unsafe { libc::getifaddrs(&raw mut list) } < 0 {
        return Err(io::Error::last_os_error());
    }
    let mut found = Vec::new();
    let mut entry: *const libc::ifaddrs = list;
    // SAFETY: `entry` is null or a node of the list, which lives until freeifaddrs.
    while let Some(node) = unsafe { entry.as_ref() } {
        found.extend(read(node));
        entry = node.ifa_next;
    }
    // SAFETY: the list came from getifaddrs and nothing borrowed from it is left.
    unsafe { libc::freeifaddrs(list) };
    Ok(found)
}

fn read(node: &libc::ifaddrs) -> Option<(String, Address)> {
    // SAFETY: the name is a string of the list.
    let name = unsafe { CStr::from_ptr(node.ifa_name) }.to_str().ok()?.to_string();
    if node.ifa_addr.is_null() {
        return None;
    }
    // SAFETY: checked not to be null; every socket address starts with its family.
    let family = i32::from(unsafe { (*node.ifa_addr).sa_family });
    // SAFETY: addresses are stored with the full size of their family; the mask has the family of the address.
    let address = unsafe {
        match family {
            libc::AF_INET => Address::V4(v4(node.ifa_addr), v4(node.ifa_netmask)),
            libc::AF_INET6 => Address::V6(v6(node.ifa_addr), v6(node.ifa_netmask)),
            libc::AF_PACKET => Address::Link(link(node.ifa_addr)?),
            _ => return None,
        }
    };
    Some((name, address))
}

/// # Safety
/// `address` is null or points to a `sockaddr_in`.
unsafe fn v4(address: *const libc::sockaddr) -> Ipv4Addr {
    // SAFETY: as promised by the caller.
    match unsafe { address.cast::<libc::sockaddr_in>().as_ref() } {
        Some(inet) => Ipv4Addr::from(u32::from_be(inet.sin_addr.s_addr)),
        None => Ipv4Addr::BROADCAST,
    }
}

/// # Safety
/// `address` is null or points to a `sockaddr_in6`.
unsafe fn v6(address: *const libc::sockaddr) -> Ipv6Addr {
    // SAFETY: as promised by the caller.
    match unsafe { address.cast::<libc::sockaddr_in6>().as_ref() } {
        Some(inet) => Ipv6Addr::from(inet.sin6_addr.s6_addr),
        None => Ipv6Addr::from([0xff; 16]),
    }
}

/// # Safety
/// `address` points to a `sockaddr_ll`.
unsafe fn link(address: *const libc::sockaddr) -> Option<[u8; 6]> {
    // SAFETY: as promised by the caller.
    let link = unsafe { &*address.cast::<libc::sockaddr_ll>() };
    if link.sll_hatype != libc::ARPHRD_ETHER || link.sll_halen != 6 {
        return None;
    }
    let a = link.sll_addr;
    Some([a[0], a[1], a[2], a[3], a[4], a[5]])
}
