//! A host that several threads use: the stack behind a mutex, and a thread that serves it while they wait.
//!
//! A call of a user runs the stack on the user's own thread and sends what comes of it. If it cannot go on it waits on a
//! condition variable of its connection. The host's thread sleeps until a packet or a timer, takes a turn, and wakes those
//! whom the events concern. Not here: what a connection is to its user (`stream.rs`, `listener.rs`).
//! Read first: `host.rs`.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use clickwork_prolac_tcp::{ConnectionId, Error, Event, ListenerId, State, TcpStack};
use hashbrown::HashMap;
use rustix::event::{EventfdFlags, PollFlags, eventfd};

use crate::host::{Host, wait};

/// How long a host that nobody uses any more serves connections that still have text to send.
const LINGER: Duration = Duration::from_secs(5);

/// A host that threads share. Clones are the same host; it ends with the last of them and of their connections.
#[derive(Clone)]
pub struct SharedHost(Arc<Running>);

/// Ends the thread when it is dropped.
struct Running {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// What users and the host's thread have in common.
pub(crate) struct Shared {
    core: Mutex<Core>,
    /// The device, to be waited for without the mutex.
    device: OwnedFd,
    /// Ends the sleep of the host's thread.
    alarm: OwnedFd,
}

/// What the mutex protects.
pub(crate) struct Core {
    pub(crate) host: Host,
    users: HashMap<Key, User, foldhash::fast::RandomState>,
    /// The host's thread sleeps, and nobody has rung.
    asleep: bool,
    /// When it wakes, or last would have woken, by itself.
    sleeps_until: u64,
    /// Nobody uses the host any more.
    left: bool,
    /// Why the device is gone.
    failure: Option<String>,
}

/// Whom an event concerns.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Key {
    Connection(ConnectionId),
    Listener(ListenerId),
}

/// Which way somebody waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Direction {
    /// For something to read, or to accept.
    In,
    /// For room to write, or for the connection.
    Out,
}

/// Those who wait for a connection or listener, one entry for each direction.
#[derive(Default)]
struct User {
    conditions: [Arc<Condvar>; 2],
    waiting: [u32; 2],
    wakers: [Option<Waker>; 2],
}

impl User {
    fn wake(&mut self, direction: Direction) {
        if self.waiting[direction as usize] > 0 {
            self.conditions[direction as usize].notify_all();
        }
        if let Some(waker) = self.wakers[direction as usize].take() {
            waker.wake();
        }
    }
}

impl SharedHost {
    /// Starts a thread that serves `host`.
    ///
    /// # Errors
    /// If the system has no descriptor or no thread for it.
    pub fn start(host: Host) -> io::Result<SharedHost> {
        let device = host.tun().as_fd().try_clone_to_owned()?;
        let alarm = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        let core = Core {
            host,
            users: HashMap::default(),
            asleep: false,
            sleeps_until: 0,
            left: false,
            failure: None,
        };
        let shared = Arc::new(Shared { core: Mutex::new(core), device, alarm });
        let thread = std::thread::Builder::new().name("prolac-tcp".into()).spawn({
            let shared = shared.clone();
            move || shared.serve()
        })?;
        Ok(SharedHost(Arc::new(Running { shared, thread: Some(thread) })))
    }

    /// Does something with the stack, for what this crate has no function for. It is told the time.
    pub fn with_stack<T>(&self, act: impl FnOnce(&mut TcpStack, u64) -> T) -> T {
        self.shared().call(act)
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.0.shared
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut core = self.shared.lock();
        core.left = true;
        self.shared.ring(&mut core);
        drop(core);
        if let Some(thread) = self.thread.take() {
            // It can only have ended.
            let _ = thread.join();
        }
    }
}

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Core> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the host's thread if it sleeps.
    fn ring(&self, core: &mut Core) {
        if std::mem::take(&mut core.asleep) {
            // Full means that it rings already.
            let _ = rustix::io::write(&self.alarm, &1u64.to_ne_bytes());
        }
    }

    /// Takes note that the host's thread is awake.
    fn awake(&self) -> MutexGuard<'_, Core> {
        let mut core = self.lock();
        if !std::mem::take(&mut core.asleep) {
            let _ = rustix::io::read(&self.alarm, &mut [0; 8]);
        }
        core
    }

    /// What the host's thread does.
    fn serve(&self) {
        let mut left = None;
        let mut core = self.lock();
        loop {
            let again = core.turn();
            if core.failure.is_some() || core.is_finished(&mut left) {
                break;
            }
            if !again && !core.host.spins() {
                let limit = core.prepare_sleep();
                let flags = core.host.interest().1;
                drop(core);
                wait([(self.device.as_fd(), flags), (self.alarm.as_fd(), PollFlags::IN)], limit);
                core = self.awake();
            } else {
                drop(core);
                core = self.lock();
            }
        }
    }

    /// Does something with the stack, on the caller's thread, and sends what comes of it.
    pub(crate) fn call<T>(&self, act: impl FnOnce(&mut TcpStack, u64) -> T) -> T {
        self.enter(act).1
    }

    /// The same, and keeps the mutex.
    fn enter<T>(&self, act: impl FnOnce(&mut TcpStack, u64) -> T) -> (MutexGuard<'_, Core>, T) {
        let mut core = self.lock();
        let result = core.act(act);
        self.watch_timers(&mut core);
        (core, result)
    }

    /// Wakes the host's thread if it would sleep longer than until the next timer, or must wait for room in the device.
    fn watch_timers(&self, core: &mut Core) {
        if core.next_timer() < core.sleeps_until || core.host.is_blocked() {
            self.ring(core);
        }
    }

    /// Repeats `step` until it has another answer than "not now", and waits in between; as long as `limit`, or not at
    /// all.
    pub(crate) fn wait_for<T>(
        &self,
        key: Key,
        direction: Direction,
        patience: Patience,
        mut step: impl FnMut(&mut TcpStack, u64) -> Result<T, Error>,
    ) -> io::Result<T> {
        let (mut core, mut result) = self.enter(&mut step);
        let end = patience.end();
        while let Err(error) = &result
            && *error == Error::WOULD_BLOCK
        {
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            core.check()?;
            if left == Some(Duration::ZERO) {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            core = sleep(core, key, direction, left);
            result = core.act(&mut step);
            self.watch_timers(&mut core);
        }
        Ok(result?)
    }

    /// Asks for `waker` to be woken when `direction` may have changed; in place of the last one.
    #[cfg(feature = "tokio")]
    pub(crate) fn poll_for<T>(
        &self,
        key: Key,
        direction: Direction,
        waker: &Waker,
        step: impl FnOnce(&mut TcpStack, u64) -> Result<T, Error>,
    ) -> std::task::Poll<io::Result<T>> {
        let (mut core, result) = self.enter(step);
        match result {
            Err(error) if error == Error::WOULD_BLOCK => match core.check() {
                Err(error) => std::task::Poll::Ready(Err(error)),
                Ok(()) => {
                    core.user(key).wakers[direction as usize] = Some(waker.clone());
                    std::task::Poll::Pending
                }
            },
            result => std::task::Poll::Ready(result.map_err(io::Error::from)),
        }
    }

    /// Wakes all who wait for something of a connection.
    pub(crate) fn wake(&self, key: Key) {
        if let Some(user) = self.lock().users.get_mut(&key) {
            user.wake(Direction::In);
            user.wake(Direction::Out);
        }
    }

    /// Forgets who waits for a connection that its user has left.
    pub(crate) fn forget(&self, key: Key) {
        self.lock().users.remove(&key);
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
    fn end(self) -> Option<Instant> {
        match self {
            Patience::None => Some(Instant::now()),
            Patience::Limit(limit) => Instant::now().checked_add(limit),
            Patience::Forever => None,
        }
    }
}

impl Core {
    /// One turn of the host. Tells whether there was anything to do.
    fn turn(&mut self) -> bool {
        let users = &mut self.users;
        match self.host.turn(&mut |_, _, event| announce(users, event)) {
            Ok(again) => again,
            Err(error) => {
                self.fail(error.to_string());
                false
            }
        }
    }

    /// Does something with the stack, sends what comes of it, and tells others of it.
    fn act<T>(&mut self, act: impl FnOnce(&mut TcpStack, u64) -> T) -> T {
        let now = self.host.now();
        let result = act(self.host.stack(), now);
        if let Err(error) = self.host.flush() {
            self.fail(error.to_string());
        }
        while let Some(event) = self.host.stack().next_event() {
            announce(&mut self.users, event);
        }
        result
    }

    /// The device is gone: nobody needs to wait any longer.
    fn fail(&mut self, reason: String) {
        self.failure = Some(reason);
        for user in self.users.values_mut() {
            user.wake(Direction::In);
            user.wake(Direction::Out);
        }
    }

    /// An error if the device is gone.
    fn check(&self) -> io::Result<()> {
        match &self.failure {
            None => Ok(()),
            Some(reason) => Err(io::Error::new(io::ErrorKind::NetworkDown, reason.clone())),
        }
    }

    fn next_timer(&mut self) -> u64 {
        self.host.stack().deadline().unwrap_or(u64::MAX)
    }

    /// For how long the host's thread may sleep. A timer that was stopped still ends the sleep for which it was set:
    /// otherwise every packet sent would have to wake the thread for a timer that the answer stops.
    fn prepare_sleep(&mut self) -> Option<Duration> {
        let lazy = if self.sleeps_until > self.host.now() { self.sleeps_until } else { u64::MAX };
        self.sleeps_until = self.next_timer().min(lazy);
        self.asleep = true;
        (self.sleeps_until < u64::MAX).then(|| self.host.clock().until(self.sleeps_until))
    }

    fn user(&mut self, key: Key) -> &mut User {
        self.users.entry(key).or_default()
    }

    /// Whether nobody uses the host, and no connection has anything to send, or it has been waited for long enough.
    fn is_finished(&mut self, since: &mut Option<Instant>) -> bool {
        if !self.left {
            return false;
        }
        let begin = *since.get_or_insert_with(Instant::now);
        begin.elapsed() > LINGER || !has_unfinished(self.host.stack())
    }
}

/// Waits until somebody announces that `direction` may have changed, or so long.
fn sleep(
    mut core: MutexGuard<'_, Core>,
    key: Key,
    direction: Direction,
    limit: Option<Duration>,
) -> MutexGuard<'_, Core> {
    let user = core.user(key);
    user.waiting[direction as usize] += 1;
    let condition = user.conditions[direction as usize].clone();
    core = match limit {
        None => condition.wait(core).unwrap_or_else(PoisonError::into_inner),
        Some(limit) => condition.wait_timeout(core, limit).unwrap_or_else(PoisonError::into_inner).0,
    };
    core.user(key).waiting[direction as usize] -= 1;
    core
}

/// Wakes those whom an event concerns.
fn announce(users: &mut HashMap<Key, User, foldhash::fast::RandomState>, event: Event) {
    use Direction::{In, Out};
    let (key, directions): (Key, &[Direction]) = match event {
        Event::Accepted(listener) => (Key::Listener(listener), &[In]),
        Event::Readable(id) | Event::Urgent(id) => (Key::Connection(id), &[In]),
        Event::Writable(id) => (Key::Connection(id), &[Out]),
        Event::Connected(id) | Event::Closed(id) | Event::Error(id) => (Key::Connection(id), &[In, Out]),
    };
    if let Some(user) = users.get_mut(&key) {
        directions.iter().for_each(|&direction| user.wake(direction));
    }
}

/// Whether a connection still has something to send: text, or its FIN.
fn has_unfinished(stack: &TcpStack) -> bool {
    use State::{CloseWait, Closing, Established, FinWait1, LastAck};
    let sends = |id| matches!(stack.state(id), Ok(Established | CloseWait | FinWait1 | Closing | LastAck));
    stack.connections().any(sends)
}
