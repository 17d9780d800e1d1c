//! MixedQueue: a queue with an input that goes first.

use super::core::{EmptyNotice, Kind, Overflow, Queue, class};
use clickwork_router::Class;

/// The class facts.
pub static CLASS: Class = Class {
    help: "stores packets first in first out and last in first out",
    manual: "Packets from input 0 are stored behind those held, packets from input 1 before them. When it is full, a packet from input 0 is refused, and a packet from input 1 takes the place of the last one. Refused packets go to output 1 if that is connected.",
    example: "InfiniteSource(LIMIT 5, STOP true) -> q :: MixedQueue(10) -> Unqueue -> Discard; Idle -> [1] q",
    ports: "2/1-2",
    ..class("MixedQueue", || Box::new(Queue::new(KIND)))
};

const KIND: Kind = Kind { empty: EmptyNotice::Patient, full: false, overflow: Overflow::RefuseNew };
