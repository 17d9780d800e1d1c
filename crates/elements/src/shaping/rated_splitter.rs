//! RatedSplitter and its relative: what exceeds a rate goes another way.

use super::bucket_args::{ConfiguredBucket, PACKET_ARGS, Unit};
use clickwork_packet::Batch;
use clickwork_router::args::{ArgSpec, Args};
use clickwork_router::element::split_batch;
use clickwork_router::{Class, Cx, Element, Handler, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "splits off packets beyond a rate",
    manual: "Sends up to RATE packets per second to output 0 and the rest to output 1, or drops it if there is none. A \
             token bucket allows for bursts: of BURST_SIZE packets, or as many as RATE makes in BURST_DURATION.",
    example: "InfiniteSource(LIMIT 100, STOP true) -> rs :: RatedSplitter(10, BURST_SIZE 5); rs[0] -> Discard; rs[1] -> Discard",
    ..class("RatedSplitter", PACKET_ARGS, || Box::new(RatedSplitter::new(Unit::Packets)))
};

/// The facts that both splitters have in common.
pub(super) const fn class(
    name: &'static str,
    args: &'static [ArgSpec],
    make: fn() -> Box<dyn Element>,
) -> Class {
    Class { ports: "1/1-2", processing: "h/h", args, handlers: HANDLERS, ..Class::new(name, "shaping", make) }
}

const HANDLERS: &[Handler] =
    &[
        read_handler!("rate", "the rate", |e: &mut RatedSplitter, _| e.bucket.rate())
            .and_write(write_handler!("", "", |e: &mut RatedSplitter, text, _| e.bucket.write_rate(text))),
        read_handler!("config", "the rate", |e: &mut RatedSplitter, _| e.bucket.rate()),
    ];

pub(super) struct RatedSplitter {
    bucket: ConfiguredBucket,
}

impl RatedSplitter {
    pub(super) fn new(unit: Unit) -> RatedSplitter {
        RatedSplitter { bucket: ConfiguredBucket::new(unit) }
    }
}

impl Element for RatedSplitter {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        self.bucket.configure(args);
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        let (unit, bucket) = (self.bucket.unit, &mut self.bucket.bucket);
        bucket.refill(cx.steady());
        let excess = (cx.outputs() > 1).then_some(1);
        split_batch(batch, cx, "rate exceeded", |p| {
            if !bucket.contains(unit.threshold()) {
                return excess;
            }
            bucket.spend(if unit == Unit::Packets { 1 } else { p.len() as u32 });
            Some(0)
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use std::time::Duration;

    #[test]
    fn a_burst_passes_and_the_rest_is_split_off() {
        for batched in [false, true] {
            let config =
                "s :: Source -> r :: RatedSplitter(100, BURST_SIZE 5); r[0] -> a :: Sink; r[1] -> b :: Sink";
            let mut t = if batched { Harness::batched(config) } else { Harness::new(config) };
            t.push_batch("s", 0, (0..20).map(|i| Packet::new(&[i])));
            assert!(t.bytes("a").concat().into_iter().eq(0..5));
            assert!(t.bytes("b").concat().into_iter().eq(5..20));
            let later = t.router.clock().peek() + Duration::from_millis(31);
            t.router.clock().jump_to(later);
            t.push_batch("s", 0, (0..20).map(|i| Packet::new(&[i])));
            assert_eq!((t.take("a").len(), t.take("b").len()), (3, 17));
        }
    }

    #[test]
    fn bytes_are_counted_and_excess_is_dropped() {
        let mut t =
            Harness::new("s :: Source -> r :: BandwidthRatedSplitter(8kbps, BURST_BYTES 2000) -> a :: Sink");
        t.push("s", 0, (0..10).map(|_| Packet::new(&[0; 1000])));
        assert_eq!((t.take("a").len(), t.read("r.drop_reasons")), (3, "7\trate exceeded\n".into()));
        assert_eq!(t.read("r.rate"), "8kbps");
        t.write("r.rate 16kbps").unwrap();
        assert_eq!([t.read("r.rate"), t.read("r.config")], ["16.008kbps", "16.008kbps"]);
        assert!(t.write("r.rate fast").is_err());
    }

    #[test]
    fn a_burst_is_given_in_one_way_only() {
        let e = Harness::errors("Idle -> RatedSplitter(10, BURST_SIZE 3, BURST_DURATION 1s) -> Discard");
        assert!(e.contains("cannot specify both"), "{e}");
        assert!(Harness::errors("Idle -> RatedSplitter -> Discard").contains("RATE"));
    }
}
