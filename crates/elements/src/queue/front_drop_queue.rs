//! FrontDropQueue: a queue that drops old packets rather than new ones.

use super::core::{EmptyNotice, Kind, Overflow, Queue, class};
use clickwork_router::Class;

/// The class facts.
pub static CLASS: Class = Class {
    help: "stores packets first in, first out; drops the oldest when full",
    manual: "As NotifierQueue, but when it is full, the oldest packet goes to output 1 or is dropped, and the new one is stored. For traffic whose old packets are worth least.",
    example: "InfiniteSource(LIMIT 5, STOP true) -> FrontDropQueue(10) -> Unqueue -> Discard",
    ..class("FrontDropQueue", || Box::new(Queue::new(KIND)))
};

const KIND: Kind = Kind { empty: EmptyNotice::Patient, full: false, overflow: Overflow::DropOldest };
