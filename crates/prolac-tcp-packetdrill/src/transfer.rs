//! The table's functions that read and write. Read `calls.rs` first, also for what makes them safe.
#![allow(clippy::missing_safety_doc)]

use std::ffi::{c_int, c_void};

use libc::{iovec, msghdr, sockaddr, socklen_t};

use clickwork_prolac_tcp::sockets::linux::*;
use clickwork_prolac_tcp::sockets::{Errno, Progress, Received, Refusal};

use crate::calls::{result, world};
use crate::interface::Userdata;
use crate::memory;
use crate::world::State;

pub unsafe extern "C" fn read(userdata: Userdata, fd: c_int, buffer: *mut c_void, count: usize) -> isize {
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

pub unsafe extern "C" fn readv(userdata: Userdata, fd: c_int, vector: *const iovec, count: c_int) -> isize {
    // SAFETY: see the module.
    let message = unsafe { receive_message(userdata, fd, vector, count as usize, 0) };
    result(message.map(|received| received.length))
}

pub unsafe extern "C" fn recv(
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

pub unsafe extern "C" fn recvfrom(
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

pub unsafe extern "C" fn recvmsg(userdata: Userdata, fd: c_int, message: *mut msghdr, flags: c_int) -> isize {
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
    message.msg_controllen = give_control(control, &received) as _;
    result(Ok(received.length))
}

/// A control message: `TCP_CM_INQ` with what is left to read, or what stood in the error queue. Its length.
fn give_control(control: &mut [u8], received: &Received) -> usize {
    let inquiry = received.inquire.map(|left| (IPPROTO_TCP, TCP_INQ, left.to_ne_bytes().to_vec()));
    let completed = received.completed.map(|completed| completed.message());
    let Some((level, kind, data)) = inquiry.or(completed) else { return 0 };
    const HEADER: usize = 16;
    let length = HEADER + data.len().next_multiple_of(8);
    if control.len() < length {
        return 0;
    }
    control[..8].copy_from_slice(&((HEADER + data.len()) as u64).to_ne_bytes());
    control[8..12].copy_from_slice(&level.to_ne_bytes());
    control[12..16].copy_from_slice(&kind.to_ne_bytes());
    control[HEADER..HEADER + data.len()].copy_from_slice(&data);
    length
}

/// # Safety
/// As the module says, for the vector.
unsafe fn receive_message(
    userdata: Userdata,
    fd: c_int,
    vector: *const iovec,
    count: usize,
    flags: c_int,
) -> Result<Received, Errno> {
    // SAFETY: the caller promises it.
    let (world, mut parts) = unsafe { (world(userdata), memory::scatter(vector, count)) };
    let mut progress = Progress::default();
    world.complete(|state, now| state.sockets.receive_message(now, fd, &mut parts, flags, &mut progress))
}

pub unsafe extern "C" fn write(userdata: Userdata, fd: c_int, data: *const c_void, count: usize) -> isize {
    // SAFETY: see the module.
    let (world, text) = unsafe { (world(userdata), memory::bytes(data, count)) };
    let mut progress = Progress::default();
    result(world.complete(|state, now| match state.extras.has(fd) {
        true => state.extras.write(fd, text).map_err(Refusal::from),
        false => state.sockets.send(now, fd, text, 0, &mut progress),
    }))
}

pub unsafe extern "C" fn writev(userdata: Userdata, fd: c_int, vector: *const iovec, count: c_int) -> isize {
    // SAFETY: see the module.
    unsafe { send_message(userdata, fd, vector, count as usize, 0, &[]) }
}

pub unsafe extern "C" fn send(
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

pub unsafe extern "C" fn sendto(
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

pub unsafe extern "C" fn sendmsg(
    userdata: Userdata,
    fd: c_int,
    message: *const msghdr,
    flags: c_int,
) -> isize {
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
