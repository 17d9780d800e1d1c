//! Timers: a heap of expiry times. An element has as many timers as it numbers (*slots*).
//!
//! The heap is that of Click (each node has four children, the first three), so that timers that expire at the same time run
//! in the same order as there: not quite that in which they were set.

use clickwork_packet::Timestamp;

/// A timer: an element's number and the slot within the element.
pub(crate) type TimerKey = (u32, u16);

/// How many children a node has, but the first, which has one fewer. So the parent of `i` is `i / ARITY`.
const ARITY: usize = 4;

#[derive(Debug, Default)]
pub(crate) struct Timers {
    /// For each element, for each slot: where the timer is in the heap, if it is set.
    slots: Vec<Vec<Option<usize>>>,
    heap: Vec<(Timestamp, TimerKey)>,
}

impl Timers {
    pub fn new(elements: usize) -> Timers {
        Timers { slots: vec![Vec::new(); elements], heap: Vec::new() }
    }

    /// Sets the timer to expire at `at` (steady time), replacing an earlier setting.
    pub fn schedule(&mut self, key: TimerKey, at: Timestamp) {
        let place = match self.place(key) {
            Some(place) => {
                self.heap[place].0 = at;
                place
            }
            None => {
                self.heap.push((at, key));
                self.heap.len() - 1
            }
        };
        self.settle(place);
    }

    pub fn unschedule(&mut self, key: TimerKey) {
        let Some(place) = self.place(key) else { return };
        self.heap.swap_remove(place);
        self.slots[key.0 as usize][key.1 as usize] = None;
        if place < self.heap.len() {
            self.settle(place);
        }
    }

    fn place(&self, (element, slot): TimerKey) -> Option<usize> {
        self.slots[element as usize].get(slot as usize).copied().flatten()
    }

    /// When the timer will expire, if it is set.
    pub fn expiry(&self, key: TimerKey) -> Option<Timestamp> {
        self.place(key).map(|place| self.heap[place].0)
    }

    /// Whether the element has a timer that is set.
    pub fn any(&self, element: u32) -> bool {
        self.slots[element as usize].iter().any(Option::is_some)
    }

    /// Moves an entry that may be out of place up, then down, until it is right.
    fn settle(&mut self, mut at: usize) {
        while at > 0 && self.heap[at].0 < self.heap[at / ARITY].0 {
            self.swap(at, at / ARITY);
            at /= ARITY;
        }
        loop {
            let children = (at * ARITY).max(1)..((at + 1) * ARITY).min(self.heap.len());
            // Of those that are equal, this entry goes before its children, and the first child before the others.
            let least = children.fold(at, |least, child| match self.heap[child].0 < self.heap[least].0 {
                true => child,
                false => least,
            });
            if least == at {
                break;
            }
            self.swap(at, least);
            at = least;
        }
        self.note(at);
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        self.note(a);
    }

    /// Notes where the entry at `place` is.
    fn note(&mut self, place: usize) {
        let (_, (element, slot)) = self.heap[place];
        let slots = &mut self.slots[element as usize];
        if slots.len() <= slot as usize {
            slots.resize(slot as usize + 1, None);
        }
        slots[slot as usize] = Some(place);
    }

    /// When the next timer expires.
    pub fn next_expiry(&self) -> Option<Timestamp> {
        self.heap.first().map(|(at, _)| *at)
    }

    /// Unsets and returns a timer that has expired by `now`, the earliest first.
    pub fn pop_expired(&mut self, now: Timestamp) -> Option<TimerKey> {
        let &(at, key) = self.heap.first()?;
        (at <= now).then(|| self.unschedule(key))?;
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
        assert_eq!(t.heap.len(), 1);
        assert_eq!(t.pop_expired(at(998)), None);
        assert_eq!(t.pop_expired(at(999)), Some((0, 0)));
        t.schedule((0, 0), at(5));
        t.unschedule((0, 0));
        assert_eq!(t.next_expiry(), None);
    }

    #[test]
    fn ties_come_out_as_in_click() {
        let mut t = Timers::new(5);
        (0..5).for_each(|e| t.schedule((e, 0), at(7)));
        let order: Vec<u32> = std::iter::from_fn(|| t.pop_expired(at(7))).map(|(e, _)| e).collect();
        // The last entry of the heap takes the place of the first, and does not give way to its equals.
        assert_eq!(order, [0, 4, 3, 2, 1]);
    }

    #[test]
    fn any_order_of_setting_and_unsetting_comes_out_sorted() {
        let mut t = Timers::new(500);
        let time = |n: u32| i64::from(n.wrapping_mul(2_654_435_761) >> 20);
        (0..500).for_each(|e| t.schedule((e, (e % 3) as u16), at(time(e))));
        (0..500).step_by(7).for_each(|e| t.schedule((e, (e % 3) as u16), at(time(e + 1000))));
        (0..500).step_by(5).for_each(|e| t.unschedule((e, (e % 3) as u16)));
        let expected = |e: &u32| if e.is_multiple_of(7) { time(e + 1000) } else { time(*e) };
        let mut times: Vec<i64> =
            (0..500u32).filter(|e| !e.is_multiple_of(5)).map(|e| expected(&e)).collect();
        times.sort_unstable();
        let mut popped = Vec::new();
        while let Some(next) = t.next_expiry() {
            popped.push(next.nanos());
            assert_eq!(t.pop_expired(next - std::time::Duration::from_nanos(1)), None);
            assert!(t.pop_expired(next).is_some());
        }
        assert_eq!(popped, times);
    }
}
