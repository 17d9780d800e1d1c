//! `fcntl(2)` and `ioctl(2)`.

use crate::abi::state;

use super::linux::*;
use super::{Errno, Fd, Sockets};

impl Sockets {
    /// `fcntl(2)` with the commands that a socket has.
    pub fn fcntl(&mut self, fd: Fd, command: i32, argument: i32) -> Result<i32, Errno> {
        let socket = self.at_mut(fd)?;
        match command {
            F_GETFL => Ok(O_RDWR | if socket.non_blocking { O_NONBLOCK } else { 0 }),
            F_SETFL => {
                socket.non_blocking = argument & O_NONBLOCK != 0;
                Ok(0)
            }
            F_GETFD => Ok(if socket.close_on_exec { FD_CLOEXEC } else { 0 }),
            F_SETFD => {
                socket.close_on_exec = argument & FD_CLOEXEC != 0;
                Ok(0)
            }
            _ => Err(Errno::INVAL),
        }
    }

    /// `ioctl(2)` with the requests that a TCP socket has. All take a pointer to an `int`; what FIONBIO reads there is
    /// given as `argument`, and what the others write there is the result.
    pub fn ioctl(&mut self, now: u64, fd: Fd, request: u64, argument: i32) -> Result<i32, Errno> {
        match request {
            FIONBIO => {
                self.at_mut(fd)?.non_blocking = argument != 0;
                Ok(argument)
            }
            SIOCINQ => self.not_listening(fd).and_then(|()| self.unread(fd)).map(as_int),
            SIOCOUTQ => {
                self.not_listening(fd)?;
                Ok(as_int(self.unacknowledged(fd)?))
            }
            SIOCOUTQNSD => {
                self.not_listening(fd)?;
                Ok(as_int(self.unsent(now, fd)?))
            }
            SIOCATMARK => {
                let id = self.at(fd)?.connection();
                Ok(id.is_some_and(|id| self.stack.urgent_mark(id) == Some(0)).into())
            }
            _ => self.at(fd).and(Err(Errno::NOTTY)),
        }
    }

    fn not_listening(&self, fd: Fd) -> Result<(), Errno> {
        match self.at(fd)?.state(&self.stack) {
            state::LISTEN => Err(Errno::INVAL),
            _ => Ok(()),
        }
    }

    /// `tcp_inq`: bytes that can be read before the urgent byte.
    pub(super) fn unread(&self, fd: Fd) -> Result<u32, Errno> {
        let socket = self.at(fd)?;
        let Some(id) = socket.connection() else { return Ok(0) };
        let readable = self.stack.readable(id).unwrap_or(0) as u32;
        match self.stack.urgent_mark(id) {
            Some(mark) if mark > 0 && !socket.settings.out_of_band_inline => Ok(readable.min(mark as u32)),
            _ => Ok(readable),
        }
    }

    fn unacknowledged(&self, fd: Fd) -> Result<u32, Errno> {
        let socket = self.at(fd)?;
        let text = socket.connection().and_then(|id| self.stack.queued(id).ok()).unwrap_or(0);
        // The FIN has a sequence number too.
        let fin = matches!(socket.state(&self.stack), state::FIN_WAIT_1 | state::CLOSING | state::LAST_ACK);
        Ok(text as u32 + u32::from(fin))
    }

    pub(super) fn unsent(&self, now: u64, fd: Fd) -> Result<u32, Errno> {
        let id = self.at(fd)?.connection();
        Ok(id.and_then(|id| self.stack.status(now, id).ok()).map_or(0, |status| status.unsent))
    }
}

fn as_int(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}
