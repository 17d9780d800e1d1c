//! The thresholds of RED, and the probability of a drop that follows from them.

/// Bits of fraction of the average.
pub(super) const SCALE: u32 = 10;
/// A probability of 1.
pub(super) const CERTAIN: i64 = 1 << 16;
const MAX_LENGTH: i64 = 0xFFFF;

/// The thresholds and what follows from them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub min: i64,
    pub max: i64,
    /// Probability at `max`, times 2^16.
    pub max_p: i64,
    pub gentle: bool,
}

impl Limits {
    /// The limits, or what is wrong with them.
    pub fn check(self) -> Result<Limits, String> {
        match self {
            Limits { max, .. } if max > MAX_LENGTH => Err(format!("MAX_THRESH must be <= {MAX_LENGTH}")),
            Limits { min, max, .. } if min > max => Err("MIN_THRESH must be <= MAX_THRESH".to_string()),
            Limits { max_p, .. } if max_p > CERTAIN => Err("MAX_P must be between 0 and 1".to_string()),
            _ => Ok(self),
        }
    }

    /// Average length beyond which all packets are dropped.
    pub fn kill(self) -> i64 {
        if self.gentle && self.max_p != CERTAIN { 2 * self.max } else { self.max }
    }

    /// The probability of a drop, times 2^16, before it is spread over the packets since the last one, at an average of
    /// `scaled` / 2^[`SCALE`] packets. Integer divisions as in Click.
    pub fn probability(self, scaled: i64) -> i64 {
        let span = self.max - self.min;
        let (slope, offset) = if scaled >> SCALE > self.max {
            ((CERTAIN - self.max_p) / self.max.max(1), CERTAIN - 2 * self.max_p)
        } else if span <= 0 {
            (0, 1)
        } else {
            (self.max_p / span, self.max_p * self.min / span)
        };
        ((slope * scaled) >> SCALE) - offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probability_is_that_of_the_formula() {
        let limits = Limits { min: 5, max: 50, max_p: CERTAIN / 10, gentle: true };
        let p = |average: i64| limits.probability(average << SCALE) as f64 / CERTAIN as f64;
        for average in 5..=50 {
            // Floyd and Jacobson 1993 §4.
            let expected = 0.1 * (average - 5) as f64 / 45.0;
            assert!((p(average) - expected).abs() < 0.002, "{average}: {} not {expected}", p(average));
        }
        for average in 51..=100 {
            let expected = 0.1 + 0.9 * (average - 50) as f64 / 50.0;
            assert!((p(average) - expected).abs() < 0.002, "{average}: {} not {expected}", p(average));
        }
        assert_eq!((limits.kill(), Limits { gentle: false, ..limits }.kill()), (100, 50));
    }
}
