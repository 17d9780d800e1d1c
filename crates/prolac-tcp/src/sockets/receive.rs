//! Reading: `read`, `readv`, `recv`, `recvfrom`, `recvmsg`, which are all one call here, as `tcp_recvmsg` is in Linux.

use std::io::IoSliceMut;

use crate::abi::state;
use crate::stack::ConnectionId;

use super::linux::*;
use super::socket::{BOTH, RECEIVE};
use super::zero_copy::Completed;
use super::{Errno, Fd, Progress, Refusal, Sockets, Waiting};

/// What a read has brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Bytes; 0 at the end of the stream.
    pub length: usize,
    /// `msg_flags`: [`MSG_OOB`] and [`MSG_TRUNC`].
    pub flags: i32,
    /// Bytes that are left to read, if the socket has TCP_INQ set.
    pub inquire: Option<u32>,
    /// From the error queue, if that was read.
    pub completed: Option<Completed>,
}

impl Sockets {
    /// `recv(2)`; with no flags, `read(2)`.
    pub fn receive(
        &mut self,
        now: u64,
        fd: Fd,
        buffer: &mut [u8],
        flags: i32,
        progress: &mut Progress,
    ) -> Result<usize, Refusal> {
        let mut parts = [IoSliceMut::new(buffer)];
        Ok(self.receive_message(now, fd, &mut parts, flags, progress)?.length)
    }

    /// `recvmsg(2)`, and so `readv(2)` and `recvfrom(2)`: TCP tells no address.
    pub fn receive_message(
        &mut self,
        now: u64,
        fd: Fd,
        buffers: &mut [IoSliceMut<'_>],
        flags: i32,
        progress: &mut Progress,
    ) -> Result<Received, Refusal> {
        let socket = self.at(fd)?;
        if flags & MSG_ERRQUEUE != 0 {
            let completed = Some(self.take_completed(fd)?);
            return Ok(Received { flags: MSG_ERRQUEUE, completed, ..Received::default() });
        }
        if socket.state(&self.stack) == state::LISTEN {
            return Err(Errno::NOTCONN.into());
        }
        if flags & MSG_OOB != 0 {
            return Ok(self.receive_urgent(now, fd, buffers, flags)?);
        }
        let length = self.receive_text(now, fd, buffers, flags, progress)?;
        let inquire = self.at(fd)?.settings.inquire.then(|| self.inquiry(fd)).transpose()?;
        Ok(Received { length, inquire, ..Received::default() })
    }

    /// `tcp_inq_hint`: the end counts too, so that the user goes on to read it.
    fn inquiry(&self, fd: Fd) -> Result<u32, Errno> {
        let Some(id) = self.at(fd)?.connection() else { return Ok(0) };
        Ok(self.stack.readable(id).unwrap_or(0) as u32 + u32::from(self.stack.peer_closed(id)))
    }

    fn receive_text(
        &mut self,
        now: u64,
        fd: Fd,
        buffers: &mut [IoSliceMut<'_>],
        flags: i32,
        progress: &mut Progress,
    ) -> Result<usize, Refusal> {
        let settings = &self.at(fd)?.settings;
        let wished: usize = buffers.iter().map(|part| part.len()).sum();
        let low_water = (settings.receive_low_water as usize).max(1);
        let target = if flags & MSG_WAITALL != 0 { wished } else { low_water.min(wished) }.max(1);
        let patient = !self.at(fd)?.non_blocking && flags & MSG_DONTWAIT == 0;
        let timeout = settings.receive_timeout;
        let waiting = Waiting { fd, events: POLLIN, timeout, patient };
        let peeks = flags & MSG_PEEK != 0;
        if let Some(id) = self.at(fd)?.connection() {
            let most = self.bytes_to_mark(id).unwrap_or(usize::MAX);
            self.move_text(now, id, buffers, flags, most, progress)?;
        }
        let done = progress.done;
        if wished == 0 && self.unread(fd)? > 0 {
            return Ok(0);
        }
        if done >= target || self.at_urgent_mark(fd) && done > 0 {
            return Ok(done);
        }
        let end = self.end_of_stream(fd, done > 0);
        let result = match end {
            Some(Ok(())) => Ok(done),
            Some(Err(error)) => Err(error.into()),
            None => match progress.wait(waiting, now, Errno::AGAIN) {
                Refusal::Error(_) if done > 0 => Ok(done),
                refusal => Err(refusal),
            },
        };
        if peeks {
            // The next look begins at the first byte again.
            progress.done = 0;
        }
        result
    }

    /// Moves what there is behind what was moved before; or looks at it, or throws it away.
    fn move_text(
        &mut self,
        now: u64,
        id: ConnectionId,
        buffers: &mut [IoSliceMut<'_>],
        flags: i32,
        mut most: usize,
        progress: &mut Progress,
    ) -> Result<(), Errno> {
        if flags & MSG_PEEK != 0 {
            progress.done = 0;
        }
        let mut skip = progress.done;
        if flags & MSG_PEEK != 0 && buffers.len() > 1 {
            progress.done = self.peek_scattered(id, buffers, most)?;
            return Ok(());
        }
        for part in buffers.iter_mut() {
            let begin = skip.min(part.len());
            skip -= begin;
            let end = part.len().min(begin.saturating_add(most));
            let space = &mut part[begin..end];
            if space.is_empty() {
                continue;
            }
            // A read that finds nothing would take the error.
            if self.stack.readable(id) == Ok(0) {
                break;
            }
            let wished = space.len();
            let moved = match flags & MSG_PEEK != 0 {
                true => self.stack.peek(id, space),
                false => self.stack.read(now, id, space),
            };
            // Whatever the reason is that there is none: it is asked for when nothing is left to read.
            let moved = moved.unwrap_or(0);
            progress.done += moved;
            most -= moved;
            if moved < wished {
                break;
            }
        }
        Ok(())
    }

    fn peek_scattered(
        &mut self,
        id: ConnectionId,
        buffers: &mut [IoSliceMut<'_>],
        most: usize,
    ) -> Result<usize, Errno> {
        let wished: usize = buffers.iter().map(|part| part.len()).sum();
        let mut text = vec![0; wished.min(most).min(self.stack.readable(id).unwrap_or(0))];
        let seen = self.stack.peek(id, &mut text).unwrap_or(0);
        let mut rest = &text[..seen];
        for part in buffers.iter_mut() {
            let (now, later) = rest.split_at(rest.len().min(part.len()));
            part[..now.len()].copy_from_slice(now);
            rest = later;
        }
        Ok(seen)
    }

    /// Whether the stream has ended for the reader, in the order in which `tcp_recvmsg` asks. With `some` data moved,
    /// errors wait for the next call.
    fn end_of_stream(&mut self, fd: Fd, some: bool) -> Option<Result<(), Errno>> {
        let socket = self.table.get(&fd)?;
        let shut = socket.shutdown_mask(&self.stack);
        let state = socket.state(&self.stack);
        let pending = socket.connection().and_then(|id| self.stack.pending_error(id));
        // A reset after the peer's FIN is EPIPE, for writers.
        let done = socket.done
            || socket.connection().is_some_and(|id| self.stack.peer_closed(id))
            || pending.map(Errno::from) == Some(Errno::PIPE);
        if some {
            let ended = shut & RECEIVE != 0 || state == state::CLOSED || self.has_error(fd);
            return ended.then_some(Ok(()));
        }
        if done {
            return Some(Ok(()));
        }
        if let Some(error) = self.take_error(fd) {
            return Some(Err(error));
        }
        if shut & RECEIVE != 0 {
            return Some(Ok(()));
        }
        (state == state::CLOSED).then_some(Err(Errno::NOTCONN))
    }

    /// A read ends in front of the urgent byte, if it does not begin with it.
    fn bytes_to_mark(&self, id: ConnectionId) -> Option<usize> {
        self.stack.urgent_mark(id).filter(|mark| *mark > 0)
    }

    fn at_urgent_mark(&self, fd: Fd) -> bool {
        let Some(id) = self.table.get(&fd).and_then(|s| s.connection()) else { return false };
        self.stack.urgent_mark(id) == Some(0)
    }

    /// `tcp_recv_urg`. It never waits.
    fn receive_urgent(
        &mut self,
        now: u64,
        fd: Fd,
        buffers: &mut [IoSliceMut<'_>],
        flags: i32,
    ) -> Result<Received, Errno> {
        let socket = self.at(fd)?;
        let closed = socket.state(&self.stack) == state::CLOSED;
        let shut = socket.shutdown_mask(&self.stack) & RECEIVE != 0;
        if socket.settings.out_of_band_inline {
            return Err(Errno::INVAL);
        }
        let Some(id) = socket.connection() else { return Err(Errno::INVAL) };
        let read = match flags & MSG_PEEK != 0 {
            true => self.stack.peek_urgent(id),
            false => self.stack.read_urgent(now, id),
        };
        match read.map_err(Errno::from) {
            Ok(byte) => match buffers.iter_mut().find(|part| !part.is_empty()) {
                Some(part) => {
                    part[0] = byte;
                    Ok(Received { length: 1, flags: MSG_OOB, ..Received::default() })
                }
                None => Ok(Received { flags: MSG_OOB | MSG_TRUNC, ..Received::default() }),
            },
            Err(Errno::AGAIN) if closed || shut => Ok(Received::default()),
            Err(error) => Err(error),
        }
    }

    /// The user has shut down or lost both ways.
    pub(super) fn is_hung_up(&self, fd: Fd) -> bool {
        self.table
            .get(&fd)
            .is_some_and(|s| s.shutdown_mask(&self.stack) == BOTH || s.state(&self.stack) == state::CLOSED)
    }
}
