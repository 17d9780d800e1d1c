//! Descriptors that packetdrill asks for besides sockets: epoll sets, and pipes to splice with.

use std::collections::{BTreeMap, HashMap, VecDeque};

use clickwork_prolac_tcp::sockets::linux::{POLLERR, POLLHUP, POLLIN, POLLOUT};
use clickwork_prolac_tcp::sockets::{Errno, Fd, Sockets};

use crate::placeholder;

/// Bytes that a pipe holds.
const PIPE_SIZE: usize = 65_536;
const EDGE_TRIGGERED: u32 = libc::EPOLLET as u32;
const ONE_SHOT: u32 = libc::EPOLLONESHOT as u32;

/// All of them.
#[derive(Debug, Default)]
pub struct Extras {
    table: BTreeMap<Fd, Extra>,
    pipes: HashMap<u32, Pipe>,
    made: u32,
}

#[derive(Debug)]
enum Extra {
    Epoll(BTreeMap<Fd, Interest>),
    ReadEnd(u32),
    WriteEnd(u32),
}

#[derive(Debug, Default)]
struct Pipe {
    text: VecDeque<u8>,
    readers: u32,
    writers: u32,
}

/// What an epoll set has been told about a descriptor.
#[derive(Clone, Copy, Debug)]
struct Interest {
    events: u32,
    data: u64,
    /// Something happened since it was last reported.
    fresh: bool,
    /// One-shot, and it was shot.
    spent: bool,
}

impl Extras {
    fn insert(&mut self, extra: Extra) -> Result<Fd, Errno> {
        let fd = placeholder::open().ok_or(Errno::MFILE)?;
        self.table.insert(fd, extra);
        Ok(fd)
    }

    /// Whether the descriptor is one of these.
    pub fn has(&self, fd: Fd) -> bool {
        self.table.contains_key(&fd)
    }

    /// `close(2)`.
    pub fn close(&mut self, fd: Fd) -> Result<(), Errno> {
        let extra = self.table.remove(&fd).ok_or(Errno::BADF)?;
        placeholder::close(fd);
        let pipe = match extra {
            Extra::Epoll(_) => return Ok(()),
            Extra::ReadEnd(pipe) => {
                self.pipes.entry(pipe).and_modify(|p| p.readers -= 1);
                pipe
            }
            Extra::WriteEnd(pipe) => {
                self.pipes.entry(pipe).and_modify(|p| p.writers -= 1);
                pipe
            }
        };
        if self.pipes.get(&pipe).is_some_and(|p| p.readers + p.writers == 0) {
            self.pipes.remove(&pipe);
        }
        Ok(())
    }

    /// `pipe(2)`: the end to read, the end to write.
    pub fn pipe(&mut self) -> Result<[Fd; 2], Errno> {
        self.made += 1;
        let pipe = self.made;
        self.pipes.insert(pipe, Pipe { text: VecDeque::new(), readers: 1, writers: 1 });
        Ok([self.insert(Extra::ReadEnd(pipe))?, self.insert(Extra::WriteEnd(pipe))?])
    }

    /// Up to `length` bytes from the front of a pipe, which stay there. Nothing at its end.
    pub fn peek(&self, fd: Fd, length: usize) -> Result<Vec<u8>, Errno> {
        let Some(Extra::ReadEnd(pipe)) = self.table.get(&fd) else { return Err(Errno::BADF) };
        let pipe = self.pipes.get(pipe).ok_or(Errno::BADF)?;
        if pipe.text.is_empty() && pipe.writers > 0 && length > 0 {
            return Err(Errno::AGAIN);
        }
        Ok(pipe.text.iter().take(length).copied().collect())
    }

    /// Takes bytes out of a pipe that were seen there.
    pub fn consume(&mut self, fd: Fd, count: usize) {
        if let Some(Extra::ReadEnd(pipe)) = self.table.get(&fd)
            && let Some(pipe) = self.pipes.get_mut(pipe)
        {
            pipe.text.drain(..count.min(pipe.text.len()));
        }
    }

    /// How much can be put into a pipe.
    pub fn room(&self, fd: Fd) -> Result<usize, Errno> {
        let Some(Extra::WriteEnd(pipe)) = self.table.get(&fd) else { return Err(Errno::BADF) };
        match self.pipes.get(pipe) {
            Some(pipe) if pipe.readers > 0 => Ok(PIPE_SIZE - pipe.text.len()),
            _ => Err(Errno::PIPE),
        }
    }

    /// Puts bytes into a pipe; how many it took.
    pub fn write(&mut self, fd: Fd, text: &[u8]) -> Result<usize, Errno> {
        let count = match self.room(fd)? {
            0 if !text.is_empty() => return Err(Errno::AGAIN),
            room => room.min(text.len()),
        };
        let Some(Extra::WriteEnd(pipe)) = self.table.get(&fd) else { return Err(Errno::BADF) };
        self.pipes.entry(*pipe).or_default().text.extend(&text[..count]);
        Ok(count)
    }

    /// Poll bits of one of these, or of a socket.
    pub fn readiness(&self, sockets: &Sockets, fd: Fd) -> Result<i16, Errno> {
        match self.table.get(&fd) {
            None => sockets.readiness(fd),
            Some(Extra::Epoll(set)) => {
                let ready = set.iter().any(|(fd, interest)| self.report(sockets, *fd, interest).is_some());
                Ok(if ready { POLLIN } else { 0 })
            }
            Some(Extra::ReadEnd(pipe)) => Ok(self.pipes.get(pipe).map_or(POLLHUP, |p| {
                let readable = if p.text.is_empty() { 0 } else { POLLIN };
                readable | if p.writers == 0 { POLLHUP } else { 0 }
            })),
            Some(Extra::WriteEnd(pipe)) => Ok(self.pipes.get(pipe).map_or(POLLERR, |p| {
                let writable = if p.text.len() < PIPE_SIZE { POLLOUT } else { 0 };
                writable | if p.readers == 0 { POLLERR } else { 0 }
            })),
        }
    }

    /// `epoll_create(2)`.
    pub fn epoll_create(&mut self, size: i32) -> Result<Fd, Errno> {
        if size <= 0 {
            return Err(Errno::INVAL);
        }
        self.insert(Extra::Epoll(BTreeMap::new()))
    }

    /// `epoll_ctl(2)`.
    pub fn epoll_control(
        &mut self,
        sockets: &Sockets,
        epoll: Fd,
        operation: i32,
        fd: Fd,
        events: u32,
        data: u64,
    ) -> Result<(), Errno> {
        self.readiness(sockets, fd)?;
        let set = match self.table.get_mut(&epoll) {
            Some(Extra::Epoll(set)) if fd != epoll => set,
            Some(_) => return Err(Errno::INVAL),
            None => return Err(if sockets.readiness(epoll).is_ok() { Errno::INVAL } else { Errno::BADF }),
        };
        let interest = Interest { events, data, fresh: true, spent: false };
        match operation {
            libc::EPOLL_CTL_ADD if set.contains_key(&fd) => return Err(Errno::EXIST),
            libc::EPOLL_CTL_MOD | libc::EPOLL_CTL_DEL if !set.contains_key(&fd) => return Err(Errno::NOENT),
            libc::EPOLL_CTL_ADD | libc::EPOLL_CTL_MOD => set.insert(fd, interest),
            libc::EPOLL_CTL_DEL => set.remove(&fd),
            _ => return Err(Errno::INVAL),
        };
        Ok(())
    }

    /// Something happened with a socket.
    pub fn changed(&mut self, fd: Fd) {
        for extra in self.table.values_mut() {
            if let Extra::Epoll(set) = extra
                && let Some(interest) = set.get_mut(&fd)
            {
                interest.fresh = true;
            }
        }
    }

    /// A socket is closed: no set knows it any more.
    pub fn forget(&mut self, fd: Fd) {
        for extra in self.table.values_mut() {
            if let Extra::Epoll(set) = extra {
                set.remove(&fd);
            }
        }
    }

    fn report(&self, sockets: &Sockets, fd: Fd, interest: &Interest) -> Option<u32> {
        let mask = self.readiness(sockets, fd).ok()? as u16 as u32;
        let always = (POLLERR | POLLHUP) as u32;
        let ready = mask & (interest.events | always);
        let edge = interest.events & EDGE_TRIGGERED == 0 || interest.fresh;
        (ready != 0 && edge && !interest.spent).then_some(ready)
    }

    /// `epoll_wait(2)` without waiting: events and data of up to `most` descriptors.
    pub fn epoll_ready(
        &mut self,
        sockets: &Sockets,
        epoll: Fd,
        most: usize,
    ) -> Result<Vec<(u32, u64)>, Errno> {
        let set = match self.table.get(&epoll) {
            Some(Extra::Epoll(set)) if most > 0 => set,
            Some(_) => return Err(Errno::INVAL),
            None => return Err(if sockets.readiness(epoll).is_ok() { Errno::INVAL } else { Errno::BADF }),
        };
        let ready = |(fd, interest): (&Fd, &Interest)| {
            Some((*fd, self.report(sockets, *fd, interest)?, interest.data))
        };
        let found: Vec<_> = set.iter().filter_map(ready).take(most).collect();
        let Some(Extra::Epoll(set)) = self.table.get_mut(&epoll) else { return Err(Errno::BADF) };
        for (fd, ..) in &found {
            let interest = set.get_mut(fd).expect("it was found there");
            interest.fresh = false;
            interest.spent = interest.events & ONE_SHOT != 0;
        }
        Ok(found.into_iter().map(|(_, events, data)| (events, data)).collect())
    }
}
