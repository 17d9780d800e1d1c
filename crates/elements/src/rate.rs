//! Rates and averages as Counter, Meter, RED and their relatives measure them: exponentially weighted moving averages
//! in fixed point, with Click's arithmetic, so that both print the same numbers.

use clickwork_packet::Timestamp;
use clickwork_router::args::format_real2;

/// Counts are averaged over periods of a millisecond.
const PERIODS_PER_SECOND: i64 = 1000;
const PERIOD: i64 = 1_000_000_000 / PERIODS_PER_SECOND;
/// After so many empty periods nothing is left of an average.
const FORGOTTEN_AFTER: i64 = 100;

/// An average in which each new value counts for one part in 2^`stability`.
#[derive(Clone, Copy, Debug)]
pub struct Average {
    /// The average times 2^`scale`.
    scaled: i64,
    scale: u32,
    stability: u32,
}

impl Average {
    /// Zero, kept with `scale` bits of fraction.
    pub const fn new(stability: u32, scale: u32) -> Average {
        Average { scaled: 0, scale, stability }
    }

    /// Takes one more value into account.
    #[inline]
    pub fn add(&mut self, value: i64) {
        let rounding = if self.stability == 0 { 0 } else { 1 << (self.stability - 1) };
        self.scaled += ((value << self.scale) - self.scaled + rounding) >> self.stability;
    }

    /// Takes `n` zeros into account.
    pub fn decay(&mut self, n: i64) {
        if n >= FORGOTTEN_AFTER {
            self.scaled = 0;
        } else {
            (0..n).for_each(|_| self.add(0));
        }
    }

    /// The average times 2^`scale`.
    pub fn scaled(&self) -> i64 {
        self.scaled
    }

    /// The average, rounded down.
    pub fn whole(&self) -> i64 {
        self.scaled >> self.scale
    }

    /// The average as Click prints it.
    pub fn text(&self) -> String {
        format_real2(self.scaled, self.scale)
    }
}

/// The rate of something that is counted.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    /// The current period, in periods since the epoch; 0 before the first.
    period: i64,
    /// What was counted in it.
    counted: i64,
    /// Average count per period before it.
    average: Average,
}

impl Default for Rate {
    /// Ten bits of fraction: enough for packets.
    fn default() -> Rate {
        Rate::with_scale(10)
    }
}

impl Rate {
    /// A rate kept with `scale` bits of fraction.
    pub const fn with_scale(scale: u32) -> Rate {
        Rate { period: 0, counted: 0, average: Average::new(4, scale) }
    }

    /// Counts `n` at time `now`.
    #[inline]
    pub fn add(&mut self, n: u64, now: Timestamp) {
        let period = now.nanos() / PERIOD;
        if period != self.period {
            self.close(period);
        }
        self.counted += n as i64;
    }

    /// The average count per millisecond as of the last look at the time, times 2^`scale`.
    #[inline]
    pub fn scaled_per_period(&self) -> i64 {
        self.average.scaled
    }

    /// What [`Rate::scaled_per_period`] would be at a steady rate of `per_second`.
    pub fn scaled_threshold(&self, per_second: u64) -> i64 {
        ((per_second as i64) << self.average.scale) / PERIODS_PER_SECOND
    }

    /// A rate that is given like [`Rate::scaled_per_period`], per second, as Click prints it.
    pub fn text_of(&self, scaled: i64) -> String {
        format_real2(scaled * PERIODS_PER_SECOND, self.average.scale)
    }

    /// The rate per second as of `now`, as Click prints it.
    pub fn per_second(&mut self, now: Timestamp) -> String {
        self.add(0, now);
        self.text_of(self.average.scaled)
    }

    /// Eight times that: bits, if bytes are counted.
    pub fn bits_per_second(&mut self, now: Timestamp) -> String {
        self.add(0, now);
        format_real2(8 * self.average.scaled * PERIODS_PER_SECOND, self.average.scale)
    }

    /// Ends the current period, and the empty ones up to `period`.
    #[cold]
    fn close(&mut self, period: i64) {
        if self.period != 0 {
            self.average.add(self.counted);
            self.average.decay(period - self.period - 1);
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
        let rate: f64 = r.per_second(Timestamp::from_nanos(1001 * PERIOD)).parse().unwrap();
        assert!((rate - 5000.0).abs() < 10.0, "{rate}");
        assert_eq!(r.per_second(Timestamp::from_nanos(2001 * PERIOD)), "0");
    }

    #[test]
    fn averages_round_as_click_does() {
        let mut a = Average::new(4, 10);
        a.add(1);
        assert_eq!((a.scaled(), a.whole(), a.text().as_str()), (64, 0, "0.0625"));
        a.add(100);
        assert_eq!(a.scaled(), 64 + ((102_400 - 64 + 8) >> 4));
        a.decay(99);
        assert!(a.scaled() > 0);
        a.decay(100);
        assert_eq!(a.scaled(), 0);
    }
}
