//! TimeRange: remembers the earliest and the latest timestamp.

use clickwork_packet::{Packet, Timestamp};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, SimpleElement, Verdict, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "remembers the range of packets' timestamps",
    manual: "Passes every packet on and remembers the earliest and latest timestamp. With SIMPLE true it takes the first \
             packet's for the earliest and the last packet's for the latest.",
    example: "InfiniteSource(LIMIT 3, STOP true) -> SetTimestamp -> t :: TimeRange -> Discard; \
              DriverManager(wait_stop, print t.interval)",
    args: &[ArgSpec::keyword(
        "SIMPLE",
        ArgType::Bool,
        "false",
        "whether timestamps are known to be in order",
    )],
    handlers: &[
        read_handler!("first", "the earliest timestamp", |e: &mut TimeRange, _| e.first),
        read_handler!("last", "the latest timestamp", |e: &mut TimeRange, _| e.last),
        read_handler!("range", "both", |e: &mut TimeRange, _| format!("{} {}", e.first, e.last)),
        read_handler!("interval", "their distance", |e: &mut TimeRange, _| e.last - e.first),
        write_handler!("reset", "forgets them", |e: &mut TimeRange, _, _| {
            (e.first, e.last) = (Timestamp::ZERO, Timestamp::ZERO)
        })
        .flags("b"),
    ],
    ..Class::new("TimeRange", "analysis", || Box::<TimeRange>::default())
};

#[derive(Default)]
struct TimeRange {
    simple: bool,
    first: Timestamp,
    last: Timestamp,
}

impl SimpleElement for TimeRange {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("SIMPLE", &mut self.simple);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        let t = p.timestamp();
        if self.first.is_zero() {
            (self.first, self.last) = (t, t);
        } else if self.simple || self.last < t {
            self.last = t;
        } else if t < self.first {
            self.first = t;
        }
        Verdict::PASS
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<TimeRange>(old) {
            (self.first, self.last) = (old.first, old.last);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::{Packet, Timestamp};

    fn seen(args: &str) -> Harness {
        let mut t = Harness::new(&format!("s :: Source -> r :: TimeRange({args}) -> k :: Sink"));
        let stamped = |seconds| {
            let mut p = Packet::new(b"x");
            p.set_timestamp(Timestamp::new(seconds, 500));
            p
        };
        t.push("s", 0, [5, 9, 3, 7].map(stamped));
        t
    }

    #[test]
    fn finds_the_extremes() {
        let mut t = seen("");
        assert_eq!(t.read("r.range"), "3.000000500 9.000000500");
        assert_eq!((t.read("r.first"), t.read("r.last")), ("3.000000500".into(), "9.000000500".into()));
        assert_eq!(t.read("r.interval"), "6.000000");
        t.write("r.reset").unwrap();
        assert_eq!(t.read("r.range"), "0.000000 0.000000");
    }

    #[test]
    fn takes_first_and_last_packet_if_simple() {
        assert_eq!(seen("SIMPLE true").read("r.range"), "5.000000500 7.000000500");
    }
}
