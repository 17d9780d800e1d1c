//! A token bucket: tokens come in at a rate up to a capacity, and are spent on packets or bytes.
//!
//! Time is counted in milliseconds and the fill in fractions of the capacity, with the integer arithmetic of Click, so
//! that packets go at the same milliseconds as there. One thing is different: what comes in at a tick beyond the capacity is
//! kept as far as it is less than a token. In Click it is lost, and a bucket for one packet and a rate of 99 lets 91 pass.

use clickwork_packet::Timestamp;
use std::time::Duration;

/// Times per second that tokens come in.
const TICKS_PER_SECOND: u32 = 1000;
const FULL: u32 = u32::MAX;

/// A token bucket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokenBucket {
    /// Fractions that make a token.
    scale: u32,
    /// Fractions that come in per tick; 0 if none ever come.
    per_tick: u32,
    /// How full it is.
    fill: u64,
    /// How full it can be.
    most: u64,
    /// The tick of the last refill.
    tick: i64,
}

impl TokenBucket {
    /// A full bucket that gets `rate` tokens per second and holds `capacity`.
    pub fn new(rate: u32, capacity: u32) -> TokenBucket {
        let mut bucket = TokenBucket { scale: 1, per_tick: 0, fill: FULL.into(), most: FULL.into(), tick: 0 };
        bucket.set_rate(rate, capacity);
        bucket
    }

    /// Changes rate and capacity; it stays as full as it is, relative to its capacity.
    pub fn set_rate(&mut self, rate: u32, capacity: u32) {
        let (rate, capacity) = if capacity == 0 { (0, FULL) } else { (rate, capacity) };
        // What comes in at one tick must fit.
        let least = if rate == 0 { 1 } else { (rate - 1) / TICKS_PER_SECOND + 1 };
        self.scale = FULL / capacity.max(least);
        self.per_tick = match u64::from(rate) * u64::from(self.scale) / u64::from(TICKS_PER_SECOND) {
            0 if rate > 0 => 1,
            n => n as u32,
        };
        let (full, scale) = (u64::from(FULL), u64::from(self.scale));
        let below_next_token = (full / scale + 1) * scale - 1;
        self.most = below_next_token.min(full + u64::from(self.per_tick)).max(full);
        self.fill = self.fill.min(self.most);
    }

    /// Changes rate and capacity; the number of tokens stays the same as far as there is room.
    pub fn set_rate_keeping_tokens(&mut self, rate: u32, capacity: u32) {
        let before = self.scale;
        self.set_rate(rate, capacity);
        let fill = u128::from(self.fill) * u128::from(self.scale) / u128::from(before);
        self.fill = u64::try_from(fill).map_or(self.most, |fill| fill.min(self.most));
    }

    /// Tokens per second, give or take what the fractions of a tick lose; Click prints the same number.
    pub fn rate(&self) -> u32 {
        let per_second =
            u64::from(self.per_tick) * u64::from(TICKS_PER_SECOND) + u64::from(self.per_tick / 2);
        u32::try_from(per_second / u64::from(self.scale)).unwrap_or(u32::MAX)
    }

    /// Lets the tokens come in that are due by `now`.
    #[inline]
    pub fn refill(&mut self, now: Timestamp) {
        let tick = now.nanos() / (1_000_000_000 / i64::from(TICKS_PER_SECOND));
        let ticks = u32::try_from((tick - self.tick).max(0)).unwrap_or(u32::MAX);
        if ticks > 0 {
            let come_in = u64::from(ticks) * u64::from(self.per_tick);
            self.fill = self.fill.saturating_add(come_in).min(self.most);
        }
        self.tick = tick;
    }

    /// The fraction of the capacity that `tokens` are; none if they are more.
    fn fraction(&self, tokens: u32) -> Option<u64> {
        tokens.checked_mul(self.scale).map(u64::from)
    }

    /// Makes it hold `tokens`, or as many as it can.
    pub fn set(&mut self, tokens: u32) {
        self.fill = self.fraction(tokens).unwrap_or(FULL.into());
    }

    /// Whole tokens in it.
    #[inline]
    pub fn tokens(&self) -> u32 {
        (self.fill / u64::from(self.scale)) as u32
    }

    /// Whether it holds `tokens`.
    #[inline]
    pub fn contains(&self, tokens: u32) -> bool {
        self.fraction(tokens).is_some_and(|f| f <= self.fill)
    }

    /// Takes `tokens` out, or all if it holds fewer.
    #[inline]
    pub fn spend(&mut self, tokens: u32) {
        self.fill = self.fill.saturating_sub(self.fraction(tokens).unwrap_or(u64::MAX));
    }

    /// How long until it holds `tokens`; none if it never will.
    pub fn time_until(&self, tokens: u32) -> Option<Duration> {
        let missing = self.fraction(tokens)?.saturating_sub(self.fill);
        match (missing, self.per_tick) {
            (0, _) => Some(Duration::ZERO),
            (_, 0) => None,
            (missing, per_tick) => {
                let ticks = missing.div_ceil(per_tick.into());
                Some(Duration::from_secs(1) / TICKS_PER_SECOND * u32::try_from(ticks).unwrap_or(u32::MAX))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_nanos((1_000_000_000 + ms) * 1_000_000)
    }

    #[test]
    fn lets_its_capacity_and_then_its_rate_pass() {
        for rate in [1, 7, 50, 999, 20_000] {
            let mut bucket = TokenBucket::new(rate, rate);
            bucket.refill(at(0));
            let mut spent = 0;
            for ms in 0..10_000 {
                bucket.refill(at(ms));
                spent += bucket.tokens();
                bucket.spend(bucket.tokens());
            }
            // One capacity at first, then ten seconds of the rate.
            assert!((11 * rate).abs_diff(spent) <= 1 + rate / TICKS_PER_SECOND + 1, "{spent} at {rate}");
            assert!(bucket.rate() - rate <= rate / 2000, "{rate}");
        }
    }

    #[test]
    fn says_how_long_to_wait() {
        let mut bucket = TokenBucket::new(100, 2);
        bucket.refill(at(0));
        bucket.set(0);
        let wait = bucket.time_until(1).unwrap();
        assert!((10..=11).contains(&wait.as_millis()), "{wait:?}");
        bucket.refill(at(wait.as_millis() as i64));
        assert_eq!(bucket.tokens(), 1);
        bucket.spend(1);
        assert!(!bucket.contains(1));
        assert_eq!(bucket.time_until(3), None);
        assert_eq!(TokenBucket::new(0, 1).time_until(1), Some(Duration::ZERO));
    }

    #[test]
    fn without_a_rate_it_is_never_filled_again() {
        let mut bucket = TokenBucket::new(0, 3);
        bucket.spend(3);
        bucket.refill(at(1_000_000));
        assert_eq!((bucket.tokens(), bucket.time_until(1)), (0, None));
    }

    #[test]
    fn tokens_survive_a_change_of_rate() {
        let mut bucket = TokenBucket::new(100, 10);
        bucket.set(5);
        bucket.set_rate_keeping_tokens(1000, 100);
        assert!((4..=5).contains(&bucket.tokens()));
        bucket.set_rate_keeping_tokens(1000, 2);
        assert_eq!(bucket.tokens(), 2);
    }
}
