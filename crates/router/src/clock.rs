//! Time, real or simulated. Elements ask the router, never the system.
//!
//! There are two: *wall* time stamps packets, and is set by people and by NTP; *steady* time measures durations, rates and
//! ages. Whoever subtracts two wall times is wrong by whatever the clock was set meanwhile.
//!
//! Simulated time stands still except that each look at it advances it by a nanosecond (so that no two events share a
//! time, as in Click) and that the driver jumps to the next timer when nothing else is left to do.

use crate::warp::{Pace, Warp};
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
        /// What is shown of them.
        warp: Cell<Warp>,
    },
    /// Simulated time.
    Simulated {
        /// The present, steady.
        now: Cell<Timestamp>,
        /// How much further wall time is: nothing, unless a test sets it.
        ahead: Cell<Timestamp>,
    },
}

impl Clock {
    /// The system's clocks.
    pub fn real() -> Clock {
        Clock::Real { origin: Instant::now(), warp: Cell::default() }
    }

    /// Simulated time from `start` on.
    pub fn simulated(start: Timestamp) -> Clock {
        Clock::Simulated { now: Cell::new(start), ahead: Cell::default() }
    }

    /// A clock that shows the same time as this one, for the router that replaces another.
    pub fn continued(&self) -> Clock {
        match self {
            Clock::Real { origin, warp } => Clock::Real { origin: *origin, warp: warp.clone() },
            Clock::Simulated { now, ahead } => Clock::Simulated { now: now.clone(), ahead: ahead.clone() },
        }
    }

    /// Whether time is simulated.
    pub fn is_simulated(&self) -> bool {
        matches!(self, Clock::Simulated { .. })
    }

    /// Wall time.
    pub fn now(&self) -> Timestamp {
        match self {
            Clock::Real { warp, .. } => warp.get().wall(system_wall()),
            Clock::Simulated { ahead, .. } => self.steady() + ahead.get(),
        }
    }

    /// Steady time.
    pub fn steady(&self) -> Timestamp {
        match self {
            Clock::Real { origin, warp } => warp.get().steady(system_steady(*origin)),
            Clock::Simulated { now, .. } => {
                let t = now.get();
                now.set(t + STEP);
                t
            }
        }
    }

    /// Steady time without advancing the simulation.
    pub fn peek(&self) -> Timestamp {
        match self {
            Clock::Real { .. } => self.steady(),
            Clock::Simulated { now, .. } => now.get(),
        }
    }

    /// How much further wall time is than steady time, at present. It changes when the wall clock is set.
    pub fn wall_ahead(&self) -> Timestamp {
        match self {
            Clock::Real { .. } => wall_ahead(|| self.steady(), || self.now()),
            Clock::Simulated { ahead, .. } => ahead.get(),
        }
    }

    /// The wall time that belongs to a steady time, as far as the clock is set now.
    pub fn wall_at(&self, steady: Timestamp) -> Timestamp {
        steady + self.wall_ahead()
    }

    /// In a simulation, sets the wall clock: forward by `by`, or back if that is negative.
    pub fn step_wall(&self, by: Timestamp) {
        if let Clock::Simulated { ahead, .. } = self {
            ahead.set(ahead.get() + by);
        }
    }

    /// How fast time passes; `None` if it is simulated.
    pub fn pace(&self) -> Option<Pace> {
        match self {
            Clock::Real { warp, .. } => Some(warp.get().pace()),
            Clock::Simulated { .. } => None,
        }
    }

    /// Time passes at another pace from now on, unless it is simulated.
    pub fn set_pace(&self, pace: Pace) {
        if let Clock::Real { origin, warp } = self {
            let mut next = warp.get();
            next.set(pace, system_wall(), system_steady(*origin));
            warp.set(next);
        }
    }

    /// Whether time jumps to the next timer when nothing else is left to do.
    pub fn jumps(&self) -> bool {
        matches!(self.pace(), None | Some(Pace::NoWait))
    }

    /// Moves time forward to `t`, if it [jumps](Clock::jumps).
    pub fn jump_to(&self, t: Timestamp) {
        match self {
            Clock::Simulated { now, .. } => now.set(now.get().max(t)),
            Clock::Real { warp, .. } if self.jumps() => {
                let mut next = warp.get();
                next.skip(t.since(self.steady()));
                warp.set(next);
            }
            Clock::Real { .. } => {}
        }
    }

    /// How long to wait until `time` has passed on this clock.
    pub fn in_system_time(&self, time: Duration) -> Duration {
        match self {
            Clock::Real { warp, .. } => warp.get().in_system_time(time),
            Clock::Simulated { .. } => time,
        }
    }
}

fn system_wall() -> Timestamp {
    Timestamp::ZERO + SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

fn system_steady(origin: Instant) -> Timestamp {
    // One second past zero, so that no real time looks unset.
    Timestamp::new(1, 0) + origin.elapsed()
}

/// The distance of two clocks that cannot be read at once. If reading took long, the process was interrupted meanwhile.
fn wall_ahead(steady: impl Fn() -> Timestamp, wall: impl Fn() -> Timestamp) -> Timestamp {
    let look = || {
        let before = steady();
        let wall = wall();
        (steady().since(before), wall - before)
    };
    let mut best = look();
    for _ in 0..3 {
        if best.0 < LONG_LOOK {
            break;
        }
        best = best.min(look());
    }
    best.1
}

/// Reading two clocks takes longer only if the process is interrupted.
const LONG_LOOK: Duration = Duration::from_micros(100);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setting_the_wall_clock_does_not_touch_steady_time() {
        let clock = Clock::simulated(Timestamp::new(1000, 0));
        clock.step_wall(Timestamp::new(-3600, 0));
        assert_eq!(clock.steady(), Timestamp::new(1000, 0));
        assert_eq!(clock.now(), Timestamp::new(-2600, 1));
        assert_eq!(
            (clock.wall_at(clock.peek()), clock.peek()),
            (Timestamp::new(-2600, 2), Timestamp::new(1000, 2))
        );
        assert_eq!(clock.continued().wall_ahead(), Timestamp::new(-3600, 0));
    }

    #[test]
    fn the_real_clocks_are_as_far_apart_as_they_show() {
        let clock = Clock::real();
        let off = clock.wall_at(clock.steady()) - clock.now();
        assert!(off.as_secs_f64().abs() < 0.5, "{off}");
    }

    #[test]
    fn an_interrupted_look_is_repeated() {
        let time = Cell::new(0);
        let steady = || Timestamp::from_nanos(time.get());
        let wall = || {
            // The first reading takes a second.
            time.set(time.get() + if time.get() == 0 { 1_000_000_000 } else { 10 });
            Timestamp::from_nanos(time.get() + 5000)
        };
        assert_eq!(wall_ahead(steady, wall).nanos(), 5010);
    }
}
