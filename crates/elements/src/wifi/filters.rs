//! FilterPhyErr, FilterTX and FilterFailures: filters on the flags that wireless hardware gives packets.

use super::extra::{flag, packet_has};
use super::params::line;
use clickwork_packet::Packet;
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, SimpleElement, Verdict, read_handler};

/// What the three have in common.
const fn class(name: &'static str, make: fn() -> Box<dyn Element>) -> Class {
    Class { ports: "1/1-2", processing: "a/ah", packets: "any/each", ..Class::new(name, "wifi", make) }
}

/// The class facts of FilterPhyErr.
pub static PHY_ERRORS: Class = Class {
    help: "filters out packets that were received wrong",
    manual: "Packets whose wireless information, in the annotation WIFI_EXTRA or in front of the data, says that they were \
             received with errors leave by output 1; if there are not exactly two outputs, they are dropped.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> f :: FilterPhyErr -> Discard; f[1] -> Discard",
    ports: "1/1-3",
    handlers: &[read_handler!("drops", "packets filtered out", |e: &mut Filter, _| line(e.filtered))],
    ..class("FilterPhyErr", || Box::new(Filter { flag: flag::RX_ERR, filtered: 0 }))
};

/// The class facts of FilterTX.
pub static SENT: Class = Class {
    help: "filters out packets that were sent from here",
    manual: "Packets whose wireless information, in the annotation WIFI_EXTRA or in front of the data, says that they are \
             feedback about packets sent leave by output 1; if there is no such output, they are dropped.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> f :: FilterTX -> Discard; f[1] -> Discard",
    handlers: &[read_handler!("drops", "always 0, as in Click", |_: &mut Filter, _| line(0))],
    ..class("FilterTX", || Box::new(Filter { flag: flag::TX, filtered: 0 }))
};

/// The class facts of FilterFailures.
pub static FAILURES: Class = Class {
    help: "filters out packets that could not be sent",
    manual: "Packets whose wireless information, in the annotation WIFI_EXTRA or in front of the data, says that sending \
             them failed leave by output 1; if there is no such output, they are dropped.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> f :: FilterFailures -> Discard; f[1] -> Discard",
    handlers: &[read_handler!("drops", "packets filtered out", |e: &mut Filter, _| line(e.filtered))],
    ..class("FilterFailures", || Box::new(Filter { flag: flag::TX_FAIL, filtered: 0 }))
};

struct Filter {
    flag: u32,
    filtered: u64,
}

impl SimpleElement for Filter {
    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        if !packet_has(p, self.flag) {
            return Verdict::PASS;
        }
        self.filtered += 1;
        if cx.outputs() == 2 { Verdict::Out(1) } else { Verdict::Drop("filtered out") }
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<Filter>(old) {
            self.filtered = old.filtered;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::extra::{Extra, MAGIC, SIZE};
    use super::*;
    use crate::testing::Harness;
    use zerocopy::IntoBytes;

    /// A packet with a flag: in the annotation, in front of the data, in information that is not valid.
    fn packets(flag: u32) -> [Packet; 3] {
        let mut extra = Extra { magic: MAGIC.into(), flags: flag.into(), ..Extra::ZERO };
        let (mut annotated, mut invalid) = (Packet::new(b"a"), Packet::new(b"i"));
        extra.annotate(&mut annotated);
        let mut front = Packet::zeroed(0, SIZE, 0);
        front.data_mut().copy_from_slice(extra.as_bytes());
        extra.magic = 1.into();
        extra.annotate(&mut invalid);
        [annotated, front, invalid]
    }

    #[test]
    fn each_filters_by_its_flag() {
        for (class, flag, counts) in [
            ("FilterPhyErr", flag::RX_ERR, "2\n"),
            ("FilterTX", flag::TX, "0\n"),
            ("FilterFailures", flag::TX_FAIL, "2\n"),
        ] {
            let mut t = Harness::new(&format!("s :: Source -> f :: {class} -> k :: Sink; f[1] -> o :: Sink"));
            t.push("s", 0, packets(flag));
            t.push("s", 0, packets(1 << 6));
            assert_eq!((t.take("o").len(), t.take("k").len()), (2, 4), "{class}");
            assert_eq!(t.read("f.drops"), counts);
        }
    }

    #[test]
    fn without_a_second_output_they_are_dropped() {
        let mut t = Harness::new("s :: Source -> f :: FilterTX -> k :: Sink");
        t.push("s", 0, packets(flag::TX));
        assert_eq!((t.take("k").len(), t.read("f.drop_reasons").as_str()), (1, "2\tfiltered out\n"));
    }
}
