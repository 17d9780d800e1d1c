//! Numbers that look random and are the same for the same seed everywhere.

/// A generator of numbers (splitmix64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 if that is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    /// A number from `low` to `high`, both included.
    pub fn range(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True so many times of a hundred.
    pub fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    pub fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    pub fn pick_some<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        if all.is_empty() { None } else { Some(self.pick(all)) }
    }

    /// So many times of a hundred one of those that are `good`, if there are any.
    pub fn prefer<'a, T>(&mut self, all: &'a [T], chance: usize, good: impl Fn(&T) -> bool) -> Option<&'a T> {
        let better: Vec<&T> = all.iter().filter(|one| good(one)).collect();
        if self.percent(chance) && !better.is_empty() {
            Some(*self.pick(&better))
        } else {
            self.pick_some(all)
        }
    }

    /// The place of one of these weights.
    pub fn weighted(&mut self, weights: &[usize]) -> usize {
        let mut n = self.below(weights.iter().sum());
        weights
            .iter()
            .position(|&w| {
                let found = n < w;
                n = n.saturating_sub(w);
                found
            })
            .unwrap_or(0)
    }
}
