//! Shaper and its relative: packets can be pulled at a limited rate.

use super::bucket_args::Unit;
use super::gap_rate::{GapRate, MAX_RATE};
use crate::sched::gather;
use clickwork_packet::{Batch, Packet};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::notify::{NotifierId, NotifierKind, Search, Signal};
use clickwork_router::{Class, Cx, Element, Handler, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "lets packets be pulled at a limited rate",
    manual: "Passes pulls on as long as no more than RATE packets per second are had, evenly spread over each second. \
             In between it tells those who pull, by its empty notifier, that there is nothing to have. Those who pull at \
             output 1 get packets just then, when output 0 has none to give.",
    example: "InfiniteSource(LIMIT 5, STOP true) -> Queue -> Shaper(1000) -> Unqueue -> Discard",
    args: &[ArgSpec::required("RATE", ArgType::Rate, "packets per second")],
    ..class("Shaper", || Box::new(Shaper::new(Unit::Packets)))
};

/// The facts that both shapers have in common.
pub(super) const fn class(name: &'static str, make: fn() -> Box<dyn Element>) -> Class {
    Class { ports: "1/1-2", processing: "l/l", handlers: HANDLERS, ..Class::new(name, "shaping", make) }
}

const HANDLERS: &[Handler] = &[
    read_handler!("rate", "the rate", |e: &mut Shaper, _| e.unit.show(e.rate.rate()))
        .and_write(write_handler!("", "", |e: &mut Shaper, text, cx| e.write_rate(text, cx))),
    write_handler!(
        "reset",
        "forgets the packets that went, so that one may go at once",
        |e: &mut Shaper, _, cx| {
            let rate = e.rate.rate();
            e.begin(rate, cx);
        }
    ),
    read_handler!("config", "the rate", |e: &mut Shaper, _| e.unit.show(e.rate.rate())),
];

/// The timer that ends a pause.
const PAUSE: usize = 0;

pub(super) struct Shaper {
    unit: Unit,
    rate: GapRate,
    /// Active while output 0 may give a packet.
    empty: Option<NotifierId>,
    /// The same for output 1, which gives what exceeds the rate, if there is one.
    excess: Option<NotifierId>,
    upstream: Signal,
}

impl Shaper {
    pub(super) fn new(unit: Unit) -> Shaper {
        Shaper { unit, rate: GapRate::new(0), empty: None, excess: None, upstream: Signal::idle() }
    }

    fn write_rate(&mut self, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
        let rate = self.unit.parse(text)?;
        self.begin(rate, cx);
        Ok(())
    }

    fn begin(&mut self, rate: u32, cx: &mut Cx<'_>) {
        self.rate = GapRate::new(rate);
        cx.unschedule_timer(PAUSE);
        self.empty.into_iter().chain(self.excess).for_each(|n| cx.wake(n));
    }

    /// Lets those who pull sleep until the rate allows more.
    fn pause(&mut self, cx: &mut Cx<'_>) {
        if let Some(empty) = self.empty {
            cx.sleep(empty);
        }
        if let Some(wait) = self.rate.wait(cx.steady()) {
            cx.schedule_timer_after(PAUSE, wait);
        }
    }

    /// Pulls as many as `allowed`, which counts packets or bytes; the last packet may exceed it.
    fn pull_allowed(&mut self, allowed: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        if self.unit == Unit::Packets {
            return cx.pull(0, limit.min(allowed));
        }
        let mut bytes = 0;
        gather(limit, cx, |cx| {
            let packet = if bytes < allowed { cx.pull(0, 1) } else { Batch::new() };
            bytes += packet.first().map_or(0, Packet::len);
            (!packet.is_empty()).then_some(packet)
        })
    }

    /// What exceeds the rate. Whoever asks for it sleeps while nothing does.
    fn pull_excess(&mut self, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let is_turn_of_first = self.rate.allowance(cx.steady()) > 0;
        let batch = if is_turn_of_first { Batch::new() } else { cx.pull(0, limit) };
        if let Some(excess) = self.excess
            && (is_turn_of_first || (batch.is_empty() && !cx.is_active(&self.upstream)))
        {
            cx.sleep(excess);
        }
        if let Some(empty) = self.empty.filter(|_| is_turn_of_first && cx.is_active(&self.upstream)) {
            cx.wake(empty);
        }
        batch
    }

    /// Counts what goes by output 0. If that was all for now, output 1 has its turn.
    fn spend(&mut self, batch: &Batch, cx: &mut Cx<'_>) {
        self.rate.spend(self.cost(batch));
        if let Some(excess) = self.excess
            && self.rate.allowance(cx.router().clock().peek()) == 0
        {
            cx.wake(excess);
        }
    }

    fn cost(&self, batch: &Batch) -> usize {
        match self.unit {
            Unit::Packets => batch.len(),
            Unit::Bytes => batch.iter().map(Packet::len).sum(),
        }
    }
}

impl Element for Shaper {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        if let Some(rate) = self.unit.rate_arg(args) {
            if rate > MAX_RATE {
                args.warn(format!("rate too large; lowered to {MAX_RATE}"));
            }
            self.rate = GapRate::new(rate);
        }
        let mut notifier = |port| cx.export_port_notifier(port, NotifierKind::Empty, Search::ContinueWake);
        self.empty = Some(notifier(0));
        self.excess = Some(notifier(1));
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        if let Some(empty) = self.empty {
            self.upstream = cx.upstream_empty_signal_for(0, empty);
        }
        if let Some(excess) = self.excess {
            cx.upstream_empty_signal_for(0, excess);
        }
        Ok(())
    }

    fn pull(&mut self, port: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        if port == 1 {
            return self.pull_excess(limit, cx);
        }
        let allowed = self.rate.allowance(cx.steady());
        if allowed == 0 {
            self.pause(cx);
            return Batch::new();
        }
        let batch = self.pull_allowed(allowed, limit, cx);
        if !batch.is_empty() {
            self.spend(&batch, cx);
        } else if !cx.is_active(&self.upstream)
            && let Some(empty) = self.empty
        {
            cx.sleep(empty);
        }
        batch
    }

    fn run_timer(&mut self, _: usize, cx: &mut Cx<'_>) {
        if let Some(empty) = self.empty {
            cx.wake(empty);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::{Packet, Timestamp};
    use clickwork_router::Outcome;

    fn seconds_since(start: Timestamp, t: &Harness) -> f64 {
        (t.router.clock().peek() - start).as_secs_f64()
    }

    #[test]
    fn a_thousand_packets_at_a_hundred_per_second_take_ten_seconds() {
        for batched in [false, true] {
            let config = "s :: Source -> Queue -> Shaper(100) -> rr :: RoundRobinSched -> u :: Unqueue(BURST 5) -> k :: Sink";
            let mut t = if batched { Harness::batched(config) } else { Harness::new(config) };
            let start = t.router.clock().peek();
            t.push_batch("s", 0, (0..60).map(|_| Packet::new(b"x")));
            assert_eq!(t.run(), Outcome::Exhausted);
            assert_eq!(t.take("k").len(), 60);
            let took = seconds_since(start, &t);
            assert!((0.58..0.61).contains(&took), "{took}");
            assert_eq!(t.read("u.scheduled"), "false");
            t.push("s", 0, [Packet::new(b"y")]);
            assert_eq!(t.take("k").len(), 1);
        }
    }

    #[test]
    fn bytes_are_shaped_exactly() {
        for batched in [false, true] {
            let config =
                "s :: Source -> Queue -> b :: BandwidthShaper(8kbps) -> Unqueue(BURST 64) -> k :: Sink";
            let mut t = if batched { Harness::batched(config) } else { Harness::new(config) };
            let start = t.router.clock().peek();
            t.push_batch("s", 0, (0..50).map(|_| Packet::new(&[0; 100])));
            assert_eq!(t.run(), Outcome::Exhausted);
            assert_eq!((t.take("k").len(), t.read("b.rate")), (50, "8kbps".into()));
            let took = seconds_since(start, &t);
            assert!((4.8..=5.01).contains(&took), "{took}");
        }
    }

    #[test]
    fn a_new_rate_takes_effect_at_once() {
        let mut t = Harness::new("s :: Source -> Queue -> h :: Shaper(0) -> Unqueue -> k :: Sink");
        t.push("s", 0, (0..10).map(|_| Packet::new(b"x")));
        assert_eq!(t.take("k").len(), 0);
        t.write("h.rate 1000").unwrap();
        assert_eq!(t.run(), Outcome::Exhausted);
        assert_eq!((t.take("k").len(), t.read("h.config")), (10, "1000".into()));
    }

    /// Packets that two outputs give in a second, pulled 500 times a second each.
    fn shares(shaper: &str, rate: u32) -> [u32; 2] {
        let mut t = Harness::new(&format!(
            "RatedSource(LENGTH 100, RATE 2000) -> Queue -> s :: {shaper}; \
             s[0] -> RatedUnqueue({rate}) -> a :: Counter -> Discard; \
             s[1] -> RatedUnqueue({rate}) -> b :: Counter -> Discard"
        ));
        t.run_for(std::time::Duration::from_secs(4));
        ["a.count", "b.count"].map(|count| t.read(count).parse::<u32>().unwrap() / 4)
    }

    #[test]
    fn one_output_does_not_silence_the_other() {
        for shaper in ["Shaper(250)", "BandwidthShaper(25000)"] {
            let [within, beyond] = shares(shaper, 500);
            assert!((245..=255).contains(&within), "{within} of 250: {shaper}");
            assert!((240..=505).contains(&beyond), "{beyond} by output 1: {shaper}");
        }
        assert_eq!(shares("Shaper(0)", 500)[0], 0);
        assert!(shares("Shaper(0)", 500)[1] > 490);
        assert!(shares("Shaper(1000)", 500)[0] > 490);
    }

    #[test]
    fn pulled_at_both_outputs_by_turns_every_pull_gets_a_packet() {
        for batched in [false, true] {
            for shaper in ["Shaper(250)", "BandwidthShaper(25000)"] {
                let config = format!(
                    "RatedSource(LENGTH 100, RATE 3000) -> q :: Queue -> s :: {shaper}; rr :: RoundRobinSched; \
                     s[0] -> a :: Counter -> [0] rr; s[1] -> b :: Counter -> [1] rr; \
                     rr -> RatedUnqueue(1000) -> Discard"
                );
                let mut t = if batched { Harness::batched(&config) } else { Harness::new(&config) };
                t.run_for(std::time::Duration::from_secs(4));
                let counts = ["a.count", "b.count"].map(|count| t.read(count).parse::<i64>().unwrap());
                assert!((990..=1010).contains(&counts[0]), "{counts:?} within 1000 by {shaper}");
                let all: i64 = counts.iter().sum();
                assert!((3980..=4020).contains(&all), "{counts:?} of 4000 by {shaper}");
            }
        }
    }

    #[test]
    fn output_1_gives_what_exceeds_the_rate() {
        let mut t =
            Harness::new("Source -> q :: Queue -> s :: Shaper(1); s[0] -> k :: Sink; s[1] -> l :: Sink");
        t.push("q", 0, (0..4).map(|_| clickwork_packet::Packet::new(b"x")));
        assert_eq!(t.take("k").len() + t.take("l").len(), 4);
        assert!(t.read("s.rate") == "1" && t.write("s.reset").is_ok());
    }
}
