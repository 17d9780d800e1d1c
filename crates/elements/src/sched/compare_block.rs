//! CompareBlock: sorts out packets of senders that send much more than they get.

use clickwork_packet::{Packet, anno};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, SimpleElement, Verdict, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "sorts out packets by the ratio of their rate annotations",
    manual: "Looks at the forward and reverse rate annotations of packets, which IPRateMonitor sets; a rate below 1 counts as \
             1. If one of them is greater than THRESH, and the forward rate times FWD_WEIGHT is greater than the reverse \
             rate times REV_WEIGHT, the packet goes to output 1, otherwise to output 0.",
    example: "InfiniteSource(LIMIT 2, STOP true) -> b :: CompareBlock(1, 10, 100); b[0] -> Discard; b[1] -> Discard",
    ports: "1/2",
    args: &[
        ArgSpec::required("FWD_WEIGHT", ArgType::I32, "weight of the forward rate"),
        ArgSpec::required("REV_WEIGHT", ArgType::I32, "weight of the reverse rate"),
        ArgSpec::required("THRESH", ArgType::I32, "the highest rate that always passes"),
    ],
    handlers: &[
        read_handler!("fwd_weight", "weight of the forward rate", |e: &mut CompareBlock, _| e.forward)
            .and_write(write_handler!("", "", |e: &mut CompareBlock, text, _| set(&mut e.forward, text))),
        read_handler!("rev_weight", "weight of the reverse rate", |e: &mut CompareBlock, _| e.reverse)
            .and_write(write_handler!("", "", |e: &mut CompareBlock, text, _| set(&mut e.reverse, text))),
    ],
    ..Class::new("CompareBlock", "sched", || Box::<CompareBlock>::default())
};

#[derive(Default)]
struct CompareBlock {
    forward: i32,
    reverse: i32,
    threshold: i32,
}

fn set(weight: &mut i32, text: &str) -> Result<(), String> {
    crate::values::store(weight, text, "").map_err(|_| "not an integer".to_string())
}

impl SimpleElement for CompareBlock {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("FWD_WEIGHT", &mut self.forward)
            .read("REV_WEIGHT", &mut self.reverse)
            .read("THRESH", &mut self.threshold);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        let rate = |a| i64::from(p.anno_u32(a).cast_signed().max(1));
        let (forward, reverse) = (rate(anno::FWD_RATE), rate(anno::REV_RATE));
        let many = forward.max(reverse) > i64::from(self.threshold);
        let too_many = i64::from(self.forward) * forward > i64::from(self.reverse) * reverse;
        Verdict::Out(u16::from(many && too_many))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::{Packet, anno};

    fn with_rates((forward, reverse): (u32, u32)) -> Packet {
        let mut p = Packet::new(b"x");
        p.set_anno_u32(anno::FWD_RATE, forward);
        p.set_anno_u32(anno::REV_RATE, reverse);
        p
    }

    #[test]
    fn weighted_rates_are_compared_above_the_threshold() {
        let config = "s :: Source -> b :: CompareBlock(1, 2, 100); b[0] -> low :: Sink; b[1] -> high :: Sink";
        for (rates, blocked) in [
            ((100, 1), false),
            ((101, 50), true),
            ((101, 51), false),
            ((0, 101), false),
            ((101, 0), true),
            ((u32::MAX, 0), false),
            ((i32::MAX as u32, i32::MAX as u32), false),
        ] {
            let mut t = Harness::new(config);
            t.push("s", 0, [with_rates(rates)]);
            assert_eq!(t.take("high").len(), usize::from(blocked), "{rates:?}");
        }
    }

    #[test]
    fn weights_can_be_written() {
        let mut t = Harness::new(
            "s :: Source -> b :: CompareBlock(1, 2, 10); b[0] -> low :: Sink; b[1] -> high :: Sink",
        );
        t.write("b.fwd_weight 3").unwrap();
        t.push("s", 0, [with_rates((20, 20))]);
        assert_eq!([t.read("b.fwd_weight"), t.read("b.rev_weight")], ["3", "2"]);
        assert_eq!(t.take("high").len(), 1);
        assert_eq!(t.write("b.rev_weight x").unwrap_err(), "not an integer");
    }
}
