//! A set of numbers as disjoint ranges: which octets have arrived.

use std::collections::BTreeMap;

#[derive(Clone, Debug, Default)]
pub struct Ranges(BTreeMap<i64, i64>);

impl Ranges {
    pub fn insert(&mut self, mut from: i64, mut to: i64) {
        if from >= to {
            return;
        }
        while let Some((&a, &b)) = self.0.range(..=to).next_back().filter(|(_, b)| **b >= from) {
            (from, to) = (from.min(a), to.max(b));
            self.0.remove(&a);
        }
        self.0.insert(from, to);
    }

    /// Whether all of a range is in it.
    pub fn contains(&self, from: i64, to: i64) -> bool {
        from >= to || self.0.range(..=from).next_back().is_some_and(|(_, b)| *b >= to)
    }

    /// The first number from `at` on that is not in it.
    pub fn end_of_run(&self, at: i64) -> i64 {
        self.0.range(..=at).next_back().map_or(at, |(_, b)| at.max(*b))
    }
}

#[test]
fn ranges_merge() {
    let mut ranges = Ranges::default();
    for (from, to) in [(0, 5), (10, 15), (5, 6), (20, 30), (14, 21), (3, 3)] {
        ranges.insert(from, to);
    }
    assert_eq!(ranges.0, BTreeMap::from([(0, 6), (10, 30)]));
    assert!(ranges.contains(10, 30) && !ranges.contains(5, 11) && ranges.contains(50, 50));
    assert_eq!((ranges.end_of_run(0), ranges.end_of_run(6), ranges.end_of_run(12)), (6, 6, 30));
}
