//! Time, real or simulated. Elements ask the router, never the system.
//!
//! Simulated time stands still except that each look at it advances it by a nanosecond (so that no two events share a
//! time, as in Click) and that the driver jumps to the next timer when nothing else is left to do.

use clickwork_packet::Timestamp;
use std::cell::Cell;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Where simulated time begins unless told otherwise, in seconds since the epoch.
pub const SIMULATION_START: i64 = 1_000_000_000;

/// The smallest step of simulated time.
const STEP: Duration = Duration::from_nanos(1);

/// A clock. *Wall* time is what packets are stamped with; *steady* time never jumps back and drives timers.
#[derive(Debug)]
pub enum Clock {
    /// The system's clocks.
    Real {
        /// Origin of steady time.
        origin: Instant,
    },
    /// Simulated time: wall and steady are the same.
    Simulated {
        /// The present.
        now: Cell<Timestamp>,
    },
}

impl Clock {
    /// The system's clocks.
    pub fn real() -> Clock {
        Clock::Real { origin: Instant::now() }
    }

    /// Simulated time from `start` on.
    pub fn simulated(start: Timestamp) -> Clock {
        Clock::Simulated { now: Cell::new(start) }
    }

    /// A clock that shows the same time as this one, for the router that replaces another.
    pub fn continued(&self) -> Clock {
        match self {
            Clock::Real { origin } => Clock::Real { origin: *origin },
            Clock::Simulated { now } => Clock::Simulated { now: now.clone() },
        }
    }

    /// Whether time is simulated.
    pub fn is_simulated(&self) -> bool {
        matches!(self, Clock::Simulated { .. })
    }

    /// Wall time.
    pub fn now(&self) -> Timestamp {
        match self {
            Clock::Real { .. } => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                Timestamp::ZERO + since
            }
            Clock::Simulated { now } => {
                let t = now.get();
                now.set(t + STEP);
                t
            }
        }
    }

    /// Steady time.
    pub fn steady(&self) -> Timestamp {
        match self {
            // One second past zero, so that no real time looks unset.
            Clock::Real { origin } => Timestamp::new(1, 0) + origin.elapsed(),
            Clock::Simulated { .. } => self.now(),
        }
    }

    /// Steady time without advancing the simulation.
    pub fn peek(&self) -> Timestamp {
        match self {
            Clock::Real { .. } => self.steady(),
            Clock::Simulated { now } => now.get(),
        }
    }

    /// In a simulation, moves time forward to `t`.
    pub fn jump_to(&self, t: Timestamp) {
        if let Clock::Simulated { now } = self {
            now.set(now.get().max(t));
        }
    }
}
