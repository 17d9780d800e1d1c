//! SetTimestampDelta: replaces timestamps with differences.

use crate::capture::first_timestamp;
use clickwork_packet::{Packet, Timestamp};
use clickwork_router::args::{ArgSpec, ArgType, Args, Word};
use clickwork_router::{Class, Cx, SimpleElement, Verdict, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "replaces packets' timestamps with differences",
    manual: "Replaces each timestamp that is set: with its distance from the first one seen (TYPE RANGE, the default), \
             with the time that has passed since (TYPE NOW), or with its distance from the packet's \"first timestamp\" \
             annotation (TYPE FIRST).",
    example: "InfiniteSource(LIMIT 2, STOP true) -> SetTimestamp(10) -> SetTimestampDelta -> Print(TIMESTAMP true) -> Discard",
    args: &[ArgSpec::keyword(
        "TYPE",
        ArgType::Choice(&["RANGE", "NOW", "FIRST"]),
        "RANGE",
        "which difference",
    )],
    handlers: &[
        read_handler!("first", "the first timestamp seen", |e: &mut SetTimestampDelta, _| format!(
            "{}\n",
            e.first
        )),
        write_handler!(
            "reset",
            "takes the next timestamp as the first",
            |e: &mut SetTimestampDelta, _, _| e.first = Timestamp::ZERO
        )
        .flags("b"),
    ],
    ..Class::new("SetTimestampDelta", "analysis", || Box::<SetTimestampDelta>::default())
};

#[derive(Default)]
struct SetTimestampDelta {
    since: Since,
    first: Timestamp,
}

/// What a timestamp is compared with.
#[derive(Clone, Copy, Default)]
enum Since {
    #[default]
    FirstPacket,
    Now,
    FirstAnnotation,
}

impl SimpleElement for SetTimestampDelta {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let Some(Word(kind)) = args.get("TYPE") else { return };
        match kind.as_str() {
            "RANGE" => self.since = Since::FirstPacket,
            "NOW" => self.since = Since::Now,
            "FIRST" => self.since = Since::FirstAnnotation,
            _ => args.error("bad TYPE"),
        }
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let t = p.timestamp();
        if t.is_zero() {
            return Verdict::PASS;
        }
        if self.first.is_zero() && matches!(self.since, Since::FirstPacket) {
            self.first = t;
        }
        p.set_timestamp(match self.since {
            Since::FirstPacket => t - self.first,
            Since::Now => cx.now() - t,
            Since::FirstAnnotation => t - Timestamp::from_nanos(first_timestamp(p)),
        });
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use crate::capture::set_first_timestamp;
    use crate::testing::Harness;
    use clickwork_packet::{Packet, Timestamp};

    fn stamped(seconds: i64) -> Packet {
        let mut p = Packet::new(b"x");
        p.set_timestamp(Timestamp::new(seconds, 0));
        set_first_timestamp(&mut p, 1_000_000_000);
        p
    }

    fn seconds(t: &mut Harness) -> Vec<i64> {
        t.take("k").iter().map(|p| p.timestamp().seconds()).collect()
    }

    #[test]
    fn measures_from_the_first_packet() {
        let mut t = Harness::new("s :: Source -> d :: SetTimestampDelta -> k :: Sink");
        t.push("s", 0, [0, 50, 53, 49].map(stamped));
        assert_eq!(seconds(&mut t), [0, 0, 3, -1]);
        assert_eq!(t.read("d.first"), "50.000000\n");
        t.write("d.reset").unwrap();
        t.push("s", 0, [stamped(60)]);
        assert_eq!(seconds(&mut t), [0]);
    }

    #[test]
    fn measures_from_now_and_from_the_first_annotation() {
        let mut t = Harness::new("s :: Source -> SetTimestampDelta(TYPE FIRST) -> k :: Sink");
        t.push("s", 0, [stamped(50)]);
        assert_eq!(seconds(&mut t), [49]);
        let mut t = Harness::new("s :: Source -> SetTimestampDelta(TYPE NOW) -> k :: Sink");
        t.push("s", 0, [stamped(999_999_990)]);
        assert_eq!(seconds(&mut t), [10]);
    }

    #[test]
    fn refuses_other_types() {
        assert!(Harness::errors("Idle -> SetTimestampDelta(TYPE range) -> Discard").contains("bad TYPE"));
    }
}
