//! SimpleQueue: a queue without notifiers.

use super::core::{EmptyNotice, Kind, Overflow, Queue, class};
use clickwork_router::Class;

/// The class facts.
pub static CLASS: Class = Class {
    help: "stores packets first in, first out, and tells nobody",
    manual: "As Queue, but it notifies nobody: who pulls from it has to ask again and again. Meant for comparison.",
    example: "InfiniteSource(LIMIT 5, STOP true) -> SimpleQueue(10) -> Unqueue -> Discard",
    ..class("SimpleQueue", || Box::new(Queue::new(KIND)))
};

const KIND: Kind = Kind { empty: EmptyNotice::Never, full: false, overflow: Overflow::RefuseNew };
