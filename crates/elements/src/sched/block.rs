//! Block: sorts out packets of senders that send too much.

use clickwork_packet::{Packet, anno};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, SimpleElement, Verdict, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "sorts out packets with a high rate annotation",
    manual: "Packets whose forward rate annotation (set by IPRateMonitor) is greater than THRESH go to output 1, the \
             others to output 0. With a THRESH of 0 all go to output 0.",
    example: "InfiniteSource(LIMIT 2, STOP true) -> b :: Block(100); b[0] -> Discard; b[1] -> Discard",
    ports: "1/2",
    args: &[ArgSpec::required("THRESH", ArgType::I32, "the highest rate that passes")],
    handlers: &[read_handler!("thresh", "the highest rate that passes", |e: &mut Block, _| e.threshold)
        .and_write(write_handler!("", "", |e: &mut Block, text, _| {
            e.threshold = crate::values::parse(text, "").map_err(|_| "not an integer")?;
            Ok::<(), String>(())
        }))],
    ..Class::new("Block", "sched", || Box::<Block>::default())
};

#[derive(Default)]
struct Block {
    threshold: i32,
}

impl SimpleElement for Block {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("THRESH", &mut self.threshold);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        let passes = self.threshold == 0 || p.anno_u32(anno::FWD_RATE).cast_signed() <= self.threshold;
        Verdict::Out(u16::from(!passes))
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::{Packet, anno};

    #[test]
    fn high_rates_are_sorted_out() {
        let mut t = Harness::new("s :: Source -> b :: Block(5); b[0] -> low :: Sink; b[1] -> high :: Sink");
        let with_rate = |rate| {
            let mut p = Packet::new(b"x");
            p.set_anno_u32(anno::FWD_RATE, rate);
            p
        };
        t.push("s", 0, [4, 5, 6].map(with_rate));
        assert_eq!((t.take("low").len(), t.take("high").len()), (2, 1));
        t.write("b.thresh 0").unwrap();
        t.push("s", 0, [with_rate(1000)]);
        assert_eq!((t.take("low").len(), t.read("b.thresh")), (1, "0".into()));
    }
}
