//! A client of a ChatterSocket: gets the messages, and says nothing.

use super::backlog::Text;
use clickwork_router::Ready;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// A client.
#[derive(Debug)]
pub struct Client {
    socket: OwnedFd,
    /// What is left of the greeting.
    greeting: &'static [u8],
    /// Position in the backlog of what it is to be sent next.
    position: u64,
    /// How many came before it.
    pub number: u64,
    /// It has gone, or fell too far behind.
    pub is_lost: bool,
}

impl Client {
    /// A client that gets the greeting and what comes after this position.
    pub fn new(socket: OwnedFd, greeting: &'static [u8], position: u64, number: u64) -> Client {
        Client { socket, greeting, position, number, is_lost: false }
    }

    /// Its socket.
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Where in the backlog it is.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Sends what it takes.
    pub fn flush(&mut self, text: &Text) {
        while !self.is_lost {
            let next = if self.greeting.is_empty() { text.from(self.position) } else { Some(self.greeting) };
            let Some(next) = next else {
                self.is_lost = true;
                return;
            };
            if next.is_empty() {
                return;
            }
            match send(&self.socket, next, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Ok(n) if !self.greeting.is_empty() => self.greeting = &self.greeting[n..],
                Ok(n) => self.position += n as u64,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Err(_) => self.is_lost = true,
            }
        }
    }

    /// Reads what it says, to no effect but to notice its end.
    pub fn listen(&mut self) {
        match recv(&self.socket, &mut [0; 4096][..], RecvFlags::DONTWAIT) {
            Ok((n, _)) if n > 0 => {}
            Err(Errno::AGAIN | Errno::INTR) => {}
            Ok(_) | Err(_) => self.is_lost = true,
        }
    }

    /// What to wait for.
    pub fn interest(&self, end: u64) -> Ready {
        Ready { read: true, write: !self.greeting.is_empty() || self.position < end }
    }
}
