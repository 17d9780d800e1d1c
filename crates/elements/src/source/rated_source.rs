//! RatedSource: makes copies of one packet at a steady rate.

use crate::shaping::token_bucket::TokenBucket;
use clickwork_packet::{Batch, DEFAULT_HEADROOM, Packet};
use clickwork_router::args::{ArgSpec, ArgType, Args, Bandwidth, Rate};
use clickwork_router::element::try_downcast;
use clickwork_router::notify::{NotifierId, NotifierKind, Search};
use clickwork_router::{Class, Cx, Element, TaskStep, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "makes packets at a steady rate",
    manual: "Sends RATE packets per second with the contents DATA, until it has sent LIMIT; a negative LIMIT means no \
             end. At the end it stops the driver if STOP is true. BANDWIDTH, if given, sets the rate by the length of \
             the packet.",
    example: "RatedSource(DATA \\<0800>, RATE 1000, LIMIT 10, STOP true) -> Discard",
    ports: "0/1",
    packets: "/any unmarked",
    args: &[
        ArgSpec::positional("DATA", ArgType::Data, "", "the packet's bytes"),
        ArgSpec::positional("RATE", ArgType::Rate, "10", "packets per second"),
        ArgSpec::positional("LIMIT", ArgType::I32, "-1", "packets to make; negative for no end"),
        ArgSpec::positional("ACTIVE", ArgType::Bool, "true", "whether it makes packets"),
        ArgSpec::keyword("LENGTH", ArgType::I32, "-1", "length of the packet; DATA is repeated or cut"),
        ArgSpec::keyword("DATASIZE", ArgType::I32, "", "older name of LENGTH"),
        ArgSpec::keyword("STOP", ArgType::Bool, "false", "whether the driver stops at the end"),
        ArgSpec::keyword("BANDWIDTH", ArgType::Bandwidth, "", "bytes per second, instead of RATE"),
    ],
    handlers: &[
        read_handler!("data", "the packet's bytes", |e: &mut RatedSource, _| e.text.clone())
            .flags(".")
            .and_write(write_handler!("", "", |e: &mut RatedSource, text, _| e.set_data(text)))
            .raw(),
        read_handler!("rate", "packets per second", |e: &mut RatedSource, _| e.bucket.rate())
            .and_write(write_handler!("", "", |e: &mut RatedSource, text, _| e.set_rate(text))),
        read_handler!("limit", "packets to make", |e: &mut RatedSource, _| e.limit)
            .flags(".")
            .and_write(write_handler!("", "", |e: &mut RatedSource, text, _| e.set_limit(text))),
        read_handler!("active", "whether it makes packets", |e: &mut RatedSource, _| e.active)
            .flags("c")
            .and_write(write_handler!("", "", |e: &mut RatedSource, text, cx| e.set_active(text, cx))),
        read_handler!("count", "packets made", |e: &mut RatedSource, _| e.count),
        write_handler!("reset", "makes LIMIT packets again", |e: &mut RatedSource, _, cx| e.reset(cx))
            .flags("b"),
        read_handler!("length", "length of the packet; -1 for that of DATA", |e: &mut RatedSource, _| e
            .length)
        .and_write(write_handler!("", "", |e: &mut RatedSource, text, _| e.set_length(text))),
        read_handler!("datasize", "older name of length", |e: &mut RatedSource, _| e.length)
            .flags("D")
            .and_write(write_handler!("", "", |e: &mut RatedSource, text, _| e.set_length(text))),
    ],
    task_handlers: true,
    ..Class::new("RatedSource", "source", || Box::<RatedSource>::default())
};

struct RatedSource {
    /// The bytes as configured, and as sent: repeated or cut to `length`.
    text: Vec<u8>,
    data: Vec<u8>,
    length: i32,
    limit: i32,
    active: bool,
    stop: bool,
    count: u64,
    bucket: TokenBucket,
    headroom: usize,
    /// Active while an element that pulls can have packets.
    empty: Option<NotifierId>,
}

impl Default for RatedSource {
    fn default() -> RatedSource {
        RatedSource {
            text: super::DEFAULT_DATA.to_vec(),
            data: Vec::new(),
            length: -1,
            limit: -1,
            active: true,
            stop: false,
            count: 0,
            bucket: TokenBucket::new(10, burst(10)),
            headroom: HEADROOM,
            empty: None,
        }
    }
}

/// Room for an Ethernet, an IP and a TCP header and some options, as Click's RatedSource leaves it until new data are
/// written.
const HEADROOM: usize = 60;

/// Packets that may be made at once after a delay: a hundredth of a second's worth.
fn burst(rate: u32) -> u32 {
    if rate < 200 { 2 } else { rate / 100 }
}

impl RatedSource {
    /// The packet is to have the length that is set.
    fn fit(&mut self) {
        self.headroom = HEADROOM;
        let length = usize::try_from(self.length).unwrap_or(self.text.len());
        self.data =
            self.text.iter().copied().cycle().take(if self.text.is_empty() { 0 } else { length }).collect();
        self.data.resize(length, 0);
    }

    /// The written text as it stands becomes the packet, whatever the length was.
    fn set_data(&mut self, text: &str) {
        self.text = clickwork_source::text::encode(text).into_owned();
        self.data = self.text.clone();
        self.headroom = DEFAULT_HEADROOM;
    }

    fn set_length(&mut self, text: &str) -> Result<(), String> {
        self.length = super::check_length(crate::values::parse(text, "").map_err(|_| "syntax error")?)?;
        self.fit();
        Ok(())
    }

    fn set_rate(&mut self, text: &str) -> Result<(), String> {
        let rate = crate::values::parse::<u32>(text, "").map_err(|_| "syntax error")?;
        self.bucket.set_rate_keeping_tokens(rate, burst(rate));
        Ok(())
    }

    fn set_limit(&mut self, text: &str) -> Result<(), String> {
        self.limit = crate::values::parse::<i32>(text, "").map_err(|_| "syntax error")?.max(-1);
        Ok(())
    }

    fn set_active(&mut self, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
        self.active = crate::values::parse(text, "").map_err(|_| "syntax error")?;
        if self.active && !cx.task_scheduled() {
            self.bucket.set(1);
            self.start(cx);
        }
        Ok(())
    }

    fn reset(&mut self, cx: &mut Cx<'_>) {
        self.count = 0;
        self.bucket.set(1);
        self.start(cx);
    }

    /// Begins to make packets if there are any to make.
    fn start(&mut self, cx: &mut Cx<'_>) {
        if self.active {
            match self.empty {
                Some(empty) if !cx.output_is_push(0) => cx.wake(empty),
                _ => cx.schedule_task(),
            }
        }
    }

    fn is_at_limit(&self) -> bool {
        u64::try_from(self.limit).is_ok_and(|limit| self.count >= limit)
    }

    /// Makes up to `limit` packets, as many as tokens and limit allow.
    fn make(&mut self, limit: usize, cx: &mut Cx<'_>) -> Batch {
        self.bucket.refill(cx.steady());
        let left = u64::try_from(self.limit).map_or(u64::MAX, |l| l.saturating_sub(self.count));
        let n = u64::from(self.bucket.tokens()).min(left).min(limit as u64);
        if n == 0 {
            return Batch::new();
        }
        self.bucket.spend(n as u32);
        self.count += n;
        let now = cx.now();
        let mut batch = cx.fresh_batch();
        for _ in 0..n {
            let mut p = Packet::with_room(self.headroom, &self.data, 0);
            p.set_timestamp(now);
            batch.push(p);
        }
        batch
    }

    /// Sets the timer for the next packet.
    fn wait(&self, cx: &mut Cx<'_>) {
        if let Some(wait) = self.bucket.time_until(1) {
            cx.schedule_timer_after(0, wait);
        }
    }

    fn end(&self, cx: &mut Cx<'_>) {
        if self.stop {
            cx.stop_driver();
        }
    }
}

impl Element for RatedSource {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        args.read("DATA", &mut self.text).read("LIMIT", &mut self.limit).read("ACTIVE", &mut self.active);
        args.read("STOP", &mut self.stop).read("LENGTH", &mut self.length).read("DATASIZE", &mut self.length);
        if let Err(e) = super::check_length(self.length) {
            args.error_in("LENGTH", e);
            self.length = -1;
        }
        self.limit = self.limit.max(-1);
        self.fit();
        let mut rate = args.get::<Rate>("RATE").map_or(10, |r| u32::try_from(r.0).unwrap_or(u32::MAX));
        let bandwidth = args.get::<Bandwidth>("BANDWIDTH").map_or(0, |b| b.bytes_per_second);
        if bandwidth > 0 {
            rate = u32::try_from(bandwidth / self.data.len().max(1) as u64).unwrap_or(u32::MAX);
        }
        let in_bytes = if bandwidth > 0 { u32::try_from(2 * i64::from(self.length)).unwrap_or(0) } else { 0 };
        self.bucket = TokenBucket::new(rate, burst(rate).max(in_bytes));
        self.empty = Some(cx.export_notifier(NotifierKind::Empty, Search::Stop));
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.bucket.set(1);
        if cx.output_is_push(0) {
            cx.schedule_task();
        }
        Ok(())
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        if !self.active {
            return TaskStep::Sleep;
        }
        if self.is_at_limit() {
            self.end(cx);
            return TaskStep::Sleep;
        }
        let batch = self.make(cx.batch_limit(), cx);
        if batch.is_empty() {
            self.wait(cx);
            return TaskStep::Sleep;
        }
        cx.emit_batch(0, batch);
        TaskStep::Again
    }

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let batch = if self.active { self.make(limit, cx) } else { Batch::new() };
        if batch.is_empty() {
            if let Some(empty) = self.empty {
                cx.sleep(empty);
            }
            if self.active && self.is_at_limit() {
                self.end(cx);
            } else if self.active {
                self.wait(cx);
            }
        }
        batch
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        self.start(cx);
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<RatedSource>(old) {
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
    fn the_rate_is_exact() {
        for (rate, count) in [(10, 50), (250, 1000), (5000, 10_000)] {
            for batched in [false, true] {
                let config =
                    format!("r :: RatedSource(DATA ab, RATE {rate}, LIMIT {count}, STOP true) -> k :: Sink");
                let mut t = if batched { Harness::batched(&config) } else { Harness::new(&config) };
                let start = t.router.clock().peek();
                assert_eq!(t.run(), Outcome::Stopped);
                assert_eq!(t.take("k").len(), count);
                let took = (t.router.clock().peek() - start).as_secs_f64();
                // The bucket is full at first.
                let burst = if rate < 200 { 2 } else { rate / 100 };
                let packets = took * f64::from(rate) + f64::from(burst);
                assert!(
                    (packets - count as f64).abs() <= f64::from(rate) / 1000.0 + 1.0,
                    "{packets} of {count}"
                );
            }
        }
    }

    #[test]
    fn is_pulled_at_its_rate_without_spinning() {
        let mut t = Harness::new("RatedSource(RATE 100, LIMIT 20) -> u :: Unqueue -> k :: Sink");
        assert_eq!(t.run(), Outcome::Exhausted);
        let packets = t.take("k");
        let took = packets[19].timestamp() - packets[0].timestamp();
        assert_eq!(packets.len(), 20);
        assert!((0.17..0.19).contains(&took.as_secs_f64()), "{took}");
    }

    #[test]
    fn handlers_change_it_while_it_runs() {
        let mut t = Harness::new("r :: RatedSource(\\<0102>, 100, 5, false) -> k :: Sink");
        t.run();
        assert_eq!([t.read("r.rate"), t.read("r.length"), t.read("r.limit")], ["100", "-1", "5"]);
        assert_eq!(t.take("k").len(), 0);
        t.write("r.active true").unwrap();
        t.run();
        assert_eq!(t.bytes("k"), vec![vec![1, 2]; 5]);
        t.write("r.reset").unwrap();
        t.write("r.data abc").unwrap();
        t.write("r.length 4").unwrap();
        t.run();
        assert_eq!(t.bytes("k"), vec![b"abca".to_vec(); 5]);
        assert!(t.write("r.length 1000000").is_err());
        assert!(t.write("r.rate fast").is_err());
    }

    #[test]
    fn packets_have_room_for_headers_until_new_data_are_written() {
        let mut t = Harness::new("r :: RatedSource(LIMIT 1) -> k :: Sink");
        t.run();
        t.write("r.data abc").unwrap();
        t.write("r.reset").unwrap();
        t.run();
        assert_eq!(t.take("k").iter().map(Packet::headroom).collect::<Vec<_>>(), [60, 28]);
    }

    #[test]
    fn bandwidth_sets_the_rate() {
        let mut t = Harness::new("r :: RatedSource(LENGTH 125, BANDWIDTH 100kbps, ACTIVE false) -> Discard");
        assert_eq!(t.read("r.rate"), "100");
    }
}
