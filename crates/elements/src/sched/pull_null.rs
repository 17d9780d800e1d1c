//! PullNull: passes packets on, on pull paths only.

use clickwork_packet::Batch;
use clickwork_router::{Class, Cx, Element};

/// The class facts.
pub static CLASS: Class = Class {
    help: "passes pulled packets on unchanged",
    manual: "As Null, but both ports are pull: it makes its neighbours' agnostic ports pull.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> PullNull -> Discard",
    processing: "l/l",
    ..Class::new("PullNull", "sched", || Box::new(PullNull))
};

struct PullNull;

impl Element for PullNull {
    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        cx.pull(0, limit)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use clickwork_router::Outcome;

    #[test]
    fn passes_packets_where_they_are_pulled_only() {
        let mut t = Harness::new("s :: Source -> Queue -> PullNull -> k :: Sink");
        t.push("s", 0, [Packet::new(b"x")]);
        assert_eq!((t.run(), t.bytes("k")), (Outcome::Exhausted, vec![b"x".to_vec()]));
        assert!(!Harness::errors("TimedSource -> PullNull -> Discard").is_empty());
    }
}
