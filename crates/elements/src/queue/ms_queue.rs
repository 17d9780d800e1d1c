//! MSQueue: a queue for several threads that push.

use super::core::{EmptyNotice, Kind, Overflow, Queue, class};
use clickwork_router::Class;

/// The class facts.
pub static CLASS: Class = Class {
    help: "stores packets first in, first out, for several threads that push",
    manual: "As NotifierQueue. In Click several threads may push into it at once; here every queue allows that.",
    example: "InfiniteSource(LIMIT 5, STOP true) -> MSQueue(10) -> Unqueue -> Discard",
    ..class("MSQueue", || Box::new(Queue::new(KIND)))
};

const KIND: Kind = Kind { empty: EmptyNotice::Patient, full: false, overflow: Overflow::RefuseNew };
