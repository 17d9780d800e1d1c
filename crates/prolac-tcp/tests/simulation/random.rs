//! Random numbers that are the same for the same seed, on every machine and for ever.

/// SplitMix64.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A generator for something else that takes nothing from this one's later numbers.
    pub fn fork(&mut self) -> Random {
        Random(self.next())
    }

    /// Below `n`; 0 if `n` is.
    pub fn below(&mut self, n: u64) -> u64 {
        if n == 0 { 0 } else { ((u128::from(self.next()) * u128::from(n)) >> 64) as u64 }
    }

    /// From `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// Small numbers as often as large ones: the logarithm is even.
    pub fn scale(&mut self, low: u64, high: u64) -> u64 {
        let span = (high.max(1) as f64 / low.max(1) as f64).ln();
        let part = self.below(1 << 32) as f64 / (1u64 << 32) as f64;
        ((low.max(1) as f64 * (span * part).exp()) as u64).clamp(low, high)
    }

    /// True in so many of a thousand cases.
    pub fn chance(&mut self, permille: u32) -> bool {
        self.below(1000) < u64::from(permille)
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// A number that depends on every bit of `n`.
pub fn mix(n: u64) -> u64 {
    let n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ (n >> 31)
}
