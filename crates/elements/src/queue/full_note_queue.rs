//! FullNoteQueue: an older name of Queue.

use super::core::{EmptyNotice, Kind, Overflow, Queue, class};
use clickwork_router::Class;

/// The class facts.
pub static CLASS: Class = Class {
    help: "stores packets first in, first out",
    manual: "The same as Queue.",
    example: "InfiniteSource(LIMIT 5, STOP true) -> FullNoteQueue(10) -> Unqueue -> Discard",
    ..class("FullNoteQueue", || Box::new(Queue::new(KIND)))
};

const KIND: Kind = Kind { empty: EmptyNotice::Patient, full: true, overflow: Overflow::RefuseNew };
