//! QuickNoteQueue: a queue that tells at once that it is empty.

use super::core::{EmptyNotice, Kind, Overflow, Queue, class};
use clickwork_router::Class;

/// The class facts.
pub static CLASS: Class = Class {
    help: "stores packets first in, first out, and tells at once that it is empty",
    manual: "As Queue, but those who pull may sleep as soon as the last packet has left; Queue waits a little, to spare work when it hovers around empty.",
    example: "InfiniteSource(LIMIT 5, STOP true) -> QuickNoteQueue(10) -> Unqueue -> Discard",
    ..class("QuickNoteQueue", || Box::new(Queue::new(KIND)))
};

const KIND: Kind = Kind { empty: EmptyNotice::AtOnce, full: true, overflow: Overflow::RefuseNew };
