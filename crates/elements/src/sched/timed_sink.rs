//! TimedSink: pulls and drops a packet at fixed intervals.

use clickwork_packet::Timestamp;
use clickwork_router::args::{ArgSpec, ArgType, Args, format_seconds};
use clickwork_router::{Class, Cx, Element, read_handler, write_handler};
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "pulls and drops a packet at fixed intervals",
    manual: "Every INTERVAL pulls a packet, if there is one, and frees it.",
    example: "InfiniteSource(LIMIT 5, STOP false) -> Queue -> TimedSink(10ms); DriverManager(wait 1s, stop)",
    ports: "1/0",
    processing: "l/l",
    args: &[ArgSpec::positional("INTERVAL", ArgType::Seconds, "0.5", "time between pulls")],
    handlers: &[read_handler!("interval", "time between pulls", |e: &mut TimedSink, _| format_seconds(
        e.interval
    ))
    .flags(".")
    .and_write(write_handler!("", "", |e: &mut TimedSink, text, _| e.set_interval(text)))],
    ..Class::new("TimedSink", "sched", || Box::<TimedSink>::default())
};

struct TimedSink {
    interval: Duration,
    /// When the timer expires, so that delays do not add up.
    due: Timestamp,
}

impl Default for TimedSink {
    fn default() -> TimedSink {
        TimedSink { interval: Duration::from_millis(500), due: Timestamp::ZERO }
    }
}

impl TimedSink {
    fn set_interval(&mut self, text: &str) -> Result<(), String> {
        match crate::values::parse(text, "").map_err(|_| "bad interval")? {
            Duration::ZERO => return Err("bad interval".to_string()),
            interval => self.interval = interval,
        }
        Ok(())
    }

    fn next(&mut self, cx: &mut Cx<'_>) {
        self.due = self.due + self.interval;
        cx.schedule_timer_at(0, self.due);
    }
}

impl Element for TimedSink {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("INTERVAL", &mut self.interval);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.due = cx.steady();
        self.next(cx);
        Ok(())
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        let packets = cx.pull(0, 1);
        cx.recycle(packets);
        self.next(cx);
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use clickwork_router::Outcome;

    #[test]
    fn takes_one_packet_each_interval() {
        let mut t = Harness::new(
            "s :: Source -> q :: Queue -> t :: TimedSink(0.1); TimedSource(1.05, LIMIT 0, STOP true) -> Discard",
        );
        let source = t.router.find("s").expect("the source");
        let packets = (0..20).map(|_| Packet::new(b"x")).collect();
        t.router.emit(clickwork_router::Endpoint { element: source, port: 0 }, packets);
        assert_eq!((t.run(), t.read("q.length")), (Outcome::Stopped, "10".into()));
        t.write("t.interval 2s").unwrap();
        assert_eq!(t.read("t.interval"), "2s");
        assert_eq!(t.write("t.interval 0").unwrap_err(), "bad interval");
    }

    #[test]
    fn without_an_interval_it_takes_what_comes() {
        let mut t = Harness::new(
            "RatedSource(RATE 1000000, LIMIT 50) -> q :: Queue -> TimedSink(0); DriverManager(wait 0.0001s, stop)",
        );
        assert_eq!(
            (t.run(), t.read("q.length"), t.read("q.drops")),
            (Outcome::Stopped, "0".into(), "0".into())
        );
    }
}
