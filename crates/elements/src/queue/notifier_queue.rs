//! NotifierQueue: a queue that tells when packets come.

use super::core::{EmptyNotice, Kind, Overflow, Queue, class};
use clickwork_router::Class;

/// The class facts.
pub static CLASS: Class = Class {
    help: "stores packets first in, first out, and tells who pulls",
    manual: "As Queue, without the full notifier: those who push are not told when it is full.",
    example: "InfiniteSource(LIMIT 5, STOP true) -> NotifierQueue(10) -> Unqueue -> Discard",
    ..class("NotifierQueue", || Box::new(Queue::new(KIND)))
};

const KIND: Kind = Kind { empty: EmptyNotice::Patient, full: false, overflow: Overflow::RefuseNew };
