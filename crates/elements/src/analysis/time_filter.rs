//! TimeFilter: lets packets through whose timestamp is in a range.

use super::call::{Rest, call_now, call_then, with_time};
use crate::values::parse;
use clickwork_packet::{Batch, Packet, Timestamp};
use clickwork_router::args::{ArgSpec, ArgType, Args, FromArg, HandlerCall, Names};
use clickwork_router::{Class, Cx, Element, Verdict, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "lets packets through whose timestamp is in a range",
    manual: "Passes packets with timestamps from the start up to, but not including, the end; others leave by output 1, or \
             are dropped. The start is an absolute time (START), or counts from the first packet (START_AFTER) or from \
             the router's initialisation (START_DELAY); the end likewise, or from the start (INTERVAL). When the first \
             packet behind the end is seen, the driver stops if STOP is true, or the handler END_CALL is called; $t in \
             its value is the packet's timestamp. If the handler moves the end (extend_interval), the packet passes, and \
             the handler will be called again at the new end.",
    example: "InfiniteSource(LIMIT 3, STOP true) -> SetTimestamp(5) -> TimeFilter(4, 6) -> Discard",
    ports: "1/1-2",
    processing: "a/ah",
    args: &[
        ArgSpec::positional("START", ArgType::Timestamp, "", "when the range starts"),
        ArgSpec::positional("END", ArgType::Timestamp, "", "when the range ends"),
        ArgSpec::keyword(
            "START_DELAY",
            ArgType::Timestamp,
            "",
            "the start, after the router's initialisation",
        ),
        ArgSpec::keyword("END_DELAY", ArgType::Timestamp, "", "the end, after the router's initialisation"),
        ArgSpec::keyword("START_AFTER", ArgType::Timestamp, "", "the start, after the first packet"),
        ArgSpec::keyword("END_AFTER", ArgType::Timestamp, "", "the end, after the first packet"),
        ArgSpec::keyword("INTERVAL", ArgType::Timestamp, "", "the end, after the start"),
        ArgSpec::keyword("STOP", ArgType::Bool, "false", "whether the driver stops at the end"),
        ArgSpec::keyword("END_CALL", ArgType::HandlerCall, "", "handler called at the end"),
    ],
    handlers: &[
        read_handler!("start", "when the range starts", |e: &mut TimeFilter, _| e.start)
            .and_write(write_handler!("", "", |e: &mut TimeFilter, text, _| e.set_start(time(text)?))),
        read_handler!(
            "end",
            "when the range ends; when written, the end counts from the start",
            |e: &mut TimeFilter, _| e.end
        )
        .and_write(write_handler!("", "", |e: &mut TimeFilter, text, _| e.set_interval(time(text)?))),
        read_handler!("interval", "length of the range", |e: &mut TimeFilter, _| e.end - e.start)
            .and_write(write_handler!("", "", |e: &mut TimeFilter, text, _| e.set_interval(time(text)?))),
        write_handler!("extend_interval", "moves the end", |e: &mut TimeFilter, text, _| {
            e.end = e.end + time(text)?;
            e.is_armed = true;
            Ok::<(), String>(())
        }),
    ],
    ..Class::new("TimeFilter", "analysis", || Box::<TimeFilter>::default())
};

/// The end of a range that has none: Click's greatest time.
const NEVER: Timestamp = Timestamp::new(2_147_483_647, 0);

#[derive(Default)]
struct TimeFilter {
    start: Timestamp,
    start_base: Base,
    end: Timestamp,
    end_base: Base,
    /// Whether the first packet has been seen.
    is_settled: bool,
    at_end: Option<HandlerCall>,
    /// Whether the handler is to be called.
    is_armed: bool,
    /// The end when it was called last.
    called_at: Timestamp,
}

/// What a time counts from.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Base {
    #[default]
    Epoch,
    FirstPacket,
    Initialisation,
    Start,
}

fn time(text: &str) -> Result<Timestamp, String> {
    parse(text, "time")
}

/// The one time of several that is given and not zero; an error if there are two.
fn only_one(args: &mut Args, names: &[(&'static str, Base)], error: &str) -> Option<(Timestamp, Base)> {
    let given: Vec<_> = names
        .iter()
        .filter_map(|&(name, base)| Some((args.get::<Timestamp>(name)?, base)))
        .filter(|(time, _)| !time.is_zero())
        .collect();
    if given.len() > 1 {
        args.error(error);
    }
    given.first().copied()
}

impl TimeFilter {
    fn configure_range(&mut self, args: &mut Args) {
        let starts = [
            ("START", Base::Epoch),
            ("START_DELAY", Base::Initialisation),
            ("START_AFTER", Base::FirstPacket),
        ];
        let error = "START, START_AFTER, and START_AFTER_INIT are mutually exclusive";
        (self.start, self.start_base) =
            only_one(args, &starts, error).unwrap_or((Timestamp::ZERO, Base::FirstPacket));
        let ends = [
            ("END", Base::Epoch),
            ("END_AFTER", Base::FirstPacket),
            ("END_DELAY", Base::Initialisation),
            ("INTERVAL", Base::Start),
        ];
        let error = "END, END_AFTER, END_AFTER_INIT, and INTERVAL are mutually exclusive";
        (self.end, self.end_base) = only_one(args, &ends, error).unwrap_or((NEVER, Base::Epoch));
    }

    /// Makes the times absolute that count from the first packet.
    fn settle(&mut self, first: Timestamp) {
        if self.start_base == Base::FirstPacket {
            self.start = self.start + first;
        }
        match self.end_base {
            Base::FirstPacket => self.end = self.end + first,
            Base::Start => self.end = self.end + self.start,
            Base::Epoch | Base::Initialisation => {}
        }
        self.is_settled = true;
    }

    fn set_start(&mut self, start: Timestamp) {
        if !self.is_settled {
            self.settle(start);
        }
        self.start = start;
    }

    fn set_interval(&mut self, interval: Timestamp) {
        self.end = self.start + interval;
        self.is_armed = true;
    }

    /// Notes a packet; returns the handler to be called before it is dealt with. `before` is the end before the last
    /// call for the same packet: only if that moved the end is there another.
    fn due_call(&mut self, p: &Packet, before: Option<Timestamp>) -> Option<HandlerCall> {
        let t = p.timestamp();
        if !self.is_settled {
            self.settle(t);
        }
        let is_due =
            t >= self.start && t >= self.end && self.is_armed && before.is_none_or(|end| self.end > end);
        let call = with_time(self.at_end.as_ref().filter(|_| is_due)?, p);
        self.is_armed = false;
        Some(call)
    }

    /// Where the packet belongs.
    fn verdict(&self, p: &Packet, cx: &Cx<'_>) -> Verdict {
        match p.timestamp() {
            t if t < self.start => cx.out_or_drop(1, "before the range"),
            t if t < self.end => Verdict::PASS,
            _ => cx.out_or_drop(1, "behind the range"),
        }
    }

    /// Deals with packets one by one; `before` is about the first of them.
    fn sort(&mut self, mut rest: Rest, mut before: Option<Timestamp>, cx: &mut Cx<'_>) {
        while let Some(p) = rest.pop_front() {
            if let Some(call) = self.due_call(&p, before.take()) {
                rest.push_front(p);
                self.called_at = self.end;
                return call_then::<TimeFilter>(&call, rest, cx, |e, rest, cx| {
                    e.sort(rest, Some(e.called_at), cx)
                });
            }
            match self.verdict(&p, cx) {
                Verdict::Out(port) => cx.emit(port.into(), p),
                Verdict::Drop(reason) => cx.drop(p, reason),
            }
        }
    }
}

impl Element for TimeFilter {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        self.configure_range(args);
        let mut stop = false;
        args.read("STOP", &mut stop);
        self.at_end = args.get("END_CALL");
        if self.at_end.is_some() && stop {
            args.error("END_CALL and STOP are mutually exclusive");
        } else if stop {
            self.at_end = HandlerCall::from_arg("stop true", &Names::default()).ok();
        }
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        if let Some(call) = &self.at_end {
            cx.check_call(call)?;
            self.is_armed = true;
        }
        if [self.start_base, self.end_base].contains(&Base::Initialisation) {
            let now = cx.now();
            let counted =
                |time: Timestamp, base| if base == Base::Initialisation { time + now } else { time };
            self.start = counted(self.start, self.start_base);
            self.end = counted(self.end, self.end_base);
        }
        Ok(())
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        self.sort(batch.drain().collect(), None, cx);
    }

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let mut passed = cx.fresh_batch();
        for p in cx.pull(0, limit) {
            let mut before = None;
            while let Some(call) = self.due_call(&p, before) {
                before = Some(self.end);
                call_now(self, &call, cx);
            }
            match self.verdict(&p, cx) {
                Verdict::Out(0) => passed.push(p),
                Verdict::Out(port) => cx.emit(port.into(), p),
                Verdict::Drop(reason) => cx.drop(p, reason),
            }
        }
        passed
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::{Packet, Timestamp};
    use clickwork_router::Outcome;

    fn at(seconds: i64) -> Packet {
        let mut p = Packet::new(b"x");
        p.set_timestamp(Timestamp::new(seconds, 0));
        p
    }

    fn passed(args: &str, times: impl IntoIterator<Item = i64>) -> (Vec<i64>, Vec<i64>, Harness) {
        let config = format!(
            "s :: Source -> f :: TimeFilter({args}) -> k :: Sink; f [1] -> o :: Sink; Idle -> c :: Counter -> Idle"
        );
        let mut t = Harness::new(&config);
        t.push("s", 0, times.into_iter().map(at));
        let mut seconds = |sink| t.take(sink).iter().map(|p| p.timestamp().seconds()).collect();
        (seconds("k"), seconds("o"), t)
    }

    #[test]
    fn ranges_of_every_kind() {
        let now = 1_000_000_000;
        for (args, expected) in [
            ("12, 14", vec![12, 13]),
            ("END 12", vec![10, 11]),
            ("START_AFTER 2, END_AFTER 4", vec![12, 13]),
            ("START_AFTER 1, INTERVAL 2s", vec![11, 12]),
            ("INTERVAL 2", vec![10, 11]),
            ("", (10..17).collect()),
            ("START 0, END 0", (10..17).collect()),
            ("START_DELAY 0.5", vec![]),
        ] {
            let (inside, outside, _) = passed(args, 10..17);
            assert_eq!(inside, expected, "{args}");
            assert_eq!(outside.len(), 7 - expected.len(), "{args}");
        }
        let (inside, _, _) = passed("START_DELAY 1, END_DELAY 3", now - 1..now + 6);
        assert_eq!(inside, [now + 1, now + 2]);
    }

    #[test]
    fn handlers_move_the_range() {
        let (_, _, mut t) = passed("START 12, INTERVAL 3", [12]);
        assert_eq!((t.read("f.start"), t.read("f.end")), ("12.000000".into(), "15.000000".into()));
        t.write("f.extend_interval 1").unwrap();
        assert_eq!(t.read("f.interval"), "4.000000");
        t.write("f.start 20").unwrap();
        t.write("f.interval 5").unwrap();
        assert_eq!((t.read("f.start"), t.read("f.end")), ("20.000000".into(), "25.000000".into()));
        assert_eq!(t.write("f.end soon").unwrap_err(), "expected time");
        assert_eq!(Harness::new("Idle -> f :: TimeFilter -> Idle").read("f.end"), "2147483647.000000");
    }

    #[test]
    fn a_handler_that_extends_the_range_saves_the_packet() {
        let (inside, outside, _) = passed("END_AFTER 2, END_CALL f.extend_interval 2", [10, 11, 12, 17, 16]);
        assert_eq!((inside, outside), (vec![10, 11, 12, 17, 16], vec![]));
        let (inside, outside, _) = passed("END_AFTER 2, END_CALL f.extend_interval 0", [10, 11, 12, 11]);
        assert_eq!((inside, outside), (vec![10, 11, 11], vec![12]));
    }

    #[test]
    fn a_script_may_extend_the_range() {
        for harness in [Harness::new, Harness::batched] {
            let mut t = harness(
                "s :: Source -> f :: TimeFilter(END 12, END_CALL i.run) -> k :: Sink; \
                 i :: Script(TYPE PASSIVE, write f.extend_interval 2)",
            );
            t.push_batch("s", 0, [10, 11, 12, 13, 15, 19].map(at));
            let seconds: Vec<_> = t.take("k").iter().map(|p| p.timestamp().seconds()).collect();
            assert_eq!(seconds, [10, 11, 12, 13, 15, 19], "{}", t.printed());
        }
    }

    #[test]
    fn the_end_stops_the_driver_or_calls_with_the_time() {
        let mut t = Harness::new("s :: Source -> TimeFilter(END 5, STOP true) -> Sink");
        t.push("s", 0, [at(4)]);
        assert_ne!(t.run(), Outcome::Stopped);
        let mut t = Harness::new(
            "s :: Source -> f :: TimeFilter(END 5, END_CALL i.run $t) -> Sink; i :: Script(TYPE PASSIVE, print \"at $args\", return)",
        );
        t.push("s", 0, [at(7), at(8)]);
        assert_eq!(t.output(), "at 7.000000\n", "{}", t.printed());
    }

    #[test]
    fn contradictions_are_told() {
        for (args, error) in [
            ("1, START_AFTER 2", "START, START_AFTER, and START_AFTER_INIT are mutually exclusive"),
            ("END 1, INTERVAL 2", "END, END_AFTER, END_AFTER_INIT, and INTERVAL are mutually exclusive"),
            ("END 1, STOP true, END_CALL stop", "END_CALL and STOP are mutually exclusive"),
            ("END_CALL nosuch.x", "no element named 'nosuch'"),
        ] {
            let e = Harness::errors(&format!("Idle -> TimeFilter({args}) -> Idle"));
            assert!(e.contains(error), "{e}");
        }
    }
}
