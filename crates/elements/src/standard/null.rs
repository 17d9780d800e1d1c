//! Null, and Null1 to Null8: pass packets on.

use super::fast::null::Constants;
use clickwork_packet::Batch;
use clickwork_router::{Class, Cx, Element, FastPath, fast_path};

/// The class facts.
pub static CLASS: Class = class("Null");

/// The class facts of the numbered classes, which differ from Null in nothing but their names.
pub static NUMBERED: [Class; 8] = [
    class("Null1"),
    class("Null2"),
    class("Null3"),
    class("Null4"),
    class("Null5"),
    class("Null6"),
    class("Null7"),
    class("Null8"),
];

const fn class(name: &'static str) -> Class {
    Class {
        help: "passes packets on unchanged",
        manual: "Does nothing. Useful to name a place in a configuration, and to measure what an element costs. Null1 to \
                 Null8 do the same, so that measurements can tell calls of one class from calls of several.",
        example: "InfiniteSource(LIMIT 1, STOP true) -> Null -> Discard",
        fast: Some(FastPath::of::<Null>()),
        ..Class::new(name, "standard", || Box::<Null>::default())
    }
}

#[derive(Default)]
struct Null {
    constants: Constants,
}

fast_path!(Null, null);

impl Element for Null {
    fn push(&mut self, _: usize, _: &mut Batch, _: &mut Cx<'_>) {}

    fn passes_on(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn all_pass_packets_on_in_push_and_pull() {
        let nulls: String = (1..=8).map(|i| format!("Null{i} -> ")).collect();
        let mut t = Harness::new(&format!("s :: Source -> {nulls} Queue -> {nulls} Null -> k :: Sink"));
        t.push("s", 0, [Packet::new(b"x")]);
        assert_eq!(t.bytes("k"), [b"x"]);
        assert!(Harness::errors("Idle -> Null3(1) -> Discard").contains("too many arguments"));
    }
}
