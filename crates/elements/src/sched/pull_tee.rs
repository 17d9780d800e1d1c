//! PullTee: copies of pulled packets are pushed to further outputs.

use clickwork_packet::Batch;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, Element};

/// The class facts.
pub static CLASS: Class = Class {
    help: "pushes copies of pulled packets to further outputs",
    manual: "Passes pulls on from output 0, and pushes a copy of each packet so pulled to every other output before the \
             packet goes on. N, if given, must be the number of outputs.",
    example: "InfiniteSource(LIMIT 2, STOP true) -> Queue -> t :: PullTee -> Unqueue -> Discard; t[1] -> Discard",
    ports: "1/1-",
    processing: "l/lh",
    packets: "any/each",
    args: &[ArgSpec::positional("N", ArgType::U32, "", "number of outputs")],
    ..Class::new("PullTee", "sched", || Box::new(PullTee))
};

struct PullTee;

impl Element for PullTee {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        let outputs = cx.outputs();
        if args.get::<u32>("N").is_some_and(|n| n as usize != outputs) {
            args.error(format!("{outputs} outputs implies {outputs} arms"));
        }
    }

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let batch = cx.pull(0, limit);
        for p in batch.iter() {
            (1..cx.outputs()).for_each(|port| cx.emit(port, p.clone()));
        }
        batch
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn copies_go_first() {
        let config = "s :: Source -> Queue -> t :: PullTee(3) -> Unqueue -> k :: Sink; t[1] -> k; t[2] -> k";
        for (mut t, order) in [(Harness::new(config), b"aaabbb"), (Harness::batched(config), b"ababab")] {
            t.push("s", 0, [Packet::new(b"a"), Packet::new(b"b")]);
            assert_eq!(t.bytes("k").concat(), order);
        }
        assert!(Harness::errors("Idle -> t :: PullTee(2) -> Discard").contains("1 outputs implies 1 arms"));
    }
}
