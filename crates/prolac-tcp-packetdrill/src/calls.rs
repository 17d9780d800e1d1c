//! The functions of the table: C's arguments in, a result and `errno` out. What they do is in [`World`] and in `Sockets`.
//!
//! # Safety
//! All of them are called by packetdrill as its `packetdrill.h` says: `userdata` is that of the table, pointers are valid for
//! the lengths that come with them, and nothing is called after `free`.
#![allow(clippy::missing_safety_doc)]

use std::ffi::{c_int, c_long, c_longlong, c_uint, c_ulong, c_void};

use libc::{nfds_t, pollfd, sockaddr, socklen_t, timeval};

use clickwork_prolac_tcp::sockets::linux::*;
use clickwork_prolac_tcp::sockets::{Errno, PollFd, Progress, Refusal};

use crate::extra_calls::*;
use crate::interface::{PacketdrillInterface, Userdata};
use crate::memory;
use crate::placeholder;
use crate::transfer::*;
use crate::world::World;

/// Fills in all functions.
pub fn table(userdata: Userdata) -> PacketdrillInterface {
    PacketdrillInterface {
        userdata,
        free: Some(free),
        socket: Some(socket),
        bind: Some(bind),
        listen: Some(listen),
        accept: Some(accept),
        connect: Some(connect),
        read: Some(read),
        readv: Some(readv),
        recv: Some(recv),
        recvfrom: Some(recvfrom),
        recvmsg: Some(recvmsg),
        write: Some(write),
        writev: Some(writev),
        send: Some(send),
        sendto: Some(sendto),
        sendmsg: Some(sendmsg),
        fcntl: Some(fcntl),
        ioctl: Some(ioctl),
        close: Some(close),
        shutdown: Some(shutdown),
        getsockopt: Some(getsockopt),
        setsockopt: Some(setsockopt),
        poll: Some(poll),
        netdev_send: Some(netdev_send),
        netdev_receive: Some(netdev_receive),
        usleep: Some(usleep),
        gettimeofday: Some(gettimeofday),
        epoll_create: Some(epoll_create),
        epoll_ctl: Some(epoll_ctl),
        epoll_wait: Some(epoll_wait),
        pipe: Some(pipe),
        splice: Some(splice),
    }
}

/// # Safety
/// `userdata` is that of a table which was not freed.
pub unsafe fn world<'a>(userdata: Userdata) -> &'a World {
    // SAFETY: `init` made it of a box, which lives until `free`.
    unsafe { &*userdata.cast::<World>() }
}

/// A result in the manner of C: -1 with `errno`, or a number.
pub fn result(outcome: Result<usize, Errno>) -> isize {
    match outcome {
        Ok(number) => number as isize,
        Err(errno) => {
            // SAFETY: it points to this thread's `errno`.
            unsafe { *libc::__errno_location() = errno.0 };
            -1
        }
    }
}

pub fn status(outcome: Result<(), Errno>) -> c_int {
    result(outcome.map(|()| 0)) as c_int
}

unsafe extern "C" fn free(userdata: Userdata) {
    // SAFETY: `init` made it of a box, and nothing is called after this.
    drop(unsafe { Box::from_raw(userdata.cast::<World>()) });
}

unsafe extern "C" fn socket(userdata: Userdata, domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    // SAFETY: see the module.
    let world = unsafe { world(userdata) };
    let made = world.call(|state, _| {
        state.update_parameters();
        state.sockets.socket(domain, kind, protocol)
    });
    result(made.map(|fd| fd as usize)) as c_int
}

unsafe extern "C" fn bind(
    userdata: Userdata,
    fd: c_int,
    address: *const sockaddr,
    length: socklen_t,
) -> c_int {
    // SAFETY: see the module.
    let (world, raw) = unsafe { (world(userdata), memory::bytes(address.cast(), length as usize)) };
    status(world.call(|state, _| {
        state.learn(memory::ip_address(raw));
        state.sockets.bind(fd, raw)
    }))
}

unsafe extern "C" fn listen(userdata: Userdata, fd: c_int, backlog: c_int) -> c_int {
    // SAFETY: see the module.
    let world = unsafe { world(userdata) };
    status(world.call(|state, _| {
        state.update_parameters();
        state.sockets.listen(fd, backlog)
    }))
}

unsafe extern "C" fn accept(
    userdata: Userdata,
    fd: c_int,
    address: *mut sockaddr,
    length: *mut socklen_t,
) -> c_int {
    // SAFETY: see the module.
    let world = unsafe { world(userdata) };
    let mut progress = Progress::default();
    let accepted = world.complete(|state, now| state.sockets.accept(now, fd, 0, &mut progress));
    let given = accepted.and_then(|(new, peer)| {
        // SAFETY: see the module.
        unsafe { memory::give_address(Some(peer), address, length) }?;
        Ok(new as usize)
    });
    result(given) as c_int
}

unsafe extern "C" fn connect(
    userdata: Userdata,
    fd: c_int,
    address: *const sockaddr,
    length: socklen_t,
) -> c_int {
    // SAFETY: see the module.
    let (world, raw) = unsafe { (world(userdata), memory::bytes(address.cast(), length as usize)) };
    let mut progress = Progress::default();
    status(world.complete(|state, now| state.sockets.connect(now, fd, raw, &mut progress)))
}

unsafe extern "C" fn fcntl(userdata: Userdata, fd: c_int, command: c_int, argument: c_long) -> c_int {
    // SAFETY: see the module.
    let world = unsafe { world(userdata) };
    let done = world.call(|state, _| state.sockets.fcntl(fd, command, argument as c_int));
    result(done.map(|number| number as usize)) as c_int
}

unsafe extern "C" fn ioctl(userdata: Userdata, fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int {
    // SAFETY: see the module.
    let world = unsafe { world(userdata) };
    // Requests are 32 bits, and packetdrill passes them as an int.
    let request = request & 0xffff_ffff;
    let argument = argument.cast::<c_int>();
    // SAFETY: see the module; FIONBIO alone reads what its argument points to.
    let given = if request == FIONBIO { unsafe { argument.read() } } else { 0 };
    match world.call(|state, now| state.sockets.ioctl(now, fd, request, given)) {
        Ok(number) if request != FIONBIO => {
            // SAFETY: see the module.
            unsafe { argument.write(number) };
            0
        }
        other => status(other.map(|_| ())),
    }
}

unsafe extern "C" fn close(userdata: Userdata, fd: c_int) -> c_int {
    // SAFETY: see the module.
    let world = unsafe { world(userdata) };
    let mut progress = Progress::default();
    status(world.complete(|state, now| {
        if state.extras.has(fd) {
            return state.extras.close(fd).map_err(Refusal::from);
        }
        state.sockets.close(now, fd, &mut progress)?;
        state.extras.forget(fd);
        placeholder::close(fd);
        Ok(())
    }))
}

unsafe extern "C" fn shutdown(userdata: Userdata, fd: c_int, how: c_int) -> c_int {
    // SAFETY: see the module.
    let world = unsafe { world(userdata) };
    status(world.call(|state, now| state.sockets.shutdown(now, fd, how)))
}

unsafe extern "C" fn getsockopt(
    userdata: Userdata,
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    length: *mut socklen_t,
) -> c_int {
    // SAFETY: see the module.
    let (world, room) = unsafe { (world(userdata), length.read()) };
    let Ok(room) = i32::try_from(room) else { return status(Err(Errno::INVAL)) };
    // SAFETY: see the module.
    let buffer = unsafe { memory::room(value, room as usize) };
    let got = world.call(|state, now| state.sockets.get_option(now, fd, level, name, buffer));
    status(got.map(|count| {
        // SAFETY: see the module.
        unsafe { length.write(count as socklen_t) };
    }))
}

unsafe extern "C" fn setsockopt(
    userdata: Userdata,
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    length: socklen_t,
) -> c_int {
    if i32::try_from(length).is_err() {
        return status(Err(Errno::INVAL));
    }
    // SAFETY: see the module.
    let (world, value) = unsafe { (world(userdata), memory::bytes(value, length as usize)) };
    status(world.call(|state, now| state.sockets.set_option(now, fd, level, name, value)))
}

unsafe extern "C" fn poll(userdata: Userdata, entries: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
    // SAFETY: see the module; the two structures are laid out alike.
    let (world, entries) = unsafe {
        let count = if entries.is_null() { 0 } else { count as usize };
        let first =
            if count == 0 { std::ptr::NonNull::dangling().as_ptr() } else { entries.cast::<PollFd>() };
        (world(userdata), std::slice::from_raw_parts_mut(first, count))
    };
    let mut progress = Progress::default();
    let ready = world.complete(|state, now| state.sockets.poll(now, entries, timeout, &mut progress));
    result(ready) as c_int
}

unsafe extern "C" fn netdev_send(userdata: Userdata, packet: *const c_void, length: usize) -> c_int {
    // SAFETY: see the module.
    let (world, packet) = unsafe { (world(userdata), memory::bytes(packet, length)) };
    world.packet_in(packet);
    0
}

unsafe extern "C" fn netdev_receive(
    userdata: Userdata,
    buffer: *mut c_void,
    length: *mut usize,
    time: *mut c_longlong,
) -> c_int {
    // SAFETY: see the module.
    let (world, buffer) = unsafe { (world(userdata), memory::room(buffer, length.read())) };
    let (stamp, packet) = world.packet_out().unwrap_or_default();
    let count = packet.len().min(buffer.len());
    buffer[..count].copy_from_slice(&packet[..count]);
    // SAFETY: see the module.
    unsafe {
        length.write(count);
        time.write(stamp as c_longlong);
    }
    0
}

unsafe extern "C" fn usleep(userdata: Userdata, microseconds: c_uint) -> c_int {
    // SAFETY: see the module.
    unsafe { world(userdata) }.sleep_until(microseconds.into());
    0
}

unsafe extern "C" fn gettimeofday(userdata: Userdata, time: *mut timeval, _zone: *mut c_void) -> c_int {
    // SAFETY: see the module.
    let now = unsafe { world(userdata) }.time();
    let value = timeval { tv_sec: (now / 1_000_000) as _, tv_usec: (now % 1_000_000) as _ };
    // SAFETY: see the module.
    unsafe { time.write(value) };
    0
}
