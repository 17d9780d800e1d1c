//! What streams and listeners share: their number in the stack, how long their calls wait, and their end.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use clickwork_prolac_tcp::{ConnectionId, Error, TcpStack};

use crate::shared::{Direction, Key, Patience, SharedHost};

/// A stream's or listener's side of the host. All clones of a stream have the same, and the last closes it.
pub(crate) struct Connection {
    pub(crate) host: SharedHost,
    pub(crate) key: Key,
    nonblocking: AtomicBool,
    /// The user wants no more text: reads are at the end where they would wait.
    reading_ended: AtomicBool,
    /// In nanoseconds; 0 for ever.
    limits: [AtomicU64; 2],
}

impl Connection {
    pub(crate) fn new(host: SharedHost, key: Key) -> Connection {
        Connection {
            host,
            key,
            nonblocking: AtomicBool::new(false),
            reading_ended: AtomicBool::new(false),
            limits: Default::default(),
        }
    }

    pub(crate) fn set_nonblocking(&self, nonblocking: bool) {
        self.nonblocking.store(nonblocking, Relaxed);
    }

    /// As std: a limit of zero is an error.
    pub(crate) fn set_limit(&self, direction: Direction, limit: Option<Duration>) -> io::Result<()> {
        if limit == Some(Duration::ZERO) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let nanoseconds = limit.map_or(0, |limit| u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX));
        self.limits[direction as usize].store(nanoseconds, Relaxed);
        Ok(())
    }

    pub(crate) fn limit(&self, direction: Direction) -> Option<Duration> {
        let limit = self.limits[direction as usize].load(Relaxed);
        (limit > 0).then(|| Duration::from_nanos(limit))
    }

    fn patience(&self, direction: Direction) -> Patience {
        match self.limit(direction) {
            _ if self.nonblocking.load(Relaxed) => Patience::None,
            None => Patience::Forever,
            Some(limit) => Patience::Limit(limit),
        }
    }

    /// Repeats `step` until it has another answer than "not now", if the user wants to wait for it.
    pub(crate) fn wait_for<T>(
        &self,
        direction: Direction,
        step: impl FnMut(&mut TcpStack, u64) -> Result<T, Error>,
    ) -> io::Result<T> {
        self.host.shared().wait_for(self.key, direction, self.patience(direction), step)
    }

    /// The same for what reads; nothing, which means the end, if the user wanted no more.
    pub(crate) fn read_with<T: Default>(
        &self,
        mut step: impl FnMut(&mut TcpStack, u64) -> Result<T, Error>,
    ) -> io::Result<T> {
        self.wait_for(Direction::In, |stack, now| match step(stack, now) {
            Err(Error::WOULD_BLOCK) if self.reading_ended.load(Relaxed) => Ok(T::default()),
            result => result,
        })
    }

    /// Lets reads that would wait be at the end.
    pub(crate) fn end_reading(&self) {
        self.reading_ended.store(true, Relaxed);
        self.host.shared().wake(self.key);
    }

    /// Does something that needs no waiting.
    pub(crate) fn call<T>(&self, act: impl FnOnce(&mut TcpStack, u64) -> Result<T, Error>) -> io::Result<T> {
        Ok(self.host.shared().call(act)?)
    }

    /// Its number, if it is a connection's.
    pub(crate) fn id(&self) -> ConnectionId {
        match self.key {
            Key::Connection(id) => id,
            Key::Listener(_) => unreachable!("streams are made of connections"),
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let key = self.key;
        let shared = self.host.shared();
        shared.call(|stack, now| match key {
            Key::Connection(id) => stack.close(now, id),
            Key::Listener(id) => stack.close_listener(now, id),
        });
        shared.forget(key);
    }
}
