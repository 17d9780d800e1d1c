//! AggregateLength: the length of a packet becomes its aggregate.

use clickwork_packet::{Packet, anno};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, SimpleElement, Verdict};

/// The class facts.
pub static CLASS: Class = Class {
    help: "sets the aggregate annotation to the packet's length",
    manual: "Sets the aggregate annotation to the packet's length, with the extra length that its annotation tells (of \
             bytes that were not captured). With IP true the length counts from the IP header; packets without a marked \
             IP header are dropped.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> AggregateLength -> AggregateCounter -> Discard",
    args: &[ArgSpec::keyword("IP", ArgType::Bool, "false", "whether the length counts from the IP header")],
    ..Class::new("AggregateLength", "analysis", || Box::<AggregateLength>::default())
};

#[derive(Default)]
struct AggregateLength {
    from_ip: bool,
}

impl SimpleElement for AggregateLength {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("IP", &mut self.from_ip);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        let start = match (self.from_ip, p.network_offset()) {
            (false, _) => 0,
            (true, Some(offset)) => offset,
            (true, None) => return Verdict::Drop("no IP header"),
        };
        let length = (p.len() as u32).wrapping_sub(start as u32).wrapping_add(p.anno_u32(anno::EXTRA_LENGTH));
        p.set_anno_u32(anno::AGGREGATE, length);
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::{Packet, anno};

    #[test]
    fn lengths_of_packets_and_of_ip() {
        let packet = || {
            let mut p = Packet::new(&[0; 60]);
            p.set_network_header(14, 20);
            p.set_anno_u32(anno::EXTRA_LENGTH, 1000);
            p
        };
        for (args, expected) in [("", 1060), ("IP true", 1046)] {
            let mut t = Harness::new(&format!("s :: Source -> AggregateLength({args}) -> k :: Sink"));
            t.push("s", 0, [packet()]);
            assert_eq!(t.take("k")[0].anno_u32(anno::AGGREGATE), expected);
        }
        let mut t = Harness::new("s :: Source -> AggregateLength(IP true) -> k :: Sink");
        t.push("s", 0, [Packet::new(b"no IP")]);
        assert!(t.take("k").is_empty());
    }
}
