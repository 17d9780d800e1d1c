//! RandomSample: passes packets with some probability.

use crate::values::store;
use clickwork_packet::Packet;
use clickwork_router::args::{ArgParser, ArgSpec, ArgType, Args, Names, Real2, format_real2};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, SimpleElement, Verdict, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "passes packets at random",
    manual: "Passes each packet with probability P (also called SAMPLE), or 1 - DROP. The others go to output 1 if it is \
             connected, and are dropped otherwise. With ACTIVE false all packets pass.",
    example: "InfiniteSource(LIMIT 10, STOP true) -> RandomSample(0.5) -> Discard",
    ports: "1/1-2",
    processing: "a/ah",
    packets: "any/each",
    args: &[
        ArgSpec::positional("P", ArgType::Real, "1", "probability to pass, 0 to 1"),
        ArgSpec::keyword("SAMPLE", ArgType::Real, "", "the same"),
        ArgSpec::keyword("DROP", ArgType::Real, "", "probability not to pass instead"),
        ArgSpec::keyword("ACTIVE", ArgType::Bool, "true", "whether packets are chosen at all"),
    ],
    handlers: &[
        read_handler!("sampling_prob", "probability to pass", |e: &mut RandomSample, _| e.show(e.sample))
            .and_write(write_handler!("", "", |e: &mut RandomSample, text, _| {
                e.sample = probability(text)?;
                Ok::<(), String>(())
            })),
        read_handler!("drop_prob", "probability not to pass", |e: &mut RandomSample, _| e
            .show(ONE - e.sample))
        .and_write(write_handler!("", "", |e: &mut RandomSample, text, _| {
            e.sample = ONE - probability(text)?;
            Ok::<(), String>(())
        })),
        read_handler!("active", "whether packets are chosen", |e: &mut RandomSample, _| e.active)
            .flags("c")
            .and_write(write_handler!("", "", |e: &mut RandomSample, text, _| store(
                &mut e.active,
                text,
                "boolean"
            ))),
        read_handler!("drops", "packets not passed", |e: &mut RandomSample, _| e.drops),
        read_handler!("config", "the configuration", |e: &mut RandomSample, _| format!(
            "SAMPLE {}, ACTIVE {}",
            e.show(e.sample),
            e.active
        )),
    ],
    ..Class::new("RandomSample", "standard", || {
        Box::new(RandomSample { sample: ONE, active: true, drops: 0 })
    })
};

/// Bits of fraction of a probability.
const BITS: u32 = 28;
/// Certainty.
const ONE: u32 = 1 << BITS;

struct RandomSample {
    /// The probability to pass, in parts of `ONE`.
    sample: u32,
    active: bool,
    drops: u64,
}

fn probability(text: &str) -> Result<u32, String> {
    let p = Real2(BITS).parse(text.trim(), &Names::default()).ok().filter(|&p| p <= ONE);
    p.ok_or_else(|| "Must be given a number between 0.0 and 1.0".to_string())
}

impl RandomSample {
    fn show(&self, p: u32) -> String {
        format_real2(p.into(), BITS)
    }
}

impl SimpleElement for RandomSample {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read_with("P", Real2(BITS), &mut self.sample).read_with("SAMPLE", Real2(BITS), &mut self.sample);
        args.read("ACTIVE", &mut self.active);
        if args.has("SAMPLE") && args.has("DROP") {
            args.error("give at most one of SAMPLE and DROP");
        } else if let Some(drop) = args.get_with("DROP", Real2(BITS)) {
            self.sample = ONE.wrapping_sub(drop);
        }
        if self.sample > ONE {
            args.error("sampling probability must be between 0 and 1");
        }
    }

    fn simple_action(&mut self, _: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        if !self.active || cx.random() & (ONE - 1) < self.sample {
            return Verdict::PASS;
        }
        self.drops += 1;
        cx.out_or_drop(1, "not sampled")
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<RandomSample>(old) {
            self.drops = old.drops;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    fn passed(config: &str) -> usize {
        let mut t = Harness::batched(&format!("s :: Source -> r :: RandomSample({config}) -> k :: Sink"));
        (0..100).for_each(|_| t.push_batch("s", 0, (0..64).map(|_| Packet::new(b"x"))));
        let passed = t.take("k").len();
        assert_eq!(t.read("r.drops"), (6400 - passed).to_string());
        passed
    }

    #[test]
    fn the_probability_is_kept() {
        assert_eq!(
            [passed(""), passed("0"), passed("1"), passed("DROP 1"), passed("0, ACTIVE false")],
            [6400, 0, 6400, 0, 6400]
        );
        for config in ["0.25", "DROP 0.75", "SAMPLE 0.25"] {
            // Six standard deviations.
            assert!((1600 - 208..1600 + 208).contains(&passed(config)), "{config}");
        }
    }

    #[test]
    fn handlers_change_it() {
        let mut t = Harness::new("s :: Source -> r :: RandomSample(0.25) -> k :: Sink");
        assert_eq!(
            (t.read("r.drop_prob"), t.read("r.config")),
            ("0.75".into(), "SAMPLE 0.25, ACTIVE true".into())
        );
        t.write("r.drop_prob 0.5").unwrap();
        assert_eq!(t.read("r.sampling_prob"), "0.5");
        assert!(t.write("r.sampling_prob 1.5").unwrap_err().contains("between 0.0 and 1.0"));
    }

    #[test]
    fn impossible_probabilities_are_refused() {
        for config in ["1.5", "DROP 1.5"] {
            let e = Harness::errors(&format!("Idle -> RandomSample({config}) -> Discard"));
            assert!(e.contains("between 0 and 1"), "{e}");
        }
    }
}
