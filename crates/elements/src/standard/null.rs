//! Null: passes packets on.

use super::fast::null::Constants;
use clickwork_packet::Batch;
use clickwork_router::{Class, Cx, Element, FastPath, fast_path};

/// The class facts.
pub static CLASS: Class = Class {
    help: "passes packets on unchanged",
    manual: "Does nothing. Useful to name a place in a configuration, and to measure what an element costs.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> Null -> Discard",
    fast: Some(FastPath::of::<Null>()),
    ..Class::new("Null", "standard", || Box::<Null>::default())
};

#[derive(Default)]
struct Null {
    constants: Constants,
}

fast_path!(Null, null);

impl Element for Null {
    fn push(&mut self, _: usize, _: &mut Batch, _: &mut Cx<'_>) {}

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        cx.pull(0, limit)
    }
}
