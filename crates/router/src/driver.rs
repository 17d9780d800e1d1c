//! The driver: runs a router over time, tasks under stride scheduling, then timers, then file descriptors.
//!
//! The rhythm is Click's (128 tasks an iteration, timers every few iterations, the system every 64) when the router is
//! ordered, so that interleavings come out the same. In batch mode timers are looked at more often, which costs little
//! per batch, and the system by the clock: a system call costs as much as several packets. An idle router sleeps in
//! `poll`, but not before its tasks have asked their devices in vain for a while.

use crate::router::{ElementId, Router, StopDecision};
use clickwork_packet::Timestamp;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Why the driver returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// An element asked it to stop.
    Stopped,
    /// Whoever runs the driver asked it to stop (a signal came).
    Interrupted,
    /// Nothing can ever happen again: no task, timer or descriptor is left.
    Exhausted,
    /// A new configuration is to replace this one; [`Router::take_hot_swap`] has its router.
    HotSwap,
    /// The time limit of [`Driver::run_for`] has passed.
    TimeLimit,
}

const ORDERED_TASKS_PER_ITERATION: usize = 129;
const BATCHED_TASKS_PER_ITERATION: usize = 32;
const TIMERS_AT_ONCE: usize = 64;
const ORDERED_ITERATIONS_PER_SYSTEM: u64 = 64;
/// How often a busy router in batch mode looks at descriptors.
const LOOK_EVERY: Duration = Duration::from_micros(100);
/// How long tasks go on asking in vain ([`TaskStep::Poll`](crate::TaskStep::Poll)) before the router sleeps. To be woken
/// costs the sender of a packet more than the packet itself, most of all in a virtual machine.
const PATIENCE: Duration = Duration::from_micros(50);
const MAX_TIMER_STRIDE: u64 = 32;
/// How much later than asked a timer may run before timers are looked at more often.
const TIMER_SLACK: Duration = Duration::from_millis(1);
/// The longest sleep while messages wait for whoever reads them.
const BETWEEN_WORDS: Duration = Duration::from_millis(5);
/// The longest sleep, so that an interrupt that came just before it is noticed.
const LONGEST_SLEEP: Duration = Duration::from_millis(500);

/// Runs routers. It outlives a hot swap.
#[derive(Debug)]
pub struct Driver {
    iteration: u64,
    timer_stride: u64,
    timers_on_time: u32,
    interrupt: Arc<AtomicBool>,
    /// Steady time at which a task, timer or descriptor last had something to do.
    last_work: Timestamp,
    /// Whether nothing had anything to do for so long that sleeping is in order, whatever is scheduled.
    resting: bool,
    /// Steady time at which a busy router looks at descriptors again.
    next_look: Timestamp,
    /// Steady time at which to return.
    deadline: Option<Timestamp>,
}

impl Default for Driver {
    fn default() -> Driver {
        Driver {
            iteration: 0,
            timer_stride: MAX_TIMER_STRIDE,
            timers_on_time: 0,
            interrupt: Arc::default(),
            last_work: Timestamp::ZERO,
            resting: false,
            next_look: Timestamp::ZERO,
            deadline: None,
        }
    }
}

impl Driver {
    /// A driver that stops when `interrupt` becomes true.
    pub fn new(interrupt: Arc<AtomicBool>) -> Driver {
        Driver { interrupt, ..Driver::default() }
    }

    /// Runs until something ends it.
    pub fn run(&mut self, router: &mut Router) -> Outcome {
        self.deadline = None;
        self.drive(router)
    }

    /// Runs for at most `limit` of the router's time, real or simulated.
    pub fn run_for(&mut self, router: &mut Router, limit: Duration) -> Outcome {
        self.deadline = Some(router.clock.peek() + limit);
        self.drive(router)
    }

    fn drive(&mut self, router: &mut Router) -> Outcome {
        loop {
            if let Some(outcome) = self.check(router) {
                return outcome;
            }
            self.iteration += 1;
            router.recent = router.clock.peek();
            run_tasks(router);
            let stride = if router.is_ordered() { self.timer_stride } else { 1 };
            if self.iteration.is_multiple_of(stride) && !router.is_leaving() {
                self.run_timers(router);
            }
            self.note_work(router);
            if self.must_look(router) && !router.is_leaving() && !self.run_system(router) {
                return Outcome::Exhausted;
            }
        }
    }

    fn note_work(&mut self, router: &mut Router) {
        let worked = std::mem::take(&mut router.worked);
        if worked {
            self.last_work = router.recent;
        }
        let patience = if router.clock.is_simulated() { Duration::ZERO } else { PATIENCE };
        self.resting = !worked && router.recent.since(self.last_work) >= patience;
    }

    /// Whether it is time to look at descriptors.
    fn must_look(&self, router: &Router) -> bool {
        if router.is_ordered() {
            return self.iteration.is_multiple_of(ORDERED_ITERATIONS_PER_SYSTEM);
        }
        router.recent >= self.next_look || self.resting || !router.tasks.any_scheduled()
    }

    fn check(&self, router: &mut Router) -> Option<Outcome> {
        if self.interrupt.load(Ordering::Relaxed) {
            return Some(Outcome::Interrupted);
        }
        if router.hot_swap.is_some() {
            return Some(Outcome::HotSwap);
        }
        if router.stop.requests > 0 && router.consume_stop() {
            return Some(Outcome::Stopped);
        }
        self.deadline.is_some_and(|d| router.clock.peek() >= d).then_some(Outcome::TimeLimit)
    }

    fn run_timers(&mut self, router: &mut Router) {
        let Some(first) = router.timers.next_expiry() else { return };
        let now = router.clock.steady();
        if first > now {
            return;
        }
        self.adapt_stride(first, now);
        for _ in 0..=TIMERS_AT_ONCE {
            let Some((element, slot)) = router.timers.pop_expired(now) else { return };
            router.run_timer(element, slot);
            if router.stop.requests > 0 {
                return;
            }
        }
        // Many are due, perhaps because they set themselves anew in the past: give each of those that wait one turn.
        let waiting: Vec<_> = std::iter::from_fn(|| router.timers.pop_expired(now)).collect();
        waiting.into_iter().for_each(|(element, slot)| router.run_timer(element, slot));
    }

    /// Looks at timers more often when they run late, more seldom when they run on time.
    fn adapt_stride(&mut self, expiry: Timestamp, now: Timestamp) {
        if expiry + TIMER_SLACK <= now {
            self.timers_on_time = 0;
            self.timer_stride = (self.timer_stride * 4 / 5).max(1);
        } else {
            self.timers_on_time += 1;
            if self.timers_on_time >= 12 {
                self.timers_on_time = 0;
                self.timer_stride = (self.timer_stride + 1).min(MAX_TIMER_STRIDE);
            }
        }
    }

    /// Looks at descriptors, sleeping if there is nothing else to do. False if nothing can ever happen again.
    fn run_system(&mut self, router: &mut Router) -> bool {
        let speaking = router.speak();
        let busy = router.tasks.any_scheduled() && !self.resting;
        self.next_look =
            router.recent + if router.clock.is_simulated() { Duration::ZERO } else { LOOK_EVERY };
        let wait = match (busy, router.timers.next_expiry()) {
            (true, _) => Some(Duration::ZERO),
            (false, Some(expiry)) if router.clock.jumps() => {
                router.clock.jump_to(self.deadline.map_or(expiry, |d| d.min(expiry)));
                Some(Duration::ZERO)
            }
            (false, Some(expiry)) => Some(router.clock.in_system_time(expiry.since(router.clock.steady()))),
            (false, None) if router.poll.is_empty() && router.clock.is_simulated() => return false,
            (false, None) => None,
        };
        if router.poll.is_empty() && wait == Some(Duration::ZERO) {
            return true;
        }
        let longest = if speaking { BETWEEN_WORDS } else { LONGEST_SLEEP };
        let wait = wait.map_or(longest, |w| w.min(longest));
        let left = self.deadline.map(|d| router.clock.in_system_time(d.since(router.clock.peek())));
        let wait = left.map_or(wait, |left| wait.min(left));
        // A signal while tasks ran does not wake a sleep that begins after it.
        let wait = if self.interrupt.load(Ordering::Relaxed) { Duration::ZERO } else { wait };
        for (element, fd, ready) in router.poll.wait(Some(wait)) {
            router.run_selected(element, fd, ready);
        }
        true
    }
}

fn run_tasks(router: &mut Router) {
    let most = if router.is_ordered() { ORDERED_TASKS_PER_ITERATION } else { BATCHED_TASKS_PER_ITERATION };
    for _ in 0..most {
        let Some(task) = router.tasks.next() else { return };
        router.run_task(ElementId(task as u32));
        if router.is_leaving() {
            return;
        }
    }
}

impl Router {
    /// Writes messages and output that wait for whoever reads them, and says how many did not find room. True if some wait
    /// on.
    fn speak(&mut self) -> bool {
        if self.clock.is_simulated() {
            return false;
        }
        let waiting = self.output.push_out() | self.log.push_out();
        self.tell_lost();
        waiting
    }

    /// Before a run: sets that packets do not wait until what is printed has been read. In a simulation they do.
    pub fn begin_speaking(&self) {
        let patient = self.clock.is_simulated();
        self.output.set_patient(patient);
        self.log.set_patient(patient);
    }

    /// After a run: waits for whoever reads what was printed, unless they stand still.
    pub fn finish_speaking(&self) {
        self.output.finish();
        self.log.finish();
        self.tell_lost();
    }

    fn tell_lost(&self) {
        for (text, lost) in [("output", self.output.take_lost()), ("messages", self.log.take_lost())] {
            if lost > 0 {
                self.log.line(&format!("{lost} lines of {text} were lost: nobody read them in time"));
            }
        }
    }

    /// Whether output is exactly in Click's order, one packet at a time.
    pub fn is_ordered(&self) -> bool {
        self.batch_limit == 1
    }

    /// Whether the driver is to return before anything else happens.
    fn is_leaving(&self) -> bool {
        self.stop.requests > 0 || self.hot_swap.is_some()
    }

    /// Consumes stop requests: an element that manages the driver may decide to go on. True if the driver should stop.
    fn consume_stop(&mut self) -> bool {
        while self.stop.requests > 0 {
            let Some((manager, decide)) = self.stop_handler else { return true };
            self.stop.requests -= 1;
            if decide(self, manager) == StopDecision::Stop {
                return true;
            }
        }
        false
    }
}
