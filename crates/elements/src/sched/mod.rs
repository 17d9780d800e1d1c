//! Packet schedulers and unqueues: elements that pull from queues, by turns, by priority, by rate.

use clickwork_router::Class;

mod drr_sched;
mod prio_sched;
mod round_robin_sched;
mod simple_prio_sched;
mod simple_round_robin_sched;
mod stride;
mod stride_sched;
mod stride_switch;
mod time_sorted_sched;
mod turns;

pub(crate) use turns::gather;
mod unqueue;

/// The classes of this family.
pub static CLASSES: &[&Class] = &[
    &drr_sched::CLASS,
    &prio_sched::CLASS,
    &round_robin_sched::CLASS,
    &simple_prio_sched::CLASS,
    &simple_round_robin_sched::CLASS,
    &stride_sched::CLASS,
    &stride_switch::CLASS,
    &time_sorted_sched::CLASS,
    &unqueue::CLASS,
];
