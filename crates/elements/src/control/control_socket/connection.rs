//! One control connection: its buffers and its socket.

use super::protocol::{Command, GREETING, Input, Reply};
use clickwork_router::Ready;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// How much is read at a time.
const CHUNK: usize = 16 << 10;
/// While so much waits for a slow reader, no more of its commands are carried out.
const MAX_UNSENT: usize = 1 << 20;

/// A connection.
#[derive(Debug)]
pub struct Connection {
    socket: OwnedFd,
    input: Input,
    output: Vec<u8>,
    /// How much of the output has been sent.
    sent: usize,
    /// The peer does not read any more.
    broken: bool,
    /// A command is being carried out.
    busy: bool,
}

impl Connection {
    /// A new connection; the greeting waits to be sent.
    pub fn new(socket: OwnedFd) -> Connection {
        let (input, output) = (Input::default(), GREETING.to_vec());
        Connection { socket, input, output, sent: 0, broken: false, busy: false }
    }

    /// Its socket.
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    fn is_blocked(&self) -> bool {
        self.output.len() - self.sent > MAX_UNSENT
    }

    /// Receives what there is, but not too much at once.
    pub fn receive(&mut self) {
        if self.input.is_closed() || self.is_blocked() {
            return;
        }
        let mut bytes = [0; CHUNK];
        match recv(&self.socket, &mut bytes[..], RecvFlags::DONTWAIT) {
            Ok((n, _)) if n > 0 => self.input.extend(&bytes[..n]),
            Err(Errno::AGAIN | Errno::INTR) => {}
            Ok(_) | Err(_) => self.input.close(),
        }
    }

    /// The next command, unless one is being carried out, or the client should first read the replies to others.
    pub fn next_command(&mut self) -> Option<Command> {
        if self.busy || self.is_blocked() {
            return None;
        }
        let command = self.input.next()?;
        self.busy = true;
        Some(command)
    }

    /// Answers the command. Some commands are the last.
    pub fn answer(&mut self, command: &Command, reply: &Reply) {
        self.busy = false;
        self.output.extend_from_slice(&reply.0);
        if matches!(command, Command::Quit(_)) {
            self.input.close();
            self.input.clear();
        }
    }

    /// Sends what waits to be sent, as far as the peer takes it.
    pub fn flush(&mut self) {
        while !self.broken && self.sent < self.output.len() {
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            match send(&self.socket, &self.output[self.sent..], flags) {
                Ok(n) => self.sent += n,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break,
                Err(_) => self.broken = true,
            }
        }
        if self.sent == self.output.len() {
            (self.output, self.sent) = (Vec::new(), 0);
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
