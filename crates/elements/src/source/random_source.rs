//! RandomSource: makes packets of random bytes as fast as the router can.

use super::infinite_source::{Contents, InfiniteSource};
use clickwork_router::Class;
use clickwork_router::args::{ArgSpec, ArgType};

/// The class facts.
pub static CLASS: Class = Class {
    help: "makes packets of random bytes",
    manual: "As InfiniteSource, but each packet consists of LENGTH random bytes.",
    example: "RandomSource(64, LIMIT 10, STOP true) -> Discard",
    ports: "0/1",
    packets: "/any unmarked",
    args: &[
        ArgSpec::required("LENGTH", ArgType::U32, "length of the packets"),
        ArgSpec::positional("LIMIT", ArgType::I64, "-1", "packets to make; negative for no end"),
        ArgSpec::positional("BURST", ArgType::I32, "1", "packets in a turn; in batch mode a batch"),
        ArgSpec::positional("ACTIVE", ArgType::Bool, "true", "whether it makes packets"),
        ArgSpec::keyword("TIMESTAMP", ArgType::Bool, "true", "whether packets are stamped with the time"),
        ArgSpec::keyword("STOP", ArgType::Bool, "false", "whether the driver stops at the end"),
        ArgSpec::keyword("END_CALL", ArgType::HandlerCall, "", "handler called at the end"),
    ],
    handlers: super::infinite_source::HANDLERS.split_at(1).1,
    task_handlers: true,
    ..Class::new("RandomSource", "source", || Box::new(InfiniteSource::new(Contents::Random)))
};

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_router::Outcome;

    #[test]
    fn packets_have_the_length_and_differ() {
        let mut t = Harness::new("r :: RandomSource(33, LIMIT 3, STOP true) -> k :: Sink");
        assert_eq!(t.run(), Outcome::Stopped);
        let packets = t.bytes("k");
        assert!(packets.len() == 3 && packets.iter().all(|p| p.len() == 33));
        assert!(packets[0] != packets[1] && packets[1] != packets[2]);
        assert_eq!([t.read("r.count"), t.read("r.length")], ["3", "33"]);
    }

    #[test]
    fn too_long_packets_are_refused() {
        assert!(Harness::errors("RandomSource(70000) -> Discard").contains("LENGTH"));
        assert!(Harness::errors("RandomSource -> Discard").contains("LENGTH"));
    }
}
