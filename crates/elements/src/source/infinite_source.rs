//! InfiniteSource: makes copies of one packet as fast as the router can.

use clickwork_packet::{Batch, Packet, Timestamp};
use clickwork_router::args::{ArgSpec, ArgType, Args, HandlerCall};
use clickwork_router::element::try_downcast;
use clickwork_router::notify::{NotifierId, NotifierKind, Search, Signal};
use clickwork_router::{Class, Cx, Element, Handler, TaskStep, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "makes packets as fast as it can",
    manual: "Sends LIMIT copies of a packet with the contents DATA, BURST in each turn of its task; a negative LIMIT means \
             no end. At the end it stops the driver if STOP is true, or calls END_CALL.",
    example: "InfiniteSource(DATA \\<0800>, LIMIT 10, BURST 5, STOP true) -> Discard",
    ports: "0/1",
    packets: "/any unmarked",
    args: &[
        ArgSpec::positional("DATA", ArgType::Data, "", "the packet's bytes"),
        ArgSpec::positional("LIMIT", ArgType::I64, "-1", "packets to make; negative for no end"),
        ArgSpec::positional("BURST", ArgType::I32, "1", "packets in a turn; in batch mode a batch"),
        ArgSpec::positional("ACTIVE", ArgType::Bool, "true", "whether it makes packets"),
        ArgSpec::keyword("TIMESTAMP", ArgType::Bool, "true", "whether packets are stamped with the time"),
        ArgSpec::keyword("LENGTH", ArgType::I32, "", "length of the packet; DATA is repeated or cut")
            .aliases(&["DATASIZE"]),
        ArgSpec::keyword("STOP", ArgType::Bool, "false", "whether the driver stops at the end"),
        ArgSpec::keyword("END_CALL", ArgType::HandlerCall, "", "handler called at the end"),
    ],
    handlers: HANDLERS,
    task_handlers: true,
    ..Class::new("InfiniteSource", "source", || Box::new(InfiniteSource::new(Contents::Fixed)))
};

/// The handlers; the first is about fixed contents.
const LENGTH: Handler =
    read_handler!("length", "length of the packet; -1 for that of DATA", |e: &mut InfiniteSource, _| e
        .length
        .unwrap_or(-1))
    .and_write(write_handler!("", "", |e: &mut InfiniteSource, text, cx| e.set_length(text, cx)));

fn integer(text: &str) -> Option<i32> {
    crate::values::parse(text, "integer").ok()
}

pub(super) const HANDLERS: &[Handler] = &[
    read_handler!("data", "the packet's bytes", |e: &mut InfiniteSource, _| e.data_given())
        .flags(".")
        .and_write(write_handler!("", "", |e: &mut InfiniteSource, text, cx| e.set_data(text, cx)))
        .raw(),
    read_handler!("limit", "packets to make", |e: &mut InfiniteSource, _| e.limit)
        .flags(".")
        .and_write(write_handler!("", "", |e: &mut InfiniteSource, text, cx| e.set_limit(text, cx))),
    read_handler!("burst", "packets in a turn", |e: &mut InfiniteSource, _| e.burst)
        .flags(".")
        .and_write(write_handler!("", "", |e: &mut InfiniteSource, text, cx| e.set_burst(text, cx))),
    read_handler!("active", "whether it makes packets", |e: &mut InfiniteSource, _| e.active)
        .flags("c")
        .and_write(write_handler!("", "", |e: &mut InfiniteSource, text, cx| e.set_active(text, cx))),
    read_handler!("count", "packets made", |e: &mut InfiniteSource, _| e.count),
    LENGTH.flags("."),
    Handler { name: "datasize", ..LENGTH.flags(".D") },
    read_handler!("burstsize", "older name of burst", |e: &mut InfiniteSource, _| e.burst)
        .flags(".D")
        .and_write(write_handler!("", "", |e: &mut InfiniteSource, text, cx| e.set_burst(text, cx))),
    write_handler!("reset", "makes LIMIT packets again", |e: &mut InfiniteSource, _, cx| {
        e.count = 0;
        e.start(cx);
    })
    .flags("b"),
];

/// What the packets contain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Contents {
    /// The same bytes in each.
    Fixed,
    /// Random bytes in each.
    Random,
}

impl Contents {
    /// The room before the data, as much as Click's sources leave.
    fn headroom(self) -> usize {
        match self {
            Contents::Fixed => clickwork_packet::DEFAULT_HEADROOM,
            Contents::Random => 36,
        }
    }
}

pub(super) struct InfiniteSource {
    contents: Contents,
    /// The bytes as configured, and as sent: repeated or cut to LENGTH.
    text: Vec<u8>,
    data: Vec<u8>,
    length: Option<i32>,
    limit: i64,
    burst: i32,
    active: bool,
    timestamp: bool,
    stop: bool,
    end_call: Option<HandlerCall>,
    count: i64,
    /// Packets still to be made in this turn.
    left: usize,
    /// Active while an element that pulls can have packets.
    empty: Option<NotifierId>,
    /// Active while there is room downstream.
    room: Signal,
}

impl InfiniteSource {
    pub(super) fn new(contents: Contents) -> InfiniteSource {
        InfiniteSource {
            contents,
            text: super::DEFAULT_DATA.to_vec(),
            data: Vec::new(),
            length: None,
            limit: -1,
            burst: 1,
            active: true,
            timestamp: true,
            stop: false,
            end_call: None,
            count: 0,
            left: 0,
            empty: None,
            room: Signal::busy(),
        }
    }

    fn fit(&mut self) {
        let length = self.length.and_then(|n| usize::try_from(n).ok()).unwrap_or(self.text.len());
        self.data =
            self.text.iter().copied().cycle().take(if self.text.is_empty() { 0 } else { length }).collect();
        self.data.resize(length, 0);
    }

    fn set_data(&mut self, text: &str, cx: &mut Cx<'_>) {
        self.text = clickwork_source::text::encode(text).into_owned();
        self.fit();
        self.start(cx);
    }

    /// What the packets are made of: what was given, but random packets as the last one was.
    fn data_given(&self) -> Vec<u8> {
        match self.contents {
            Contents::Fixed => self.text.clone(),
            Contents::Random => self.data.clone(),
        }
    }

    fn set_limit(&mut self, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
        self.limit = integer(text).ok_or("limit parameter must be integer")?.into();
        self.start(cx);
        Ok(())
    }

    fn set_burst(&mut self, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
        self.burst = integer(text).filter(|&n| n >= 1).ok_or("burstsize parameter must be integer >= 1")?;
        self.start(cx);
        Ok(())
    }

    fn set_length(&mut self, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
        self.length = Some(super::check_length(integer(text).ok_or("length must be integer")?)?);
        self.fit();
        self.start(cx);
        Ok(())
    }

    fn set_active(&mut self, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
        self.active =
            crate::values::parse(text, "boolean").map_err(|_| "active parameter must be boolean")?;
        self.start(cx);
        Ok(())
    }

    /// Resumes, unless the limit has been reached.
    fn start(&mut self, cx: &mut Cx<'_>) {
        if self.active && self.allowed(1) > 0 {
            match self.empty {
                Some(empty) if !cx.output_is_push(0) => cx.wake(empty),
                _ => cx.schedule_task(),
            }
        }
    }

    /// How many of `wanted` packets the limit allows.
    fn allowed(&self, wanted: usize) -> usize {
        match u64::try_from(self.limit) {
            Err(_) => wanted,
            Ok(limit) => wanted.min(limit.saturating_sub(self.count as u64) as usize),
        }
    }

    fn make(&mut self, n: usize, cx: &mut Cx<'_>) -> Batch {
        let mut batch = cx.fresh_batch();
        let now = if self.timestamp { cx.now() } else { Timestamp::ZERO };
        for _ in 0..n {
            let mut p = Packet::with_room(self.contents.headroom(), &self.data, 0);
            p.set_timestamp(now);
            if self.contents == Contents::Random {
                p.data_mut()
                    .chunks_mut(4)
                    .for_each(|c| c.copy_from_slice(&cx.random().to_le_bytes()[..c.len()]));
            }
            batch.push(p);
        }
        self.count += n as i64;
        batch
    }

    fn end(&mut self, cx: &mut Cx<'_>) {
        if self.limit >= 0 && self.count >= self.limit {
            match &self.end_call {
                Some(call) => cx.call_handler(call),
                None if self.stop => cx.stop_driver(),
                None => {}
            }
        }
    }
}

impl Element for InfiniteSource {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        self.burst = cx.batch_limit() as i32;
        if self.contents == Contents::Fixed {
            args.read("DATA", &mut self.text);
        }
        args.read("LIMIT", &mut self.limit).read("BURST", &mut self.burst);
        args.read("ACTIVE", &mut self.active)
            .read("TIMESTAMP", &mut self.timestamp)
            .read("STOP", &mut self.stop);
        self.length = args.get("LENGTH");
        if let Some(Err(e)) = self.length.map(super::check_length) {
            args.error_in("LENGTH", e);
            self.length = None;
        }
        self.end_call = args.get("END_CALL");
        if self.burst < 1 {
            args.error("burst size must be >= 1");
        }
        if self.end_call.is_some() && self.stop {
            args.error("END_CALL and STOP are mutually exclusive");
        }
        self.fit();
        let empty = cx.export_notifier(NotifierKind::Empty, Search::Stop);
        if !self.active {
            cx.sleep(empty);
        }
        self.empty = Some(empty);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.end_call.as_ref().map_or(Ok(()), |call| cx.check_call(call))?;
        if cx.output_is_push(0) {
            self.room = cx.downstream_full_signal(0);
            // At a limit of 0 the task has the end to announce.
            cx.schedule_task();
        }
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        if !self.active || (self.left == 0 && !cx.is_active(&self.room)) {
            return TaskStep::Sleep;
        }
        if self.left == 0 {
            self.left = self.allowed(self.burst as usize);
            if self.left == 0 {
                self.end(cx);
                return TaskStep::Sleep;
            }
        }
        let n = self.left.min(cx.batch_limit());
        let batch = self.make(n, cx);
        cx.emit_batch(0, batch);
        self.left -= n;
        if self.left > 0 { TaskStep::Continue } else { TaskStep::Again }
    }

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let n = if self.active { self.allowed(limit) } else { 0 };
        if n > 0 {
            return self.make(n, cx);
        }
        if let Some(empty) = self.empty {
            cx.sleep(empty);
        }
        self.end(cx);
        Batch::new()
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<InfiniteSource>(old) {
            self.count = old.count;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_router::Outcome;

    #[test]
    fn makes_the_limit_and_stops() {
        for batched in [false, true] {
            let config =
                "s :: InfiniteSource(DATA ab, LIMIT 1000, BURST 7, STOP true, LENGTH 3) -> k :: Sink";
            let mut t = if batched { Harness::batched(config) } else { Harness::new(config) };
            assert_eq!(t.run(), Outcome::Stopped);
            let packets = t.bytes("k");
            assert_eq!((packets.len(), packets[999].as_slice()), (1000, &b"aba"[..]));
            assert_eq!(t.read("s.count"), "1000");
        }
    }

    #[test]
    fn is_pulled_dry() {
        let mut t = Harness::new("s :: InfiniteSource(LIMIT 3, END_CALL s.active false) -> k :: Sink");
        t.run();
        assert_eq!((t.take("k").len(), t.read("s.active")), (3, "false".into()));
    }

    #[test]
    fn wrong_arguments_are_refused() {
        assert!(Harness::errors("InfiniteSource(BURST 0) -> Discard").contains("burst size"));
        assert!(
            Harness::errors("InfiniteSource(STOP true, END_CALL x.y) -> Discard")
                .contains("mutually exclusive")
        );
    }

    #[test]
    fn handlers_give_what_was_given_and_take_text_as_it_is() {
        let mut t = Harness::new(
            "s :: InfiniteSource(DATA ab, LIMIT 2, LENGTH 5) -> k :: Sink; s2 :: InfiniteSource -> Sink",
        );
        assert_eq!(
            (t.read("s.data"), t.read("s.length"), t.read("s2.length")),
            ("ab".into(), "5".into(), "-1".into())
        );
        t.write("s.data \"q\"").unwrap();
        t.write("s.datasize 3").unwrap();
        t.write("s2.active false").unwrap();
        t.run();
        assert_eq!(t.bytes("k"), [b"\"q\"", b"\"q\""]);
        assert_eq!(t.write("s.limit x").unwrap_err(), "limit parameter must be integer");
        assert_eq!(t.write("s.burstsize 0").unwrap_err(), "burstsize parameter must be integer >= 1");
    }

    #[test]
    fn the_end_is_announced_once_until_there_is_more_to_make() {
        let mut t = Harness::new(
            "s :: InfiniteSource(LIMIT 0, STOP true) -> Discard; DriverManager(pause, pause, pause)",
        );
        t.run();
        t.write("s.active true").unwrap();
        assert_eq!(t.read("s.scheduled"), "false");
        t.write("s.limit 3").unwrap();
        t.run();
        assert_eq!(t.read("s.count"), "3");
    }
}
