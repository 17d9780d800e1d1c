//! Packet schedulers, unqueues and switches: elements that pull from queues by turns, by priority, by rate or by choice.

use clickwork_router::Class;

mod block;
mod burster;
mod compare_block;
mod delay;
mod delay_shaper;
mod delay_unqueue;
mod drr_sched;
mod input_switch;
mod link_unqueue;
mod prio_sched;
mod pull_null;
mod pull_switch;
mod pull_tee;
mod push_null;
mod random_switch;
mod round_robin_sched;
mod simple_prio_sched;
mod simple_pull_switch;
mod simple_round_robin_sched;
mod static_pull_switch;
mod stride;
mod stride_sched;
mod stride_switch;
pub mod suppressor;
mod time_sorted_sched;
mod timed_sink;
mod timed_unqueue;
mod turns;
mod unqueue;
mod unqueue2;

pub(crate) use turns::{gather, pull_packet};

/// The classes of this family.
pub static CLASSES: &[&Class] = &[
    &block::CLASS,
    &burster::CLASS,
    &compare_block::CLASS,
    &delay_shaper::CLASS,
    &delay_unqueue::CLASS,
    &drr_sched::CLASS,
    &input_switch::CLASS,
    &link_unqueue::CLASS,
    &prio_sched::CLASS,
    &pull_null::CLASS,
    &pull_switch::CLASS,
    &pull_tee::CLASS,
    &push_null::CLASS,
    &random_switch::CLASS,
    &round_robin_sched::CLASS,
    &simple_prio_sched::CLASS,
    &simple_pull_switch::CLASS,
    &simple_round_robin_sched::CLASS,
    &static_pull_switch::CLASS,
    &stride_sched::CLASS,
    &stride_switch::CLASS,
    &suppressor::CLASS,
    &time_sorted_sched::CLASS,
    &timed_sink::CLASS,
    &timed_unqueue::CLASS,
    &unqueue::CLASS,
    &unqueue2::CLASS,
];
