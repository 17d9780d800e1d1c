//! RED: drops packets at random before queues are full.
//!
//! Read first: Floyd and Jacobson, "Random early detection gateways for congestion avoidance" (ToN 1993). The gentle
//! variant is Floyd's of 2000: between MAX_THRESH and twice that the probability rises from MAX_P to 1.

use crate::rate::Average;
use clickwork_packet::{BATCH_SIZE, Batch, Packet};
use clickwork_router::args::{ArgParser, ArgSpec, ArgType, Args, Names, Real2, format_real2, words};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, Storage, read_handler, write_handler};
use std::sync::Arc;

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
        ArgSpec::keyword(
            "QUEUES",
            ArgType::Text,
            "",
            "names of the queues that count, instead of the nearest",
        ),
        ArgSpec::keyword("STABILITY", ArgType::U32, "4", "how slowly the average follows, 0 to 16"),
        ArgSpec::keyword(
            "GENTLE",
            ArgType::Bool,
            "true",
            "whether the probability goes on to rise behind MAX_THRESH",
        ),
    ],
    handlers: &[
        read_handler!("drops", "packets dropped", |e: &mut Red, _| e.drops),
        read_handler!("min_thresh", "lower threshold", |e: &mut Red, _| e.limits.min).and_write(
            write_handler!("", "", |e: &mut Red, text, _| {
                let min = crate::values::parse(text, "number of packets")?;
                e.set_limits(Limits { min, ..e.limits })
            }),
        ),
        read_handler!("max_thresh", "upper threshold", |e: &mut Red, _| e.limits.max).and_write(
            write_handler!("", "", |e: &mut Red, text, _| {
                let max = crate::values::parse(text, "number of packets")?;
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
            format!("{} current queue\n{} avg queue\n{} drops\n", e.queue_length(), e.size.text(), e.drops)
        }),
        read_handler!("queues", "the queues that count", |e: &mut Red, _| {
            e.queues.iter().map(|(name, _)| format!("{name}\n")).collect::<String>()
        }),
        read_handler!("config", "the configuration with all values", |e: &mut Red, _| e.config()),
    ],
    ..Class::new("RED", "shaping", || Box::<Red>::default())
};

/// Bits of fraction of the average, and of probabilities.
const SCALE: u32 = 10;
const CERTAIN: i64 = 1 << 16;
const MAX_LENGTH: i64 = 0xFFFF;
/// While queues are empty, the average falls so often per second.
const EMPTY_TICK_NANOS: i64 = 1_000_000_000 / 50;

/// The thresholds and what follows from them.
#[derive(Clone, Copy, Debug)]
struct Limits {
    min: i64,
    max: i64,
    /// Probability at `max`, times 2^16.
    max_p: i64,
    gentle: bool,
}

impl Limits {
    fn check(self) -> Result<Limits, (&'static str, String)> {
        match self {
            Limits { max, .. } if max > MAX_LENGTH => {
                Err(("MAX_THRESH", format!("MAX_THRESH must be <= {MAX_LENGTH}")))
            }
            Limits { min, max, .. } if min > max => {
                Err(("MIN_THRESH", "MIN_THRESH must be <= MAX_THRESH".to_string()))
            }
            Limits { max_p, .. } if max_p > CERTAIN => {
                Err(("MAX_P", "MAX_P must be between 0 and 1".to_string()))
            }
            _ => Ok(self),
        }
    }

    /// Average length beyond which all packets are dropped.
    fn kill(self) -> i64 {
        if self.gentle && self.max_p != CERTAIN { 2 * self.max } else { self.max }
    }

    /// The probability of a drop, times 2^16, before it is spread over the packets since the last one. Integer
    /// divisions as in Click.
    fn probability(self, average: &Average) -> i64 {
        let span = self.max - self.min;
        let (slope, offset) = if average.whole() > self.max {
            ((CERTAIN - self.max_p) / self.max.max(1), CERTAIN - 2 * self.max_p)
        } else if span <= 0 {
            (0, 1)
        } else {
            (self.max_p / span, self.max_p * self.min / span)
        };
        ((slope * average.scaled()) >> SCALE) - offset
    }
}

struct Red {
    limits: Limits,
    stability: u32,
    named: Vec<String>,
    queues: Vec<(String, Arc<Storage>)>,
    size: Average,
    drops: u64,
    /// Packets since the last drop; none while the average is outside of the thresholds.
    since_drop: Option<i64>,
    draw: i64,
    /// When the queues were last seen empty, in ticks.
    empty_tick: Option<i64>,
}

impl Default for Red {
    fn default() -> Red {
        Red {
            limits: Limits { min: 0, max: 0, max_p: 0, gentle: true },
            stability: 4,
            named: Vec::new(),
            queues: Vec::new(),
            size: Average::new(4, SCALE),
            drops: 0,
            since_drop: None,
            draw: 0,
            empty_tick: None,
        }
    }
}

impl Red {
    fn set_limits(&mut self, limits: Limits) -> Result<(), String> {
        self.limits = limits.check().map_err(|(_, e)| e)?;
        Ok(())
    }

    fn write_max_p(&mut self, text: &str) -> Result<(), String> {
        let p = Real2(16).parse(text.trim(), &Names::default());
        let max_p = p.map_err(|_| "expected a probability between 0 and 1")?.into();
        self.set_limits(Limits { max_p, ..self.limits })
    }

    fn config(&self) -> String {
        let Limits { min, max, max_p, gentle } = self.limits;
        let queues: String = self.queues.iter().map(|(name, _)| format!(" {name}")).collect();
        let gentle = if gentle { "" } else { ", GENTLE false" };
        format!(
            "{min}, {max}, {}, QUEUES{queues}, STABILITY {}{gentle}",
            format_real2(max_p, 16),
            self.stability
        )
    }

    fn queue_length(&self) -> i64 {
        self.queues.iter().map(|(_, q)| q.length() as i64).sum()
    }

    /// Brings the average up to date. While the queues are empty it falls with time instead of packets.
    fn measure(&mut self, cx: &Cx<'_>) {
        let length = self.queue_length();
        if length > 0 || self.stability == 0 {
            self.size.add(length);
            self.empty_tick = None;
        } else {
            let tick = cx.recent().nanos() / EMPTY_TICK_NANOS;
            self.size.decay(self.empty_tick.map_or(1, |last| tick - last));
            self.empty_tick = Some(tick);
        }
    }

    fn should_drop(&mut self, cx: &mut Cx<'_>) -> bool {
        self.measure(cx);
        let average = self.size.whole();
        if average <= self.limits.min || average > self.limits.kill() {
            self.since_drop = None;
            return average > self.limits.min;
        }
        let probability = self.limits.probability(&self.size);
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

    /// Takes out what is to be dropped.
    fn thin_out(&mut self, batch: &mut Batch, cx: &mut Cx<'_>) {
        let mut drops = [0; BATCH_SIZE];
        drops[..batch.len()].fill_with(|| u16::from(self.should_drop(cx)));
        if drops.contains(&1) {
            batch.extract(&drops).for_each(|(_, p)| self.drop(p, cx));
        }
    }

    fn find_queues(&mut self, cx: &Cx<'_>) -> Result<(), String> {
        let found = if !self.named.is_empty() {
            self.named.iter().map(|name| named_queue(name, cx)).collect::<Result<Vec<_>, _>>()?
        } else if cx.output_is_push(0) {
            cx.downstream::<Storage>(Some(0))
        } else {
            cx.upstream::<Storage>(Some(0))
        };
        if found.is_empty() {
            return Err("no nearby Queues".to_string());
        }
        self.queues = found.into_iter().map(|(id, q)| (cx.router().info(id).name.clone(), q)).collect();
        Ok(())
    }
}

fn named_queue(name: &str, cx: &Cx<'_>) -> Result<(clickwork_router::ElementId, Arc<Storage>), String> {
    let id = cx.find(name).ok_or_else(|| format!("no element named '{name}'"))?;
    let queue = cx.exported::<Storage>(id).ok_or_else(|| format!("'{name}' is not a Storage element"))?;
    Ok((id, queue))
}

impl Element for Red {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let threshold = |n: Option<u32>| i64::from(n.unwrap_or(0));
        let (min, max) = (threshold(args.get("MIN_THRESH")), threshold(args.get("MAX_THRESH")));
        let max_p = args.get_with("MAX_P", Real2(16)).map_or(0, i64::from);
        let gentle = args.get("GENTLE").unwrap_or(true);
        args.read("STABILITY", &mut self.stability);
        if self.stability > 16 {
            args.error_in("STABILITY", "STABILITY must be between 0 and 16");
        }
        self.size = Average::new(self.stability.min(16), SCALE);
        self.named =
            args.raw("QUEUES").map_or_else(Vec::new, |t| words(t).into_iter().map(|w| w.text).collect());
        match (Limits { min, max, max_p, gentle }).check() {
            Ok(limits) => self.limits = limits,
            Err((name, e)) => args.error_in(name, e),
        }
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.find_queues(cx)
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        self.thin_out(batch, cx);
    }

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        loop {
            let mut batch = cx.pull(0, limit);
            if batch.is_empty() {
                return batch;
            }
            self.thin_out(&mut batch, cx);
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
    }
}
