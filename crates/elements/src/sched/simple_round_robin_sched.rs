//! SimpleRoundRobinSched: a round-robin scheduler that asks every input.

use super::round_robin_sched::{RoundRobinSched, class};
use clickwork_router::Class;

/// The class facts.
pub static CLASS: Class = Class {
    help: "pulls from its inputs by turns, without looking at notifiers",
    manual: "As RoundRobinSched, but it asks each input in its turn even if notifiers say that there is nothing.",
    example: "InfiniteSource(LIMIT 5, STOP true) -> Queue -> SimpleRoundRobinSched -> Unqueue -> Discard",
    ..class("SimpleRoundRobinSched", || Box::new(RoundRobinSched::new(false)))
};
