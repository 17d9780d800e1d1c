//! Meter and its relative: the way a packet takes depends on the recent rate.

use super::bucket_args::Unit;
use crate::rate::Rate;
use clickwork_packet::{Batch, Packet};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, Handler, read_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "sends packets to an output that depends on the recent packet rate",
    manual: "Measures the rate of packets as an exponentially weighted average. While it is below the first of the given \
             rates, packets go to output 0; from there on but below the second, to output 1, and so on. Rates are \
             packets per second, each greater than the one before; there is one output more than there are rates.",
    example: "InfiniteSource(LIMIT 100, STOP true) -> m :: Meter(1000); m[0] -> Discard; m[1] -> Discard",
    args: &[ArgSpec::rest("RATE", ArgType::Rate, "packets per second from which on the next output is used")],
    ..class("Meter", || Box::new(Meter::new(Unit::Packets)))
};

/// The facts that both meters have in common.
pub(super) const fn class(name: &'static str, make: fn() -> Box<dyn Element>) -> Class {
    Class { ports: "1/2-", processing: "h/h", handlers: HANDLERS, ..Class::new(name, "shaping", make) }
}

const HANDLERS: &[Handler] = &[
    read_handler!("rate", "the rate now, per second", |e: &mut Meter, cx| e.rate.per_second(cx.steady())),
    read_handler!("meters", "the rates at which the output changes", |e: &mut Meter, _| {
        e.thresholds.iter().map(|&t| e.rate.text_of(t)).collect::<String>()
    }),
];

pub(super) struct Meter {
    unit: Unit,
    rate: Rate,
    /// As the rate is scaled.
    thresholds: Vec<i64>,
}

impl Meter {
    pub(super) fn new(unit: Unit) -> Meter {
        Meter { unit, rate: Rate::default(), thresholds: Vec::new() }
    }

    fn cost(&self, batch: &Batch) -> u64 {
        match self.unit {
            Unit::Packets => batch.len() as u64,
            Unit::Bytes => batch.iter().map(|p: &Packet| p.len() as u64).sum(),
        }
    }
}

impl Element for Meter {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        let texts = args.rest().to_vec();
        if texts.is_empty() {
            return args.error("too few arguments to BandwidthMeter(bandwidth, ...)");
        }
        let mut last = None;
        for (i, text) in texts.iter().enumerate() {
            let Ok((rate, has_unit)) = self.unit.parse_with_unit(text) else {
                return args.error_in_rest(i, format!("argument {} syntax error", i + 1));
            };
            if last.is_some_and(|last| last >= rate) {
                return args.error_in_rest(i, format!("rate {} must be > rate {i}", i + 1));
            }
            if !has_unit {
                args.warn(format!("no units for bandwidth argument {}, assuming Bps", i + 1));
            }
            last = Some(rate);
            self.thresholds.push(self.rate.scaled_threshold(rate.into()));
        }
        let outputs = cx.outputs();
        if texts.len() + 1 != outputs {
            args.error(format!(
                "need {} arguments, one less than the number of output ports",
                outputs.saturating_sub(1)
            ));
        }
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        let cost = self.cost(batch);
        self.rate.add(cost, cx.recent());
        let rate = self.rate.scaled_per_period();
        let port = self.thresholds.iter().take_while(|&&t| rate >= t).count();
        if port > 0 {
            cx.emit_batch(port, batch.take());
        }
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<Meter>(old) {
            self.rate = old.rate;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;
    use std::time::Duration;

    /// Sends `n` packets of `length` bytes, one each millisecond.
    fn send(t: &mut Harness, n: usize, length: usize) {
        for _ in 0..n {
            let next = t.router.clock().peek() + Duration::from_millis(1);
            t.router.clock().jump_to(next);
            t.push("s", 0, [Packet::new(&vec![0; length])]);
        }
    }

    #[test]
    fn the_output_changes_as_the_rate_rises() {
        let mut t = Harness::new(
            "s :: Source -> m :: Meter(100, 900); m[0] -> a :: Sink; m[1] -> b :: Sink; m[2] -> c :: Sink",
        );
        send(&mut t, 200, 10);
        let counts = ["a", "b", "c"].map(|k| t.take(k).len());
        // With weight 1/16, an average exceeds 0.1 after two milliseconds and 0.9 after 36.
        assert_eq!(counts, [2, 34, 164]);
        assert_eq!(t.read("m.meters"), "99.609899.414");
    }

    #[test]
    fn bandwidth_meters_count_bytes() {
        let mut t =
            Harness::new("s :: Source -> m :: BandwidthMeter(4Mbps); m[0] -> a :: Sink; m[1] -> b :: Sink");
        send(&mut t, 100, 400);
        assert_eq!((t.take("a").len(), t.take("b").len()), (100, 0));
        send(&mut t, 100, 1000);
        assert!(t.take("b").len() > 80);
    }

    #[test]
    fn mistakes_are_explained() {
        let e =
            Harness::errors("Idle -> m :: Meter(10, 5); m[0], m[1], m[2] => d :: Discard, Discard, Discard");
        assert!(e.contains("rate 2 must be > rate 1"), "{e}");
        let e = Harness::errors("Idle -> m :: Meter(10, 20); m[0], m[1] => Discard, Discard");
        assert!(e.contains("need 1 arguments, one less than the number of output ports"), "{e}");
        for (class, rates, message) in [
            ("Meter", "1, x", "argument 2 syntax error"),
            ("Meter", "", "too few arguments to BandwidthMeter(bandwidth, ...)"),
            ("BandwidthMeter", "1 furlong", "argument 1 syntax error"),
        ] {
            let e =
                Harness::errors(&format!("Idle -> m :: {class}({rates}); m[0], m[1] => Discard, Discard"));
            assert!(e.contains(message), "{e}");
        }
        for (class, rate, warning) in [
            ("BandwidthMeter", "1000", "no units for bandwidth argument 1, assuming Bps"),
            ("BandwidthMeter", "1000Bps", ""),
            ("Meter", "1000", ""),
        ] {
            let t = Harness::new(&format!("Idle -> m :: {class}({rate}); m[0], m[1] => Discard, Discard"));
            assert!(
                t.warnings().contains(warning) && t.warnings().is_empty() == warning.is_empty(),
                "{}",
                t.warnings()
            );
        }
    }
}
