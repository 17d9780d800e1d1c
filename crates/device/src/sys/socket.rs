//! Packet sockets: creation, options, binding, single receives and batched sends.

use std::io::{self, IoSlice};
use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// How many packets one [`send_many`] call hands to the kernel.
pub(crate) const SEND_BATCH: usize = 64;

/// Turns the -1 of a system call into its error.
fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// A packet socket that takes and gives whole link-layer frames, not yet bound: it receives nothing.
pub(crate) fn packet_socket() -> io::Result<OwnedFd> {
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    open(libc::AF_PACKET, kind)
}

/// A socket on which interface requests are made; it carries no traffic.
pub(crate) fn control_socket() -> io::Result<OwnedFd> {
    open(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC)
}

/// The same for requests about IPv6.
pub(crate) fn control_socket6() -> io::Result<OwnedFd> {
    open(libc::AF_INET6, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC)
}

fn open(family: libc::c_int, kind: libc::c_int) -> io::Result<OwnedFd> {
    // SAFETY: socket(2) takes no pointers.
    let fd = check(unsafe { libc::socket(family, kind, 0) })?;
    // SAFETY: the kernel just gave us this descriptor; nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Binds a packet socket to an interface. `protocol` (host order) selects the frames it receives; 0 for none.
pub(crate) fn bind(fd: BorrowedFd<'_>, index: u32, protocol: u16) -> io::Result<()> {
    // SAFETY: sockaddr_ll is plain integers; all zeros is a valid value.
    let mut address: libc::sockaddr_ll = unsafe { mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = protocol.to_be();
    address.sll_ifindex = index as i32;
    // SAFETY: the pointer and length describe a live sockaddr_ll.
    let result = unsafe {
        libc::bind(
            fd.as_raw_fd(),
            (&raw const address).cast(),
            mem::size_of::<libc::sockaddr_ll>() as libc::socklen_t,
        )
    };
    check(result).map(drop)
}

/// Sets an integer option.
pub(crate) fn set_int(fd: BorrowedFd<'_>, level: i32, name: i32, value: i32) -> io::Result<()> {
    set(fd, level, name, &value)
}

/// Receives all packets of the interface (promiscuous mode) until the socket is closed.
pub(crate) fn join_promiscuous(fd: BorrowedFd<'_>, index: u32) -> io::Result<()> {
    let request = libc::packet_mreq {
        mr_ifindex: index as i32,
        mr_type: libc::PACKET_MR_PROMISC as u16,
        mr_alen: 0,
        mr_address: [0; 8],
    };
    set(fd, libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, &request)
}

/// Asks for a receive ring of this geometry.
pub(crate) fn set_receive_ring(fd: BorrowedFd<'_>, geometry: libc::tpacket_req) -> io::Result<()> {
    set(fd, libc::SOL_PACKET, libc::PACKET_RX_RING, &geometry)
}

/// `setsockopt` with a value of a plain C type.
fn set<T: Copy>(fd: BorrowedFd<'_>, level: i32, name: i32, value: &T) -> io::Result<()> {
    // SAFETY: the pointer and length describe a live value, which the kernel only reads.
    let result = unsafe {
        libc::setsockopt(
            fd.as_raw_fd(),
            level,
            name,
            (&raw const *value).cast(),
            mem::size_of::<T>() as libc::socklen_t,
        )
    };
    check(result).map(drop)
}

/// Packets seen and packets dropped since the last call, by a socket with a ring. Reading resets them.
pub(crate) fn take_statistics(fd: BorrowedFd<'_>) -> io::Result<(u32, u32)> {
    let mut counts = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
    get(fd, libc::SOL_PACKET, libc::PACKET_STATISTICS, &mut counts)?;
    Ok((counts.tp_packets, counts.tp_drops))
}

/// The error that the kernel noted on the socket, if any. Reading clears it.
pub(crate) fn take_error(fd: BorrowedFd<'_>) -> io::Result<Option<io::Error>> {
    let mut number: libc::c_int = 0;
    get(fd, libc::SOL_SOCKET, libc::SO_ERROR, &mut number)?;
    Ok((number != 0).then(|| io::Error::from_raw_os_error(number)))
}

/// `getsockopt` into a plain C type of integers.
fn get<T: Copy>(fd: BorrowedFd<'_>, level: i32, name: i32, value: &mut T) -> io::Result<()> {
    let mut length = mem::size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes into a live value for which any bits are valid.
    let result =
        unsafe { libc::getsockopt(fd.as_raw_fd(), level, name, (&raw mut *value).cast(), &raw mut length) };
    check(result).map(drop)
}

/// Receives one packet into `buffer`; gives its whole length, which is more than the buffer's if it was cut.
pub(crate) fn receive(fd: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<usize> {
    let flags = libc::MSG_DONTWAIT | libc::MSG_TRUNC;
    // SAFETY: the pointer and length describe a live, exclusively borrowed buffer.
    let length = unsafe { libc::recv(fd.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), flags) };
    if length < 0 { Err(io::Error::last_os_error()) } else { Ok(length as usize) }
}

/// Sends the first packets (at most [`SEND_BATCH`]) in one system call; gives how many were taken. It is an
/// error only if the first one was refused.
pub(crate) fn send_many(fd: BorrowedFd<'_>, packets: &[IoSlice<'_>]) -> io::Result<usize> {
    // SAFETY: mmsghdr is integers and pointers; all zeros (null pointers, zero lengths) is a valid value.
    let mut headers: [libc::mmsghdr; SEND_BATCH] = unsafe { mem::zeroed() };
    let count = packets.len().min(SEND_BATCH);
    for (header, packet) in headers.iter_mut().zip(&packets[..count]) {
        // IoSlice has the layout of iovec by its documented guarantee.
        header.msg_hdr.msg_iov = (&raw const *packet).cast_mut().cast();
        header.msg_hdr.msg_iovlen = 1;
    }
    // SAFETY: `count` headers are filled in; each points to one IoSlice (an iovec) over live bytes, which the
    // kernel only reads.
    let sent = unsafe {
        libc::sendmmsg(fd.as_raw_fd(), headers.as_mut_ptr(), count as u32, libc::MSG_DONTWAIT as _)
    };
    check(sent).map(|sent| sent as usize)
}
