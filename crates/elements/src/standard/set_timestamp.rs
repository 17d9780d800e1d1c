//! SetTimestamp: stamps packets with the time.

use clickwork_packet::{Packet, Timestamp, anno};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, SimpleElement, Verdict};

/// The class facts.
pub static CLASS: Class = Class {
    help: "sets packets' timestamp",
    manual: "Sets each packet's timestamp to TIMESTAMP, or to the present if none is given. With FIRST true the \"first \
             timestamp\" annotation is set instead.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> SetTimestamp -> Discard",
    args: &[
        ArgSpec::positional("TIMESTAMP", ArgType::Timestamp, "", "the time; by default the present"),
        ArgSpec::keyword("FIRST", ArgType::Bool, "false", "set the first timestamp annotation instead"),
        ArgSpec::keyword("DELTA", ArgType::Bool, "false", "no longer supported"),
    ],
    ..Class::new("SetTimestamp", "standard", || Box::<SetTimestamp>::default())
};

#[derive(Default)]
struct SetTimestamp {
    fixed: Option<Timestamp>,
    first: bool,
}

impl SimpleElement for SetTimestamp {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        self.fixed = args.get("TIMESTAMP");
        args.read("FIRST", &mut self.first);
        if args.get("DELTA") == Some(true) {
            args.error("SetTimestamp(DELTA) is deprecated, use SetTimestampDelta(TYPE FIRST)");
        }
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let t = self.fixed.unwrap_or_else(|| cx.now());
        match self.first {
            true => p.set_anno_bytes(anno::FIRST_TIMESTAMP, &t.nanos().to_ne_bytes()),
            false => p.set_timestamp(t),
        }
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::{Packet, Timestamp, anno};

    #[test]
    fn stamps_with_a_time_or_the_present() {
        let mut t =
            Harness::new("s :: Source -> SetTimestamp(5.25) -> SetTimestamp(7, FIRST true) -> k :: Sink");
        t.push("s", 0, [Packet::new(b"x")]);
        let p = t.take("k").remove(0);
        assert_eq!(p.timestamp(), Timestamp::new(5, 250_000_000));
        assert_eq!(p.anno_bytes(anno::FIRST_TIMESTAMP), 7_000_000_000i64.to_ne_bytes());

        let mut t = Harness::new("s :: Source -> SetTimestamp -> k :: Sink");
        t.push("s", 0, [Packet::new(b"x")]);
        assert!(t.take("k")[0].timestamp() >= Timestamp::new(1_000_000_000, 0));
    }

    #[test]
    fn refuses_delta() {
        assert!(
            Harness::errors("Idle -> SetTimestamp(DELTA true) -> Discard").contains("use SetTimestampDelta")
        );
    }
}
