//! TimestampAccum: sums up the time that has passed since packets were stamped.

use super::number::general;
use clickwork_packet::Packet;
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, SimpleElement, Verdict, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "sums up the age of packets",
    manual: "Passes every packet on and adds the time since its timestamp, in seconds, to a sum. Behind SetTimestamp it so \
             measures how long packets take from there.",
    example: "InfiniteSource(LIMIT 3, STOP true) -> SetTimestamp -> Queue -> Unqueue -> t :: TimestampAccum -> Discard; \
              DriverManager(wait_stop, print t.average_time)",
    handlers: &[
        read_handler!("count", "packets seen", |e: &mut TimestampAccum, _| e.count),
        read_handler!("time", "sum of their ages in seconds", |e: &mut TimestampAccum, _| general(e.seconds)),
        read_handler!("average_time", "their mean age in seconds", |e: &mut TimestampAccum, _| general(
            e.seconds / e.count as f64
        )),
        write_handler!("reset_counts", "sets count and sum to 0", |e: &mut TimestampAccum, _, _| {
            (e.count, e.seconds) = (0, 0.0)
        })
        .flags("b"),
    ],
    ..Class::new("TimestampAccum", "analysis", || Box::<TimestampAccum>::default())
};

#[derive(Default)]
struct TimestampAccum {
    count: u64,
    seconds: f64,
}

impl SimpleElement for TimestampAccum {
    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        self.seconds += (cx.now() - p.timestamp()).as_secs_f64();
        self.count += 1;
        Verdict::PASS
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<TimestampAccum>(old) {
            (self.count, self.seconds) = (old.count, old.seconds);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::{Packet, Timestamp};

    #[test]
    fn sums_ages() {
        let mut t = Harness::new("s :: Source -> a :: TimestampAccum -> k :: Sink");
        assert_eq!(t.read("a.time"), "0");
        let aged = |millis: i64| {
            let mut p = Packet::new(b"x");
            p.set_timestamp(Timestamp::from_nanos(1_000_000_000_000_000_000 - millis * 1_000_000));
            p
        };
        t.push_batch("s", 0, [250, 750].map(aged));
        assert_eq!(t.read("a.count"), "2");
        assert!((t.read("a.time").parse::<f64>().unwrap() - 1.0).abs() < 1e-4, "{}", t.read("a.time"));
        assert!((t.read("a.average_time").parse::<f64>().unwrap() - 0.5).abs() < 1e-4);
        t.write("a.reset_counts").unwrap();
        assert_eq!(t.read("a.count"), "0");
    }
}
