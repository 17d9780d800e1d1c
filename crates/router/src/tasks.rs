//! Tasks under stride scheduling (Waldspurger and Weihl 1995): each element's task runs in proportion to its tickets.
//!
//! A task's *pass* is the virtual time of its next turn; the task with the lowest pass runs, ties in the order of
//! arrival, and its pass then advances by its *stride*, which is inversely proportional to its tickets.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Tickets of a task that nobody gave any.
pub const DEFAULT_TICKETS: u32 = 1024;
/// The most tickets a task can have.
pub const MAX_TICKETS: u32 = 1 << 15;
const STRIDE_1: u64 = 1 << 16;

#[derive(Clone, Copy, Debug)]
struct Task {
    tickets: u32,
    pass: u64,
    scheduled: bool,
    /// Distinguishes the live heap entry from those of earlier schedulings.
    entry: u64,
}

impl Task {
    fn stride(&self) -> u64 {
        STRIDE_1 / u64::from(self.tickets)
    }
}

/// The tasks of a router, by element number; any element may have one.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    tasks: Vec<Task>,
    heap: BinaryHeap<Reverse<(u64, u64, u32)>>,
    pass: u64,
    entries: u64,
    scheduled: usize,
}

impl Tasks {
    pub fn new(elements: usize) -> Tasks {
        let task = Task { tickets: DEFAULT_TICKETS, pass: 0, scheduled: false, entry: 0 };
        Tasks { tasks: vec![task; elements], ..Tasks::default() }
    }

    pub fn tickets(&self, element: usize) -> u32 {
        self.tasks[element].tickets
    }

    /// Sets the tickets, held between 1 and [`MAX_TICKETS`].
    pub fn set_tickets(&mut self, element: usize, tickets: u32) {
        self.tasks[element].tickets = tickets.clamp(1, MAX_TICKETS);
    }

    pub fn is_scheduled(&self, element: usize) -> bool {
        self.tasks[element].scheduled
    }

    pub fn any_scheduled(&self) -> bool {
        self.scheduled > 0
    }

    fn is_live(&self, element: u32, entry: u64) -> bool {
        let t = &self.tasks[element as usize];
        t.scheduled && t.entry == entry
    }

    /// Puts the task into the schedule, one stride from now, unless it is there.
    pub fn schedule(&mut self, element: usize) {
        let task = self.tasks[element];
        if !task.scheduled {
            self.enter(element, self.pass + task.stride());
        }
    }

    /// Puts back a task that just had its turn.
    pub fn reschedule_after_turn(&mut self, element: usize) {
        let task = self.tasks[element];
        if !task.scheduled {
            self.enter(element, task.pass + task.stride());
        }
    }

    fn enter(&mut self, element: usize, pass: u64) {
        self.entries += 1;
        self.scheduled += 1;
        let task = &mut self.tasks[element];
        (task.pass, task.scheduled, task.entry) = (pass, true, self.entries);
        self.heap.push(Reverse((pass, self.entries, element as u32)));
    }

    pub fn unschedule(&mut self, element: usize) {
        let was = std::mem::replace(&mut self.tasks[element].scheduled, false);
        self.scheduled -= usize::from(was);
    }

    /// Takes the task whose turn it is out of the schedule.
    pub fn next(&mut self) -> Option<usize> {
        while let Some(Reverse((pass, entry, element))) = self.heap.pop() {
            if self.is_live(element, entry) {
                self.pass = pass;
                self.unschedule(element as usize);
                return Some(element as usize);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(tasks: &mut Tasks, turns: usize) -> Vec<usize> {
        (0..turns)
            .map(|_| {
                let e = tasks.next().expect("something is scheduled");
                tasks.reschedule_after_turn(e);
                e
            })
            .collect()
    }

    #[test]
    fn turns_are_in_proportion_to_tickets() {
        let mut t = Tasks::new(2);
        t.set_tickets(0, 3072);
        t.schedule(0);
        t.schedule(1);
        let turns = run(&mut t, 4000);
        let first = turns.iter().filter(|&&e| e == 0).count();
        assert!((2995..=3015).contains(&first), "{first} turns of 4000 with 3/4 of the tickets");
    }

    #[test]
    fn equal_tasks_take_turns_in_order() {
        let mut t = Tasks::new(3);
        [2, 0, 1].into_iter().for_each(|e| t.schedule(e));
        assert_eq!(run(&mut t, 6), [2, 0, 1, 2, 0, 1]);
    }

    #[test]
    fn an_unscheduled_task_does_not_run() {
        let mut t = Tasks::new(2);
        t.schedule(0);
        t.schedule(1);
        t.unschedule(0);
        assert_eq!(t.next(), Some(1));
        assert_eq!(t.next(), None);
        assert!(!t.any_scheduled());
    }

    #[test]
    fn a_late_comer_does_not_catch_up_on_missed_turns() {
        let mut t = Tasks::new(2);
        t.schedule(0);
        run(&mut t, 1000);
        t.schedule(1);
        let late = run(&mut t, 10).into_iter().filter(|&e| e == 1).count();
        assert_eq!(late, 5);
    }
}
