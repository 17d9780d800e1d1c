//! The BSD calls. See `include/prolac_tcp.h` for what they are; what each does is in `clickwork_prolac_tcp::sockets`.
//!
//! # Safety
//! Of all functions here: pointers are null, or lead to as much memory as the call of the same name of the system wants,
//! which nobody else uses during the call.
#![allow(clippy::missing_safety_doc, reason = "it is the same for all, and stands above")]

use std::ffi::{c_int, c_long, c_ulong, c_void};

use clickwork_prolac_tcp::sockets::linux::MSG_NOSIGNAL;
use clickwork_prolac_tcp::sockets::{Errno, PollFd, Sockets};
use libc::{iovec, nfds_t, pollfd, sockaddr, socklen_t, ssize_t};

use crate::instance::{call, closed, fail, wait};
use crate::memory::{AddressPlace, bytes, bytes_mut, pieces, pieces_mut};

/// What C gets: the number, or -1 with `errno` set.
fn give(result: Result<c_int, Errno>) -> c_int {
    result.unwrap_or_else(fail)
}

/// The same for lengths.
fn give_length(result: Result<usize, Errno>) -> ssize_t {
    result.map_or_else(|errno| fail(errno) as ssize_t, |length| length as ssize_t)
}

fn nothing(_: ()) -> c_int {
    0
}

/// `socket(2)`.
#[unsafe(no_mangle)]
pub extern "C" fn prolac_socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    give(call(|sockets, _| sockets.socket(domain, kind, protocol)))
}

/// `bind(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prolac_bind(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int {
    // SAFETY: as above.
    let address = unsafe { bytes(address.cast(), length as usize) };
    give(address.and_then(|address| call(|sockets, _| sockets.bind(fd, address))).map(nothing))
}

/// `listen(2)`.
#[unsafe(no_mangle)]
pub extern "C" fn prolac_listen(fd: c_int, backlog: c_int) -> c_int {
    give(call(|sockets, _| sockets.listen(fd, backlog)).map(nothing))
}

/// `accept(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prolac_accept(fd: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int {
    // SAFETY: as above.
    unsafe { prolac_accept4(fd, address, length, 0) }
}

/// `accept4(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prolac_accept4(
    fd: c_int,
    address: *mut sockaddr,
    length: *mut socklen_t,
    flags: c_int,
) -> c_int {
    // SAFETY: as above.
    let place = unsafe { AddressPlace::new(address, length) };
    let accepted = wait(|sockets, now, progress| sockets.accept(now, fd, flags, progress));
    give(accepted.and_then(|(new, peer)| {
        place.fill(peer.as_bytes()).inspect_err(|_| {
            prolac_close(new);
        })?;
        Ok(new)
    }))
}

/// `connect(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prolac_connect(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int {
    // SAFETY: as above.
    let address = unsafe { bytes(address.cast(), length as usize) };
    let connect = |address| wait(|sockets, now, progress| sockets.connect(now, fd, address, progress));
    give(address.and_then(connect).map(nothing))
}

/// `getsockname(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prolac_getsockname(
    fd: c_int,
    address: *mut sockaddr,
    length: *mut socklen_t,
) -> c_int {
    // SAFETY: as above.
    let place = unsafe { AddressPlace::new(address, length) };
    let local = call(|sockets, _| sockets.local_address(fd));
    give(local.and_then(|local| place.fill(local.as_bytes())).map(nothing))
}

/// `getpeername(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prolac_getpeername(
    fd: c_int,
    address: *mut sockaddr,
    length: *mut socklen_t,
) -> c_int {
    // SAFETY: as above.
    let place = unsafe { AddressPlace::new(address, length) };
    let peer = call(|sockets, _| sockets.peer_address(fd));
    give(peer.and_then(|peer| place.fill(peer.as_bytes())).map(nothing))
}

/// `read(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prolac_read(fd: c_int, buffer: *mut c_void, length: usize) -> ssize_t {
    if length == 0 {
        return read_nothing(fd);
    }
    // SAFETY: as above.
    unsafe { prolac_recv(fd, buffer, length, 0) }
}

/// What `recv` would wait for, `read` does not (`sock_read_iter` in Linux).
fn read_nothing(fd: c_int) -> ssize_t {
    give_length(call(|sockets, _| sockets.readiness(fd).map(|_| 0)))
}

/// `recv(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prolac_recv(fd: c_int, buffer: *mut c_void, length: usize, flags: c_int) -> ssize_t {
    // SAFETY: as above.
    let buffer = unsafe { bytes_mut(buffer, length) };
    give_length(
        buffer.and_then(|buffer| {
            wait(|sockets, now, progress| sockets.receive(now, fd, buffer, flags, progress))
        }),
    )
}

/// `recvfrom(2)`: TCP tells no address, and Linux sets its length to 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prolac_recvfrom(
    fd: c_int,
    buffer: *mut c_void,
    length: usize,
    flags: c_int,
    address: *mut sockaddr,
    address_length: *mut socklen_t,
) -> ssize_t {
    // SAFETY: as above.
    let (received, place) =
        unsafe { (prolac_recv(fd, buffer, length, flags), AddressPlace::new(address, address_length)) };
    if received < 0 {
        return received;
    }
    give_length(place.fill(&[]).map(|()| received as usize))
}

/// `readv(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prolac_readv(fd: c_int, buffers: *const iovec, count: c_int) -> ssize_t {
    // SAFETY: as above.
    let buffers = unsafe { pieces_mut(buffers, count) };
    if buffers.as_ref().is_ok_and(|buffers| buffers.iter().all(|buffer| buffer.is_empty())) {
        return read_nothing(fd);
    }
    give_length(buffers.and_then(|mut buffers| {
        let received =
            wait(|sockets, now, progress| sockets.receive_message(now, fd, &mut buffers, 0, progress));
        received.map(|received| received.length)
    }))
}

/// `write(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prolac_write(fd: c_int, data: *const c_void, length: usize) -> ssize_t {
    // SAFETY: as above.
    unsafe { prolac_send(fd, data, length, 0) }
}

/// `send(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prolac_send(fd: c_int, data: *const c_void, length: usize, flags: c_int) -> ssize_t {
    // SAFETY: as above.
    unsafe { prolac_sendto(fd, data, length, flags, std::ptr::null(), 0) }
}

/// `sendto(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prolac_sendto(
    fd: c_int,
    data: *const c_void,
    length: usize,
    flags: c_int,
    address: *const sockaddr,
    address_length: socklen_t,
) -> ssize_t {
    let address = match address.is_null() {
        true => Ok(None),
        // SAFETY: as above.
        false => unsafe { bytes(address.cast(), address_length as usize) }.map(Some),
    };
    // SAFETY: as above.
    let data = unsafe { bytes(data, length) };
    let send = |(data, address)| {
        let data = [std::io::IoSlice::new(data)];
        wait(|sockets, now, progress| sockets.send_to(now, fd, &data, flags, address, progress))
    };
    let sent = data.and_then(|data| Ok((data, address?))).and_then(send);
    give_length(signal(sent, flags))
}

/// `writev(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prolac_writev(fd: c_int, data: *const iovec, count: c_int) -> ssize_t {
    // SAFETY: as above.
    let data = unsafe { pieces(data, count) };
    let sent = data
        .and_then(|data| wait(|sockets, now, progress| sockets.send_to(now, fd, &data, 0, None, progress)));
    give_length(signal(sent, 0))
}

/// SIGPIPE for a write that could not be.
fn signal(sent: Result<usize, Errno>, flags: c_int) -> Result<usize, Errno> {
    if sent == Err(Errno::PIPE) && flags & MSG_NOSIGNAL == 0 {
        // SAFETY: raising a signal is what the program expects here.
        unsafe { libc::raise(libc::SIGPIPE) };
    }
    sent
}

/// `shutdown(2)`.
#[unsafe(no_mangle)]
pub extern "C" fn prolac_shutdown(fd: c_int, how: c_int) -> c_int {
    let done = call(|sockets, now| sockets.shutdown(now, fd, how));
    // A read that waits is at the end now.
    closed(fd);
    give(done.map(nothing))
}

/// `close(2)`.
#[unsafe(no_mangle)]
pub extern "C" fn prolac_close(fd: c_int) -> c_int {
    let done = wait(|sockets, now, progress| sockets.close(now, fd, progress));
    closed(fd);
    give(done.map(nothing))
}

/// `poll(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prolac_poll(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
    const _: () = assert!(size_of::<PollFd>() == size_of::<pollfd>());
    if fds.is_null() && count > 0 {
        return fail(Errno::FAULT);
    }
    let fds = match count {
        0 => &mut [],
        // SAFETY: as above; `PollFd` is `struct pollfd`.
        _ => unsafe { std::slice::from_raw_parts_mut(fds.cast::<PollFd>(), count as usize) },
    };
    let ready = wait(|sockets, now, progress| Sockets::poll(sockets, now, fds, timeout, progress));
    give(ready.map(|ready| ready as c_int))
}

/// `fcntl(2)`.
#[unsafe(no_mangle)]
pub extern "C" fn prolac_fcntl(fd: c_int, command: c_int, argument: c_long) -> c_int {
    give(call(|sockets, _| sockets.fcntl(fd, command, argument as c_int)))
}

/// `ioctl(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prolac_ioctl(fd: c_int, request: c_ulong, argument: *mut c_int) -> c_int {
    // SAFETY: as above.
    let value = unsafe { argument.as_ref() }.copied();
    let result = call(|sockets, now| {
        let result = sockets.ioctl(now, fd, request, value.unwrap_or(0));
        if value.is_none() && result.is_ok() { Err(Errno::FAULT) } else { result }
    });
    give(result.map(|result| {
        // SAFETY: as above; it is not null.
        unsafe { argument.write(result) };
        0
    }))
}

/// `getsockopt(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prolac_getsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    length: *mut socklen_t,
) -> c_int {
    // SAFETY: as above.
    let Some(length) = (unsafe { length.as_mut() }) else { return fail(Errno::FAULT) };
    if *length > i32::MAX as socklen_t {
        return fail(Errno::INVAL);
    }
    // SAFETY: as above.
    let room = unsafe { bytes_mut(value, *length as usize) };
    let given = room.and_then(|room| call(|sockets, now| sockets.get_option(now, fd, level, name, room)));
    give(given.map(|given| {
        *length = given as socklen_t;
        0
    }))
}

/// `setsockopt(2)`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn prolac_setsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    length: socklen_t,
) -> c_int {
    if length > i32::MAX as socklen_t {
        return fail(Errno::INVAL);
    }
    // SAFETY: as above.
    let value = unsafe { bytes(value, length as usize) };
    give(
        value
            .and_then(|value| call(|sockets, now| sockets.set_option(now, fd, level, name, value)))
            .map(nothing),
    )
}
