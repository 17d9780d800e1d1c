//! Writing: `write`, `writev`, `send`, `sendto`, `sendmsg`, which are all one call here, as `tcp_sendmsg` is in Linux.

use std::io::IoSlice;

use crate::abi::{option, state};
use crate::stack::{ConnectionId, Writing};

use super::linux::*;
use super::socket::{SEND, Stage};
use super::{Errno, Fd, Progress, Refusal, Sockets, Waiting, address};

impl Sockets {
    /// `send(2)`; with no flags, `write(2)`.
    pub fn send(
        &mut self,
        now: u64,
        fd: Fd,
        data: &[u8],
        flags: i32,
        progress: &mut Progress,
    ) -> Result<usize, Refusal> {
        self.send_to(now, fd, &[IoSlice::new(data)], flags, None, progress)
    }

    /// `sendmsg(2)`, and so `writev(2)` and `sendto(2)`. The address matters with `MSG_FASTOPEN` only.
    ///
    /// A blocking socket takes all of the data or waits; a non-blocking one what there is room for. Where Linux would
    /// raise SIGPIPE there is only [`Errno::PIPE`]: [`Sockets::raises_signal`] says which it is.
    pub fn send_to(
        &mut self,
        now: u64,
        fd: Fd,
        data: &[IoSlice<'_>],
        flags: i32,
        raw: Option<&[u8]>,
        progress: &mut Progress,
    ) -> Result<usize, Refusal> {
        let wished = self.try_send(now, fd, data, flags, raw, progress);
        let result = match wished {
            // What was taken before an error counts; the error comes with the next call.
            Err(Refusal::Error(_)) if progress.done > 0 => Ok(progress.done),
            other => other,
        };
        if result.as_ref().is_ok_and(|&count| count > 0) {
            self.count_zero_copy(fd, flags)?;
        }
        result
    }

    fn try_send(
        &mut self,
        now: u64,
        fd: Fd,
        data: &[IoSlice<'_>],
        flags: i32,
        raw: Option<&[u8]>,
        progress: &mut Progress,
    ) -> Result<usize, Refusal> {
        let socket = self.at(fd)?;
        let patient = !socket.non_blocking && flags & MSG_DONTWAIT == 0;
        let waiting = Waiting { fd, events: POLLOUT, timeout: socket.settings.send_timeout, patient };
        if flags & MSG_FASTOPEN != 0 && !progress.begun {
            self.fast_open(now, fd, raw, progress)?;
        }
        let total: usize = data.iter().map(|part| part.len()).sum();
        if self.at(fd)?.awaits_text {
            self.send_in_syn(now, fd, data, total, progress)?;
            // The rest waits for the handshake, if the caller does.
            if total > 0 && (progress.done == total || !patient) {
                return Ok(progress.done);
            }
        }
        let id = self.sendable(now, fd, waiting, flags, progress)?;
        self.queue(now, fd, id, data, flags, waiting, progress)
    }

    /// `tcp_sendmsg_fastopen`: connects with the data in the SYN.
    fn fast_open(
        &mut self,
        now: u64,
        fd: Fd,
        raw: Option<&[u8]>,
        progress: &mut Progress,
    ) -> Result<(), Refusal> {
        let to_nowhere = raw.is_some_and(|raw| address::family(raw) == Some(AF_UNSPEC));
        if self.stack.config().fast_open & 1 == 0 || to_nowhere {
            return Err(Errno::OPNOTSUPP.into());
        }
        match self.at(fd)?.stage {
            Stage::Idle => {}
            Stage::Listening(_) => return Err(Errno::ISCONN.into()),
            // It is an ordinary write then.
            Stage::Connecting(_) | Stage::Connected(_) => return Ok(()),
        }
        let remote = self.destination(fd, raw.ok_or(Errno::INVAL)?)?;
        progress.begun = true;
        self.send_syn(now, fd, remote, true)?;
        Ok(())
    }

    /// The SYN has waited for this: it takes what fits.
    fn send_in_syn(
        &mut self,
        now: u64,
        fd: Fd,
        data: &[IoSlice<'_>],
        total: usize,
        progress: &mut Progress,
    ) -> Result<(), Errno> {
        let id = self.at(fd)?.connection().ok_or(Errno::PIPE)?;
        if total == 0 {
            self.stack.set_option(now, id, option::FAST_OPEN, 0)?;
        } else {
            let most = self.stack.text_in_syn(id)?;
            progress.done = self.stack.write_vectored(now, id, &limited(data, most))?;
        }
        self.at_mut(fd)?.awaits_text = total > 0 && progress.done == 0;
        Ok(())
    }

    /// The connection, when it can take data; `sk_stream_wait_connect` and what follows it.
    fn sendable(
        &mut self,
        now: u64,
        fd: Fd,
        waiting: Waiting,
        flags: i32,
        progress: &mut Progress,
    ) -> Result<ConnectionId, Refusal> {
        let socket = self.at(fd)?;
        let shut = socket.shutdown_mask(&self.stack) & SEND != 0;
        match (socket.state(&self.stack), socket.connection()) {
            (state::SYN_SENT | state::SYN_RECEIVED, Some(_)) if !shut => {
                let told = if flags & MSG_FASTOPEN != 0 { Errno::INPROGRESS } else { Errno::AGAIN };
                Err(progress.wait(waiting, now, told))
            }
            (state::ESTABLISHED | state::CLOSE_WAIT, Some(id)) if !shut && !self.has_error(fd) => Ok(id),
            _ => Err(self.take_error(fd).unwrap_or(Errno::PIPE).into()),
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn queue(
        &mut self,
        now: u64,
        fd: Fd,
        id: ConnectionId,
        data: &[IoSlice<'_>],
        flags: i32,
        waiting: Waiting,
        progress: &mut Progress,
    ) -> Result<usize, Refusal> {
        let total: usize = data.iter().map(|part| part.len()).sum();
        match self.fill(now, fd, id, data, flags, total, progress) {
            Ok(()) => Ok(total),
            Err(Errno::AGAIN) => Err(progress.wait(waiting, now, Errno::AGAIN)),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes what is left of the data, as far as there is room.
    #[allow(clippy::too_many_arguments)]
    fn fill(
        &mut self,
        now: u64,
        fd: Fd,
        id: ConnectionId,
        data: &[IoSlice<'_>],
        flags: i32,
        total: usize,
        progress: &mut Progress,
    ) -> Result<(), Errno> {
        let writing = Writing {
            urgent: flags & MSG_OOB != 0,
            more: flags & MSG_MORE != 0,
            record_end: flags & MSG_EOR != 0,
        };
        // TCP_NOTSENT_LOWAT is looked at for each segment.
        let most = if self.at(fd)?.settings.not_sent_low_water == 0 {
            usize::MAX
        } else {
            self.stack.segment_size(id)?
        };
        while progress.done < total {
            if !self.has_sent_enough(fd, 1) {
                return Err(Errno::AGAIN);
            }
            let rest = Rest::of(data, progress.done).parts();
            let parts = limited(&rest, most);
            let is_last = total - progress.done <= most;
            let writing = if is_last { writing } else { Writing { more: true, ..Writing::default() } };
            match self.stack.write_with(now, id, &parts, writing) {
                Ok(0) => return Err(Errno::AGAIN),
                Ok(count) => progress.done += count,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Whether a write that failed with [`Errno::PIPE`] raises SIGPIPE in Linux: unless its flags forbid it.
    pub fn raises_signal(flags: i32) -> bool {
        flags & MSG_NOSIGNAL == 0
    }
}

/// The first `most` bytes of data.
fn limited<'a>(data: &'a [IoSlice<'a>], mut most: usize) -> Vec<IoSlice<'a>> {
    let mut parts = Vec::with_capacity(data.len());
    for part in data {
        let length = part.len().min(most);
        parts.push(IoSlice::new(&part[..length]));
        most -= length;
    }
    parts
}

/// Data from some byte on.
struct Rest<'a> {
    first: &'a [u8],
    others: &'a [IoSlice<'a>],
}

impl<'a> Rest<'a> {
    fn of(data: &'a [IoSlice<'a>], mut skip: usize) -> Rest<'a> {
        for (at, part) in data.iter().enumerate() {
            if skip < part.len() {
                return Rest { first: &part[skip..], others: &data[at + 1..] };
            }
            skip -= part.len();
        }
        Rest { first: &[], others: &[] }
    }

    fn parts(&self) -> Vec<IoSlice<'a>> {
        let mut parts = Vec::with_capacity(1 + self.others.len());
        parts.push(IoSlice::new(self.first));
        parts.extend(self.others.iter().copied());
        parts
    }
}
