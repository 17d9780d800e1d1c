//! SimpleIdle: Idle as Click's family of simple elements has it.

use super::idle::Idle;
use clickwork_router::Class;

/// The class facts.
pub static CLASS: Class = Class {
    help: "sends no packets and drops those it gets",
    manual: "The same as Idle.",
    example: "SimpleIdle -> Discard",
    ports: "-/-",
    flow: "x/y",
    flags: "S0",
    packets: "any/none",
    ..Class::new("SimpleIdle", "standard", || Box::new(Idle))
};
