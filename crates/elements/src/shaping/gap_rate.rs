//! A rate kept by gaps: packets are spread evenly over each second of the clock.
//!
//! Within a second, the Nth packet (counted from 0) may go when N gaps have passed since the second began; what was sent
//! too early or too late in one second is set off in the next. Nothing accumulates while nobody asks for packets beyond
//! the current second, so there are no bursts of more than a second's worth. The arithmetic is Click's, in 4096ths of
//! a microsecond.

use clickwork_packet::Timestamp;
use std::time::Duration;

/// Fractions of a microsecond, as bits.
const SHIFT: u32 = 12;
/// A second.
const SECOND: u64 = 1_000_000 << SHIFT;
/// The highest rate: a packet each fraction.
pub(crate) const MAX_RATE: u32 = SECOND as u32;

/// A rate of packets, or of bytes, per second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GapRate {
    rate: u32,
    gap: u64,
    /// The second that `used` is about; none before the first look.
    second: Option<i64>,
    /// What was sent in this second, more or less what was set off from earlier ones.
    used: i64,
}

impl GapRate {
    /// A rate of `rate` per second, at most [`MAX_RATE`]; 0 lets nothing pass.
    pub fn new(rate: u32) -> GapRate {
        let rate = rate.min(MAX_RATE);
        let gap = if rate == 0 { SECOND + 1 } else { SECOND / u64::from(rate) };
        GapRate { rate, gap, second: None, used: 0 }
    }

    /// The rate per second.
    pub fn rate(&self) -> u32 {
        self.rate
    }

    /// How much may be sent at `now`; 0 if it is too early for any.
    pub fn allowance(&mut self, now: Timestamp) -> usize {
        if self.rate == 0 {
            return 0;
        }
        let fractions = fractions(now);
        let due = (fractions / self.gap) as i64;
        match self.second {
            None => {
                self.second = Some(now.seconds());
                self.used = due + i64::from(fractions % self.gap > self.gap / 2);
            }
            Some(second) if now.seconds() > second => {
                self.second = Some(now.seconds());
                if self.used > 0 {
                    self.used -= i64::from(self.rate);
                }
            }
            Some(_) => {}
        }
        usize::try_from(due - self.used + 1).unwrap_or(0)
    }

    /// Counts `n` as sent.
    pub fn spend(&mut self, n: usize) {
        self.used += n as i64;
    }

    /// How long after `now`, when nothing was allowed, to ask again. None if there is no use in it.
    pub fn wait(&self, now: Timestamp) -> Option<Duration> {
        if self.rate == 0 {
            return None;
        }
        let due = (u64::try_from(self.used).unwrap_or(0).saturating_mul(self.gap)).min(SECOND);
        let missing = due.saturating_sub(fractions(now));
        Some(Duration::from_micros(missing.div_ceil(1 << SHIFT).max(1)))
    }
}

/// How far the second has got.
fn fractions(now: Timestamp) -> u64 {
    u64::from(now.subsec_nanos() / 1000) << SHIFT
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends whenever allowed for `seconds` seconds from `start` on; returns the times in microseconds from then.
    fn send_all(rate: u32, start: Timestamp, seconds: i64) -> Vec<i64> {
        let mut gap = GapRate::new(rate);
        let (mut now, end) = (start, start + Duration::from_secs(seconds as u64));
        let mut sent = Vec::new();
        while now < end {
            if gap.allowance(now) > 0 {
                gap.spend(1);
                sent.push((now.nanos() - start.nanos()) / 1000);
            } else {
                now = now + gap.wait(now).expect("the rate is not 0");
            }
        }
        sent
    }

    #[test]
    fn the_rate_is_exact_and_the_gaps_are_even() {
        for rate in [1, 3, 7, 100, 999, 12_345] {
            let sent = send_all(rate, Timestamp::new(1000, 0), 10);
            assert!(sent.len().abs_diff(10 * rate as usize) <= 1, "{} at {rate}", sent.len());
            let gap = 1_000_000 / i64::from(rate);
            assert!(sent.windows(2).all(|w| (w[1] - w[0] - gap).abs() <= 2), "{rate}");
        }
    }

    #[test]
    fn it_may_begin_within_a_second() {
        let sent = send_all(10, Timestamp::new(1000, 670_000_000), 3);
        assert!(sent.len().abs_diff(30) <= 1, "{sent:?}");
    }

    #[test]
    fn a_rate_of_zero_lets_nothing_pass() {
        let mut gap = GapRate::new(0);
        assert_eq!((gap.allowance(Timestamp::new(5, 0)), gap.wait(Timestamp::new(5, 0))), (0, None));
    }
}
