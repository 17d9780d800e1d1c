//! SimplePrioSched: a priority scheduler that asks every input.

use super::prio_sched::{PrioSched, class};
use clickwork_router::Class;

/// The class facts.
pub static CLASS: Class = Class {
    help: "pulls from the first of its inputs that has a packet, without looking at notifiers",
    manual: "As PrioSched, but it asks each input even if notifiers say that there is nothing.",
    example: "InfiniteSource(LIMIT 5, STOP true) -> Queue -> SimplePrioSched -> Unqueue -> Discard",
    ..class("SimplePrioSched", || Box::new(PrioSched::new(false)))
};
