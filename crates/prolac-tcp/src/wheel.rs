//! Timers: a hierarchical wheel of microseconds. Setting, changing and cancelling cost the same however many there are.
//!
//! A timer is known by a small number (its connection's slot). Level 0 has a slot for each of the next 64 microseconds,
//! level 1 one for each 64 of those, and so on; eleven levels hold every `u64`. A timer is in the level of the highest
//! group of six bits in which its deadline differs from the wheel's time, so each timer is moved at most once a level
//! before it fires. Read first: Varghese and Lauck, "Hashed and hierarchical timing wheels", SOSP 1987, scheme 7.

/// Bits of a level.
const BITS: u32 = 6;
/// Slots of a level.
const SLOTS: usize = 1 << BITS;
/// Levels that 64 bits need.
const LEVELS: usize = 64_usize.div_ceil(BITS as usize);
/// No timer.
const NONE: u32 = u32::MAX;
/// A timer that is not set.
pub const NEVER: u64 = u64::MAX;

/// One timer: a link of its slot's ring, if it is set.
#[derive(Clone, Copy)]
struct Node {
    deadline: u64,
    next: u32,
    previous: u32,
}

impl Node {
    const UNSET: Node = Node { deadline: NEVER, next: NONE, previous: NONE };
}

/// A slot: a list of timers, and what none of them precedes.
#[derive(Clone, Copy)]
struct Slot {
    first: u32,
    /// The earliest deadline that was put here since the slot was empty.
    earliest: u64,
}

impl Slot {
    const EMPTY: Slot = Slot { first: NONE, earliest: NEVER };
}

struct Level {
    /// Which slots have timers.
    occupied: u64,
    slots: [Slot; SLOTS],
}

/// Timers by number, in microseconds.
pub struct Wheel {
    now: u64,
    /// Which levels have timers.
    occupied: u16,
    levels: Box<[Level; LEVELS]>,
    nodes: Vec<Node>,
}

impl Default for Wheel {
    fn default() -> Self {
        Self::new()
    }
}

impl Wheel {
    /// A wheel at time 0 without timers.
    pub fn new() -> Self {
        let level = || Level { occupied: 0, slots: [Slot::EMPTY; SLOTS] };
        Self { now: 0, occupied: 0, levels: Box::new(std::array::from_fn(|_| level())), nodes: Vec::new() }
    }

    /// Bytes that it takes.
    pub fn memory(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>() + size_of::<[Level; LEVELS]>()
    }

    /// When a timer fires; [`NEVER`] if it is not set.
    pub fn get(&self, timer: u32) -> u64 {
        self.nodes.get(timer as usize).map_or(NEVER, |node| node.deadline)
    }

    /// Sets a timer, or cancels it with [`NEVER`]. A deadline that has passed fires at the next call of `expired`.
    #[inline]
    pub fn set(&mut self, timer: u32, deadline: u64) {
        if self.get(timer) == deadline {
            return;
        }
        if timer as usize >= self.nodes.len() {
            self.nodes.resize(timer as usize + 1, Node::UNSET);
        }
        self.unlink(timer);
        if deadline != NEVER {
            self.link(timer, deadline);
        }
    }

    /// A time at or before the earliest deadline, and the deadline itself unless a timer was cancelled: when `expired`
    /// is to be called.
    pub fn next(&self) -> Option<u64> {
        self.first_slot().map(|(level, slot)| self.levels[level].slots[slot].earliest)
    }

    /// The next timer whose deadline is not after `now`, in the order of deadlines; it is cancelled. `None` if there is
    /// none, and then the wheel's time is `now`.
    pub fn expired(&mut self, now: u64) -> Option<u32> {
        while let Some((level, slot)) = self.first_slot() {
            let start = slot_start(self.now, level, slot);
            if start > now {
                break;
            }
            // No occupied slot starts before this one, so no timer's place is passed by.
            self.now = self.now.max(start);
            if level == 0 {
                let timer = self.levels[0].slots[slot].first;
                self.unlink(timer);
                return Some(timer);
            }
            self.cascade(level, slot);
        }
        // Every timer's slot starts after `now`, so each stays in its level.
        self.now = self.now.max(now);
        None
    }

    /// The occupied slot that starts first: lower levels come before higher ones, and the slots of a level in order.
    fn first_slot(&self) -> Option<(usize, usize)> {
        if self.occupied == 0 {
            return None;
        }
        let level = self.occupied.trailing_zeros() as usize;
        Some((level, self.levels[level].occupied.trailing_zeros() as usize))
    }

    /// Gives each timer of a slot its place as of now, in a lower level.
    fn cascade(&mut self, level: usize, slot: usize) {
        while self.levels[level].occupied & (1 << slot) != 0 {
            let timer = self.levels[level].slots[slot].first;
            let deadline = self.nodes[timer as usize].deadline;
            self.unlink_from(timer, level, slot);
            self.link(timer, deadline);
        }
    }

    /// Where a deadline belongs: the level of the highest six bits in which it differs from now, the slot of these bits.
    #[inline]
    fn place(&self, deadline: u64) -> (usize, usize) {
        let due = deadline.max(self.now);
        let highest = 63 - ((due ^ self.now) | 1).leading_zeros();
        let level = highest / BITS;
        (level as usize, (due >> (level * BITS)) as usize % SLOTS)
    }

    fn link(&mut self, timer: u32, deadline: u64) {
        let (level, slot) = self.place(deadline);
        let first = self.levels[level].slots[slot].first;
        let last = if first == NONE { timer } else { self.nodes[first as usize].previous };
        let next = if first == NONE { timer } else { first };
        self.nodes[timer as usize] = Node { deadline, next, previous: last };
        self.nodes[last as usize].next = timer;
        self.nodes[next as usize].previous = timer;
        let list = &mut self.levels[level].slots[slot];
        *list = Slot { first: next, earliest: list.earliest.min(deadline) };
        self.levels[level].occupied |= 1 << slot;
        self.occupied |= 1 << level;
    }

    fn unlink(&mut self, timer: u32) {
        let deadline = self.nodes[timer as usize].deadline;
        if deadline != NEVER {
            // A timer's place does not change while it is linked but by `cascade`, so it can be found again.
            let (level, slot) = self.place(deadline);
            self.unlink_from(timer, level, slot);
        }
    }

    fn unlink_from(&mut self, timer: u32, level: usize, slot: usize) {
        let Node { next, previous, .. } = std::mem::replace(&mut self.nodes[timer as usize], Node::UNSET);
        let list = &mut self.levels[level].slots[slot];
        if next == timer {
            *list = Slot::EMPTY;
            self.levels[level].occupied &= !(1 << slot);
            if self.levels[level].occupied == 0 {
                self.occupied &= !(1 << level);
            }
            return;
        }
        if list.first == timer {
            list.first = next;
        }
        self.nodes[previous as usize].next = next;
        self.nodes[next as usize].previous = previous;
    }
}

/// When a slot begins that lies ahead of `now` in its level.
fn slot_start(now: u64, level: usize, slot: usize) -> u64 {
    let shift = level as u32 * BITS;
    let above = now.checked_shr(shift + BITS).map_or(0, |high| high << (shift + BITS));
    above | (slot as u64) << shift
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// What a wheel does, by a sorted set.
    #[derive(Default)]
    struct Model {
        set: BTreeSet<(u64, u32)>,
    }

    impl Model {
        fn set(&mut self, timer: u32, deadline: u64) {
            self.set.retain(|&(_, t)| t != timer);
            if deadline != NEVER {
                self.set.insert((deadline, timer));
            }
        }

        fn expired(&mut self, now: u64) -> BTreeSet<(u64, u32)> {
            let later = self.set.split_off(&(now.saturating_add(1), 0));
            std::mem::replace(&mut self.set, later)
        }
    }

    fn spans() -> impl Strategy<Value = u64> {
        (0u32..64, any::<u64>()).prop_map(|(bits, value)| value >> bits)
    }

    proptest! {
        #[test]
        fn behaves_as_a_sorted_set(steps in proptest::collection::vec((0u32..12, spans(), 0u8..4), 1..200)) {
            let (mut wheel, mut model, mut now) = (Wheel::new(), Model::default(), 0u64);
            for (timer, span, what) in steps {
                match what {
                    0 => {
                        now = now.saturating_add(span >> 3).min(NEVER - 1);
                        let mut fired = Vec::new();
                        let deadlines: Vec<u64> = (0..12).map(|t| wheel.get(t)).collect();
                        while let Some(timer) = wheel.expired(now) {
                            fired.push((deadlines[timer as usize], timer));
                        }
                        prop_assert!(fired.is_sorted_by_key(|f| f.0));
                        prop_assert_eq!(fired.into_iter().collect::<BTreeSet<_>>(), model.expired(now));
                    }
                    1 => {
                        wheel.set(timer, NEVER);
                        model.set(timer, NEVER);
                    }
                    _ => {
                        let deadline = now.saturating_add(span);
                        wheel.set(timer, deadline);
                        model.set(timer, deadline);
                    }
                }
                let earliest = model.set.first().map(|&(deadline, _)| deadline);
                prop_assert_eq!(wheel.next().is_some(), earliest.is_some());
                prop_assert!(wheel.next() <= earliest);
                for timer in 0..12 {
                    let known = model.set.iter().find(|&&(_, t)| t == timer).map_or(NEVER, |&(d, _)| d);
                    prop_assert_eq!(wheel.get(timer), known);
                }
            }
        }
    }

    #[test]
    fn the_next_deadline_is_exact_while_nothing_is_cancelled() {
        let mut wheel = Wheel::new();
        for (timer, deadline) in [(0, 5_000_000), (1, 70), (2, 200_000), (3, 3)] {
            wheel.set(timer, deadline);
        }
        for (timer, deadline) in [(3, 3), (1, 70), (2, 200_000), (0, 5_000_000)] {
            assert_eq!(wheel.next(), Some(deadline));
            assert_eq!(wheel.expired(deadline - 1), None);
            assert_eq!(wheel.expired(deadline), Some(timer));
        }
        assert_eq!(wheel.next(), None);
    }

    #[test]
    fn a_deadline_in_the_past_fires_at_once_and_can_be_cancelled() {
        let mut wheel = Wheel::new();
        assert_eq!(wheel.expired(1_000_000), None);
        wheel.set(7, 10);
        wheel.set(8, 10);
        wheel.set(7, NEVER);
        assert_eq!(wheel.next(), Some(10));
        assert_eq!(wheel.expired(1_000_000), Some(8));
        assert_eq!(wheel.expired(1_000_000), None);
    }

    #[test]
    fn timers_of_one_microsecond_fire_in_the_order_they_were_set() {
        let mut wheel = Wheel::new();
        for timer in [4, 9, 2] {
            wheel.set(timer, 100_000);
        }
        let fired: Vec<u32> = std::iter::from_fn(|| wheel.expired(200_000)).collect();
        assert_eq!(fired, [4, 9, 2]);
    }
}
