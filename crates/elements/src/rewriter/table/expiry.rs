//! When flows end: the part of the table that decides which flows stay.
//!
//! A flow has two deadlines, both counted from its last packet: until the first nothing can push it out, at the second it
//! ends. It is in the heap of guaranteed flows until the first has passed, then among the best-effort flows.

use super::FlowSet;
use super::deadlines::{Deadline, Moment, before};
use super::flow::{Flow, Held, Place};

/// Steps through deadlines that a new flow makes at most, so that it costs about the same whatever has happened.
const STEPS_PER_FLOW: usize = 256;

impl FlowSet {
    /// When a flow may be pushed out, if it is guaranteed at all.
    fn guarantee_end(&self, flow: &Flow) -> Moment {
        flow.last.wrapping_add(self.tables[usize::from(flow.table)].timeouts.guarantee)
    }

    /// When a flow ends.
    pub(super) fn end(&self, flow: &Flow) -> Moment {
        flow.last.wrapping_add(self.tables[usize::from(flow.table)].timeout(flow.state))
    }

    /// Puts a flow into the heap where it belongs.
    pub(super) fn hold(&mut self, place: Place, now: Moment) {
        let flow = &self.flows[place];
        let guarantee_end = self.guarantee_end(flow);
        let (held, at) = match before(now, guarantee_end) {
            true => (Held::Guaranteed, guarantee_end),
            false => (Held::BestEffort, self.end(flow)),
        };
        let flow = &mut self.flows[place];
        (flow.held, flow.placed) = (held, at);
        let heap = if held == Held::Guaranteed { &mut self.guaranteed } else { &mut self.best_effort };
        heap.push(Deadline { at, flow: place });
        self.tidy();
    }

    /// Notes a packet of a flow whose state was `old_state`.
    #[inline]
    pub fn touch(&mut self, place: Place, old_state: u8, now: Moment) {
        let flow = &mut self.flows[place];
        flow.last = now;
        if flow.state != old_state {
            self.state_changed(place, now);
        }
    }

    /// Sees to it that a flow is not held longer than its new state allows.
    #[cold]
    fn state_changed(&mut self, place: Place, now: Moment) {
        let flow = &self.flows[place];
        if flow.held == Held::BestEffort && before(self.end(flow), flow.placed) {
            self.hold(place, now);
        }
    }

    /// Whether a deadline is of a flow that is there, and its latest.
    fn is_current(&self, deadline: &Deadline, held: Held) -> bool {
        self.flows.get(deadline.flow).is_some_and(|flow| flow.held == held && flow.placed == deadline.at)
    }

    /// Removes deadlines that are out of date when they are most of all.
    fn tidy(&mut self) {
        let FlowSet { flows, guaranteed, best_effort, size, .. } = self;
        if guaranteed.len() + best_effort.len() <= 2 * *size + 64 {
            return;
        }
        for (heap, held) in [(guaranteed, Held::Guaranteed), (best_effort, Held::BestEffort)] {
            heap.retain(|d| flows.get(d.flow).is_some_and(|flow| flow.held == held && flow.placed == d.at));
        }
    }

    /// Moves flows whose guarantee has ended to the best-effort heap, in at most `steps`; gives how many are left.
    fn end_guarantees(&mut self, now: Moment, mut steps: usize) -> usize {
        while steps > 0
            && let Some(first) = self.guaranteed.first()
            && !before(now, first.at)
        {
            steps -= 1;
            if !self.is_current(&first, Held::Guaranteed) {
                self.guaranteed.pop();
                continue;
            }
            let end = self.guarantee_end(&self.flows[first.flow]);
            if before(now, end) {
                self.flows[first.flow].placed = end;
                self.guaranteed.postpone_first(end);
            } else {
                self.guaranteed.pop();
                self.hold(first.flow, now);
            }
        }
        steps
    }

    /// The best-effort flow with the next deadline, and how many of `steps` are left. If they do not suffice, it is only one
    /// that could end soon.
    fn next_to_end(&mut self, now: Moment, steps: usize) -> (Option<Deadline>, usize) {
        for left in (0..steps).rev() {
            let Some(first) = self.best_effort.first() else { return (None, left) };
            if !self.is_current(&first, Held::BestEffort) {
                self.best_effort.pop();
                continue;
            }
            let flow = &self.flows[first.flow];
            let (guarantee_end, end) = (self.guarantee_end(flow), self.end(flow));
            if before(now, guarantee_end) {
                self.best_effort.pop();
                self.hold(first.flow, now);
            } else if before(first.at, end) {
                self.flows[first.flow].placed = end;
                self.best_effort.postpone_first(end);
            } else {
                return (Some(first), left);
            }
        }
        let first = self.best_effort.first().filter(|first| {
            self.is_current(first, Held::BestEffort)
                && !before(now, self.guarantee_end(&self.flows[first.flow]))
        });
        (first, 0)
    }

    /// Removes a flow because `new` is one too many; says whether that was the new one itself.
    pub(super) fn make_room(&mut self, new: Place, now: Moment) -> bool {
        let steps = self.end_guarantees(now, STEPS_PER_FLOW);
        let (first, _) = self.next_to_end(now, steps);
        match first {
            Some(first) => self.destroy_first(first),
            None => {
                self.destroy(new);
                self.guaranteed.drop_last(new);
            }
        }
        first.is_none_or(|first| first.flow == new)
    }

    /// Removes the flow whose deadline is on top of its heap, with the deadline: so flows with the same deadline go in the
    /// order in which they go in Click.
    fn destroy_first(&mut self, first: Deadline) {
        self.destroy(first.flow);
        for heap in [&mut self.best_effort, &mut self.guaranteed] {
            if heap.first() == Some(first) {
                heap.pop();
            }
        }
    }

    /// Removes flows that have ended, and more if there are too many, in about `steps`; says whether all is done.
    pub fn reap(&mut self, now: Moment, steps: usize) -> bool {
        let mut steps = self.end_guarantees(now, steps);
        while steps > 0 {
            let (first, left) = self.next_to_end(now, steps);
            steps = left;
            match first.filter(|first| left > 0 && !before(now, first.at)) {
                Some(first) => self.destroy_first(first),
                None => break,
            }
        }
        while steps > 0 && self.size as i64 > i64::from(self.capacity.max(0)) {
            let (first, left) = self.next_to_end(now, steps);
            let Some(victim) = first.or_else(|| self.first_guaranteed()) else { break };
            self.destroy_first(victim);
            steps = left;
        }
        steps > 0
    }

    /// The guaranteed flow whose guarantee ends first.
    fn first_guaranteed(&mut self) -> Option<Deadline> {
        while let Some(first) = self.guaranteed.first() {
            if !self.is_current(&first, Held::Guaranteed) {
                self.guaranteed.pop();
                continue;
            }
            let end = self.guarantee_end(&self.flows[first.flow]);
            if end == first.at {
                return Some(first);
            }
            self.flows[first.flow].placed = end;
            self.guaranteed.postpone_first(end);
        }
        None
    }
}
