//! RandomBitErrors: damages packets at random, as a bad line does.

use crate::values::store;
use clickwork_packet::Packet;
use clickwork_router::args::{ArgParser, ArgSpec, ArgType, Args, Names, Real2, format_real2};
use clickwork_router::{Class, Cx, SimpleElement, Verdict, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "damages bits of packets at random",
    manual: "Flips each bit of the packet data with probability P, or, as KIND says, sets or clears it. Annotations stay, \
             checksums are not mended.",
    example: "InfiniteSource(LIMIT 3, STOP true) -> RandomBitErrors(0.01) -> Discard",
    args: &[
        ArgSpec::required("P", ArgType::Real, "probability that a bit is damaged, 0 to 1"),
        ArgSpec::positional("KIND", ArgType::Word, "flip", "flip, set or clear"),
        ArgSpec::positional("ACTIVE", ArgType::Bool, "true", "whether anything is done"),
    ],
    handlers: &[
        read_handler!("p_bit_error", "probability that a bit is damaged", |e: &mut RandomBitErrors, _| {
            format_real2(e.p.into(), P_BITS)
        })
        .and_write(write_handler!("", "", |e: &mut RandomBitErrors, text, cx| {
            let p = Real2(P_BITS).parse(text.trim(), &Names::default());
            let p = p.map_err(|_| "P: bad fixed-point number")?;
            e.set_p(check_p(p)?);
            cx.set_argument(0, "P", text.trim());
            Ok::<(), String>(())
        })),
        read_handler!("error_kind", "what is done to a bit", |e: &mut RandomBitErrors, _| e.kind.name())
            .and_write(write_handler!("", "", |e: &mut RandomBitErrors, text, cx| {
                e.kind = Kind::parse(text.trim())?;
                cx.set_argument(1, "KIND", text.trim());
                Ok::<(), String>(())
            })),
        read_handler!("active", "whether anything is done", |e: &mut RandomBitErrors, _| e.active).and_write(
            write_handler!("", "", |e: &mut RandomBitErrors, text, _| store(&mut e.active, text, "boolean")),
        ),
    ],
    ..Class::new("RandomBitErrors", "standard", || Box::<RandomBitErrors>::default())
};

/// Bits of fraction of a probability.
const P_BITS: u32 = 28;
const CERTAIN: u32 = 1 << P_BITS;

/// What is done to a bit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Clear,
    Set,
    Flip,
}

impl Kind {
    fn parse(text: &str) -> Result<Kind, String> {
        match text {
            "clear" => Ok(Kind::Clear),
            "set" => Ok(Kind::Set),
            "flip" | "" => Ok(Kind::Flip),
            _ => Err(format!("bad action '{text}' (must be 'set', 'clear', or 'flip')")),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Clear => "clear",
            Kind::Set => "set",
            Kind::Flip => "flip",
        }
    }

    fn damage(self, byte: &mut u8, bit: u8) {
        match self {
            Kind::Clear => *byte &= !bit,
            Kind::Set => *byte |= bit,
            Kind::Flip => *byte ^= bit,
        }
    }
}

fn check_p(p: u32) -> Result<u32, String> {
    if p <= CERTAIN { Ok(p) } else { Err("drop probability must be between 0 and 1".to_string()) }
}

struct RandomBitErrors {
    /// Probability that a bit is damaged, in parts of `CERTAIN`.
    p: u32,
    /// The logarithm of the probability that it is not.
    log_whole: f64,
    kind: Kind,
    active: bool,
}

impl Default for RandomBitErrors {
    fn default() -> RandomBitErrors {
        RandomBitErrors { p: 0, log_whole: 0.0, kind: Kind::Flip, active: true }
    }
}

impl RandomBitErrors {
    fn set_p(&mut self, p: u32) {
        (self.p, self.log_whole) = (p, (1.0 - f64::from(p) / f64::from(CERTAIN)).ln());
    }

    /// How many bits stay whole before the next one that is damaged: a geometric distribution, so that the work is in
    /// proportion to the errors. From 1 upwards `whole` bits come through with probability (1 - P)^`whole`.
    fn gap(&self, cx: &mut Cx<'_>) -> usize {
        if self.p >= CERTAIN {
            return 0;
        }
        let chance = (f64::from(cx.random()) + 0.5) / (f64::from(u32::MAX) + 1.0);
        (chance.ln() / self.log_whole) as usize
    }
}

impl SimpleElement for RandomBitErrors {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("ACTIVE", &mut self.active);
        match Kind::parse(args.raw("KIND").unwrap_or_default().trim()) {
            Ok(kind) => self.kind = kind,
            Err(e) => args.error(e),
        }
        match args.get_with("P", Real2(P_BITS)).map(check_p) {
            Some(Err(e)) => args.error(e),
            Some(Ok(0)) => args.warn("zero bit error probability (underflow?)"),
            Some(Ok(p)) => self.set_p(p),
            None => {}
        }
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let bits = 8 * p.len();
        if !self.active || self.p == 0 {
            return Verdict::PASS;
        }
        let mut at = self.gap(cx);
        while at < bits {
            self.kind.damage(&mut p.data_mut()[at / 8], 0x80 >> (at % 8));
            at = at.saturating_add(1).saturating_add(self.gap(cx));
        }
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    /// How many bits are 1 after `bytes` bytes of `fill` passed, by position in their byte.
    fn ones(config: &str, fill: u8, bytes: usize) -> [usize; 8] {
        let mut t = Harness::new(&format!("s :: Source -> {config} -> k :: Sink"));
        t.push("s", 0, [Packet::new(&vec![fill; bytes])]);
        let data = t.bytes("k").remove(0);
        std::array::from_fn(|bit| data.iter().filter(|&&b| b >> bit & 1 == 1).count())
    }

    #[test]
    fn bits_are_damaged_with_the_probability() {
        for (p, n) in [(0.00001, 1_000_000), (0.001, 50_000), (0.1, 50_000), (0.5, 50_000), (0.9, 50_000)] {
            // Five standard deviations.
            let (mean, bound) = (p * n as f64, 5.0 * (p * (1.0 - p) * n as f64).sqrt() + 1.0);
            for count in ones(&format!("RandomBitErrors({p})"), 0, n) {
                assert!((count as f64 - mean).abs() < bound, "{count} at {p}");
            }
        }
        assert_eq!(ones("RandomBitErrors(1)", 0, 10), [10; 8]);
        assert_eq!(ones("RandomBitErrors(0)", 0, 10), [0; 8]);
    }

    #[test]
    fn bits_can_be_set_or_cleared_only() {
        let halves = |counts: [usize; 8]| counts.iter().all(|n| (4500..5500).contains(n));
        assert!(halves(ones("RandomBitErrors(0.5, set)", 0, 10_000)));
        assert_eq!(ones("RandomBitErrors(0.5, set)", 255, 100), [100; 8]);
        assert!(halves(ones("RandomBitErrors(0.5, clear)", 255, 10_000)));
        assert_eq!(ones("RandomBitErrors(0.5, KIND clear)", 0, 100), [0; 8]);
        assert_eq!(ones("RandomBitErrors(0.5, flip, false)", 255, 100), [100; 8]);
    }

    #[test]
    fn handlers_show_and_change_it() {
        let mut t = Harness::new("s :: Source -> r :: RandomBitErrors(0.5) -> k :: Sink");
        assert_eq!(
            [t.read("r.p_bit_error"), t.read("r.error_kind"), t.read("r.active")],
            ["0.5", "flip", "true"]
        );
        t.write("r.p_bit_error 1").unwrap();
        t.write("r.error_kind set").unwrap();
        t.push("s", 0, [Packet::new(&[1, 2])]);
        assert_eq!((t.bytes("k"), t.read("r.config")), (vec![vec![255, 255]], "1, KIND set".into()));
        assert!(t.write("r.error_kind twist").unwrap_err().starts_with("bad action 'twist'"));
        assert!(t.write("r.p_bit_error 1.5").is_err());
        // 28 bits of fraction.
        t.write("r.p_bit_error 0.000001").unwrap();
        assert_eq!(t.read("r.p_bit_error"), "0.000001");
    }

    #[test]
    fn wrong_arguments_are_refused() {
        for (args, message) in [
            ("0.5, twist", "bad action 'twist' (must be 'set', 'clear', or 'flip')"),
            ("1.5", "drop probability must be between 0 and 1"),
            ("x", "P:"),
        ] {
            let e = Harness::errors(&format!("Idle -> RandomBitErrors({args}) -> Discard"));
            assert!(e.contains(message), "{e}");
        }
    }

    #[test]
    fn copies_of_a_packet_are_spared() {
        let mut t =
            Harness::new("s :: Source -> t :: Tee -> RandomBitErrors(1) -> k :: Sink; t[1] -> l :: Sink");
        t.push("s", 0, [Packet::new(&[0])]);
        assert_eq!((t.bytes("k"), t.bytes("l")), (vec![vec![255]], vec![vec![0]]));
    }
}
