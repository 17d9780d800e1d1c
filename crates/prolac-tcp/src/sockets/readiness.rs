//! Readiness: `poll(2)`, with the bits that Linux's `tcp_poll` sets.

use crate::abi::state;

use super::linux::*;
use super::socket::{RECEIVE, SEND, Stage};
use super::{Errno, Fd, Progress, Refusal, Sockets, Waiting};

/// `struct pollfd`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct PollFd {
    /// The socket; negative ones are passed over.
    pub fd: Fd,
    /// What is waited for.
    pub events: i16,
    /// What there is.
    pub revents: i16,
}

impl Sockets {
    /// What a socket is ready for, whoever asks: `tcp_poll`.
    pub fn readiness(&self, fd: Fd) -> Result<i16, Errno> {
        let socket = self.at(fd)?;
        if let Stage::Listening(listener) = socket.stage {
            let waits = self.stack.acceptable(listener).is_ok_and(|count| count > 0);
            return Ok(if waits { POLLIN | POLLRDNORM } else { 0 });
        }
        let mut mask = 0;
        if self.is_hung_up(fd) {
            mask |= POLLHUP;
        }
        let shut = socket.shutdown_mask(&self.stack);
        if shut & RECEIVE != 0 {
            mask |= POLLIN | POLLRDNORM | POLLRDHUP;
        }
        if !matches!(socket.state(&self.stack), state::SYN_SENT | state::SYN_RECEIVED) {
            mask |= self.stream_readiness(fd, shut);
        } else if socket.awaits_text {
            mask |= POLLOUT | POLLWRNORM;
        }
        if self.has_error(fd) || socket.zero_copy.has_completed() {
            mask |= POLLERR;
        }
        Ok(mask)
    }

    fn stream_readiness(&self, fd: Fd, shut: u8) -> i16 {
        let Ok(socket) = self.at(fd) else { return POLLNVAL };
        let mut mask = 0;
        let Some(id) = socket.connection() else { return POLLOUT | POLLWRNORM };
        let urgent = self.stack.urgent_mark(id);
        let inline = socket.settings.out_of_band_inline;
        // The urgent byte itself is not there for readers.
        let held = u32::from(urgent == Some(0) && !inline);
        let target = socket.settings.receive_low_water.max(1) + held;
        if self.stack.readable(id).unwrap_or(0) as u64 >= u64::from(target) {
            mask |= POLLIN | POLLRDNORM;
        }
        if shut & SEND != 0 || (self.stack.is_writable(id) && self.has_sent_enough(fd, 2)) {
            mask |= POLLOUT | POLLWRNORM;
        }
        if self.stack.has_urgent_byte(id) {
            mask |= POLLPRI;
        }
        mask
    }

    /// TCP_NOTSENT_LOWAT: whether so little waits to be sent that there may be more; `share` 2 for half of it.
    pub(super) fn has_sent_enough(&self, fd: Fd, share: u64) -> bool {
        let Ok(socket) = self.at(fd) else { return true };
        let limit = u64::from(socket.settings.not_sent_low_water);
        // Linux's default, u32::MAX, is none.
        limit == 0 || self.unsent(0, fd).is_ok_and(|unsent| u64::from(unsent) * share < limit)
    }

    /// Whether a call would be told an error now. A soft error, one that the connection survives, is for SO_ERROR alone.
    pub(super) fn has_error(&self, fd: Fd) -> bool {
        let Some(socket) = self.table.get(&fd) else { return false };
        let ended = socket.connection().filter(|_| socket.state(&self.stack) == state::CLOSED);
        socket.error.is_some() || ended.is_some_and(|id| self.stack.pending_error(id).is_some())
    }

    /// `poll(2)`: how many of the sockets are ready. `timeout` in milliseconds: 0 asks only, a negative one waits for ever.
    pub fn poll(
        &self,
        now: u64,
        sockets: &mut [PollFd],
        timeout: i32,
        progress: &mut Progress,
    ) -> Result<usize, Refusal> {
        for entry in sockets.iter_mut() {
            entry.revents = self.entry_readiness(entry);
        }
        let ready = sockets.iter().filter(|entry| entry.revents != 0).count();
        if ready > 0 || timeout == 0 {
            return Ok(ready);
        }
        let microseconds = u64::try_from(timeout).unwrap_or(0) * 1000;
        let fd = if let [one] = &*sockets { one.fd } else { -1 };
        let events = sockets.iter().fold(POLLERR | POLLHUP, |all, entry| all | entry.events);
        let waiting = Waiting { fd, events, timeout: microseconds, patient: true };
        match progress.wait(waiting, now, Errno::AGAIN) {
            Refusal::Error(_) => Ok(0),
            refusal => Err(refusal),
        }
    }

    fn entry_readiness(&self, entry: &PollFd) -> i16 {
        if entry.fd < 0 {
            return 0;
        }
        let Ok(mask) = self.readiness(entry.fd) else { return POLLNVAL };
        mask & (entry.events | POLLERR | POLLHUP)
    }
}
