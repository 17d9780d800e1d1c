//! The end: `shutdown(2)` and `close(2)`, with SO_LINGER.

use crate::abi::state;

use super::linux::*;
use super::socket::{BOTH, RECEIVE, SEND, Stage};
use super::{Errno, Fd, Progress, Refusal, Sockets, Wait};

impl Sockets {
    /// `shutdown(2)`: `inet_shutdown`.
    pub fn shutdown(&mut self, now: u64, fd: Fd, how: i32) -> Result<(), Errno> {
        let socket = self.at(fd)?;
        let how = match how {
            SHUT_RD => RECEIVE,
            SHUT_WR => SEND,
            SHUT_RDWR => BOTH,
            _ => return Err(Errno::INVAL),
        };
        match (socket.state(&self.stack), socket.stage) {
            (state::LISTEN, _) if how & RECEIVE == 0 => Ok(()),
            (state::LISTEN | state::SYN_SENT, _) => self.disconnect(now, fd),
            (state::CLOSED, _) => {
                self.at_mut(fd)?.shutdown |= how;
                Err(Errno::NOTCONN)
            }
            (_, Stage::Connecting(id) | Stage::Connected(id)) => {
                let socket = self.at_mut(fd)?;
                socket.stage = Stage::Connected(id);
                let first = how & SEND != 0 && socket.shutdown & SEND == 0;
                socket.shutdown |= how;
                if first {
                    self.stack.shutdown(now, id)?;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// `close(2)`. It waits only for a socket with SO_LINGER and a time; by then the descriptor is as good as closed, and
    /// the wait must be repeated to its end to free it.
    pub fn close(&mut self, now: u64, fd: Fd, progress: &mut Progress) -> Result<(), Refusal> {
        let socket = self.at(fd)?;
        let Some(id) = socket.connection() else {
            self.detach(now, fd)?;
            self.forget(fd);
            return Ok(());
        };
        match socket.settings.linger {
            Some(0) => self.stack.abort(now, id),
            Some(seconds) => {
                if let Some(wait) = self.linger(now, fd, seconds, progress)? {
                    return Err(Refusal::Wait(wait));
                }
                self.stack.close(now, id);
            }
            None => self.stack.close(now, id),
        }
        self.of_connection.remove(&id);
        if let Some(local) = self.at(fd)?.bound_to() {
            self.ports.orphan(local.port(), fd, id);
        }
        self.forget(fd);
        Ok(())
    }

    /// `sk_stream_wait_close`: until the peer has everything and our FIN.
    fn linger(
        &mut self,
        now: u64,
        fd: Fd,
        seconds: u32,
        progress: &mut Progress,
    ) -> Result<Option<Wait>, Errno> {
        let socket = self.at(fd)?;
        let Some(id) = socket.connection() else { return Ok(None) };
        let unread = self.stack.readable(id).unwrap_or(0) > 0;
        let deadline = progress.deadline(now, u64::from(seconds) * 1_000_000);
        if unread && !progress.begun {
            return Ok(None);
        }
        if !progress.begun {
            progress.begun = true;
            if socket.shutdown & SEND == 0 {
                // In other states there is nothing to send a FIN for.
                let _ = self.stack.shutdown(now, id);
            }
            self.at_mut(fd)?.shutdown = BOTH;
        }
        let leaving =
            matches!(self.at(fd)?.state(&self.stack), state::FIN_WAIT_1 | state::CLOSING | state::LAST_ACK);
        let late = deadline.is_some_and(|d| d <= now);
        Ok((leaving && !late).then_some(Wait { fd, events: POLLHUP, deadline }))
    }

    /// Takes a socket out of the table.
    fn forget(&mut self, fd: Fd) {
        self.release_port(fd);
        self.table.remove(&fd);
        if self.numbering.is_none() {
            self.free.insert(fd);
        }
    }

    /// Closes everything at once, without waiting: the program ends.
    pub fn close_all(&mut self, now: u64) {
        while let Some((&fd, _)) = self.table.first_key_value() {
            let mut late = Progress { done: 0, deadline: Some(Some(0)), begun: false };
            // A socket in the table can be closed, and the wait is over before it begins.
            if self.close(now, fd, &mut late).is_err() {
                self.forget(fd);
            }
        }
    }
}
