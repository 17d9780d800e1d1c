//! SO_ZEROCOPY: writes with MSG_ZEROCOPY are counted, and the user is told on the error queue that their memory is free again. Ours
//! copies, as Linux does where the device cannot gather, and says so: so the memory is free when the call returns.

use super::linux::*;
use super::{Errno, Fd, Sockets};

/// Writes of a socket that ended without the user having been told, by their numbers, the last included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completed {
    /// The first.
    pub first: u32,
    /// The last.
    pub last: u32,
    /// Whose error queue has the form of IPv6.
    pub is_v6: bool,
}

impl Completed {
    /// The control message: its level, its type, and `struct sock_extended_err` with an address that is none behind it.
    pub fn message(&self) -> (i32, i32, Vec<u8>) {
        let (level, kind, address) = match self.is_v6 {
            true => (IPPROTO_IPV6, IPV6_RECVERR, 28),
            false => (IPPROTO_IP, IP_RECVERR, 16),
        };
        let mut bytes = vec![0; 4];
        bytes.extend([SO_EE_ORIGIN_ZEROCOPY, 0, SO_EE_CODE_ZEROCOPY_COPIED, 0]);
        bytes.extend(self.first.to_ne_bytes());
        bytes.extend(self.last.to_ne_bytes());
        bytes.resize(bytes.len() + address, 0);
        (level, kind, bytes)
    }
}

/// The numbers of such writes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ZeroCopy {
    next: u32,
    /// The first of which the user was not told.
    told: u32,
}

impl ZeroCopy {
    pub fn has_completed(&self) -> bool {
        self.next != self.told
    }
}

impl Sockets {
    /// A write has ended. It counts if it said MSG_ZEROCOPY, and the socket wants that.
    pub(super) fn count_zero_copy(&mut self, fd: Fd, flags: i32) -> Result<(), Errno> {
        let socket = self.at_mut(fd)?;
        if flags & MSG_ZEROCOPY != 0 && socket.settings.stored.get(&(SOL_SOCKET, SO_ZEROCOPY)) == Some(&1) {
            socket.zero_copy.next = socket.zero_copy.next.wrapping_add(1);
        }
        Ok(())
    }

    /// What MSG_ERRQUEUE reads: all writes that have ended at once, as Linux joins them; EAGAIN if there are none.
    pub(super) fn take_completed(&mut self, fd: Fd) -> Result<Completed, Errno> {
        let is_v6 = self.at(fd)?.domain == super::socket::Domain::V6;
        let numbers = &mut self.at_mut(fd)?.zero_copy;
        if !numbers.has_completed() {
            return Err(Errno::AGAIN);
        }
        let first = std::mem::replace(&mut numbers.told, numbers.next);
        Ok(Completed { first, last: numbers.next.wrapping_sub(1), is_v6 })
    }
}
