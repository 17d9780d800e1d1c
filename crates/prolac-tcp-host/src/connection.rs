//! What streams and listeners share: their number in the stack, how long their calls wait, and their end.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use clickwork_prolac_tcp::{ConnectionId, Error, TcpStack};

use crate::engine::{Direction, Key};
use crate::shared::{SharedHost, Wait};

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
        self.wait_with(direction, self.patience(direction), step)
    }

    /// The same with another patience.
    pub(crate) fn wait_with<T>(
        &self,
        direction: Direction,
        patience: Patience,
        mut step: impl FnMut(&mut TcpStack, u64) -> Result<T, Error>,
    ) -> io::Result<T> {
        let mut end = None;
        let result = self.host.drive(|stack, now| match step(stack, now) {
            Err(Error::WOULD_BLOCK) => {
                let until = *end.get_or_insert_with(|| patience.end(now));
                let is_over = until.is_some_and(|until| until <= now);
                if is_over {
                    Ok(Err(Error::WOULD_BLOCK))
                } else {
                    Err(Wait { key: self.key, direction, until })
                }
            }
            result => Ok(result),
        });
        Ok(result??)
    }

    /// For tasks: does something, or has `waker` told when it may be done.
    #[cfg(feature = "tokio")]
    pub(crate) fn poll_for<T>(
        &self,
        direction: Direction,
        waker: &std::task::Waker,
        step: impl FnOnce(&mut TcpStack, u64) -> Result<T, Error>,
    ) -> std::task::Poll<io::Result<T>> {
        let result = self.host.poll(waker, |stack, now| match step(stack, now) {
            Err(Error::WOULD_BLOCK) => Err(Wait { key: self.key, direction, until: None }),
            result => Ok(result),
        });
        result.map(|result| Ok(result??))
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
        self.host.wake(self.key);
    }

    /// Does something that needs no waiting.
    pub(crate) fn call<T>(&self, act: impl FnOnce(&mut TcpStack, u64) -> Result<T, Error>) -> io::Result<T> {
        Ok(self.host.call(act)?)
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
        self.host.call(|stack, now| match key {
            Key::Connection(id) => stack.close(now, id),
            Key::Listener(id) => stack.close_listener(now, id),
        });
        self.host.forget(key);
    }
}

/// How long a call may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Not at all.
    None,
    /// So long.
    Limit(Duration),
    /// As long as it takes.
    Forever,
}

impl Patience {
    /// When it ends, as the stack counts time, if it begins now.
    fn end(self, now: u64) -> Option<u64> {
        match self {
            Patience::None => Some(now),
            Patience::Limit(limit) => {
                let limit = u64::try_from(limit.as_micros()).unwrap_or(u64::MAX);
                Some(now.saturating_add(limit.max(1)))
            }
            Patience::Forever => None,
        }
    }
}
