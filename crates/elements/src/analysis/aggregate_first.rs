//! AggregateFirst: lets the first packet of each aggregate through.

use super::notifier::{self, Event};
use clickwork_packet::{Packet, anno};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::{downcast, try_downcast};
use clickwork_router::{Class, Cx, Element, ElementId, SimpleElement, Verdict, read_handler};
use std::collections::HashMap;

/// The class facts.
pub static CLASS: Class = Class {
    help: "lets the first packet of each aggregate through",
    manual: "Passes the first packet of each aggregate; later ones leave by output 1 or are dropped. If NOTIFIER, an element \
             such as AggregateIPFlows, says that an aggregate is over, it is forgotten.\n\n\
             Aggregates are kept in rows of 1024, of 128 bytes each. There can be a million rows: enough for all \
             aggregates up to 2^30, or for a million that lie far apart. First packets of aggregates beyond are treated \
             as later ones.",
    example: "InfiniteSource(LIMIT 3, STOP true) -> AggregateLength -> AggregateFirst -> c :: Counter -> Discard; \
              DriverManager(wait_stop, print c.count)",
    ports: "1/1-2",
    processing: "a/ah",
    args: &[ArgSpec::keyword(
        "NOTIFIER",
        ArgType::Element,
        "",
        "the element that says which aggregates are over",
    )],
    handlers: &[read_handler!(
        "refused",
        "packets of aggregates that there was no room for",
        |e: &mut First, _| e.refused
    )],
    ..Class::new("AggregateFirst", "analysis", || Box::<First>::default())
};

const ROW_BITS: u32 = 10;
const MAX_ROWS: usize = 1 << 20;

/// A bit for each aggregate of a row.
type Row = [u64; 1 << (ROW_BITS - 6)];

#[derive(Default)]
struct First {
    notifier: Option<ElementId>,
    rows: HashMap<u32, Box<Row>>,
    refused: u64,
}

/// Row, word and bit of an aggregate.
fn place(aggregate: u32) -> (u32, usize, u64) {
    (aggregate >> ROW_BITS, (aggregate >> 6 & 0xf) as usize, 1 << (aggregate & 63))
}

impl First {
    fn is_first(&mut self, aggregate: u32) -> bool {
        let (row, word, bit) = place(aggregate);
        if self.rows.len() >= MAX_ROWS && !self.rows.contains_key(&row) {
            self.refused += 1;
            return false;
        }
        let word = &mut self.rows.entry(row).or_default()[word];
        let is_first = *word & bit == 0;
        *word |= bit;
        is_first
    }

    fn forget(&mut self, aggregate: u32) {
        let (number, word, bit) = place(aggregate);
        let Some(row) = self.rows.get_mut(&number) else { return };
        row[word] &= !bit;
        if row.iter().all(|word| *word == 0) {
            self.rows.remove(&number);
        }
    }
}

impl SimpleElement for First {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        self.notifier = notifier::configured(args, cx);
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        notifier::listen(
            self.notifier,
            |element, aggregate, event, _| {
                if event == Event::Deleted {
                    downcast::<First>(element).forget(aggregate);
                }
            },
            cx,
        )
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        match self.is_first(p.anno_u32(anno::AGGREGATE)) {
            true => Verdict::PASS,
            false => cx.out_or_drop(1, "not the first of its aggregate"),
        }
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<First>(old) {
            self.rows = std::mem::take(&mut old.rows);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::udp;
    use crate::testing::Harness;
    use clickwork_packet::{Packet, anno};

    fn packet(aggregate: u32) -> Packet {
        let mut p = Packet::new(b"x");
        p.set_anno_u32(anno::AGGREGATE, aggregate);
        p
    }

    #[test]
    fn later_packets_go_elsewhere() {
        let mut t = Harness::new("s :: Source -> f :: AggregateFirst -> k :: Sink; f [1] -> later :: Sink");
        t.push_batch("s", 0, [7, 8, 7, 0, u32::MAX, 0, 63, 64, u32::MAX].map(packet));
        let mut take = |sink| t.take(sink).iter().map(|p| p.anno_u32(anno::AGGREGATE)).collect::<Vec<_>>();
        assert_eq!(take("k"), [7, 8, 0, u32::MAX, 63, 64]);
        assert_eq!(take("later"), [7, 0, u32::MAX]);
    }

    #[test]
    fn aggregates_that_are_over_begin_anew() {
        let mut t = Harness::new(
            "s :: Source -> f :: AggregateIPFlows -> x :: SetAnnoByte(20, 5) -> AggregateFirst(NOTIFIER f) -> k :: Sink",
        );
        // Aggregate 5 for all, until the fifth flow is over.
        for n in 0..6 {
            t.push("s", 0, [udp(("1.1.1.1", n), ("2.2.2.2", 2), 1000)]);
        }
        assert_eq!(t.take("k").len(), 1);
        t.write("f.clear").unwrap();
        t.push("s", 0, [udp(("1.1.1.1", 9), ("2.2.2.2", 2), 1000)]);
        assert_eq!(t.take("k").len(), 1);
    }

    #[test]
    fn the_notifier_must_be_one() {
        let e = Harness::errors("Idle -> c :: Counter -> AggregateFirst(NOTIFIER c) -> Idle");
        assert!(e.contains("c is not an AggregateNotifier"), "{e}");
        let e = Harness::errors("Idle -> AggregateFirst(NOTIFIER nosuch) -> Idle");
        assert!(e.contains("NOTIFIER: does not name an element"), "{e}");
    }
}
