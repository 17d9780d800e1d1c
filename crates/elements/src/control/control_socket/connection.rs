//! One control connection: its buffers and its socket.

use super::input::Input;
use super::protocol::{Code, Command, GREETING, Reply};
use clickwork_packet::Timestamp;
use clickwork_router::pieces::Piece;
use clickwork_router::{ElementId, Ready};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// How much is read at a time.
const CHUNK: usize = 16 << 10;
/// How much is handed to the system at a time, which copies it while packets wait.
const MAX_SENT: usize = 128 << 10;
/// While so much waits for a slow reader, no more of its commands are carried out.
pub const MAX_UNSENT: usize = 1 << 20;

/// A connection.
#[derive(Debug)]
pub struct Connection {
    socket: OwnedFd,
    /// The socket element that it came to.
    owner: ElementId,
    input: Input,
    output: VecDeque<Piece>,
    /// How much of the first piece of the output has been sent.
    sent: usize,
    /// The peer does not read any more.
    broken: bool,
    /// A command is being carried out.
    busy: bool,
    /// Steady time at which it came, sent a whole command or took some of a reply.
    active: Timestamp,
    /// Steady time at which a command began to arrive that is not complete.
    began: Option<Timestamp>,
}

impl Connection {
    /// A new connection; the greeting waits to be sent.
    pub fn new(socket: OwnedFd, owner: ElementId, now: Timestamp) -> Connection {
        Connection {
            socket,
            owner,
            input: Input::default(),
            output: VecDeque::from([Piece::Own(GREETING.to_vec())]),
            sent: 0,
            broken: false,
            busy: false,
            active: now,
            began: None,
        }
    }

    /// Its socket.
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// The element that it belongs to.
    pub fn owner(&self) -> ElementId {
        self.owner
    }

    /// Gives it to another element.
    pub fn set_owner(&mut self, owner: ElementId) {
        self.owner = owner;
    }

    fn is_blocked(&self) -> bool {
        let waits: usize = self.output.iter().map(|piece| piece.bytes().len()).sum();
        waits - self.sent > MAX_UNSENT
    }

    /// The bytes of memory that it takes, or keeps from being freed.
    pub fn memory(&self) -> usize {
        self.input.memory() + self.output.iter().map(Piece::memory).sum::<usize>()
    }

    /// When it last was of use to anybody; none while a command of its own is being carried out.
    pub fn idle_since(&self) -> Option<Timestamp> {
        (!self.busy).then_some(self.active)
    }

    /// When the command that is arriving must be complete, if each may take `patience`.
    pub fn deadline(&self, patience: Duration) -> Option<Timestamp> {
        self.began.filter(|_| !self.is_blocked()).map(|began| began + patience)
    }

    /// The next command, received as far as need be, but not too much at once. None if it is not complete, if another is
    /// being carried out, or if the client should first read the replies to others.
    pub fn next_command(&mut self, now: Timestamp) -> Option<Command> {
        if self.busy || self.is_blocked() {
            return None;
        }
        let command = self.input.next().or_else(|| {
            self.receive();
            self.input.next()
        });
        self.busy = command.is_some();
        if self.busy {
            self.active = now;
        }
        self.began = if self.busy || self.input.is_empty() { None } else { self.began.or(Some(now)) };
        command
    }

    fn receive(&mut self) {
        if self.input.is_closed() {
            return;
        }
        let mut bytes = [0; CHUNK];
        match recv(&self.socket, &mut bytes[..], RecvFlags::DONTWAIT) {
            Ok((n, _)) if n > 0 => self.input.extend(&bytes[..n]),
            Err(Errno::AGAIN | Errno::INTR) => {}
            Ok(_) | Err(_) => self.input.close(),
        }
    }

    /// Answers the command. Some commands are the last.
    pub fn answer(&mut self, command: &Command, reply: Reply) {
        self.busy = false;
        self.output.extend(reply.0);
        if matches!(command, Command::Quit(_)) {
            self.input.close();
            self.input.clear();
        }
    }

    /// Tells the client that it must go, as far as it listens.
    pub fn dismiss(&mut self, why: &str) {
        self.answer(&Command::Quit(true), Reply::line(Code::Unspecified, why));
        self.flush(self.active);
    }

    /// Sends what waits to be sent, as far as the peer takes it, but not too much at once.
    pub fn flush(&mut self, now: Timestamp) {
        let mut left = MAX_SENT;
        while !self.broken && left > 0 {
            let Some(first) = self.output.front() else { break };
            let rest = &first.bytes()[self.sent..];
            if rest.is_empty() {
                self.output.pop_front();
                self.sent = 0;
                continue;
            }
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            match send(&self.socket, &rest[..rest.len().min(left)], flags) {
                Ok(n) => {
                    (self.sent, left) = (self.sent + n, left - n);
                    self.active = now;
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(_) => self.broken = true,
            }
        }
        if self.output.front().is_some_and(|last| self.sent == last.bytes().len()) {
            self.output.pop_front();
            self.sent = 0;
        }
    }

    /// Whether the connection has come to its end.
    pub fn is_over(&self) -> bool {
        let all_done = self.input.is_closed() && self.input.is_empty() && self.output.is_empty();
        (self.broken || all_done) && !self.busy
    }

    /// What to wait for. `more` says that commands are left, which want a turn even if nothing happens.
    pub fn interest(&self, more: bool) -> Ready {
        let read = !self.input.is_closed() && !self.is_blocked();
        Ready { read, write: !self.output.is_empty() || more }
    }

    /// Whether what was received may hold a further command.
    pub fn may_have_command(&self, last_was_command: bool) -> bool {
        !self.input.is_empty() && (last_was_command || self.input.is_closed())
    }
}
