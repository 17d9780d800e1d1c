//! Packets on their way into a socket: pulled as the socket takes them, or pushed and kept until it does.

use clickwork_packet::{Batch, Packet};
use clickwork_router::notify::Signal;
use clickwork_router::{Cx, TaskStep};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::time::Duration;

/// Pushed packets that wait at most.
const CAPACITY: usize = 1024;
/// How long to wait if the system has no memory, which no descriptor tells the end of.
const PAUSE: Duration = Duration::from_millis(1);
/// The timer that ends this wait.
pub const PAUSE_TIMER: usize = 7;

/// What became of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// It is sent.
    Sent,
    /// So many bytes of it are sent.
    Part(usize),
    /// The socket takes nothing now; it becomes writable.
    Full,
    /// The system takes nothing now.
    NoMemory,
    /// It cannot be sent, for this reason.
    Refused(&'static str),
    /// Nothing can be sent any more.
    Broken(Errno),
}

/// Packets that wait for a socket.
#[derive(Debug, Default)]
pub struct Outbox {
    waiting: VecDeque<Packet>,
    signal: Signal,
    pulls: bool,
    /// The socket takes nothing at the moment.
    full: bool,
    /// Packets sent.
    pub count: u64,
}

impl Outbox {
    /// Begins to pull, if the element's input is pull.
    pub fn initialize(&mut self, cx: &mut Cx<'_>) {
        self.pulls = cx.input_is_pull(0);
        if self.pulls {
            self.signal = cx.upstream_empty_signal(0);
            cx.schedule_task();
        }
    }

    /// Takes pushed packets, as many as there is room for.
    pub fn take(&mut self, batch: &mut Batch, cx: &mut Cx<'_>) {
        for p in batch.drain() {
            if self.waiting.len() < CAPACITY {
                self.waiting.push_back(p);
            } else {
                cx.drop(p, "socket is full");
            }
        }
    }

    /// Whether the socket should be watched for room.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// There is room again.
    pub fn resume(&mut self, cx: &mut Cx<'_>) {
        self.full = false;
        if self.pulls {
            cx.schedule_task();
        }
    }

    /// Pulls a batch if nothing waits.
    pub fn pull(&mut self, cx: &mut Cx<'_>) -> usize {
        if !self.waiting.is_empty() || self.full {
            return 0;
        }
        let limit = cx.batch_limit();
        let batch = cx.pull(0, limit);
        let pulled = batch.len();
        self.waiting.extend(batch);
        pulled
    }

    /// What the task does after so many packets were pulled.
    pub fn next_step(&self, pulled: usize, cx: &Cx<'_>) -> TaskStep {
        let idle = pulled == 0 && !cx.is_active(&self.signal);
        if self.full || idle { TaskStep::Sleep } else { TaskStep::Again }
    }

    /// Sends what waits, as far as `send` takes it.
    ///
    /// # Errors
    /// If nothing can be sent any more.
    pub fn flush(
        &mut self,
        cx: &mut Cx<'_>,
        mut send: impl FnMut(&Packet, &mut Cx<'_>) -> Step,
    ) -> Result<(), Errno> {
        while !self.full
            && let Some(mut p) = self.waiting.pop_front()
        {
            match send(&p, cx) {
                Step::Sent => self.count += 1,
                Step::Part(n) => {
                    p.pull(n);
                    self.waiting.push_front(p);
                }
                Step::Refused(reason) => cx.drop(p, reason),
                Step::Broken(error) => {
                    cx.drop(p, "connection closed");
                    return Err(error);
                }
                step => {
                    self.full = true;
                    self.waiting.push_front(p);
                    if step == Step::NoMemory {
                        cx.schedule_timer_after(PAUSE_TIMER, PAUSE);
                    }
                }
            }
        }
        Ok(())
    }

    /// Drops what waits.
    pub fn clear(&mut self, reason: &'static str, cx: &mut Cx<'_>) {
        self.full = false;
        for p in self.waiting.drain(..) {
            cx.drop(p, reason);
        }
    }
}
