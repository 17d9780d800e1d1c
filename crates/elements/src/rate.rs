//! Rates as exponentially weighted moving averages, as Counter, Meter and their relatives measure them.

use clickwork_packet::Timestamp;

/// Counts are averaged over periods of this many nanoseconds.
const PERIOD: i64 = 1_000_000;
/// Each period counts for one part in so many of the average.
const WEIGHT: f64 = 16.0;

/// The rate of something that is counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rate {
    /// The current period, in periods since the epoch.
    period: i64,
    /// What was counted in it.
    counted: u64,
    /// Average count per period before it.
    average: f64,
}

impl Rate {
    /// Counts `n` at time `now`.
    #[inline]
    pub fn add(&mut self, n: u64, now: Timestamp) {
        let period = now.nanos() / PERIOD;
        if period != self.period {
            self.close(period);
        }
        self.counted += n;
    }

    /// The average rate as of `now`, per second.
    pub fn per_second(&mut self, now: Timestamp) -> f64 {
        let period = now.nanos() / PERIOD;
        if period != self.period {
            self.close(period);
        }
        self.average * (1e9 / PERIOD as f64)
    }

    /// Ends the current period, and the empty ones up to `period`.
    #[cold]
    fn close(&mut self, period: i64) {
        if self.period != 0 {
            let idle = (period - self.period - 1).clamp(0, 10_000) as i32;
            self.average += (self.counted as f64 - self.average) / WEIGHT;
            self.average *= (1.0 - 1.0 / WEIGHT).powi(idle);
        }
        (self.period, self.counted) = (period, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_rate_is_measured_and_decays_when_it_ends() {
        let mut r = Rate::default();
        for ms in 1..=1000 {
            r.add(5, Timestamp::from_nanos(ms * PERIOD));
        }
        let rate = r.per_second(Timestamp::from_nanos(1001 * PERIOD));
        assert!((rate - 5000.0).abs() < 1.0, "{rate}");
        assert!(r.per_second(Timestamp::from_nanos(2001 * PERIOD)) < 1.0);
    }
}
