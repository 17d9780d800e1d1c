//! Deadlines of flows: which comes first. A binary heap, as Click's, so that flows with the same deadline go in the same
//! order as there.
//!
//! A packet does not touch the heap: it moves its flow's deadline into the future, which is found out when the old one
//! comes up. So an entry may be too early, and may be of a flow that is gone; whoever takes it off must look.

use super::flow::Place;
use clickwork_packet::Timestamp;

/// A moment in milliseconds, which may wrap: moments are compared within 24 days.
pub type Moment = u32;

/// A point in time as deadlines know it.
pub fn moment(now: Timestamp) -> Moment {
    (now.nanos() / 1_000_000) as Moment
}

/// Whether `a` is before `b`.
#[inline]
pub fn before(a: Moment, b: Moment) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

/// One deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// When.
    pub at: Moment,
    /// Of which flow.
    pub flow: Place,
}

/// A heap of deadlines, the first on top.
#[derive(Default)]
pub struct Deadlines {
    heap: Vec<Deadline>,
}

impl Deadlines {
    /// The first.
    pub fn first(&self) -> Option<Deadline> {
        self.heap.first().copied()
    }

    /// How many there are, with those that are out of date.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Adds one.
    pub fn push(&mut self, deadline: Deadline) {
        self.heap.push(deadline);
        self.rise(self.heap.len() - 1);
    }

    /// Takes the first off.
    pub fn pop(&mut self) -> Option<Deadline> {
        if self.heap.is_empty() {
            return None;
        }
        let first = self.heap.swap_remove(0);
        self.sink(0);
        Some(first)
    }

    /// Takes a flow's deadline off that was the last to be added, if it has stayed at the end.
    pub fn drop_last(&mut self, flow: Place) {
        if self.heap.last().is_some_and(|last| last.flow == flow) {
            self.heap.pop();
        }
    }

    /// Puts the first off until later.
    pub fn postpone_first(&mut self, at: Moment) {
        self.heap[0].at = at;
        self.sink(0);
    }

    /// Removes those that `keep` does not want.
    pub fn retain(&mut self, keep: impl FnMut(&Deadline) -> bool) {
        self.heap.retain(keep);
        (0..self.heap.len() / 2).rev().for_each(|i| self.sink(i));
    }

    /// Removes all.
    pub fn clear(&mut self) {
        self.heap.clear();
    }

    fn rise(&mut self, mut i: usize) {
        while i > 0 {
            let parent = (i - 1) / 2;
            if !before(self.heap[i].at, self.heap[parent].at) {
                break;
            }
            self.heap.swap(i, parent);
            i = parent;
        }
    }

    fn sink(&mut self, mut i: usize) {
        loop {
            let left = 2 * i + 1;
            let Some(mut child) = self.heap.get(left).map(|_| left) else { break };
            if self.heap.get(left + 1).is_some_and(|right| before(right.at, self.heap[left].at)) {
                child = left + 1;
            }
            if !before(self.heap[child].at, self.heap[i].at) {
                break;
            }
            self.heap.swap(i, child);
            i = child;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_come_in_order_even_where_the_clock_wraps() {
        let mut heap = Deadlines::default();
        let start = Moment::MAX - 50;
        for i in 0..100u32 {
            heap.push(Deadline { at: start.wrapping_add(i * 37 % 100), flow: i });
        }
        heap.retain(|d| d.flow % 10 != 3);
        heap.postpone_first(start.wrapping_add(200));
        let order: Vec<u32> = std::iter::from_fn(|| heap.pop()).map(|d| d.at.wrapping_sub(start)).collect();
        assert_eq!(order.len(), 90);
        assert!(order.windows(2).all(|w| w[0] <= w[1]) && order[89] == 200, "{order:?}");
    }
}
