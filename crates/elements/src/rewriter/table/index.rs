//! The index of a flow table: from a hash to the places of flows with that hash. Knows neither keys nor flows.
//!
//! An open hash table whose buckets are cache lines: twelve one-byte tags, which sort out almost all strangers, twelve
//! places, and a count of entries that wanted in but found the bucket full and lie in one of the next. So a lookup
//! reads one line nearly always, and removal leaves nothing behind. When the table is nearly full a larger one is made, a
//! few buckets with each insertion, and then the entries move there, a few buckets with each insertion: no packet has to
//! wait for the whole table.

/// Entries in a bucket.
const WIDTH: usize = 12;
/// Entries per bucket, on average, beyond which the table grows.
const FULL: usize = 10;
/// Old buckets moved with each insertion while the table grows.
const MOVED_AT_ONCE: usize = 2;
/// Buckets of the next table that are made with each insertion. That begins when the table is seven eighths full, so two
/// are enough: in the last eighth come 1.25 entries for each bucket, and twice as many buckets are needed.
const MADE_AT_ONCE: usize = 2;

/// One cache line.
#[derive(Clone)]
#[repr(C, align(64))]
struct Bucket {
    /// 0 if the entry is free.
    tags: [u8; WIDTH],
    /// Entries that would be here had there been room.
    passed_on: u32,
    places: [u32; WIDTH],
}

const EMPTY: Bucket = Bucket { tags: [0; WIDTH], passed_on: 0, places: [0; WIDTH] };

/// The tag of a hash. Its bits are not those that choose the bucket.
#[inline]
fn tag(hash: u64) -> u8 {
    (hash >> 57) as u8 | 0x80
}

impl Bucket {
    /// A mask with one bit (the highest of a byte) for each entry with this tag.
    #[inline]
    fn matches(&self, tag: u8) -> u128 {
        const LOW: u128 = u128::from_le_bytes([0x7F; 16]);
        let mut bytes = [!tag; 16];
        bytes[..WIDTH].copy_from_slice(&self.tags);
        let difference = u128::from_le_bytes(bytes) ^ u128::from_le_bytes([tag; 16]);
        // The highest bit of a byte is set if the byte was 0: exact, as no carry leaves a byte.
        !(((difference & LOW) + LOW) | difference | LOW)
    }

    #[inline]
    fn find(&self, tag: u8, mut is: impl FnMut(u32) -> bool) -> Option<usize> {
        let mut mask = self.matches(tag);
        while mask != 0 {
            let entry = mask.trailing_zeros() as usize / 8;
            if is(self.places[entry]) {
                return Some(entry);
            }
            mask &= mask - 1;
        }
        None
    }
}

/// A table of one size.
#[derive(Default)]
struct Buckets {
    /// A power of two, or none at all.
    buckets: Vec<Bucket>,
    len: usize,
}

impl Buckets {
    fn with_room_for(entries: usize) -> Buckets {
        let count = entries.div_ceil(FULL).max(4).next_power_of_two();
        Buckets { buckets: vec![EMPTY; count], len: 0 }
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        hash as usize & (self.buckets.len() - 1)
    }

    fn is_full(&self) -> bool {
        self.len >= self.buckets.len() * FULL
    }

    /// The bucket and entry of the first place for which `is` holds.
    #[inline]
    fn find(&self, hash: u64, mut is: impl FnMut(u32) -> bool) -> Option<(usize, usize)> {
        if self.buckets.is_empty() {
            return None;
        }
        let mut at = self.home(hash);
        for _ in 0..self.buckets.len() {
            let bucket = &self.buckets[at];
            if let Some(entry) = bucket.find(tag(hash), &mut is) {
                return Some((at, entry));
            } else if bucket.passed_on == 0 {
                return None;
            }
            at = (at + 1) & (self.buckets.len() - 1);
        }
        None
    }

    /// Adds a place. There is room.
    fn insert(&mut self, hash: u64, place: u32) {
        let mut at = self.home(hash);
        loop {
            let last = self.buckets.len() - 1;
            let bucket = &mut self.buckets[at];
            if let Some(entry) = bucket.tags.iter().position(|&t| t == 0) {
                bucket.tags[entry] = tag(hash);
                bucket.places[entry] = place;
                self.len += 1;
                return;
            }
            bucket.passed_on += 1;
            at = (at + 1) & last;
        }
    }

    fn remove(&mut self, hash: u64, (bucket, entry): (usize, usize)) {
        self.buckets[bucket].tags[entry] = 0;
        self.len -= 1;
        let mut at = self.home(hash);
        while at != bucket {
            self.buckets[at].passed_on -= 1;
            at = (at + 1) & (self.buckets.len() - 1);
        }
    }
}

/// The index.
#[derive(Default)]
pub struct Index {
    table: Buckets,
    /// The table that is being left, if there is one, and the first of its buckets that has not been moved.
    old: Buckets,
    moved: usize,
    /// Buckets of the table that will be next.
    next: Vec<Bucket>,
    /// So many entries there may be without a larger table.
    reserved: usize,
}

impl Index {
    /// Makes room for so many entries at once, if there are none yet.
    pub fn reserve(&mut self, entries: usize) {
        if self.table.len == 0 && self.old.buckets.is_empty() {
            self.table = Buckets::with_room_for(entries);
            self.reserved = entries;
        }
    }

    /// Asks for the memory that a lookup of `hash` reads.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        if let Some(bucket) = self.table.buckets.get(hash as usize & self.table.buckets.len().wrapping_sub(1))
        {
            clickwork_packet::prefetch::read(bucket);
        }
    }

    /// The first place under `hash` for which `is` holds.
    #[inline]
    pub fn find(&self, hash: u64, mut is: impl FnMut(u32) -> bool) -> Option<u32> {
        if let Some((bucket, entry)) = self.table.find(hash, &mut is) {
            return Some(self.table.buckets[bucket].places[entry]);
        } else if self.old.buckets.is_empty() {
            return None;
        }
        let (bucket, entry) = self.old.find(hash, is)?;
        Some(self.old.buckets[bucket].places[entry])
    }

    /// A place under `hash` whose flow is probably the one that is looked for: to be prefetched.
    #[inline]
    pub fn likely(&self, hash: u64) -> Option<u32> {
        let bucket = self.table.buckets.get(hash as usize & self.table.buckets.len().wrapping_sub(1))?;
        let entry = bucket.find(tag(hash), |_| true)?;
        Some(bucket.places[entry])
    }

    /// Adds a place under `hash`. `hash_of` tells the hashes of places that are there.
    pub fn insert(&mut self, hash: u64, place: u32, hash_of: impl Fn(u32) -> u64) {
        if self.table.buckets.is_empty() {
            self.table = Buckets::with_room_for(0);
        }
        self.prepare();
        if self.table.is_full() && self.old.buckets.is_empty() {
            let mut larger = Buckets { buckets: std::mem::take(&mut self.next), len: 0 };
            larger.buckets.resize(2 * self.table.buckets.len(), EMPTY);
            self.old = std::mem::replace(&mut self.table, larger);
            self.moved = 0;
        }
        self.move_some(&hash_of);
        self.table.insert(hash, place);
    }

    /// Removes a place under `hash`.
    pub fn remove(&mut self, hash: u64, place: u32) {
        if let Some(at) = self.table.find(hash, |p| p == place) {
            self.table.remove(hash, at);
        } else if let Some(at) = self.old.find(hash, |p| p == place) {
            self.old.remove(hash, at);
        }
    }

    /// Makes some buckets of the next table if it will be needed soon.
    fn prepare(&mut self) {
        let (buckets, len) = (self.table.buckets.len(), self.table.len);
        if len < self.reserved || len * 8 < buckets * FULL * 7 || !self.old.buckets.is_empty() {
            return;
        }
        if self.next.is_empty() {
            // Memory that is not touched is not there yet, and costs nothing.
            self.next.reserve_exact(2 * buckets);
        }
        let made = (self.next.len() + MADE_AT_ONCE).min(2 * buckets);
        self.next.resize(made.max(self.next.len()), EMPTY);
    }

    /// Moves the next buckets of the old table.
    fn move_some(&mut self, hash_of: &impl Fn(u32) -> u64) {
        let end = (self.moved + MOVED_AT_ONCE).min(self.old.buckets.len());
        for at in self.moved..end {
            // Entries that passed this bucket are still found: their counts stay.
            let Bucket { tags, places, .. } = self.old.buckets[at].clone();
            self.old.buckets[at].tags = [0; WIDTH];
            for (_, &place) in tags.iter().zip(&places).filter(|(t, _)| **t != 0) {
                self.old.len -= 1;
                self.table.insert(hash_of(place), place);
            }
        }
        self.moved = end;
        if end == self.old.buckets.len() {
            self.old = Buckets::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// A hash of a number: good in one half of the tests, always nearly the same in the other.
    fn hash(n: u32, bad: bool) -> u64 {
        let good = u64::from(n).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        if bad { (good & 1) << 60 } else { good ^ good >> 29 }
    }

    #[test]
    fn it_holds_what_a_map_holds_whatever_the_hashes_and_while_it_grows() {
        for (bad, numbers, steps) in [(false, 4000, 60_000), (true, 150, 3000)] {
            let (mut index, mut oracle) = (Index::default(), HashMap::new());
            let mut x = 1u32;
            for _ in 0..steps {
                x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let n = (x >> 8) % numbers;
                let there = index.find(hash(n, bad), |p| p == n);
                assert_eq!(there, oracle.get(&n).copied());
                if there.is_some() && x & 0x8000_0000 != 0 {
                    index.remove(hash(n, bad), n);
                    oracle.remove(&n);
                } else if there.is_none() {
                    index.insert(hash(n, bad), n, |p| hash(p, bad));
                    oracle.insert(n, n);
                }
            }
            let found = (0..numbers).filter(|&n| index.find(hash(n, bad), |p| p == n).is_some());
            assert_eq!((found.count(), index.table.len + index.old.len), (oracle.len(), oracle.len()));
        }
    }

    #[test]
    fn removal_leaves_nothing_behind() {
        let mut index = Index::default();
        for n in 0..500 {
            index.insert(hash(n, false), n, |p| hash(p, false));
        }
        for n in 0..500 {
            index.remove(hash(n, false), n);
        }
        assert!(index.table.buckets.iter().all(|b| b.tags == [0; WIDTH] && b.passed_on == 0));
        assert_eq!(std::mem::size_of::<Bucket>(), 64);
    }

    #[test]
    fn a_larger_table_is_ready_when_it_is_needed() {
        let mut index = Index::default();
        let mut growths = 0;
        for n in 0..100_000 {
            let (buckets, ready) = (index.table.buckets.len(), index.next.len());
            index.insert(hash(n, false), n, |p| hash(p, false));
            if buckets > 0 && index.table.buckets.len() > buckets {
                growths += 1;
                // All but those of the last insertion.
                assert!(ready + MADE_AT_ONCE >= 2 * buckets, "{ready} of {}", 2 * buckets);
            }
        }
        assert!(growths > 10);
    }

    #[test]
    fn with_room_reserved_it_never_grows() {
        let mut index = Index::default();
        index.reserve(10_000);
        let before = index.table.buckets.len();
        (0..10_000).for_each(|n| index.insert(hash(n, false), n, |_| unreachable!("nothing is moved")));
        assert_eq!((index.table.buckets.len(), index.next.capacity()), (before, 0));
    }
}
