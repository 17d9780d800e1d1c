//! Points and spans of time, in nanoseconds.
#![forbid(unsafe_code)]

use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

/// A point in time (nanoseconds since the epoch of its clock) or a signed span between two points.
///
/// Prints as Click does: with six digits after the point, or nine if it is not a whole number of microseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Timestamp(i64);

const NANOS: i64 = 1_000_000_000;

impl Timestamp {
    /// The epoch, which also stands for "not set".
    pub const ZERO: Timestamp = Timestamp(0);
    /// A time that never comes.
    pub const MAX: Timestamp = Timestamp(i64::MAX);

    /// From nanoseconds since the epoch.
    pub const fn from_nanos(n: i64) -> Self {
        Timestamp(n)
    }

    /// From seconds and nanoseconds within the second; saturates.
    pub const fn new(seconds: i64, nanos: u32) -> Self {
        Timestamp(seconds.saturating_mul(NANOS).saturating_add(nanos as i64))
    }

    /// Nanoseconds since the epoch.
    pub const fn nanos(self) -> i64 {
        self.0
    }

    /// Microseconds since the epoch.
    pub const fn micros(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// Whole seconds (rounded down).
    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(NANOS)
    }

    /// Nanoseconds within the second, 0 to 999,999,999.
    pub const fn subsec_nanos(self) -> u32 {
        self.0.rem_euclid(NANOS) as u32
    }

    /// Seconds as a floating-point number.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS as f64
    }

    /// Whether this is the epoch, that is, not set.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The span from `earlier` to `self`, or zero if it is negative.
    pub fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0).max(0) as u64)
    }

    fn signed(self, digits: usize) -> String {
        let (sign, n) = if self.0 < 0 { ("-", self.0.unsigned_abs()) } else { ("", self.0 as u64) };
        let fraction = n % NANOS as u64 / 10u64.pow(9 - digits as u32);
        format!("{sign}{}.{fraction:0digits$}", n / NANOS as u64)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.signed(if self.0 % 1000 == 0 { 6 } else { 9 }))
    }
}

impl Add<Duration> for Timestamp {
    type Output = Timestamp;
    fn add(self, d: Duration) -> Timestamp {
        Timestamp(self.0.saturating_add(i64::try_from(d.as_nanos()).unwrap_or(i64::MAX)))
    }
}

impl Sub<Duration> for Timestamp {
    type Output = Timestamp;
    fn sub(self, d: Duration) -> Timestamp {
        Timestamp(self.0.saturating_sub(i64::try_from(d.as_nanos()).unwrap_or(i64::MAX)))
    }
}

impl Add for Timestamp {
    type Output = Timestamp;
    fn add(self, other: Timestamp) -> Timestamp {
        Timestamp(self.0.saturating_add(other.0))
    }
}

impl Sub for Timestamp {
    type Output = Timestamp;
    fn sub(self, other: Timestamp) -> Timestamp {
        Timestamp(self.0.saturating_sub(other.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_as_click_does() {
        assert_eq!(Timestamp::new(1000, 5_000).to_string(), "1000.000005");
        assert_eq!(Timestamp::from_nanos(-1_500_000_000).to_string(), "-1.500000");
        assert_eq!(Timestamp::new(1, 5).to_string(), "1.000000005");
    }

    #[test]
    fn far_times_saturate() {
        assert_eq!(Timestamp::MAX + Duration::from_secs(1), Timestamp::MAX);
        assert_eq!(Timestamp::new(i64::MAX, 0), Timestamp::MAX);
    }
}
