//! PushNull: passes packets on, on push paths only.

use clickwork_packet::Batch;
use clickwork_router::{Class, Cx, Element};

/// The class facts.
pub static CLASS: Class = Class {
    help: "passes pushed packets on unchanged",
    manual: "As Null, but both ports are push: it makes its neighbours' agnostic ports push.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> PushNull -> Discard",
    processing: "h/h",
    ..Class::new("PushNull", "sched", || Box::new(PushNull))
};

struct PushNull;

impl Element for PushNull {
    fn push(&mut self, _: usize, _: &mut Batch, _: &mut Cx<'_>) {}
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn passes_packets_where_they_are_pushed_only() {
        let mut t = Harness::new("s :: Source -> PushNull -> k :: Sink");
        t.push("s", 0, [Packet::new(b"x")]);
        assert_eq!(t.bytes("k"), [b"x"]);
        assert!(!Harness::errors("Idle -> Queue -> PushNull -> Discard").is_empty());
    }
}
