//! Tee: copies packets to all outputs.

use clickwork_packet::Batch;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, Element};

/// The class facts.
pub static CLASS: Class = Class {
    help: "copies packets to all outputs",
    manual: "Sends a copy of each packet to every output, output 0 first. Copies share their data until someone \
             writes to it. N, if given, must be the number of outputs.",
    example: "InfiniteSource(LIMIT 2, STOP true) -> t :: Tee; t[0] -> Discard; t[1] -> Discard",
    ports: "1/1-",
    processing: "h/h",
    packets: "any/each",
    args: &[ArgSpec::positional("N", ArgType::U32, "", "number of outputs")],
    ..Class::new("Tee", "standard", || Box::new(Tee))
};

struct Tee;

impl Element for Tee {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        let outputs = cx.outputs();
        if args.get::<u32>("N").is_some_and(|n| n as usize != outputs) {
            args.error(format!("{outputs} outputs implies {outputs} arms"));
        }
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        let last = cx.outputs() - 1;
        for p in batch.drain() {
            (0..last).for_each(|port| cx.emit(port, p.clone()));
            cx.emit(last, p);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn every_output_gets_every_packet() {
        let config = "s :: Source -> t :: Tee(3); t[0] -> a :: Sink; t[1] -> b :: Sink; t[2] -> c :: Sink";
        let mut t = Harness::batched(config);
        t.push_batch("s", 0, (0..64u8).map(|i| Packet::new(&[i])));
        for k in ["a", "b", "c"] {
            assert!(t.bytes(k).iter().map(|b| b[0]).eq(0..64), "{k}");
        }
    }

    #[test]
    fn the_number_must_match_the_outputs() {
        assert!(Harness::errors("Idle -> Tee(2) -> Discard").contains("1 outputs implies 1 arms"));
    }
}
