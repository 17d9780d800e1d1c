//! ThreadSafeQueue: a queue for several threads.

use super::core::{EmptyNotice, Kind, Overflow, Queue, class};
use clickwork_router::Class;

/// The class facts.
pub static CLASS: Class = Class {
    help: "stores packets first in, first out, for several threads",
    manual: "As Queue. In Click it is the queue that several threads may push into and pull from at once; here every queue is.",
    example: "InfiniteSource(LIMIT 5, STOP true) -> ThreadSafeQueue(10) -> Unqueue -> Discard",
    ..class("ThreadSafeQueue", || Box::new(Queue::new(KIND)))
};

const KIND: Kind = Kind { empty: EmptyNotice::Patient, full: true, overflow: Overflow::RefuseNew };
