//! SimpleQueue: a queue that does not tell when it is full.

use super::core::{EmptyNotice, Kind, Overflow, Queue, class};
use clickwork_router::Class;

/// The class facts.
pub static CLASS: Class = Class {
    help: "stores packets first in, first out",
    manual: "As NotifierQueue. In Click it notifies nobody, so that whoever pulls from it has to ask again and again; here \
             those who pull are told, and can sleep.",
    example: "InfiniteSource(LIMIT 5, STOP true) -> SimpleQueue(10) -> Unqueue -> Discard",
    ..class("SimpleQueue", || Box::new(Queue::new(KIND)))
};

const KIND: Kind = Kind { empty: EmptyNotice::Patient, full: false, overflow: Overflow::RefuseNew };
