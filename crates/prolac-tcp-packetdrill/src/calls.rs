//! The functions of the table: C's arguments in, a result and `errno` out. What they do is in [`World`] and in `Sockets`.
//!
//! # Safety
//! All of them are called by packetdrill as its `packetdrill.h` says: `userdata` is that of the table, pointers are valid for
//! the lengths that come with them, and nothing is called after `free`.
#![allow(clippy::missing_safety_doc)]

use std::ffi::{c_int, c_long, c_longlong, c_uint, c_ulong, c_void};

use libc::{epoll_event, iovec, loff_t, msghdr, nfds_t, pollfd, sockaddr, socklen_t, timeval};

use clickwork_prolac_tcp::sockets::linux::*;
use clickwork_prolac_tcp::sockets::{Errno, PollFd, Progress, Refusal};

use crate::interface::{PacketdrillInterface, Userdata};
use crate::memory;
use crate::placeholder;
use crate::world::{State, World};

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
unsafe fn world<'a>(userdata: Userdata) -> &'a World {
    // SAFETY: `init` made it of a box, which lives until `free`.
    unsafe { &*userdata.cast::<World>() }
}

/// A result in the manner of C: -1 with `errno`, or a number.
fn result(outcome: Result<usize, Errno>) -> isize {
    match outcome {
        Ok(number) => number as isize,
        Err(errno) => {
            // SAFETY: it points to this thread's `errno`.
            unsafe { *libc::__errno_location() = errno.0 };
            -1
        }
    }
}

fn status(outcome: Result<(), Errno>) -> c_int {
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

unsafe extern "C" fn read(userdata: Userdata, fd: c_int, buffer: *mut c_void, count: usize) -> isize {
    // SAFETY: see the module.
    let (world, buffer) = unsafe { (world(userdata), memory::room(buffer, count)) };
    let mut progress = Progress::default();
    result(world.complete(|state, now| match state.extras.has(fd) {
        true => read_pipe(state, fd, buffer),
        false => state.sockets.receive(now, fd, buffer, 0, &mut progress),
    }))
}

fn read_pipe(state: &mut State, fd: c_int, buffer: &mut [u8]) -> Result<usize, Refusal> {
    let text = state.extras.peek(fd, buffer.len())?;
    buffer[..text.len()].copy_from_slice(&text);
    state.extras.consume(fd, text.len());
    Ok(text.len())
}

unsafe extern "C" fn readv(userdata: Userdata, fd: c_int, vector: *const iovec, count: c_int) -> isize {
    // SAFETY: see the module.
    let message = unsafe { receive_message(userdata, fd, vector, count as usize, 0) };
    result(message.map(|received| received.length))
}

unsafe extern "C" fn recv(
    userdata: Userdata,
    fd: c_int,
    buffer: *mut c_void,
    length: usize,
    flags: c_int,
) -> isize {
    let vector = iovec { iov_base: buffer, iov_len: length };
    // SAFETY: see the module; the vector lives until the call is over.
    let message = unsafe { receive_message(userdata, fd, &vector, 1, flags) };
    result(message.map(|received| received.length))
}

unsafe extern "C" fn recvfrom(
    userdata: Userdata,
    fd: c_int,
    buffer: *mut c_void,
    length: usize,
    flags: c_int,
    address: *mut sockaddr,
    address_length: *mut socklen_t,
) -> isize {
    // SAFETY: see the module.
    let received = unsafe { recv(userdata, fd, buffer, length, flags) };
    if received >= 0 {
        // SAFETY: see the module. TCP has no address to tell.
        let given = unsafe { memory::give_address(None, address, address_length) };
        return given.map_or_else(|errno| result(Err(errno)), |()| received);
    }
    received
}

unsafe extern "C" fn recvmsg(userdata: Userdata, fd: c_int, message: *mut msghdr, flags: c_int) -> isize {
    if message.is_null() {
        return result(Err(Errno::FAULT));
    }
    // SAFETY: see the module; it is not null.
    let message = unsafe { &mut *message };
    // SAFETY: see the module.
    let received = unsafe { receive_message(userdata, fd, message.msg_iov, message.msg_iovlen, flags) };
    let received = match received {
        Ok(received) => received,
        Err(errno) => return result(Err(errno)),
    };
    message.msg_namelen = 0;
    message.msg_flags = received.flags;
    // SAFETY: see the module.
    let control = unsafe { memory::room(message.msg_control, message.msg_controllen) };
    message.msg_controllen = give_inquiry(control, received.inquire) as _;
    result(Ok(received.length))
}

/// `TCP_CM_INQ`, a control message with what is left to read; its length.
fn give_inquiry(control: &mut [u8], inquire: Option<u32>) -> usize {
    let Some(left) = inquire else { return 0 };
    const HEADER: usize = 16;
    if control.len() < HEADER + 8 {
        return 0;
    }
    control[..8].copy_from_slice(&((HEADER + 4) as u64).to_ne_bytes());
    control[8..12].copy_from_slice(&IPPROTO_TCP.to_ne_bytes());
    control[12..16].copy_from_slice(&TCP_INQ.to_ne_bytes());
    control[16..20].copy_from_slice(&left.to_ne_bytes());
    HEADER + 8
}

/// # Safety
/// As the module says, for the vector.
unsafe fn receive_message(
    userdata: Userdata,
    fd: c_int,
    vector: *const iovec,
    count: usize,
    flags: c_int,
) -> Result<clickwork_prolac_tcp::sockets::Received, Errno> {
    // SAFETY: the caller promises it.
    let (world, mut parts) = unsafe { (world(userdata), memory::scatter(vector, count)) };
    let mut progress = Progress::default();
    world.complete(|state, now| state.sockets.receive_message(now, fd, &mut parts, flags, &mut progress))
}

unsafe extern "C" fn write(userdata: Userdata, fd: c_int, data: *const c_void, count: usize) -> isize {
    // SAFETY: see the module.
    let (world, text) = unsafe { (world(userdata), memory::bytes(data, count)) };
    let mut progress = Progress::default();
    result(world.complete(|state, now| match state.extras.has(fd) {
        true => state.extras.write(fd, text).map_err(Refusal::from),
        false => state.sockets.send(now, fd, text, 0, &mut progress),
    }))
}

unsafe extern "C" fn writev(userdata: Userdata, fd: c_int, vector: *const iovec, count: c_int) -> isize {
    // SAFETY: see the module.
    unsafe { send_message(userdata, fd, vector, count as usize, 0, &[]) }
}

unsafe extern "C" fn send(
    userdata: Userdata,
    fd: c_int,
    data: *const c_void,
    length: usize,
    flags: c_int,
) -> isize {
    let vector = iovec { iov_base: data.cast_mut(), iov_len: length };
    // SAFETY: see the module; the vector lives until the call is over.
    unsafe { send_message(userdata, fd, &vector, 1, flags, &[]) }
}

unsafe extern "C" fn sendto(
    userdata: Userdata,
    fd: c_int,
    data: *const c_void,
    length: usize,
    flags: c_int,
    address: *const sockaddr,
    address_length: socklen_t,
) -> isize {
    let vector = iovec { iov_base: data.cast_mut(), iov_len: length };
    // SAFETY: see the module; the vector lives until the call is over.
    unsafe {
        let raw = memory::bytes(address.cast(), address_length as usize);
        send_message(userdata, fd, &vector, 1, flags, raw)
    }
}

unsafe extern "C" fn sendmsg(userdata: Userdata, fd: c_int, message: *const msghdr, flags: c_int) -> isize {
    if message.is_null() {
        return result(Err(Errno::FAULT));
    }
    // SAFETY: see the module; it is not null.
    unsafe {
        let message = &*message;
        let raw = memory::bytes(message.msg_name, message.msg_namelen as usize);
        send_message(userdata, fd, message.msg_iov, message.msg_iovlen, flags, raw)
    }
}

/// # Safety
/// As the module says, for the vector.
unsafe fn send_message(
    userdata: Userdata,
    fd: c_int,
    vector: *const iovec,
    count: usize,
    flags: c_int,
    raw: &[u8],
) -> isize {
    // SAFETY: the caller promises it.
    let (world, parts) = unsafe { (world(userdata), memory::gather(vector, count)) };
    let raw = (!raw.is_empty()).then_some(raw);
    let mut progress = Progress::default();
    result(world.complete(|state, now| state.sockets.send_to(now, fd, &parts, flags, raw, &mut progress)))
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

unsafe extern "C" fn epoll_create(userdata: Userdata, size: c_int) -> c_int {
    // SAFETY: see the module.
    let world = unsafe { world(userdata) };
    let made = world.call(|state, _| state.extras.epoll_create(size));
    result(made.map(|fd| fd as usize)) as c_int
}

unsafe extern "C" fn epoll_ctl(
    userdata: Userdata,
    epoll: c_int,
    operation: c_int,
    fd: c_int,
    event: *mut epoll_event,
) -> c_int {
    // SAFETY: see the module.
    let world = unsafe { world(userdata) };
    let (events, data) = if event.is_null() {
        (0, 0)
    } else {
        // SAFETY: see the module; the structure is packed, so it is copied.
        let event = unsafe { event.read_unaligned() };
        (event.events, event.u64)
    };
    status(world.call(|state, _| {
        let State { sockets, extras, .. } = state;
        extras.epoll_control(sockets, epoll, operation, fd, events, data)
    }))
}

unsafe extern "C" fn epoll_wait(
    userdata: Userdata,
    epoll: c_int,
    events: *mut epoll_event,
    most: c_int,
    timeout: c_int,
) -> c_int {
    // SAFETY: see the module.
    let world = unsafe { world(userdata) };
    let mut progress = Progress::default();
    let ready = world.complete(|state, now| {
        let State { sockets, extras, .. } = state;
        let found = extras.epoll_ready(sockets, epoll, usize::try_from(most).unwrap_or(0))?;
        if found.is_empty() {
            // As poll of nothing: it waits for the time alone, and is repeated when anything changes.
            sockets.poll(now, &mut [], timeout, &mut progress)?;
        }
        Ok(found)
    });
    let ready = match ready {
        Ok(ready) => ready,
        Err(errno) => return status(Err(errno)),
    };
    for (at, &(bits, data)) in ready.iter().enumerate() {
        // SAFETY: see the module; there are no more than `most`.
        unsafe { events.add(at).write_unaligned(epoll_event { events: bits, u64: data }) };
    }
    ready.len() as c_int
}

unsafe extern "C" fn pipe(userdata: Userdata, ends: *mut c_int) -> c_int {
    // SAFETY: see the module.
    let made = unsafe { world(userdata) }.call(|state, _| state.extras.pipe());
    status(made.map(|made| {
        // SAFETY: see the module: an array of two.
        unsafe { ends.cast::<[c_int; 2]>().write(made) };
    }))
}

unsafe extern "C" fn splice(
    userdata: Userdata,
    from: c_int,
    _from_offset: *mut loff_t,
    to: c_int,
    _to_offset: *mut loff_t,
    length: usize,
    flags: c_uint,
) -> isize {
    // SAFETY: see the module.
    let world = unsafe { world(userdata) };
    let wait = if flags & libc::SPLICE_F_NONBLOCK != 0 { MSG_DONTWAIT } else { 0 };
    let mut progress = Progress::default();
    result(world.complete(|state, now| match state.extras.has(from) {
        true => splice_to_socket(state, now, from, to, length, wait, &mut progress),
        false => splice_from_socket(state, now, from, to, length, wait, &mut progress),
    }))
}

fn splice_from_socket(
    state: &mut State,
    now: u64,
    from: c_int,
    to: c_int,
    length: usize,
    flags: c_int,
    progress: &mut Progress,
) -> Result<usize, Refusal> {
    let room = state.extras.room(to)?;
    if room == 0 {
        return Err(Errno::AGAIN.into());
    }
    let mut text = vec![0; room.min(length)];
    let count = state.sockets.receive(now, from, &mut text, flags, progress)?;
    Ok(state.extras.write(to, &text[..count])?)
}

fn splice_to_socket(
    state: &mut State,
    now: u64,
    from: c_int,
    to: c_int,
    length: usize,
    flags: c_int,
    progress: &mut Progress,
) -> Result<usize, Refusal> {
    let text = state.extras.peek(from, length)?;
    let sent = state.sockets.send(now, to, &text, flags, progress);
    let taken = sent.unwrap_or(progress.done);
    state.extras.consume(from, taken);
    match sent {
        // What the socket has not taken stays in the pipe: the call is over.
        Err(_) if taken > 0 => Ok(taken),
        other => other,
    }
}
