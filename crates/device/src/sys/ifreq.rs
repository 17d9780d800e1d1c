//! Interface requests: one `ioctl` with a `struct ifreq` (or one of its relatives) each. See netdevice(7).

use std::io;
use std::mem;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsRawFd, BorrowedFd};

/// The longest interface name, without the zero that ends it in C.
pub(crate) const NAME_LIMIT: usize = libc::IFNAMSIZ - 1;

/// An empty request for the interface `name`.
fn request(name: &str) -> io::Result<libc::ifreq> {
    if name.is_empty() || name.len() > NAME_LIMIT || name.bytes().any(|b| b == 0 || b == b'/') {
        return Err(io::Error::from_raw_os_error(libc::ENODEV));
    }
    // SAFETY: ifreq is bytes, integers and a pointer; all zeros is a valid value.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    Ok(request)
}

/// The name in a request, as filled in by the kernel.
fn name_of(request: &libc::ifreq) -> String {
    let bytes = request.ifr_name.iter().map(|&c| c as u8).take_while(|&b| b != 0).collect::<Vec<_>>();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn call(fd: BorrowedFd<'_>, code: libc::c_ulong, request: &mut libc::ifreq) -> io::Result<()> {
    // SAFETY: all codes used here take a pointer to an ifreq, live and exclusively borrowed. Where it holds a
    // pointer (`ethtool_value`), that points to a live value of the size the command expects.
    let result = unsafe { libc::ioctl(fd.as_raw_fd(), code as _, &raw mut *request) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn get(fd: BorrowedFd<'_>, code: libc::c_ulong, name: &str) -> io::Result<libc::ifreq> {
    let mut request = request(name)?;
    call(fd, code, &mut request)?;
    Ok(request)
}

/// The number of an interface.
pub(crate) fn index(fd: BorrowedFd<'_>, name: &str) -> io::Result<u32> {
    // SAFETY: SIOCGIFINDEX filled in this member.
    get(fd, libc::SIOCGIFINDEX as _, name).map(|r| unsafe { r.ifr_ifru.ifru_ifindex } as u32)
}

/// The name of the interface with this number.
pub(crate) fn name(fd: BorrowedFd<'_>, index: u32) -> io::Result<String> {
    // SAFETY: as in `request`.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    request.ifr_ifru.ifru_ifindex = index as i32;
    call(fd, libc::SIOCGIFNAME as _, &mut request)?;
    Ok(name_of(&request))
}

/// `IFF_UP`, `IFF_RUNNING` and so on.
pub(crate) fn flags(fd: BorrowedFd<'_>, name: &str) -> io::Result<i32> {
    // SAFETY: SIOCGIFFLAGS filled in this member.
    get(fd, libc::SIOCGIFFLAGS as _, name).map(|r| i32::from(unsafe { r.ifr_ifru.ifru_flags }))
}

/// The largest network-layer packet, in bytes.
pub(crate) fn mtu(fd: BorrowedFd<'_>, name: &str) -> io::Result<usize> {
    // SAFETY: SIOCGIFMTU filled in this member.
    get(fd, libc::SIOCGIFMTU as _, name).map(|r| unsafe { r.ifr_ifru.ifru_mtu } as usize)
}

/// The hardware type (`ARPHRD_...`) and address.
pub(crate) fn hardware_address(fd: BorrowedFd<'_>, name: &str) -> io::Result<(u16, [u8; 6])> {
    // SAFETY: SIOCGIFHWADDR filled in this member.
    let address = get(fd, libc::SIOCGIFHWADDR as _, name).map(|r| unsafe { r.ifr_ifru.ifru_hwaddr })?;
    let mut mac = [0; 6];
    for (to, from) in mac.iter_mut().zip(address.sa_data) {
        *to = from as u8;
    }
    Ok((address.sa_family, mac))
}

/// Sets `IFF_UP` and so on: the whole set of flags.
pub(crate) fn set_flags(fd: BorrowedFd<'_>, name: &str, flags: i32) -> io::Result<()> {
    let mut request = request(name)?;
    request.ifr_ifru.ifru_flags = flags as libc::c_short;
    call(fd, libc::SIOCSIFFLAGS as _, &mut request)
}

pub(crate) fn set_mtu(fd: BorrowedFd<'_>, name: &str, mtu: usize) -> io::Result<()> {
    let mut request = request(name)?;
    request.ifr_ifru.ifru_mtu = i32::try_from(mtu).unwrap_or(i32::MAX);
    call(fd, libc::SIOCSIFMTU as _, &mut request)
}

pub(crate) fn set_hardware_address(fd: BorrowedFd<'_>, name: &str, mac: [u8; 6]) -> io::Result<()> {
    let mut request = request(name)?;
    // SAFETY: as in `request`.
    let mut address: libc::sockaddr = unsafe { mem::zeroed() };
    address.sa_family = libc::ARPHRD_ETHER;
    for (to, from) in address.sa_data.iter_mut().zip(mac) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_hwaddr = address;
    call(fd, libc::SIOCSIFHWADDR as _, &mut request)
}

/// Sets the IPv4 address, which also sets the mask of its class.
pub(crate) fn set_address(fd: BorrowedFd<'_>, name: &str, address: Ipv4Addr) -> io::Result<()> {
    let mut request = request(name)?;
    request.ifr_ifru.ifru_addr = socket_address(address);
    call(fd, libc::SIOCSIFADDR as _, &mut request)
}

/// Sets the mask of the IPv4 address.
pub(crate) fn set_mask(fd: BorrowedFd<'_>, name: &str, mask: Ipv4Addr) -> io::Result<()> {
    let mut request = request(name)?;
    request.ifr_ifru.ifru_netmask = socket_address(mask);
    call(fd, libc::SIOCSIFNETMASK as _, &mut request)
}

/// Adds an IPv6 address to the interface of this number. The socket is one of IPv6.
pub(crate) fn add_address6(fd: BorrowedFd<'_>, index: u32, address: Ipv6Addr, prefix: u8) -> io::Result<()> {
    let mut request = libc::in6_ifreq {
        ifr6_addr: libc::in6_addr { s6_addr: address.octets() },
        ifr6_prefixlen: prefix.into(),
        ifr6_ifindex: index as libc::c_int,
    };
    // SAFETY: on a socket of IPv6 SIOCSIFADDR takes a pointer to an in6_ifreq, which is live.
    let result = unsafe { libc::ioctl(fd.as_raw_fd(), libc::SIOCSIFADDR as _, &raw mut request) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Adds a default route through `gateway`.
pub(crate) fn add_default_route(fd: BorrowedFd<'_>, gateway: Ipv4Addr) -> io::Result<()> {
    // SAFETY: rtentry is integers and a pointer that may be null; all zeros is a valid value.
    let mut route: libc::rtentry = unsafe { mem::zeroed() };
    route.rt_dst = socket_address(Ipv4Addr::UNSPECIFIED);
    route.rt_genmask = socket_address(Ipv4Addr::UNSPECIFIED);
    route.rt_gateway = socket_address(gateway);
    route.rt_flags = libc::RTF_UP | libc::RTF_GATEWAY;
    // SAFETY: SIOCADDRT takes a pointer to an rtentry, which is live.
    let result = unsafe { libc::ioctl(fd.as_raw_fd(), libc::SIOCADDRT as _, &raw mut route) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn socket_address(address: Ipv4Addr) -> libc::sockaddr {
    let inet = libc::sockaddr_in {
        sin_family: libc::AF_INET as u16,
        sin_port: 0,
        sin_addr: libc::in_addr { s_addr: u32::from(address).to_be() },
        sin_zero: [0; 8],
    };
    // SAFETY: sockaddr_in and sockaddr have the same size and no invalid bit patterns.
    unsafe { mem::transmute(inet) }
}

/// A yes/no fact of `ethtool` (`ETHTOOL_GGRO` and so on).
pub(crate) fn ethtool_flag(fd: BorrowedFd<'_>, name: &str, command: u32) -> io::Result<bool> {
    #[repr(C)]
    struct EthtoolValue {
        command: u32,
        data: u32,
    }
    let mut value = EthtoolValue { command, data: 0 };
    let mut request = request(name)?;
    request.ifr_ifru.ifru_data = (&raw mut value).cast();
    call(fd, libc::SIOCETHTOOL as _, &mut request)?;
    Ok(value.data != 0)
}

/// Attaches an open `/dev/net/tun` to an interface, made if need be; gives its name (`name` may be empty, or a
/// pattern such as `tap%d`).
pub(crate) fn attach_tunnel(fd: BorrowedFd<'_>, name: &str, flags: i32) -> io::Result<String> {
    let mut attach = request(if name.is_empty() { "?" } else { name })?;
    if name.is_empty() {
        attach.ifr_name[0] = 0;
    }
    attach.ifr_ifru.ifru_flags = flags as libc::c_short;
    call(fd, libc::TUNSETIFF as _, &mut attach)?;
    Ok(name_of(&attach))
}

/// Says which offloads the reader of an open tunnel can do: all of TCP's, or none. The driver refuses what it does not know.
pub(crate) fn set_tunnel_offload(fd: BorrowedFd<'_>, on: bool) -> io::Result<()> {
    let tcp = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN;
    let flags = if on { libc::c_ulong::from(tcp) } else { 0 };
    // SAFETY: TUNSETOFFLOAD takes a number, no pointer.
    let result = unsafe { libc::ioctl(fd.as_raw_fd(), libc::TUNSETOFFLOAD as _, flags) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
