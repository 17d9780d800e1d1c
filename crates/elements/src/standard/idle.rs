//! Idle: sends nothing, and drops what it gets.

use clickwork_packet::Batch;
use clickwork_router::{Class, Cx, Element};

/// The class facts.
pub static CLASS: Class = Class {
    help: "sends no packets and drops those it gets",
    manual: "Put it where a port must be connected but no packets should come, or where they should end.",
    example: "Idle -> Discard",
    ports: "-/-",
    flow: "x/y",
    flags: "S0",
    packets: "any/none",
    ..Class::new("Idle", "standard", || Box::new(Idle))
};

pub(super) struct Idle;

impl Element for Idle {
    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        cx.drop_batch(batch, "idle");
    }
}
