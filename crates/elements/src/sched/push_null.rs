//! PushNull: passes packets on, on push paths only.

use crate::standard::fast::null::{Constants, fast};
use clickwork_packet::{Batch, Packet};
use clickwork_router::{Class, Cx, Element, Fast, FastCode, FastPath};

/// The class facts.
pub static CLASS: Class = Class {
    help: "passes pushed packets on unchanged",
    manual: "As Null, but both ports are push: it makes its neighbours' agnostic ports push.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> PushNull -> Discard",
    processing: "h/h",
    fast: Some(FastPath::of::<PushNull>()),
    ..Class::new("PushNull", "sched", || Box::new(PushNull))
};

struct PushNull;

impl Fast for PushNull {
    fn fast_code(&self) -> Option<FastCode> {
        let source = include_str!("../standard/fast/null.rs");
        Some(FastCode::new("null", source, &Constants))
    }

    fn fast(&self, p: &mut Packet) -> Option<u16> {
        fast(&Constants, p)
    }
}

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
