//! Time that runs faster or slower than the system's, as the handler `timewarp` asks.

use clickwork_packet::Timestamp;
use std::time::Duration;

/// How a router's time follows the system's. A change of speed makes no jump.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Warp {
    /// The change since the system's time, if there is one.
    changed: Option<Changed>,
}

/// Nanoseconds: the router's time was `shown` when the system's was `system`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    system: i128,
    shown: i128,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Changed {
    wall: Point,
    steady: Point,
    pace: Pace,
}

/// How fast time passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// So many times as fast as the system's.
    Speed(f64),
    /// As fast as the system's, but nothing waits: time jumps to where something happens.
    NoWait,
}

impl Pace {
    fn factor(self) -> f64 {
        match self {
            Pace::Speed(factor) => factor,
            Pace::NoWait => 1.0,
        }
    }
}

impl Point {
    fn at(self, system: i128, pace: Pace) -> i128 {
        let passed = system - self.system;
        let passed = if pace.factor() == 1.0 { passed } else { (passed as f64 * pace.factor()) as i128 };
        self.shown + passed
    }
}

impl Warp {
    /// How fast time passes.
    pub fn pace(&self) -> Pace {
        self.changed.map_or(Pace::Speed(1.0), |changed| changed.pace)
    }

    /// The wall time to show.
    pub fn wall(&self, system: Timestamp) -> Timestamp {
        self.changed.map_or(system, |c| timestamp(c.wall.at(nanoseconds(system), c.pace)))
    }

    /// The steady time to show.
    pub fn steady(&self, system: Timestamp) -> Timestamp {
        self.changed.map_or(system, |c| timestamp(c.steady.at(nanoseconds(system), c.pace)))
    }

    /// Time passes at `pace` from now on, which the system calls `wall` and `steady`.
    pub fn set(&mut self, pace: Pace, wall: Timestamp, steady: Timestamp) {
        let point = |system, shown| Point { system: nanoseconds(system), shown: nanoseconds(shown) };
        let (wall, steady) = (point(wall, self.wall(wall)), point(steady, self.steady(steady)));
        self.changed = Some(Changed { wall, steady, pace });
    }

    /// Moves both times forward.
    pub fn skip(&mut self, time: Duration) {
        if let Some(changed) = &mut self.changed {
            changed.wall.shown += time.as_nanos() as i128;
            changed.steady.shown += time.as_nanos() as i128;
        }
    }

    /// How long the system takes for so much of the router's time.
    pub fn in_system_time(&self, time: Duration) -> Duration {
        match self.pace() {
            Pace::Speed(factor) if factor != 1.0 => {
                Duration::try_from_secs_f64(time.as_secs_f64() / factor).unwrap_or(Duration::MAX)
            }
            _ => time,
        }
    }
}

fn nanoseconds(t: Timestamp) -> i128 {
    t.nanos().into()
}

/// The time nearest to it that there is.
fn timestamp(nanoseconds: i128) -> Timestamp {
    Timestamp::from_nanos(nanoseconds.clamp(0, i64::MAX.into()) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(t: i64) -> Timestamp {
        Timestamp::new(t, 0)
    }

    #[test]
    fn without_a_change_time_is_the_systems() {
        let warp = Warp::default();
        assert_eq!((warp.wall(seconds(7)), warp.steady(seconds(3))), (seconds(7), seconds(3)));
        assert_eq!(warp.in_system_time(Duration::from_secs(2)), Duration::from_secs(2));
    }

    #[test]
    fn a_new_pace_begins_without_a_jump() {
        let mut warp = Warp::default();
        warp.set(Pace::Speed(4.0), seconds(100), seconds(10));
        assert_eq!((warp.wall(seconds(100)), warp.wall(seconds(101))), (seconds(100), seconds(104)));
        assert_eq!(warp.steady(seconds(12)), seconds(18));
        assert_eq!(warp.in_system_time(Duration::from_secs(2)), Duration::from_millis(500));
        warp.set(Pace::Speed(0.5), seconds(102), seconds(12));
        assert_eq!((warp.wall(seconds(102)), warp.wall(seconds(104))), (seconds(108), seconds(109)));
        warp.set(Pace::Speed(1.0), seconds(104), seconds(14));
        assert_eq!((warp.wall(seconds(105)), warp.steady(seconds(15))), (seconds(110), seconds(20)));
    }

    #[test]
    fn time_that_does_not_wait_skips() {
        let mut warp = Warp::default();
        warp.set(Pace::NoWait, seconds(100), seconds(10));
        warp.skip(Duration::from_secs(60));
        assert_eq!((warp.wall(seconds(101)), warp.steady(seconds(11))), (seconds(161), seconds(71)));
    }
}
