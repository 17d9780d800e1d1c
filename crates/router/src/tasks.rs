//! Tasks under stride scheduling (Waldspurger and Weihl 1995): each element's task runs in proportion to its tickets.
//!
//! A task's *pass* is the virtual time of its next turn; the task with the lowest pass runs, and its pass then advances by
//! its *stride*, which is inversely proportional to its tickets. Ties come out as in Click's list of tasks: those that were
//! put into it first run first, and a task that goes on is put in behind those that its turn has woken.

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
    /// Whether it has a place in the list. One that is unscheduled keeps its place until its turn would come.
    listed: bool,
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
    /// The list: pass, order of arrival, element.
    list: BinaryHeap<Reverse<(u64, u64, u32)>>,
    arrivals: u64,
    scheduled: usize,
    /// The task whose turn it is.
    running: Option<usize>,
}

impl Tasks {
    pub fn new(elements: usize) -> Tasks {
        let task = Task { tickets: DEFAULT_TICKETS, pass: 0, scheduled: false, listed: false };
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

    /// Puts the task into the schedule, one stride from now, unless it is there.
    pub fn schedule(&mut self, element: usize) {
        let task = &mut self.tasks[element];
        self.scheduled += usize::from(!std::mem::replace(&mut task.scheduled, true));
        if !task.listed && self.running != Some(element) {
            self.enter(element, self.pass() + self.tasks[element].stride());
        }
    }

    /// The pass of the task that runs, or is the next to run.
    fn pass(&self) -> u64 {
        let running = self.running.map(|element| self.tasks[element].pass);
        running.or(self.list.peek().map(|Reverse((pass, ..))| *pass)).unwrap_or(0)
    }

    fn enter(&mut self, element: usize, pass: u64) {
        self.arrivals += 1;
        let task = &mut self.tasks[element];
        (task.pass, task.listed) = (pass, true);
        self.list.push(Reverse((pass, self.arrivals, element as u32)));
    }

    pub fn unschedule(&mut self, element: usize) {
        let was = std::mem::replace(&mut self.tasks[element].scheduled, false);
        self.scheduled -= usize::from(was);
    }

    /// Takes the task whose turn it is. The turn lasts until [`Tasks::end_turn`].
    pub fn next(&mut self) -> Option<usize> {
        while let Some(Reverse((_, _, element))) = self.list.pop() {
            let element = element as usize;
            self.tasks[element].listed = false;
            if self.tasks[element].scheduled {
                self.unschedule(element);
                self.running = Some(element);
                return Some(element);
            }
        }
        None
    }

    /// Ends the turn of a task. It is put back if it goes on, or was scheduled meanwhile.
    pub fn end_turn(&mut self, element: usize, goes_on: bool) {
        self.running = None;
        if goes_on && !self.tasks[element].scheduled {
            self.tasks[element].scheduled = true;
            self.scheduled += 1;
        }
        let task = self.tasks[element];
        if task.scheduled && !task.listed {
            self.enter(element, task.pass + task.stride());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(tasks: &mut Tasks, turns: usize) -> Vec<usize> {
        (0..turns)
            .map(|_| {
                let e = tasks.next().expect("something is scheduled");
                tasks.end_turn(e, true);
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
        t.end_turn(1, false);
        assert_eq!(t.next(), None);
        assert!(!t.any_scheduled());
    }

    #[test]
    fn those_that_a_turn_wakes_come_before_the_task_itself() {
        let mut t = Tasks::new(3);
        t.schedule(0);
        assert_eq!(t.next(), Some(0));
        // It is woken itself before it wakes the others; that does not give it a better place.
        [0, 2, 1].into_iter().for_each(|e| t.schedule(e));
        t.end_turn(0, false);
        assert_eq!(run(&mut t, 6), [2, 1, 0, 2, 1, 0]);
    }

    #[test]
    fn a_task_that_a_timer_schedules_comes_a_stride_behind_the_next() {
        let mut t = Tasks::new(3);
        t.schedule(0);
        t.schedule(1);
        assert_eq!(run(&mut t, 1), [0]);
        // The next is 1 at pass 64; 0 waits at 128, and so does 2 behind it.
        t.schedule(2);
        assert_eq!(run(&mut t, 5), [1, 0, 2, 1, 0]);
    }

    #[test]
    fn a_task_that_is_unscheduled_and_scheduled_again_keeps_its_place() {
        let mut t = Tasks::new(3);
        (0..3).for_each(|e| t.schedule(e));
        t.unschedule(1);
        t.schedule(1);
        assert_eq!(run(&mut t, 3), [0, 1, 2]);
        t.unschedule(0);
        assert_eq!(run(&mut t, 4), [1, 2, 1, 2]);
        // Its turn passed while it was unscheduled, so it comes a stride behind the next.
        t.schedule(0);
        assert_eq!(run(&mut t, 3), [1, 2, 0]);
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
