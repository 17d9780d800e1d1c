//! The table's functions for epoll, pipes and splice. Read `calls.rs` first, also for what makes them safe.
#![allow(clippy::missing_safety_doc)]

use std::ffi::{c_int, c_uint};

use libc::{epoll_event, loff_t};

use clickwork_prolac_tcp::sockets::linux::*;
use clickwork_prolac_tcp::sockets::{Errno, Progress, Refusal};

use crate::calls::{result, status, world};
use crate::interface::Userdata;
use crate::world::State;

pub unsafe extern "C" fn epoll_create(userdata: Userdata, size: c_int) -> c_int {
    // SAFETY: see the module.
    let world = unsafe { world(userdata) };
    let made = world.call(|state, _| state.extras.epoll_create(size));
    result(made.map(|fd| fd as usize)) as c_int
}

pub unsafe extern "C" fn epoll_ctl(
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

pub unsafe extern "C" fn epoll_wait(
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

pub unsafe extern "C" fn pipe(userdata: Userdata, ends: *mut c_int) -> c_int {
    // SAFETY: see the module.
    let made = unsafe { world(userdata) }.call(|state, _| state.extras.pipe());
    status(made.map(|made| {
        // SAFETY: see the module: an array of two.
        unsafe { ends.cast::<[c_int; 2]>().write(made) };
    }))
}

pub unsafe extern "C" fn splice(
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
