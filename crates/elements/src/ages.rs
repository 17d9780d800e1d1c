//! How old packets are by their timestamps, though the wall clock is set meanwhile.
//!
//! Timestamps are wall times. A packet that was stamped before the clock was set back seems to come from the future, and
//! one from before it was set forward seems to be old. So whoever waits for an age notices how far the clock was set, and
//! reads each timestamp by the clock that it was probably made with: the present one, if by that it was made since the
//! clock was set; else the one before, if by that it was made until then.

use clickwork_packet::Timestamp;
use clickwork_router::Clock;
use std::time::Duration;

/// Steps below this are taken as the clock's gradual adjustment, which goes into every reading.
const STEP: Duration = Duration::from_millis(100);
/// How much later than the present a timestamp may be that was just made by another clock reading.
const SLACK: Duration = Duration::from_millis(1);

/// Reads timestamps as steady times.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ages {
    /// How far wall time was ahead of steady time at the last look, and when that was; nothing before the first.
    last: Option<(Timestamp, Timestamp)>,
    set: Option<Set>,
    /// How far the timestamp at the last glance was from steady time.
    glanced: Timestamp,
}

/// The clock was set.
#[derive(Clone, Copy, Debug)]
struct Set {
    /// How far wall time was ahead before.
    ahead: Timestamp,
    /// The steady times between which it happened.
    after: Timestamp,
    before: Timestamp,
}

impl Ages {
    /// Looks at the clock. To be called before timestamps are read.
    pub fn look(&mut self, clock: &Clock) {
        let (ahead, now) = (clock.wall_ahead(), clock.peek());
        if let Some((was, after)) = self.last
            && !is_near(ahead, was)
        {
            self.set = Some(Set { ahead: was, after, before: now });
        }
        self.last = Some((ahead, now));
    }

    /// The same, sparing the look as long as timestamps go with steady time `recent`.
    pub fn glance(&mut self, timestamp: Timestamp, recent: Timestamp, clock: &Clock) {
        let distance = timestamp - recent;
        if self.last.is_none() || !is_near(distance, self.glanced) {
            self.glanced = distance;
            self.look(clock);
        }
    }

    /// The steady time at which a packet got this timestamp. Times of other origin, such as those of a capture file, keep
    /// their distance from each other and from the present.
    pub fn steady_time(&self, timestamp: Timestamp) -> Timestamp {
        let (ahead, now) = self.last.unwrap_or_default();
        let present = timestamp - ahead;
        let Some(set) = self.set else { return present };
        let earlier = timestamp - set.ahead;
        let since_then = set.after <= present && present <= now + SLACK;
        if !since_then && earlier <= set.before { earlier } else { present }
    }

    /// The timestamp of a packet that was computed for a steady time, by the present clock if it was made by the one before
    /// for a time after the clock was set.
    pub fn present_timestamp(&self, timestamp: Timestamp, steady: Timestamp) -> Timestamp {
        let (ahead, _) = self.last.unwrap_or_default();
        match self.set {
            Some(set) if steady >= set.after && is_near(timestamp - set.ahead, steady) => steady + ahead,
            _ => timestamp,
        }
    }
}

fn is_near(a: Timestamp, b: Timestamp) -> bool {
    a.since(b).max(b.since(a)) < STEP
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: i64) -> Timestamp {
        Timestamp::from_nanos(n * 1_000_000)
    }

    #[test]
    fn timestamps_of_both_sides_of_a_step_are_read_alike() {
        for hours in [-1, 1] {
            let clock = Clock::simulated(Timestamp::new(1_000_000_000, 0));
            let mut ages = Ages::default();
            ages.look(&clock);
            clock.jump_to(clock.peek() + ms(5));
            let (before, stamp) = (clock.peek(), clock.wall_at(clock.peek()));
            clock.step_wall(Timestamp::new(hours * 3600, 0));
            clock.jump_to(clock.peek() + ms(5));
            let (after, stamp_after) = (clock.peek(), clock.wall_at(clock.peek()));
            ages.look(&clock);
            assert_eq!([ages.steady_time(stamp), ages.steady_time(stamp_after)], [before, after]);
            // Long after, too.
            clock.jump_to(clock.peek() + Timestamp::new(600, 0).since(Timestamp::ZERO));
            ages.look(&clock);
            assert_eq!([ages.steady_time(stamp), ages.steady_time(stamp_after)], [before, after]);
        }
    }

    #[test]
    fn times_of_other_origin_keep_their_distance() {
        let clock = Clock::simulated(Timestamp::new(1_000_000_000, 0));
        let mut ages = Ages::default();
        ages.look(&clock);
        let long_ago = Timestamp::new(5, 0);
        let read = ages.steady_time(long_ago);
        let in_an_hour = ages.steady_time(Timestamp::new(1_000_003_600, 0)) - clock.peek();
        assert_eq!(in_an_hour, Timestamp::new(3600, 0));
        clock.step_wall(Timestamp::new(3600, 0));
        ages.look(&clock);
        assert_eq!(ages.steady_time(long_ago), read);
    }

    #[test]
    fn a_clock_that_runs_a_little_fast_was_not_set() {
        let clock = Clock::simulated(Timestamp::new(1_000_000_000, 0));
        let mut ages = Ages::default();
        for _ in 0..100 {
            ages.look(&clock);
            clock.step_wall(ms(50));
        }
        assert!(ages.set.is_none());
    }
}
