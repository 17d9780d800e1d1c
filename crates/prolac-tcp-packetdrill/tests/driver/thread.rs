//! The second thread, which makes the calls that block. As packetdrill does, the first goes on when the second sleeps. How long the
//! machine lets either wait plays no part: time is the stack's.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;
use std::time::Duration;

use super::calls::{Outcome, Surroundings, invoke};
use super::library::Stack;
use super::script::CallSpec;

/// How long a thread that runs, or the kernel's call, may take.
const PATIENCE: Duration = Duration::from_secs(300);
/// Microseconds that the stack's time goes on while a blocking call is waited for, and how often.
const STEP: i64 = 100;
const STEPS: u32 = 6_000_000;

struct Job {
    call: CallSpec,
    around: Surroundings,
    line: usize,
    until: i64,
}

/// A blocking call that has ended.
pub struct Done {
    pub call: CallSpec,
    pub line: usize,
    /// When it was to end, counted from the start of the script.
    pub until: i64,
    /// When it ended.
    pub ended: i64,
    pub outcome: Result<Outcome, String>,
}

/// The second thread.
pub struct Second<'a> {
    jobs: Sender<Job>,
    done: Receiver<Done>,
    /// Its number, for `/proc`.
    id: i32,
    /// Calls that it has begun, and that have ended.
    begun: Arc<AtomicU32>,
    ended: Arc<AtomicU32>,
    running: Option<usize>,
    early: Option<Done>,
    stack: &'a Stack,
}

impl<'a> Second<'a> {
    pub fn start<'scope>(scope: &'scope Scope<'scope, '_>, stack: &'a Stack) -> Second<'a>
    where
        'a: 'scope,
    {
        let (jobs, inbox) = channel::<Job>();
        let (outbox, done) = channel();
        let (tell, told) = channel();
        let [begun, ended] = [(); 2].map(|()| Arc::new(AtomicU32::new(0)));
        let (begins, ends) = (Arc::clone(&begun), Arc::clone(&ended));
        scope.spawn(move || {
            // SAFETY: it has no conditions.
            let _ = tell.send(unsafe { libc::gettid() });
            for job in inbox {
                begins.fetch_add(1, Ordering::SeqCst);
                let outcome = invoke(stack, &job.call, &job.around);
                ends.fetch_add(1, Ordering::SeqCst);
                // First of all that the stack hears, as packetdrill does: its time waits for this.
                let ended = stack.now();
                let done = Done { call: job.call, line: job.line, until: job.until, ended, outcome };
                if outbox.send(done).is_err() {
                    return;
                }
            }
        });
        let id = told.recv().expect("the thread starts");
        Second { jobs, done, id, begun, ended, running: None, early: None, stack }
    }

    /// Hands a call over, and waits until it sleeps or is done.
    pub fn begin(&mut self, call: CallSpec, around: Surroundings, line: usize, until: i64) {
        self.running = Some(line);
        let before = self.begun.load(Ordering::SeqCst);
        self.jobs.send(Job { call, around, line, until }).expect("the thread runs");
        // It may sleep for a moment on other things than the call.
        let mut looks = 0;
        while looks < 3 {
            std::thread::sleep(Duration::from_micros(100));
            if let Ok(done) = self.done.try_recv() {
                self.early = Some(done);
                return;
            }
            let sleeps = self.begun.load(Ordering::SeqCst) != before && self.is_asleep();
            looks = if sleeps { looks + 1 } else { 0 };
        }
    }

    fn is_asleep(&self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/self/task/{}/stat", self.id)).unwrap_or_default();
        stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('S'))
    }

    /// Waits for the call that runs, if one does.
    pub fn finish(&mut self) -> Result<Option<Done>, String> {
        let Some(line) = self.running.take() else { return Ok(None) };
        self.awaited().map(Some).ok_or_else(|| format!("line {line}: the blocking call does not return"))
    }

    fn awaited(&mut self) -> Option<Done> {
        if let Some(done) = self.early.take() {
            return Some(done);
        }
        let has_ended = || self.ended.load(Ordering::SeqCst) == self.begun.load(Ordering::SeqCst);
        let steps = if self.stack.is_kernel() { 0 } else { STEPS };
        for _ in 0..steps {
            if has_ended() {
                break;
            }
            self.stack.usleep(STEP);
        }
        let given_up = steps > 0 && !has_ended();
        self.done.recv_timeout(if given_up { Duration::ZERO } else { PATIENCE }).ok()
    }

    /// The script has failed: a call that blocks still would block for ever.
    pub fn abandon(&mut self) -> Option<Done> {
        self.running.take()?;
        // Time passes, and every call has an end then; or the process ends with the tests.
        self.awaited()
    }
}
