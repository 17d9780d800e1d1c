//! AggregatePaint: the paint of a packet becomes its aggregate.

use clickwork_packet::{Packet, anno};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, SimpleElement, Verdict};

/// The class facts.
pub static CLASS: Class = Class {
    help: "sets the aggregate annotation to the packet's paint",
    manual: "Sets the aggregate annotation to the low BITS bits of the paint annotation. With INCREMENTAL true the \
             aggregate that was there moves up by as many bits, and the paint comes behind it.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> Paint(2) -> AggregatePaint -> AggregateCounter -> Discard",
    args: &[
        ArgSpec::positional("BITS", ArgType::I32, "8", "how many bits of the paint count, 1 to 8"),
        ArgSpec::keyword("INCREMENTAL", ArgType::Bool, "false", "whether the aggregate is extended"),
    ],
    ..Class::new("AggregatePaint", "analysis", || Box::new(AggregatePaint { bits: 8, incremental: false }))
};

struct AggregatePaint {
    bits: u32,
    incremental: bool,
}

impl SimpleElement for AggregatePaint {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let mut bits = 8i32;
        args.read("BITS", &mut bits).read("INCREMENTAL", &mut self.incremental);
        match u32::try_from(bits) {
            Ok(bits @ 1..=8) => self.bits = bits,
            _ => args.error("bad number of bits"),
        }
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        let paint = u32::from(p.paint()) & ((1 << self.bits) - 1);
        let before = if self.incremental { p.anno_u32(anno::AGGREGATE) << self.bits } else { 0 };
        p.set_anno_u32(anno::AGGREGATE, before.wrapping_add(paint));
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::{Packet, anno};

    fn aggregate(args: &str) -> u32 {
        let mut t = Harness::new(&format!("s :: Source -> AggregatePaint({args}) -> k :: Sink"));
        let mut p = Packet::new(b"x");
        p.set_paint(0xa7);
        p.set_anno_u32(anno::AGGREGATE, 5);
        t.push("s", 0, [p]);
        t.take("k")[0].anno_u32(anno::AGGREGATE)
    }

    #[test]
    fn takes_as_many_bits_as_asked() {
        assert_eq!((aggregate(""), aggregate("3"), aggregate("4, INCREMENTAL true")), (0xa7, 7, 0x57));
    }

    #[test]
    fn refuses_impossible_numbers_of_bits() {
        for bits in ["0", "9", "-1"] {
            let e = Harness::errors(&format!("Idle -> AggregatePaint({bits}) -> Discard"));
            assert!(e.contains("bad number of bits"), "{e}");
        }
    }
}
