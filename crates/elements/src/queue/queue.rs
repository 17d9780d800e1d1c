//! Queue: the border between push and pull.

use super::core::{EmptyNotice, Kind, Overflow, Queue, class};
use clickwork_router::Class;

/// The class facts.
pub static CLASS: Class = Class {
    help: "stores packets first in, first out",
    manual: "Stores pushed packets until they are pulled. When it holds CAPACITY packets, further ones go to output 1 if that is connected, and are dropped otherwise. It tells those who pull when packets come (empty notifier) and those who push when there is room again (full notifier).",
    example: "InfiniteSource(LIMIT 5, STOP true) -> Queue(10) -> Unqueue -> Discard",
    ..class("Queue", || Box::new(Queue::new(KIND)))
};

const KIND: Kind = Kind { empty: EmptyNotice::Patient, full: true, overflow: Overflow::RefuseNew };
