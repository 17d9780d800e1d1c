//! TimedSource: sends a packet at fixed intervals.

use clickwork_packet::Timestamp;
use clickwork_packet::{Batch, Packet};
use clickwork_router::args::{ArgSpec, ArgType, Args, format_seconds};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, read_handler, write_handler};
use clickwork_source::text::encode;
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "sends a packet at fixed intervals",
    manual: "Every INTERVAL sends a packet with the contents DATA, until it has sent LIMIT; a negative LIMIT means no \
             end. At the end it stops the driver if STOP is true.",
    example: "TimedSource(INTERVAL 0.1, LIMIT 3, STOP true) -> Discard",
    ports: "0/1",
    processing: "h/h",
    packets: "/any unmarked",
    args: &[
        ArgSpec::positional("INTERVAL", ArgType::Seconds, "0.5", "time between packets"),
        ArgSpec::positional("DATA", ArgType::Data, "", "the packet's bytes"),
        ArgSpec::keyword("LIMIT", ArgType::I32, "-1", "packets to send; negative for no end"),
        ArgSpec::keyword("ACTIVE", ArgType::Bool, "true", "whether it sends"),
        ArgSpec::keyword("STOP", ArgType::Bool, "false", "whether the driver stops at the end"),
        ArgSpec::keyword("HEADROOM", ArgType::U32, "", "room before the data for headers"),
    ],
    handlers: &[
        read_handler!("data", "the packet's bytes", |e: &mut TimedSource, _| e.data.clone())
            .flags(".")
            .and_write(
                write_handler!("", "", |e: &mut TimedSource, text, _| e.data = encode(text).into_owned())
            )
            .raw(),
        read_handler!("limit", "packets to send", |e: &mut TimedSource, _| e.limit)
            .flags(".")
            .and_write(write_handler!("", "", |e: &mut TimedSource, text, _| e.set_limit(text))),
        read_handler!("interval", "time between packets", |e: &mut TimedSource, _| format_seconds(
            e.interval
        ))
        .flags(".")
        .and_write(write_handler!("", "", |e: &mut TimedSource, text, _| e.set_interval(text))),
        read_handler!("active", "whether it sends", |e: &mut TimedSource, _| e.active)
            .flags(".c")
            .and_write(write_handler!("", "", |e: &mut TimedSource, text, cx| e.set_active(text, cx))),
        read_handler!("count", "packets sent", |e: &mut TimedSource, _| e.count),
        read_handler!("headroom", "room before the data", |e: &mut TimedSource, _| e.headroom)
            .flags(".")
            .and_write(write_handler!("", "", |e: &mut TimedSource, text, _| e.set_headroom(text))),
        write_handler!("reset", "sets the count to 0 and begins anew", |e: &mut TimedSource, _, cx| {
            e.count = 0;
            e.start(cx);
        })
        .flags("b"),
    ],
    ..Class::new("TimedSource", "source", || Box::<TimedSource>::default())
};

/// Headroom unless told otherwise, as Click's packets have.
const HEADROOM: u32 = 28;
/// The most that can be asked for.
const MAX_HEADROOM: u32 = 1 << 16;

struct TimedSource {
    data: Vec<u8>,
    interval: Duration,
    limit: i32,
    active: bool,
    stop: bool,
    headroom: u32,
    count: u64,
    /// When the timer expires, so that delays do not add up.
    due: Timestamp,
}

impl Default for TimedSource {
    fn default() -> TimedSource {
        TimedSource {
            data: super::DEFAULT_DATA.to_vec(),
            interval: Duration::from_millis(500),
            limit: -1,
            active: true,
            stop: false,
            headroom: HEADROOM,
            count: 0,
            due: Timestamp::ZERO,
        }
    }
}

impl TimedSource {
    /// Sends the next packet now, unless it has a time already.
    fn start(&mut self, cx: &mut Cx<'_>) {
        if self.active && cx.timer_expiry(0).is_none() {
            self.due = cx.steady();
            cx.schedule_timer_at(0, self.due);
        }
    }

    fn next(&mut self, cx: &mut Cx<'_>) {
        self.due = self.due + self.interval;
        cx.schedule_timer_at(0, self.due);
    }

    fn set_limit(&mut self, text: &str) -> Result<(), String> {
        self.limit = crate::values::parse(text, "").map_err(|_| "expected integer")?;
        Ok(())
    }

    fn set_interval(&mut self, text: &str) -> Result<(), String> {
        let interval = crate::values::parse(text, "").and_then(super::interval);
        self.interval = interval.map_err(|_| "bad interval")?;
        Ok(())
    }

    fn set_headroom(&mut self, text: &str) -> Result<(), String> {
        self.headroom = check_headroom(crate::values::parse(text, "").map_err(|_| "bad headroom")?)?;
        Ok(())
    }

    fn set_active(&mut self, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
        self.active = crate::values::parse(text, "").map_err(|_| "bad active")?;
        self.start(cx);
        Ok(())
    }
}

fn check_headroom(n: u32) -> Result<u32, String> {
    if n <= MAX_HEADROOM { Ok(n) } else { Err(format!("must be at most {MAX_HEADROOM}")) }
}

impl Element for TimedSource {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("DATA", &mut self.data).read("LIMIT", &mut self.limit).read("ACTIVE", &mut self.active);
        args.read("STOP", &mut self.stop)
            .read("HEADROOM", &mut self.headroom)
            .read("INTERVAL", &mut self.interval);
        if let Err(e) = check_headroom(self.headroom) {
            args.error_in("HEADROOM", e);
        }
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        if self.active {
            self.due = cx.steady();
            self.next(cx);
        }
        Ok(())
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        if !self.active {
            return;
        }
        if u64::try_from(self.limit).is_ok_and(|limit| self.count >= limit) {
            if self.stop {
                cx.stop_driver();
            }
            return;
        }
        let mut p = Packet::with_room(self.headroom as usize, &self.data, 0);
        p.set_timestamp(cx.now());
        cx.emit_batch(0, Batch::one(p));
        self.count += 1;
        self.next(cx);
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<TimedSource>(old) {
            self.count = old.count;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use clickwork_router::Outcome;

    #[test]
    fn packets_come_at_the_interval_exactly() {
        let mut t = Harness::new("TimedSource(0.1, ab, LIMIT 4, STOP true) -> k :: Sink");
        assert_eq!(t.run(), Outcome::Stopped);
        let packets = t.take("k");
        assert_eq!((packets.len(), packets[0].data()), (4, &b"ab"[..]));
        for w in packets.windows(2) {
            let gap = (w[1].timestamp() - w[0].timestamp()).nanos();
            assert!((gap - 100_000_000).abs() < 10_000, "{gap}");
        }
    }

    #[test]
    fn can_be_started_and_changed() {
        let mut t = Harness::new("s :: TimedSource(LIMIT 2, ACTIVE false) -> k :: Sink");
        assert_eq!((t.run(), t.read("s.interval")), (Outcome::Exhausted, "500ms".into()));
        t.write("s.interval 1.5").unwrap();
        t.write("s.data xyz").unwrap();
        let start = t.router.clock().peek();
        t.write("s.active true").unwrap();
        assert_eq!(t.run(), Outcome::Exhausted);
        let packets = t.take("k");
        let seconds = |p: &Packet| (p.timestamp() - start).as_secs_f64().round();
        assert_eq!(
            packets.iter().map(|p| (p.data(), seconds(p))).collect::<Vec<_>>(),
            [(&b"xyz"[..], 0.0), (&b"xyz"[..], 2.0)]
        );
        assert_eq!([t.read("s.interval"), t.read("s.count")], ["1.5s", "2"]);
        assert_eq!(t.write("s.interval 0").unwrap_err(), "bad interval");
    }
}
