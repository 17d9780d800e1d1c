//! AdjustTimestamp: adds a length of time to packets' timestamps.

use super::time::interval_text;
use crate::capture::{first_timestamp, set_first_timestamp};
use crate::values::parse;
use clickwork_packet::{Packet, Timestamp};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, SimpleElement, Verdict, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "adds a length of time to packets' timestamps",
    manual: "Adds TIME, which may be negative, to each packet's timestamp, or with FIRST true to its \"first timestamp\" \
             annotation. Packets that have no timestamp (zero) are left alone unless ALL is true.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> SetTimestamp(10) -> AdjustTimestamp(-2.5) -> Print(TIMESTAMP true) -> Discard",
    args: &[
        ArgSpec::positional("TIME", ArgType::Timestamp, "0", "what is added"),
        ArgSpec::keyword(
            "FIRST",
            ArgType::Bool,
            "false",
            "whether the first timestamp annotation is adjusted",
        ),
        ArgSpec::keyword(
            "ALL",
            ArgType::Bool,
            "false",
            "whether timestamps that are not set are adjusted too",
        ),
    ],
    handlers: &[read_handler!("time", "what is added", |e: &mut AdjustTimestamp, _| interval_text(e.time))
        .and_write(write_handler!("", "", |e: &mut AdjustTimestamp, text, _| {
            e.time = parse(text, "time in seconds")?;
            Ok::<(), String>(())
        }))],
    ..Class::new("AdjustTimestamp", "analysis", || Box::<AdjustTimestamp>::default())
};

#[derive(Default)]
struct AdjustTimestamp {
    time: Timestamp,
    first: bool,
    all: bool,
}

impl SimpleElement for AdjustTimestamp {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("TIME", &mut self.time).read("FIRST", &mut self.first).read("ALL", &mut self.all);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        let before = if self.first { Timestamp::from_nanos(first_timestamp(p)) } else { p.timestamp() };
        if self.all || !before.is_zero() {
            match self.first {
                true => set_first_timestamp(p, (before + self.time).nanos()),
                false => p.set_timestamp(before + self.time),
            }
        }
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use crate::capture::{first_timestamp, set_first_timestamp};
    use crate::testing::Harness;
    use clickwork_packet::{Packet, Timestamp};

    fn stamped(nanos: i64) -> Packet {
        let mut p = Packet::new(b"x");
        p.set_timestamp(Timestamp::from_nanos(nanos));
        set_first_timestamp(&mut p, nanos / 2);
        p
    }

    #[test]
    fn shifts_timestamps_that_are_set() {
        let mut t = Harness::new("s :: Source -> a :: AdjustTimestamp(-1.5) -> k :: Sink");
        t.push("s", 0, [stamped(4_000_000_000), stamped(0)]);
        let times: Vec<_> = t.take("k").iter().map(|p| p.timestamp().nanos()).collect();
        assert_eq!(times, [2_500_000_000, 0]);
    }

    #[test]
    fn shifts_all_or_the_first_timestamp() {
        let mut t = Harness::new(
            "s :: Source -> AdjustTimestamp(1, ALL true) -> AdjustTimestamp(1, FIRST true) -> k :: Sink",
        );
        t.push("s", 0, [stamped(0), stamped(4)]);
        let got: Vec<_> = t.take("k").iter().map(|p| (p.timestamp().nanos(), first_timestamp(p))).collect();
        assert_eq!(got, [(1_000_000_000, 0), (1_000_000_004, 1_000_000_002)]);
    }

    #[test]
    fn the_time_reads_as_an_interval() {
        let mut t = Harness::new("Idle -> a :: AdjustTimestamp(2) -> Discard");
        assert_eq!(t.read("a.time"), "2.000000s");
        t.write("a.time 20ms").unwrap();
        assert_eq!(t.read("a.time"), "20ms");
        assert_eq!(t.write("a.time soon").unwrap_err(), "expected time in seconds");
    }
}
