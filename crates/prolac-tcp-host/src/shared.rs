//! A host that several threads use: the stack behind a mutex, and a thread that serves it while they wait.
//!
//! The same for all that a host can run (`engine.rs`). A call of a user runs the stack on the user's own thread and sends what comes of it. If it cannot go on it waits on a
//! condition variable of its own key. The host's thread sleeps until a packet or a timer, takes a turn, and wakes those
//! whom the events concern. Not here: what a connection is to its user (`stream.rs`, `listener.rs`).
//! Read first: `host.rs`.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use clickwork_prolac_tcp::{State, TcpStack};
use hashbrown::HashMap;
use rustix::event::{EventfdFlags, PollFlags, eventfd};

use crate::engine::{Direction, Engine};
use crate::host::{Host, wait};

const BOTH: &[Direction] = &[Direction::In, Direction::Out];

/// How long a host that nobody uses any more serves connections that still have text to send.
const LINGER: Duration = Duration::from_secs(5);

/// A host that threads share. Clones are the same host; it ends with the last of them and of their connections.
pub struct Shared<E: Engine>(Arc<Running<E>>);

/// A stack that threads share.
pub type SharedHost = Shared<TcpStack>;

/// Ends the thread when it is dropped.
struct Running<E: Engine> {
    common: Arc<Common<E>>,
    thread: Option<JoinHandle<()>>,
}

/// What users and the host's thread have in common.
struct Common<E: Engine> {
    core: Mutex<Core<E>>,
    /// The device, to be waited for without the mutex.
    device: OwnedFd,
    /// Ends the sleep of the host's thread.
    alarm: OwnedFd,
}

/// What the mutex protects.
struct Core<E: Engine> {
    host: Host<E>,
    users: Users<E>,
    /// The host's thread sleeps, and nobody has rung.
    asleep: bool,
    /// When it wakes, or last would have woken, by itself.
    sleeps_until: u64,
    /// Nobody uses the host any more.
    left: bool,
    /// Why the device is gone.
    failure: Option<String>,
}

type Users<E> = HashMap<<E as Engine>::Key, User, foldhash::fast::RandomState>;

/// "Not now": what a call waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait<K> {
    /// Whom the event must concern.
    pub key: K,
    /// In which direction.
    pub direction: Direction,
    /// The call is repeated at this time at the latest, as the stack counts it.
    pub until: Option<u64>,
}

/// Those who wait for a connection or listener, one entry for each direction.
#[derive(Default)]
struct User {
    conditions: [Arc<Condvar>; 2],
    waiting: [u32; 2],
    wakers: [Option<Waker>; 2],
}

impl User {
    fn wake(&mut self, directions: &[Direction]) {
        for &direction in directions {
            if self.waiting[direction as usize] > 0 {
                self.conditions[direction as usize].notify_all();
            }
            if let Some(waker) = self.wakers[direction as usize].take() {
                waker.wake();
            }
        }
    }
}

impl<E: Engine> Shared<E> {
    /// Starts a thread that serves `host`.
    ///
    /// # Errors
    /// If the system has no descriptor or no thread for it.
    pub fn start(host: Host<E>) -> io::Result<Shared<E>> {
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
        let common = Arc::new(Common { core: Mutex::new(core), device, alarm });
        let thread = std::thread::Builder::new().name("prolac-tcp".into()).spawn({
            let common = common.clone();
            move || common.serve()
        })?;
        Ok(Shared(Arc::new(Running { common, thread: Some(thread) })))
    }

    /// Does something that need not wait, on the caller's thread, and sends what comes of it. It is told the time.
    pub fn call<T>(&self, act: impl FnOnce(&mut E, u64) -> T) -> T {
        self.0.common.enter(act).1
    }

    /// The same, with the stack.
    pub fn with_stack<T>(&self, act: impl FnOnce(&mut TcpStack, u64) -> T) -> T {
        self.call(|engine, now| act(engine.stack_mut(), now))
    }

    /// Repeats `step` until it has a result, and waits in between as it says.
    ///
    /// # Errors
    /// If the device is gone.
    pub fn drive<T>(&self, mut step: impl FnMut(&mut E, u64) -> Result<T, Wait<E::Key>>) -> io::Result<T> {
        let common = &self.0.common;
        let (mut core, mut result) = common.enter(&mut step);
        loop {
            match result {
                Ok(result) => return Ok(result),
                Err(wait) => {
                    core.check()?;
                    core = sleep(core, wait);
                }
            }
            result = core.act(&mut step);
            common.watch_timers(&mut core);
        }
    }

    /// Does something; if it cannot be done now, `waker` is told when it may be, in place of the last one who waited in
    /// the same direction.
    pub fn poll<T>(
        &self,
        waker: &Waker,
        step: impl FnOnce(&mut E, u64) -> Result<T, Wait<E::Key>>,
    ) -> Poll<io::Result<T>> {
        let (mut core, result) = self.0.common.enter(step);
        match result {
            Ok(result) => Poll::Ready(Ok(result)),
            Err(wait) => match core.check() {
                Err(error) => Poll::Ready(Err(error)),
                Ok(()) => {
                    core.user(wait.key).wakers[wait.direction as usize] = Some(waker.clone());
                    Poll::Pending
                }
            },
        }
    }

    /// Lets all who wait because of `key` look again.
    pub fn wake(&self, key: E::Key) {
        if let Some(user) = self.0.common.lock().users.get_mut(&key) {
            user.wake(BOTH);
        }
    }

    /// Forgets who waited because of `key`, which nobody does any more.
    pub fn forget(&self, key: E::Key) {
        self.0.common.lock().users.remove(&key);
    }
}

impl<E: Engine> Clone for Shared<E> {
    fn clone(&self) -> Shared<E> {
        Shared(self.0.clone())
    }
}

impl<E: Engine> Drop for Running<E> {
    fn drop(&mut self) {
        let mut core = self.common.lock();
        core.left = true;
        self.common.ring(&mut core);
        drop(core);
        if let Some(thread) = self.thread.take() {
            // It can only have ended.
            let _ = thread.join();
        }
    }
}

impl<E: Engine> Common<E> {
    fn lock(&self) -> MutexGuard<'_, Core<E>> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wakes the host's thread if it sleeps.
    fn ring(&self, core: &mut Core<E>) {
        if std::mem::take(&mut core.asleep) {
            // Full means that it rings already.
            let _ = rustix::io::write(&self.alarm, &1u64.to_ne_bytes());
        }
    }

    /// Takes note that the host's thread is awake.
    fn awake(&self) -> MutexGuard<'_, Core<E>> {
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
            if again || core.host.spins() {
                // Users may want the stack too.
                drop(core);
                core = self.lock();
            } else {
                let limit = core.prepare_sleep();
                let flags = core.host.interest().1;
                drop(core);
                wait([(self.device.as_fd(), flags), (self.alarm.as_fd(), PollFlags::IN)], limit);
                core = self.awake();
            }
        }
    }

    /// Does something on the caller's thread, sends what comes of it, and keeps the mutex.
    fn enter<T>(&self, act: impl FnOnce(&mut E, u64) -> T) -> (MutexGuard<'_, Core<E>>, T) {
        let mut core = self.lock();
        let result = core.act(act);
        self.watch_timers(&mut core);
        (core, result)
    }

    /// Wakes the host's thread if it would sleep longer than until the next timer, or must wait for room in the device.
    fn watch_timers(&self, core: &mut Core<E>) {
        if core.next_timer() < core.sleeps_until || core.host.is_blocked() {
            self.ring(core);
        }
    }
}

impl<E: Engine> Core<E> {
    /// One turn of the host. Tells whether there was anything to do.
    fn turn(&mut self) -> bool {
        let users = &mut self.users;
        match self.host.turn(&mut |_, _, event| announce::<E>(users, &event)) {
            Ok(again) => again,
            Err(error) => {
                self.fail(error.to_string());
                false
            }
        }
    }

    /// Does something with the stack, sends what comes of it, and tells others of it.
    fn act<T>(&mut self, act: impl FnOnce(&mut E, u64) -> T) -> T {
        let now = self.host.now();
        let result = act(self.host.engine(), now);
        if let Err(error) = self.host.flush() {
            self.fail(error.to_string());
        }
        while let Some(event) = self.host.engine().next_event() {
            announce::<E>(&mut self.users, &event);
        }
        result
    }

    /// The device is gone: nobody needs to wait any longer.
    fn fail(&mut self, reason: String) {
        self.failure = Some(reason);
        self.users.values_mut().for_each(|user| user.wake(BOTH));
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

    fn user(&mut self, key: E::Key) -> &mut User {
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

/// Waits as a step has said.
fn sleep<E: Engine>(mut core: MutexGuard<'_, Core<E>>, wait: Wait<E::Key>) -> MutexGuard<'_, Core<E>> {
    let limit = wait.until.map(|until| core.host.clock().until(until));
    let place = wait.direction as usize;
    let user = core.user(wait.key);
    user.waiting[place] += 1;
    let condition = user.conditions[place].clone();
    core = match limit {
        None => condition.wait(core).unwrap_or_else(PoisonError::into_inner),
        Some(limit) => condition.wait_timeout(core, limit).unwrap_or_else(PoisonError::into_inner).0,
    };
    // Whoever waited for what is closed now may have been forgotten.
    let waiting = &mut core.user(wait.key).waiting[place];
    *waiting = waiting.saturating_sub(1);
    core
}

/// Wakes those whom an event concerns.
fn announce<E: Engine>(users: &mut Users<E>, event: &E::Event) {
    let (key, directions) = E::concerns(event);
    for key in [Some(key), E::EVERYTHING].into_iter().flatten() {
        if let Some(user) = users.get_mut(&key) {
            user.wake(directions);
        }
    }
}

/// Whether a connection still has something to send: text, or its FIN.
fn has_unfinished(stack: &TcpStack) -> bool {
    use State::{CloseWait, Closing, Established, FinWait1, LastAck};
    let sends = |id| matches!(stack.state(id), Ok(Established | CloseWait | FinWait1 | Closing | LastAck));
    stack.connections().any(sends)
}
