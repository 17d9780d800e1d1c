//! Time as the stack counts it: microseconds since the host began.

use std::time::{Duration, Instant};

/// A clock that began at a certain moment.
#[derive(Clone, Copy, Debug)]
pub struct Clock(Instant);

/// Where clocks begin: not at 0, so that nothing is mistaken for "never".
const BEGIN: u64 = 1_000_000;

impl Clock {
    /// A clock that begins now.
    #[expect(clippy::new_without_default, reason = "it depends on when it is called")]
    pub fn new() -> Clock {
        Clock(Instant::now())
    }

    /// The time now, in microseconds.
    #[inline]
    pub fn now(&self) -> u64 {
        BEGIN + self.0.elapsed().as_micros() as u64
    }

    /// How long until `time`; zero if it has passed.
    pub fn until(&self, time: u64) -> Duration {
        Duration::from_micros(time.saturating_sub(self.now()))
    }

    /// The time `duration` from now.
    pub fn after(&self, duration: Duration) -> u64 {
        self.now().saturating_add(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX))
    }
}
