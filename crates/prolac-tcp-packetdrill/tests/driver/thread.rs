//! The second thread, which makes the calls that block. As packetdrill does, the first goes on when the second sleeps.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::Scope;
use std::time::{Duration, Instant};

use super::calls::{Outcome, Surroundings, invoke};
use super::library::Stack;
use super::script::CallSpec;

/// packetdrill waits so long for a blocking call before the next call.
const PATIENCE: Duration = Duration::from_secs(1);

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
    running: Option<usize>,
    early: Option<Done>,
    _stack: &'a Stack,
}

impl<'a> Second<'a> {
    pub fn start<'scope>(scope: &'scope Scope<'scope, '_>, stack: &'a Stack) -> Second<'a>
    where
        'a: 'scope,
    {
        let (jobs, inbox) = channel::<Job>();
        let (outbox, done) = channel();
        let (tell, told) = channel();
        scope.spawn(move || {
            // SAFETY: it has no conditions.
            let _ = tell.send(unsafe { libc::gettid() });
            for job in inbox {
                let outcome = invoke(stack, &job.call, &job.around);
                // First of all, as packetdrill does.
                let ended = stack.now();
                let done = Done { call: job.call, line: job.line, until: job.until, ended, outcome };
                if outbox.send(done).is_err() {
                    return;
                }
            }
        });
        let id = told.recv().expect("the thread starts");
        Second { jobs, done, id, running: None, early: None, _stack: stack }
    }

    /// Hands a call over, and waits until it sleeps or is done.
    pub fn begin(&mut self, call: CallSpec, around: Surroundings, line: usize, until: i64) {
        self.running = Some(line);
        self.jobs.send(Job { call, around, line, until }).expect("the thread runs");
        // It sleeps already, waiting for this job: let it wake.
        let began = Instant::now();
        let mut woke = false;
        loop {
            std::thread::yield_now();
            if let Ok(done) = self.done.try_recv() {
                self.early = Some(done);
                return;
            }
            let asleep = self.is_asleep();
            woke |= !asleep || began.elapsed() > Duration::from_millis(2);
            if woke && asleep {
                return;
            }
        }
    }

    fn is_asleep(&self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/self/task/{}/stat", self.id)).unwrap_or_default();
        stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('S'))
    }

    /// Waits for the call that runs, if one does.
    pub fn finish(&mut self) -> Result<Option<Done>, String> {
        let Some(line) = self.running.take() else { return Ok(None) };
        if let Some(done) = self.early.take() {
            return Ok(Some(done));
        }
        match self.done.recv_timeout(PATIENCE) {
            Ok(done) => Ok(Some(done)),
            Err(_) => Err(format!("line {line}: the blocking call does not return")),
        }
    }

    /// The script has failed: a call that blocks still would block for ever.
    pub fn abandon(&mut self) -> Option<Done> {
        self.running.take()?;
        // Time passes while nobody calls, and every call has an end then; or the process ends with the tests.
        self.early.take().or_else(|| self.done.recv_timeout(10 * PATIENCE).ok())
    }
}
