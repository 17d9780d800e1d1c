//! AggregateLast: lets the last packet of each aggregate through.

use super::notifier::{self, Event};
use crate::capture::{first_timestamp, set_first_timestamp};
use clickwork_packet::{Batch, Packet, anno};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::{downcast, try_downcast};
use clickwork_router::{Class, Cx, Element, ElementId, TaskStep, write_handler};
use std::collections::BTreeMap;

/// The class facts.
pub static CLASS: Class = Class {
    help: "lets the last packet of each aggregate through",
    manual: "Keeps the last packet of each aggregate; earlier ones leave by output 1 or are dropped. The packets that are kept \
             leave, in the order of their aggregates, when the handler 'clear' is written, or one when NOTIFIER, an element \
             such as AggregateIPFlows, says that its aggregate is over. The extra-packets, extra-length and first-timestamp \
             annotations then tell the volume of the whole aggregate. With STOP_AFTER_CLEAR the driver stops after 'clear'.\n\n\
             At most CAPACITY packets are kept; packets of further aggregates are dropped.",
    example: "InfiniteSource(LIMIT 3, STOP true) -> AggregateLength -> a :: AggregateLast -> c :: Counter -> Discard; \
              DriverManager(wait_stop, write a.clear, wait 0.1, print c.count)",
    ports: "1/1-2",
    processing: "h/h",
    args: &[
        ArgSpec::keyword("NOTIFIER", ArgType::Element, "", "the element that says which aggregates are over"),
        ArgSpec::keyword(
            "STOP_AFTER_CLEAR",
            ArgType::Bool,
            "false",
            "whether the driver stops after 'clear'",
        ),
        ArgSpec::keyword("CAPACITY", ArgType::U32, "262144", "how many packets are kept at most"),
    ],
    handlers: &[write_handler!("clear", "sends all packets that are kept", |e: &mut Last, _, cx| {
        e.must_clear = true;
        cx.schedule_task();
    })],
    ..Class::new("AggregateLast", "analysis", || Box::<Last>::default())
};

#[derive(Default)]
struct Last {
    notifier: Option<ElementId>,
    stop_after_clear: bool,
    capacity: usize,
    packets: BTreeMap<u32, Packet>,
    must_clear: bool,
}

/// Adds to the annotations of a packet what those of an earlier one of its aggregate say.
fn add_up(p: &mut Packet, earlier: &Packet) {
    let add = |a: u32, b: u32| a.wrapping_add(b);
    let packets = add(p.anno_u32(anno::EXTRA_PACKETS), earlier.anno_u32(anno::EXTRA_PACKETS));
    p.set_anno_u32(anno::EXTRA_PACKETS, add(packets, 1));
    let length = add(p.anno_u32(anno::EXTRA_LENGTH), earlier.anno_u32(anno::EXTRA_LENGTH));
    p.set_anno_u32(anno::EXTRA_LENGTH, add(length, earlier.len() as u32));
    set_first_timestamp(p, first_timestamp(earlier));
}

impl Last {
    fn keep(&mut self, mut p: Packet, cx: &mut Cx<'_>) {
        let aggregate = p.anno_u32(anno::AGGREGATE);
        match self.packets.remove(&aggregate) {
            Some(earlier) => {
                add_up(&mut p, &earlier);
                cx.emit_or_drop(1, earlier, "not the last of its aggregate");
            }
            None if self.packets.len() >= self.capacity => return cx.drop(p, "too many aggregates"),
            None => {
                let time = p.timestamp().nanos();
                set_first_timestamp(&mut p, time);
            }
        }
        self.packets.insert(aggregate, p);
    }

    fn clear(&mut self, cx: &mut Cx<'_>) {
        if !std::mem::take(&mut self.must_clear) {
            return;
        }
        for p in std::mem::take(&mut self.packets).into_values() {
            cx.emit(0, p);
        }
        if self.stop_after_clear {
            cx.stop_driver();
        }
    }
}

impl Element for Last {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        self.notifier = notifier::configured(args, cx);
        let mut capacity = 1u32 << 18;
        args.read("STOP_AFTER_CLEAR", &mut self.stop_after_clear).read("CAPACITY", &mut capacity);
        self.capacity = capacity as usize;
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        notifier::listen(
            self.notifier,
            |element, aggregate, event, cx| {
                let kept = &mut downcast::<Last>(element).packets;
                if let Some(p) = (event == Event::Deleted).then(|| kept.remove(&aggregate)).flatten() {
                    cx.emit(0, p);
                }
            },
            cx,
        )
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        self.clear(cx);
        for p in batch.drain() {
            self.keep(p, cx);
        }
    }

    fn run_task(&mut self, cx: &mut Cx<'_>) -> TaskStep {
        self.clear(cx);
        TaskStep::Sleep
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<Last>(old) {
            self.packets = std::mem::take(&mut old.packets);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::udp;
    use crate::capture::first_timestamp;
    use crate::testing::Harness;
    use clickwork_packet::{Packet, Timestamp, anno};
    use clickwork_router::Outcome;

    fn packet(aggregate: u32, seconds: i64, length: usize) -> Packet {
        let mut p = Packet::zeroed(0, length, 0);
        p.set_anno_u32(anno::AGGREGATE, aggregate);
        p.set_timestamp(Timestamp::new(seconds, 0));
        p
    }

    #[test]
    fn the_last_packet_tells_the_volume() {
        let mut t = Harness::new(
            "s :: Source -> a :: AggregateLast(CAPACITY 2) -> k :: Sink; a [1] -> early :: Sink",
        );
        t.push(
            "s",
            0,
            [packet(9, 1, 10), packet(3, 2, 20), packet(9, 3, 30), packet(4, 4, 1), packet(9, 5, 50)],
        );
        assert!(t.take("k").is_empty());
        assert_eq!(t.take("early").len(), 2);
        t.write("a.clear").unwrap();
        t.run();
        let got: Vec<_> = t
            .take("k")
            .iter()
            .map(|p| {
                let [packets, length] = [anno::EXTRA_PACKETS, anno::EXTRA_LENGTH].map(|a| p.anno_u32(a));
                (p.anno_u32(anno::AGGREGATE), p.len(), packets, length, first_timestamp(p) / 1_000_000_000)
            })
            .collect();
        assert_eq!(got, [(3, 20, 0, 0, 2), (9, 50, 2, 40, 1)]);
    }

    #[test]
    fn flows_that_are_over_let_their_last_packet_go() {
        let mut t = Harness::new(
            "s :: Source -> f :: AggregateIPFlows(UDP_TIMEOUT 1) -> AggregateLast(NOTIFIER f) -> k :: Sink",
        );
        let flow = |millis| udp(("1.1.1.1", 1), ("2.2.2.2", 2), millis);
        t.push("s", 0, [flow(1000), flow(1500), flow(9000)]);
        let got = t.take("k");
        assert_eq!(got.len(), 1);
        assert_eq!(got[0].anno_u32(anno::EXTRA_PACKETS), 1);
        t.write("f.clear").unwrap();
        assert_eq!(t.take("k").len(), 1);
    }

    #[test]
    fn the_driver_may_stop_after_clear() {
        let mut t = Harness::new("s :: Source -> a :: AggregateLast(STOP_AFTER_CLEAR true) -> k :: Sink");
        t.push("s", 0, [packet(1, 1, 1)]);
        t.write("a.clear").unwrap();
        assert_eq!(t.run(), Outcome::Stopped);
        assert_eq!(t.take("k").len(), 1);
    }
}
