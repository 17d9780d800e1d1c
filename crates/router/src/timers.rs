//! Timers: a heap of expiry times. An element has as many timers as it numbers (*slots*).

use clickwork_packet::Timestamp;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A timer: an element's number and the slot within the element.
pub(crate) type TimerKey = (u32, u16);

#[derive(Debug, Default)]
pub(crate) struct Timers {
    /// For each element, for each slot: the expiry and the heap entry that is live.
    slots: Vec<Vec<Option<(Timestamp, u64)>>>,
    heap: BinaryHeap<Reverse<(Timestamp, u64, TimerKey)>>,
    entries: u64,
}

impl Timers {
    pub fn new(elements: usize) -> Timers {
        Timers { slots: vec![Vec::new(); elements], ..Timers::default() }
    }

    /// Sets the timer to expire at `at` (steady time), replacing an earlier setting.
    pub fn schedule(&mut self, (element, slot): TimerKey, at: Timestamp) {
        let slots = &mut self.slots[element as usize];
        if slots.len() <= slot as usize {
            slots.resize(slot as usize + 1, None);
        }
        self.entries += 1;
        slots[slot as usize] = Some((at, self.entries));
        self.heap.push(Reverse((at, self.entries, (element, slot))));
        self.compact();
    }

    pub fn unschedule(&mut self, (element, slot): TimerKey) {
        if let Some(s) = self.slots[element as usize].get_mut(slot as usize) {
            *s = None;
        }
    }

    /// When the timer will expire, if it is set.
    pub fn expiry(&self, (element, slot): TimerKey) -> Option<Timestamp> {
        self.slots[element as usize].get(slot as usize).copied().flatten().map(|(at, _)| at)
    }

    /// Whether the element has a timer that is set.
    pub fn any(&self, element: u32) -> bool {
        self.slots[element as usize].iter().any(Option::is_some)
    }

    fn is_live(&self, entry: u64, (element, slot): TimerKey) -> bool {
        matches!(self.slots[element as usize].get(slot as usize), Some(Some((_, live))) if *live == entry)
    }

    /// Entries of timers that were set anew stay in the heap until they surface; when most are such, they go.
    fn compact(&mut self) {
        if self.heap.len() > 64 + 4 * self.slots.iter().map(Vec::len).sum::<usize>() {
            let heap = std::mem::take(&mut self.heap);
            self.heap =
                heap.into_iter().filter(|&Reverse((_, entry, key))| self.is_live(entry, key)).collect();
        }
    }

    /// When the next timer expires.
    pub fn next_expiry(&mut self) -> Option<Timestamp> {
        while let Some(&Reverse((at, entry, key))) = self.heap.peek() {
            if self.is_live(entry, key) {
                return Some(at);
            }
            self.heap.pop();
        }
        None
    }

    /// Unsets and returns a timer that has expired by `now`, the earliest first.
    pub fn pop_expired(&mut self, now: Timestamp) -> Option<TimerKey> {
        if self.next_expiry()? > now {
            return None;
        }
        let Reverse((_, _, key)) = self.heap.pop()?;
        self.unschedule(key);
        Some(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(n: i64) -> Timestamp {
        Timestamp::from_nanos(n)
    }

    #[test]
    fn timers_expire_in_order_and_once() {
        let mut t = Timers::new(3);
        t.schedule((2, 0), at(30));
        t.schedule((0, 1), at(10));
        t.schedule((1, 0), at(20));
        assert_eq!(t.next_expiry(), Some(at(10)));
        assert_eq!(t.pop_expired(at(25)), Some((0, 1)));
        assert_eq!(t.pop_expired(at(25)), Some((1, 0)));
        assert_eq!(t.pop_expired(at(25)), None);
        assert_eq!(t.expiry((2, 0)), Some(at(30)));
    }

    #[test]
    fn setting_a_timer_anew_replaces_it() {
        let mut t = Timers::new(1);
        for n in 0..1000 {
            t.schedule((0, 0), at(n));
        }
        assert!(t.heap.len() < 200);
        assert_eq!(t.pop_expired(at(998)), None);
        assert_eq!(t.pop_expired(at(999)), Some((0, 0)));
        t.schedule((0, 0), at(5));
        t.unschedule((0, 0));
        assert_eq!(t.next_expiry(), None);
    }
}
