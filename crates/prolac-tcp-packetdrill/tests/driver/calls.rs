//! System calls of scripts, through the table.

use std::collections::HashMap;
use std::ffi::c_int;
use std::net::SocketAddr;
use std::ptr::null_mut;

use clickwork_prolac_tcp::sockets::RawAddress;
use clickwork_prolac_tcp::sockets::linux::*;

use super::library::Stack;
use super::script::{Argument, CallSpec};
use super::symbols;

/// What calls need to know besides their arguments.
#[derive(Clone, Debug)]
pub struct Surroundings {
    pub domain: i32,
    pub bind: SocketAddr,
    pub connect: SocketAddr,
    /// Descriptors of the script, and what they are in truth.
    pub descriptors: HashMap<i64, c_int>,
}

/// What a call has given.
#[derive(Debug)]
pub struct Outcome {
    pub result: i64,
    pub errno: i32,
    /// What it wrote to memory is not what the script says.
    pub complaint: Option<String>,
    /// Descriptors that it made: in the script, in truth.
    pub made: Vec<(i64, c_int)>,
}

impl Outcome {
    fn of(result: isize) -> Outcome {
        // SAFETY: it points to this thread's errno.
        let errno = unsafe { *libc::__errno_location() };
        Outcome { result: result as i64, errno, complaint: None, made: Vec::new() }
    }

    /// Compares with what the script says.
    pub fn check(&self, call: &CallSpec) -> Result<(), String> {
        let makes = matches!(call.name.as_str(), "socket" | "accept" | "epoll_create");
        let fits = if makes && call.result >= 0 { self.result >= 0 } else { self.result == call.result };
        let told = if self.result < 0 { symbols::errno(self.errno) } else { "" };
        if !fits || call.errno.as_deref().is_some_and(|errno| errno != told) {
            let wanted = call.errno.clone().unwrap_or_default();
            return Err(format!(
                "{}: expected {} {wanted} but got {} {told}",
                call.name, call.result, self.result
            ));
        }
        self.complaint.clone().map_or(Ok(()), |complaint| Err(format!("{}: {complaint}", call.name)))
    }
}

struct Invocation<'a> {
    stack: &'a Stack,
    call: &'a CallSpec,
    around: &'a Surroundings,
}

/// Makes the call.
pub fn invoke(stack: &Stack, call: &CallSpec, around: &Surroundings) -> Result<Outcome, String> {
    Invocation { stack, call, around }.run()
}

impl Invocation<'_> {
    fn number(&self, at: usize) -> Result<i64, String> {
        match self.call.arguments.get(at) {
            Some(Argument::Number(number)) => Ok(*number),
            other => Err(format!("{}: argument {at} is {other:?}, not a number", self.call.name)),
        }
    }

    fn fd(&self) -> Result<c_int, String> {
        self.descriptor(self.number(0)?)
    }

    fn descriptor(&self, fd: i64) -> Result<c_int, String> {
        // An unknown one is meant to be wrong.
        Ok(self.around.descriptors.get(&fd).copied().unwrap_or(fd as c_int))
    }

    fn made(&self, mut outcome: Outcome) -> Outcome {
        if outcome.result >= 0 {
            outcome.made.push((self.call.result, outcome.result as c_int));
        }
        outcome
    }

    fn run(&self) -> Result<Outcome, String> {
        let (table, user) = (self.stack.table(), self.stack.table().userdata);
        // SAFETY: all calls below: the table is filled in, and pointers lead to memory of ours of the length that goes
        // with them.
        unsafe {
            Ok(match self.call.name.as_str() {
                "socket" => {
                    let domain = self.number(0).unwrap_or(self.around.domain.into()) as c_int;
                    let (kind, protocol) = (self.number(1)? as c_int, self.number(2)? as c_int);
                    self.made(Outcome::of(table.socket.unwrap()(user, domain, kind, protocol) as isize))
                }
                "bind" => {
                    let (raw, length) = raw(self.around.bind);
                    Outcome::of(table.bind.unwrap()(user, self.fd()?, raw.as_ptr().cast(), length) as isize)
                }
                "listen" => {
                    Outcome::of(table.listen.unwrap()(user, self.fd()?, self.number(1)? as c_int) as isize)
                }
                "accept" => {
                    let (mut raw, mut length) = ([0u8; 128], 128);
                    let accept = table.accept.unwrap();
                    self.made(Outcome::of(
                        accept(user, self.fd()?, raw.as_mut_ptr().cast(), &mut length) as isize
                    ))
                }
                "connect" => {
                    let (mut raw, length) = raw(self.around.connect);
                    if let Ok(family) = self.number(1) {
                        raw[..2].copy_from_slice(&(family as u16).to_ne_bytes());
                    }
                    Outcome::of(table.connect.unwrap()(user, self.fd()?, raw.as_ptr().cast(), length) as isize)
                }
                "shutdown" => {
                    Outcome::of(table.shutdown.unwrap()(user, self.fd()?, self.number(1)? as c_int) as isize)
                }
                "close" => Outcome::of(table.close.unwrap()(user, self.fd()?) as isize),
                "fcntl" => {
                    let argument = self.number(2).unwrap_or(0);
                    Outcome::of(
                        table.fcntl.unwrap()(user, self.fd()?, self.number(1)? as c_int, argument) as isize
                    )
                }
                "read" | "recv" | "readv" => self.read()?,
                "write" | "send" | "sendto" | "writev" => self.write()?,
                "ioctl" => self.ioctl()?,
                "getsockopt" | "setsockopt" => self.option()?,
                "poll" => self.poll()?,
                "epoll_create" => self
                    .made(Outcome::of(table.epoll_create.unwrap()(user, self.number(0)? as c_int) as isize)),
                "epoll_ctl" => self.epoll_control()?,
                "epoll_wait" => self.epoll_wait()?,
                "pipe" => self.pipe()?,
                "splice" => self.splice()?,
                other => return Err(format!("no system call {other:?}")),
            })
        }
    }

    /// Lengths of an array of `{..., LENGTH}`.
    fn vector(&self, at: usize) -> Result<Vec<Vec<u8>>, String> {
        let Some(Argument::List(items)) = self.call.arguments.get(at) else { return Err("no vector".into()) };
        let length = |item: &Argument| match item {
            Argument::Struct(fields) => match fields.get(1) {
                Some((_, Argument::Number(length))) => Ok(vec![0; *length as usize]),
                _ => Err("a vector's element without a length".to_owned()),
            },
            _ => Err("a vector's element that is none".to_owned()),
        };
        items.iter().map(length).collect()
    }

    unsafe fn read(&self) -> Result<Outcome, String> {
        let (table, user) = (self.stack.table(), self.stack.table().userdata);
        let fd = self.fd()?;
        if self.call.name == "readv" {
            let mut parts = self.vector(1)?;
            let vector: Vec<libc::iovec> = parts
                .iter_mut()
                .map(|part| libc::iovec { iov_base: part.as_mut_ptr().cast(), iov_len: part.len() })
                .collect();
            // SAFETY: as in `run`.
            return Ok(Outcome::of(unsafe {
                table.readv.unwrap()(user, fd, vector.as_ptr(), vector.len() as c_int)
            }));
        }
        let mut buffer = vec![0xffu8; self.number(2)? as usize];
        let (pointer, length) = (buffer.as_mut_ptr().cast(), buffer.len());
        // SAFETY: as in `run`.
        let result = unsafe {
            match self.call.name.as_str() {
                "recv" => table.recv.unwrap()(user, fd, pointer, length, self.number(3)? as c_int),
                _ => table.read.unwrap()(user, fd, pointer, length),
            }
        };
        let mut outcome = Outcome::of(result);
        let dropped = self.number(3).unwrap_or(0) & MSG_TRUNC as i64 != 0;
        let got = &buffer[..usize::try_from(result).unwrap_or(0)];
        if !dropped && got.iter().any(|byte| *byte != 0) {
            outcome.complaint = Some("text that the peer has not sent".into());
        }
        Ok(outcome)
    }

    unsafe fn write(&self) -> Result<Outcome, String> {
        let (table, user) = (self.stack.table(), self.stack.table().userdata);
        let fd = self.fd()?;
        if self.call.name == "writev" {
            let parts = self.vector(1)?;
            let vector: Vec<libc::iovec> = parts
                .iter()
                .map(|part| libc::iovec { iov_base: part.as_ptr().cast_mut().cast(), iov_len: part.len() })
                .collect();
            // SAFETY: as in `run`.
            return Ok(Outcome::of(unsafe {
                table.writev.unwrap()(user, fd, vector.as_ptr(), vector.len() as c_int)
            }));
        }
        let buffer = vec![0u8; self.number(2)? as usize];
        let (pointer, length) = (buffer.as_ptr().cast(), buffer.len());
        let flags = self.number(3).unwrap_or(0) as c_int;
        let (raw, raw_length) = raw(self.around.connect);
        // SAFETY: as in `run`.
        Ok(Outcome::of(unsafe {
            match self.call.name.as_str() {
                "send" => table.send.unwrap()(user, fd, pointer, length, flags),
                "sendto" => {
                    table.sendto.unwrap()(user, fd, pointer, length, flags, raw.as_ptr().cast(), raw_length)
                }
                _ => table.write.unwrap()(user, fd, pointer, length),
            }
        }))
    }

    unsafe fn ioctl(&self) -> Result<Outcome, String> {
        let (table, user) = (self.stack.table(), self.stack.table().userdata);
        let wanted = match self.call.arguments.get(2) {
            Some(Argument::List(items)) => match items[..] {
                [Argument::Number(number)] => number as c_int,
                _ => return Err("ioctl takes [N]".into()),
            },
            _ => return Err("ioctl takes [N]".into()),
        };
        let mut value = wanted;
        let request = self.number(1)? as u64;
        if request != FIONBIO {
            value = -1;
        }
        // SAFETY: as in `run`.
        let result = unsafe { table.ioctl.unwrap()(user, self.fd()?, request, (&raw mut value).cast()) };
        let mut outcome = Outcome::of(result as isize);
        if result == 0 && value != wanted {
            outcome.complaint = Some(format!("expected value {wanted} but got {value}"));
        }
        Ok(outcome)
    }

    unsafe fn option(&self) -> Result<Outcome, String> {
        let (table, user) = (self.stack.table(), self.stack.table().userdata);
        let (fd, level, name) = (self.fd()?, self.number(1)? as c_int, self.number(2)? as c_int);
        let given = match self.call.arguments.get(3) {
            Some(Argument::Text(text)) => [text.as_bytes(), &[0]].concat(),
            Some(Argument::List(items)) => numbers(items.iter()),
            Some(Argument::Struct(fields)) => numbers(fields.iter().map(|(_, item)| item)),
            other => return Err(format!("no option value: {other:?}")),
        };
        if self.call.name == "setsockopt" {
            let length = self.number(4)? as u32;
            // SAFETY: as in `run`; no more than there is.
            let result = unsafe {
                let length = length.min(given.len() as u32);
                table.setsockopt.unwrap()(user, fd, level, name, given.as_ptr().cast(), length)
            };
            return Ok(Outcome::of(result as isize));
        }
        let mut length = match self.call.arguments.get(4) {
            Some(Argument::List(items)) => match items[..] {
                [Argument::Number(number)] => number as u32,
                _ => return Err("getsockopt takes [LENGTH]".into()),
            },
            _ => return Err("getsockopt takes [LENGTH]".into()),
        };
        let mut value = vec![0u8; length as usize];
        // SAFETY: as in `run`.
        let result = unsafe {
            table.getsockopt.unwrap()(user, fd, level, name, value.as_mut_ptr().cast(), &mut length)
        };
        let mut outcome = Outcome::of(result as isize);
        let seen = given.len().min(value.len());
        if result == 0 && value[..seen] != given[..seen] {
            outcome.complaint = Some(format!("expected value {:?} but got {:?}", &given[..seen], value));
        }
        Ok(outcome)
    }

    unsafe fn poll(&self) -> Result<Outcome, String> {
        let (table, user) = (self.stack.table(), self.stack.table().userdata);
        let Some(Argument::List(items)) = self.call.arguments.first() else {
            return Err("no pollfds".into());
        };
        let mut entries = Vec::new();
        let mut wanted = Vec::new();
        for item in items {
            let field = |name| field(item, name);
            let fd = self.descriptor(field("fd")?)?;
            entries.push(libc::pollfd { fd, events: field("events")? as i16, revents: 0 });
            wanted.push(field("revents")? as i16);
        }
        let (count, timeout) = (self.number(1)? as u64, self.number(2)? as c_int);
        // SAFETY: as in `run`.
        let result = unsafe { table.poll.unwrap()(user, entries.as_mut_ptr(), count, timeout) };
        let mut outcome = Outcome::of(result as isize);
        let got: Vec<i16> = entries.iter().map(|entry| entry.revents).collect();
        if got != wanted {
            outcome.complaint = Some(format!("expected revents {wanted:#x?} but got {got:#x?}"));
        }
        Ok(outcome)
    }

    unsafe fn epoll_control(&self) -> Result<Outcome, String> {
        let (table, user) = (self.stack.table(), self.stack.table().userdata);
        let script_fd = self.number(2)?;
        let item = self.call.arguments.get(3).ok_or("no event")?;
        let mut event = libc::epoll_event { events: field(item, "events")? as u32, u64: script_fd as u64 };
        let (epoll, fd) = (self.fd()?, self.descriptor(script_fd)?);
        // SAFETY: as in `run`.
        let result =
            unsafe { table.epoll_ctl.unwrap()(user, epoll, self.number(1)? as c_int, fd, &mut event) };
        Ok(Outcome::of(result as isize))
    }

    unsafe fn epoll_wait(&self) -> Result<Outcome, String> {
        let (table, user) = (self.stack.table(), self.stack.table().userdata);
        let most = self.number(2)?;
        let mut events = vec![libc::epoll_event { events: 0, u64: 0 }; most as usize];
        let timeout = self.number(3)? as c_int;
        // SAFETY: as in `run`.
        let result = unsafe {
            table.epoll_wait.unwrap()(user, self.fd()?, events.as_mut_ptr(), most as c_int, timeout)
        };
        let mut outcome = Outcome::of(result as isize);
        let item = self.call.arguments.get(1).ok_or("no event")?;
        let wanted = (field(item, "events")? as u32, field(item, "fd")? as u64);
        let got = events.first().map_or((0, 0), |event| (event.events, event.u64));
        if result > 0 && got != wanted {
            outcome.complaint = Some(format!("expected event {wanted:x?} but got {got:x?}"));
        }
        Ok(outcome)
    }

    unsafe fn pipe(&self) -> Result<Outcome, String> {
        let table = self.stack.table();
        let Some(Argument::List(names)) = self.call.arguments.first() else { return Err("no pipe".into()) };
        let mut ends = [0; 2];
        // SAFETY: as in `run`.
        let mut outcome =
            Outcome::of(unsafe { table.pipe.unwrap()(table.userdata, ends.as_mut_ptr()) } as isize);
        for (name, end) in names.iter().zip(ends) {
            if let Argument::Number(name) = name {
                outcome.made.push((*name, end));
            }
        }
        Ok(outcome)
    }

    unsafe fn splice(&self) -> Result<Outcome, String> {
        let table = self.stack.table();
        let (from, to) = (self.fd()?, self.descriptor(self.number(2)?)?);
        let (length, flags) = (self.number(4)? as usize, self.number(5)? as u32);
        // SAFETY: as in `run`.
        Ok(Outcome::of(unsafe {
            table.splice.unwrap()(table.userdata, from, null_mut(), to, null_mut(), length, flags)
        }))
    }
}

/// An address in C's form, and its length.
fn raw(address: SocketAddr) -> (Vec<u8>, u32) {
    let raw = RawAddress::from(address);
    (raw.as_bytes().to_vec(), raw.as_bytes().len() as u32)
}

/// Numbers as ints, one behind the other: an int, or a structure of ints.
fn numbers<'a>(items: impl Iterator<Item = &'a Argument>) -> Vec<u8> {
    let int = |item: &Argument| match item {
        Argument::Number(number) => (*number as i32).to_ne_bytes(),
        _ => [0; 4],
    };
    items.flat_map(int).collect()
}

fn field(item: &Argument, name: &str) -> Result<i64, String> {
    let Argument::Struct(fields) = item else { return Err(format!("{item:?} is no structure")) };
    match fields.iter().find(|(field, _)| field == name) {
        Some((_, Argument::Number(number))) => Ok(*number),
        _ => Err(format!("no field {name} in {item:?}")),
    }
}
