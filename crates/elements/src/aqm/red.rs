//! RED: drops packets at random before queues are full.
//!
//! Read first: Floyd and Jacobson, "Random early detection gateways for congestion avoidance" (ToN 1993). The gentle
//! variant is Floyd's of 2000: between MAX_THRESH and twice that the probability rises from MAX_P to 1.

use super::nearby::Queues;
use super::thresholds::{CERTAIN, Limits, SCALE};
use crate::rate::Average;
use clickwork_packet::{Batch, Packet};
use clickwork_router::args::{ArgParser, ArgSpec, ArgType, Args, Names, Real2, format_real2};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, Handler, read_handler, write_handler};
use std::time::Duration;

/// The class facts.
pub static CLASS: Class = Class {
    help: "drops packets at random before queues are full",
    manual: "Random Early Detection over the nearest queues: those downstream if it is pushed into, those upstream if it \
             is pulled from, or those named in QUEUES. While their average total length is below MIN_THRESH, packets \
             pass; from there to MAX_THRESH they are dropped with a probability that rises to MAX_P; beyond that all are \
             dropped, or, if GENTLE, the probability rises to 1 at twice MAX_THRESH. STABILITY says how slowly the average \
             follows: a new length counts for one part in 2^STABILITY. Dropped packets go to output 1 if that is connected.",
    example: "InfiniteSource(LIMIT 5, STOP true) -> RED(5, 50, 0.02) -> Queue -> Unqueue -> Discard",
    ports: "1/1-2",
    processing: "a/ah",
    packets: "any/each",
    args: &[
        ArgSpec::required("MIN_THRESH", ArgType::U32, "average length from which on packets may be dropped"),
        ArgSpec::required("MAX_THRESH", ArgType::U32, "average length at which the probability is MAX_P"),
        ArgSpec::required("MAX_P", ArgType::Real, "probability at MAX_THRESH, 0 to 1"),
        QUEUES,
        STABILITY,
        ArgSpec::keyword(
            "GENTLE",
            ArgType::Bool,
            "true",
            "whether the probability goes on to rise behind MAX_THRESH",
        ),
    ],
    handlers: HANDLERS,
    ..Class::new("RED", "aqm", || Box::<Red>::default())
};

pub(super) const QUEUES: ArgSpec =
    ArgSpec::keyword("QUEUES", ArgType::Text, "", "names of the queues that count, instead of the nearest");
pub(super) const STABILITY: ArgSpec =
    ArgSpec::keyword("STABILITY", ArgType::U32, "4", "how slowly the average follows, 0 to 16");

pub(super) const HANDLERS: &[Handler] =
    &[
        read_handler!("drops", "packets dropped", |e: &mut Red, _| e.drops),
        read_handler!("min_thresh", "lower threshold", |e: &mut Red, _| e.limits.min).and_write(
            write_handler!("", "", |e: &mut Red, text, _| {
                let min = threshold("MIN_THRESH", text)?;
                e.set_limits(Limits { min, ..e.limits })
            }),
        ),
        read_handler!("max_thresh", "upper threshold", |e: &mut Red, _| e.limits.max).and_write(
            write_handler!("", "", |e: &mut Red, text, _| {
                let max = threshold("MAX_THRESH", text)?;
                e.set_limits(Limits { max, ..e.limits })
            }),
        ),
        read_handler!("max_p", "probability at the upper threshold", |e: &mut Red, _| format_real2(
            e.limits.max_p,
            16
        ))
        .and_write(write_handler!("", "", |e: &mut Red, text, _| e.write_max_p(text))),
        read_handler!("avg_queue_size", "average length of the queues", |e: &mut Red, _| e.size.text()),
        read_handler!("stats", "lengths and drops", |e: &mut Red, _| {
            format!("{} current queue\n{} avg queue\n{} drops\n", e.queues.length(), e.size.text(), e.drops)
        }),
        read_handler!("queues", "the queues that count", |e: &mut Red, _| e.queues.list()),
        read_handler!("config", "the configuration with all values", |e: &mut Red, _| e.config()),
    ];

/// While queues are empty, the average falls so often per second.
const EMPTY_TICK_NANOS: i64 = 1_000_000_000 / 50;

/// A threshold, from the text of a handler.
fn threshold(argument: &str, text: &str) -> Result<i64, String> {
    crate::values::argument::<u32>(argument, text, &Names::default()).map(i64::from)
}

pub(super) struct Red {
    limits: Limits,
    stability: u32,
    queues: Queues,
    /// The average length; with a stability of 0 it is not used.
    size: Average,
    drops: u64,
    /// Packets since the last drop; none while the average is outside of the thresholds.
    since_drop: Option<i64>,
    draw: i64,
    /// When the queues were last seen empty, in ticks.
    empty_tick: Option<i64>,
    /// Whether `max_p` follows the average (AdaptiveRED).
    adaptive: bool,
}

impl Default for Red {
    fn default() -> Red {
        Red {
            limits: Limits { min: 0, max: 0, max_p: 0, gentle: true },
            stability: 4,
            queues: Queues::default(),
            size: Average::new(4, SCALE),
            drops: 0,
            since_drop: None,
            draw: 0,
            empty_tick: None,
            adaptive: false,
        }
    }
}

impl Red {
    /// The same for AdaptiveRED.
    pub(super) fn adaptive() -> Red {
        Red { adaptive: true, ..Red::default() }
    }

    fn set_limits(&mut self, limits: Limits) -> Result<(), String> {
        self.limits = limits.check()?;
        Ok(())
    }

    fn write_max_p(&mut self, text: &str) -> Result<(), String> {
        let p = Real2(16).parse(text.trim(), &Names::default());
        let max_p = p.map_err(|_| "MAX_P: parse error")?.into();
        self.set_limits(Limits { max_p, ..self.limits })
    }

    fn config(&self) -> String {
        let Limits { min, max, max_p, gentle } = self.limits;
        let queues: String = self.queues.names().map(|name| format!(" {name}")).collect();
        let gentle = if gentle { "" } else { ", GENTLE false" };
        format!(
            "{min}, {max}, {}, QUEUES{queues}, STABILITY {}{gentle}",
            format_real2(max_p, 16),
            self.stability
        )
    }

    /// Brings the average up to date with the queues' present length, and returns it times 2^[`SCALE`]. While the queues are
    /// empty it falls with time instead of packets. With a stability of 0 the length itself counts.
    fn measure(&mut self, length: i64, cx: &Cx<'_>) -> i64 {
        if self.stability == 0 {
            return length << SCALE;
        }
        if length > 0 {
            self.size.add(length);
            self.empty_tick = None;
        } else {
            let tick = cx.recent().nanos() / EMPTY_TICK_NANOS;
            self.size.decay(self.empty_tick.map_or(1, |last| tick - last));
            self.empty_tick = Some(tick);
        }
        self.size.scaled()
    }

    fn should_drop(&mut self, length: i64, cx: &mut Cx<'_>) -> bool {
        let scaled = self.measure(length, cx);
        let average = scaled >> SCALE;
        if average <= self.limits.min || average > self.limits.kill() {
            self.since_drop = None;
            return average > self.limits.min;
        }
        let probability = self.limits.probability(scaled);
        let count = self.since_drop.map_or(0, |n| n + 1);
        let drop = count > 0 && probability > 0 && count > self.draw / probability;
        let count = if drop { 0 } else { count };
        self.since_drop = Some(count);
        if count == 0 {
            self.draw = i64::from((cx.random() >> 5) & 0xFFFF);
        }
        drop
    }

    fn drop(&mut self, p: Packet, cx: &mut Cx<'_>) {
        self.drops += 1;
        cx.emit_or_drop(1, p, "random early detection");
    }

    /// Takes out what is to be dropped. Each packet sees the queues as long as if those before it in the batch had gone in,
    /// or those behind it were still there.
    fn thin_out(&mut self, batch: &mut Batch, is_pushed: bool, cx: &mut Cx<'_>) {
        let mut length = self.queues.length() + if is_pushed { 0 } else { batch.len() as i64 - 1 };
        let mut drops = [0; clickwork_packet::BATCH_SIZE];
        for mark in &mut drops[..batch.len()] {
            let drop = self.should_drop(length, cx);
            *mark = u16::from(drop);
            length += if is_pushed { i64::from(!drop) } else { -1 };
        }
        if drops.contains(&1) {
            batch.extract(&drops).for_each(|(_, p)| self.drop(p, cx));
        }
    }

    /// Raises or lowers `max_p` by how far the average is from the middle between the thresholds: Floyd, Gummadi and Shenker,
    /// "Adaptive RED" (2001), with the numbers of Click.
    fn adapt(&mut self) {
        let Limits { min, max, max_p, .. } = self.limits;
        let average = if self.stability == 0 { self.queues.length() } else { self.size.whole() };
        let part = (max - min) / 2;
        if average < min + part && max_p > HUNDREDTH {
            self.limits.max_p = (max_p * NINE_TENTHS) >> 16;
        } else if average > max - part && max_p < CERTAIN / 2 {
            self.limits.max_p = max_p + HUNDREDTH.min(max_p / 4);
        }
    }

    /// Reads the thresholds: RED's from three arguments, AdaptiveRED's from a target length, which is at least 10.
    fn read_limits(&self, args: &mut Args) -> Option<Limits> {
        let max_p = args.get_with("MAX_P", Real2(16)).map_or(0, i64::from);
        if self.adaptive {
            let target = i64::from(args.get::<u32>("TARGET")?).max(10);
            return Some(Limits { min: target / 2, max: target + target / 2, max_p, gentle: true });
        }
        let (min, max) = (args.get::<u32>("MIN_THRESH"), args.get::<u32>("MAX_THRESH"));
        let gentle = args.get("GENTLE").unwrap_or(true);
        Some(Limits { min: min?.into(), max: max?.into(), max_p, gentle })
    }
}

/// How often AdaptiveRED looks.
const ADAPT_INTERVAL: Duration = Duration::from_millis(500);
const HUNDREDTH: i64 = CERTAIN / 100;
const NINE_TENTHS: i64 = CERTAIN * 9 / 10;

impl Element for Red {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        args.read("STABILITY", &mut self.stability);
        self.size = Average::new(self.stability.min(16), SCALE);
        // What is wrong with one of them is not said again of all together.
        let Some(limits) = self.read_limits(args) else { return };
        match limits.check() {
            Err(e) => args.error(e),
            Ok(_) if self.stability > 16 => args.error("STABILITY must be between 0 and 16"),
            Ok(limits) => {
                self.limits = limits;
                self.queues.read(args, cx);
            }
        }
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        if self.adaptive {
            cx.schedule_timer_after(0, ADAPT_INTERVAL);
        }
        self.queues.find(cx.output_is_push(0), cx)
    }

    fn run_timer(&mut self, slot: usize, cx: &mut Cx<'_>) {
        self.adapt();
        cx.schedule_timer_after(slot, ADAPT_INTERVAL);
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        self.thin_out(batch, true, cx);
    }

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        loop {
            let mut batch = cx.pull(0, limit);
            if batch.is_empty() {
                return batch;
            }
            self.thin_out(&mut batch, false, cx);
            if !batch.is_empty() {
                return batch;
            }
        }
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<Red>(old).filter(|o| o.stability == self.stability) {
            self.size = old.size;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    fn send(t: &mut Harness, n: usize) {
        t.push("s", 0, (0..n).map(|_| Packet::new(b"x")));
    }

    #[test]
    fn the_probability_rises_with_the_average_length() {
        let mut t = Harness::new(
            "s :: Source -> r :: RED(10, 50, 0.1, STABILITY 0) -> q :: Queue(1000) -> Idle; r[1] -> k :: Sink",
        );
        send(&mut t, 10);
        assert_eq!(t.read("r.drops"), "0");
        // From 10 to 100 (gentle: certain at 100) drops become more and more frequent.
        send(&mut t, 300);
        let (length, drops): (usize, usize) =
            (t.read("q.length").parse().unwrap(), t.read("r.drops").parse().unwrap());
        assert_eq!(length + drops, 310);
        assert!((50..=101).contains(&length), "{length}");
        assert_eq!(t.take("k").len(), drops);
        assert!(t.read("r.stats").starts_with(&format!("{length} current queue\n")));
    }

    #[test]
    fn counts_all_its_nearest_queues() {
        let mut t = Harness::new(
            "s :: Source -> r :: RED(2, 2, 1, STABILITY 0) -> split :: StrideSwitch(1, 1); \
             split[0] -> a :: Queue -> Idle; split[1] -> b :: Queue -> Idle",
        );
        send(&mut t, 10);
        assert_eq!([t.read("a.length"), t.read("b.length"), t.read("r.drops")], ["1", "2", "7"]);
        assert_eq!(t.read("r.queues"), "a\nb\n");
        assert_eq!(t.read("r.config"), "2, 2, 1, QUEUES a b, STABILITY 0");
    }

    #[test]
    fn drops_on_a_pull_path_too() {
        let mut t = Harness::new(
            "s :: Source -> q :: Queue -> r :: RED(0, 1, 1, STABILITY 0, QUEUES q) -> u :: Unqueue(ACTIVE false) -> k :: Sink",
        );
        send(&mut t, 20);
        t.write("u.active true").unwrap();
        t.run();
        let passed = t.take("k").len();
        assert_eq!(t.read("r.drops"), (20 - passed).to_string());
        assert!(passed < 5, "{passed}");
    }

    #[test]
    fn thresholds_can_be_changed_and_are_checked() {
        let mut t = Harness::new("s :: Source -> r :: RED(5, 50, 0.02) -> Queue -> Idle");
        assert_eq!([t.read("r.max_p"), t.read("r.min_thresh")], ["0.02", "5"]);
        t.write("r.max_thresh 20").unwrap();
        t.write("r.max_p 0.5").unwrap();
        assert_eq!([t.read("r.max_p"), t.read("r.max_thresh")], ["0.5", "20"]);
        assert!(t.write("r.min_thresh 30").is_err());
        for (config, message) in [
            ("RED(5, 2, 0.1) -> Queue", "MIN_THRESH must be <= MAX_THRESH"),
            ("RED(5, 70000, 0.1) -> Queue", "MAX_THRESH must be <= 65535"),
            ("RED(5, 50, 1.5) -> Queue", "MAX_P must be between 0 and 1"),
            ("RED(5, 50, 0.1, STABILITY 17) -> Queue", "STABILITY must be between"),
            ("RED(5, 50, 0.1, QUEUES nope) -> Queue", "no element named 'nope'"),
        ] {
            let e = Harness::errors(&format!("Idle -> {config} -> Discard"));
            assert!(e.contains(message), "{e}");
        }
        assert!(Harness::errors("Idle -> RED(5, 50, 0.1) -> Discard").contains("no nearby Queues"));
        let e = Harness::errors("Idle -> RED(5) -> Queue -> Discard");
        assert!(e.contains("MAX_THRESH: required") && !e.contains("must be <="), "{e}");
        assert_eq!(t.write("r.min_thresh x").unwrap_err(), "MIN_THRESH: parse error");
        assert_eq!(t.write("r.max_p x").unwrap_err(), "MAX_P: parse error");
    }

    /// The numbers of packets from one drop to the next, at a queue that always has `length` packets.
    fn gaps(config: &str, length: usize, packets: usize) -> Vec<usize> {
        let mut t = Harness::new(&format!(
            "s :: Source -> r :: {config}; r[0] -> Discard; r[1] -> k :: Sink; fill :: Source -> q :: Queue -> Idle"
        ));
        t.push("fill", 0, (0..length).map(|_| Packet::new(b"x")));
        let mut gaps = Vec::new();
        let mut gap = 0;
        for _ in 0..packets / 50 {
            let numbered = (0..50u8).map(|i| Packet::new(&[i]));
            t.push("s", 0, numbered);
            let mut last = 0;
            for p in t.take("k") {
                let at = usize::from(p.data()[0]) + 1;
                gaps.push(gap + at - last);
                (gap, last) = (0, at);
            }
            gap += 50 - last;
        }
        gaps
    }

    #[test]
    fn drops_are_spread_as_the_formula_says() {
        // (maxp, average length): p_b = maxp (avg - min) / (max - min), Floyd and Jacobson 1993 §4.
        for (max_p, length) in [(0.1, 30), (0.02, 55), (0.2, 15), (0.5, 50)] {
            let config = format!("RED(10, 60, {max_p}, QUEUES q)");
            let gaps = gaps(&config, length, 30_000);
            // The average needs some packets to come near the length.
            let gaps = &gaps[gaps.len().min(20)..];
            let p_b = max_p * (length - 10) as f64 / 50.0;
            // §8, method 2: the gap is uniform on 1, 2, ..., 1/p_b.
            let (n, longest) = (gaps.len() as f64, 1.0 / p_b);
            let mean = gaps.iter().sum::<usize>() as f64 / n;
            let whole = longest.floor();
            let rest = (whole + 1.0) * (1.0 - whole * p_b);
            let (expected, deviation) = (p_b * whole * (whole + 1.0) / 2.0 + rest, longest / 12f64.sqrt());
            let rate = 1.0 / mean;
            assert!(
                (mean - expected).abs() < 4.0 * deviation / n.sqrt() + 0.01 * expected,
                "{max_p} at {length}: gap {mean}, expected {expected}; rate {rate}"
            );
            assert!(gaps.iter().all(|&g| g as f64 <= longest * 1.05 + 1.0), "{max_p} at {length}");
            // Four quarters of the range are equally likely: a chi-squared test with three degrees of freedom, 0.1 %.
            let mut quarters = [0.0; 4];
            let steps = (longest.round() as usize / 4 * 4).max(4);
            let within: Vec<_> = gaps.iter().filter(|&&g| g <= steps).collect();
            within.iter().for_each(|&&g| quarters[(g - 1) * 4 / steps] += 1.0);
            let share = within.len() as f64 / 4.0;
            let chi: f64 = quarters.iter().map(|q| (q - share) * (q - share) / share).sum();
            assert!(longest < 8.0 || chi < 16.3, "{max_p} at {length}: {quarters:?}, {chi}");
        }
    }

    #[test]
    fn outside_of_the_thresholds_nothing_is_left_to_chance() {
        assert_eq!(gaps("RED(10, 60, 0.1, QUEUES q)", 10, 1000), []);
        // Beyond twice the upper threshold everything goes, from where the average has come there.
        assert!(gaps("RED(10, 30, 0.1, QUEUES q)", 100, 1000).iter().rev().take(900).all(|&g| g == 1));
        assert!(
            gaps("RED(10, 30, 0.1, QUEUES q, GENTLE false)", 33, 1000)
                .iter()
                .rev()
                .take(800)
                .all(|&g| g == 1)
        );
    }

    #[test]
    fn a_stability_of_0_looks_at_the_length_itself() {
        let mut t = Harness::new("s :: Source -> r :: RED(5, 10, 1, STABILITY 0) -> q :: Queue -> Idle");
        send(&mut t, 100);
        // The average is not kept then, as in Click.
        let drops = 100 - t.read("q.length").parse::<i32>().unwrap();
        assert_eq!(t.read("r.stats"), format!("{} current queue\n0 avg queue\n{drops} drops\n", 100 - drops));
        assert_eq!(t.read("q.length"), "10");
    }

    #[test]
    fn a_batch_is_treated_as_its_packets_one_by_one() {
        let config = "s :: Source -> r :: RED(5, 10, 1, STABILITY 0) -> q :: Queue -> Idle";
        let mut t = Harness::batched(config);
        t.push_batch("s", 0, (0..64).map(|_| Packet::new(b"x")));
        assert_eq!(t.read("q.length"), "10");
    }
}
