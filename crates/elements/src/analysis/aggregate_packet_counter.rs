//! AggregatePacketCounter: counts the numbered packets of each aggregate, input by input.

use crate::named::element;
use crate::values::parse;
use clickwork_packet::{Batch, Packet, anno, anno::Anno};
use clickwork_router::args::{AnnoOfSize, ArgParser, ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, read_handler, read_param_handler, write_handler};
use std::collections::{BTreeMap, HashMap};

/// The class facts.
pub static CLASS: Class = Class {
    help: "counts the numbered packets of each aggregate",
    manual: "Counts packets by input, aggregate annotation, and packet number (annotation ANNO, 'NONE' for none), and passes \
             them on to the output of the same number. The handler 'received AGGREGATE' lists the numbers seen of an \
             aggregate, 'undelivered AGGREGATE' those seen more often at input 0 than at input 1: what was lost between \
             two places. Packets of aggregate 0 are not counted.\n\n\
             At most four million different numbers are known, in some 30 bytes each; the handler 'refused' says how \
             many packets were not counted because of that.",
    example: "InfiniteSource(LIMIT 3, STOP true) -> AggregateLength -> c :: AggregatePacketCounter(ANNO NONE) -> Discard; \
              DriverManager(wait_stop, print c.count)",
    ports: "1-/1-",
    flow: "#/#",
    args: &[
        ArgSpec::keyword("NOTIFIER", ArgType::Element, "", "an element; without effect"),
        ArgSpec::keyword(
            "ANNO",
            ArgType::Other("packet annotation of size 4, or NONE"),
            "PACKET_NUMBER",
            "where the packet number is",
        ),
    ],
    handlers: &[
        read_handler!("count", "packets counted", |e: &mut PacketCounter, _| e.count()),
        read_param_handler!(
            "received",
            "packet numbers seen of an aggregate",
            |e: &mut PacketCounter, text, _| aggregate(text).map(|n| lines(e.received(n)))
        ),
        read_param_handler!(
            "undelivered",
            "packet numbers seen at input 0 but not at input 1",
            |e: &mut PacketCounter, text, cx| e.undelivered(text, cx)
        ),
        read_handler!("refused", "packets not counted for want of room", |e: &mut PacketCounter, _| e
            .refused),
        write_handler!("clear", "forgets all counts", |e: &mut PacketCounter, _, _| {
            e.flows.clear();
            e.known = 0;
        }),
    ],
    ..Class::new("AggregatePacketCounter", "analysis", || Box::new(PacketCounter::default()))
};

/// How many packet numbers are known at most, over all inputs and aggregates.
const CAPACITY: usize = 1 << 22;

/// Counts by packet number.
type Column = BTreeMap<u32, u32>;

struct PacketCounter {
    anno: Option<Anno>,
    /// A column for each input.
    flows: HashMap<u32, Vec<Column>>,
    known: usize,
    refused: u64,
    has_seen_packets: bool,
    has_seen_aggregates: bool,
}

impl Default for PacketCounter {
    fn default() -> PacketCounter {
        PacketCounter {
            anno: Some(anno::PACKET_NUMBER),
            flows: HashMap::new(),
            known: 0,
            refused: 0,
            has_seen_packets: false,
            has_seen_aggregates: false,
        }
    }
}

fn aggregate(text: &str) -> Result<u32, String> {
    if text.trim().is_empty() {
        return Ok(0);
    }
    parse(text, "").map_err(|_| "argument should be aggregate number".to_owned())
}

fn lines(numbers: impl IntoIterator<Item = u32>) -> String {
    numbers.into_iter().map(|n| format!("{n}\n")).collect()
}

impl PacketCounter {
    fn add(&mut self, p: &Packet, port: usize, cx: &Cx<'_>) {
        self.has_seen_packets = true;
        let aggregate = p.anno_u32(anno::AGGREGATE);
        if aggregate == 0 {
            return;
        }
        self.has_seen_aggregates = true;
        if self.known >= CAPACITY {
            self.refused += 1;
            return;
        }
        let number = self.anno.map_or(0, |anno| p.anno_u32(anno));
        let columns = self.flows.entry(aggregate).or_insert_with(|| vec![Column::new(); cx.inputs()]);
        let count = columns[port].entry(number).or_insert(0);
        self.known += usize::from(*count == 0);
        *count = count.saturating_add(1);
    }

    fn count(&self) -> u64 {
        self.flows.values().flatten().flat_map(Column::values).map(|&n| u64::from(n)).sum()
    }

    fn received(&self, aggregate: u32) -> Vec<u32> {
        let columns = self.flows.get(&aggregate).map_or(&[][..], Vec::as_slice);
        let mut numbers: Vec<u32> = columns.iter().flat_map(Column::keys).copied().collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    fn undelivered(&self, text: &str, cx: &Cx<'_>) -> Result<String, String> {
        let aggregate = aggregate(text)?;
        if cx.inputs() < 2 {
            return Err("needs two inputs".to_owned());
        }
        let Some([sent, arrived, ..]) = self.flows.get(&aggregate).map(Vec::as_slice) else {
            return Ok(String::new());
        };
        Ok(lines(sent.iter().filter(|(n, count)| arrived.get(n).is_none_or(|a| a < count)).map(|(n, _)| *n)))
    }
}

impl Element for PacketCounter {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        element(args, "NOTIFIER", cx);
        match args.raw("ANNO") {
            None => {}
            Some("NONE") => self.anno = None,
            Some(text) => match AnnoOfSize(4).parse(text, args.names()) {
                Ok(anno) => self.anno = Some(anno),
                Err(_) => args.error("bad ANNO"),
            },
        }
    }

    fn push(&mut self, port: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        for p in batch.iter() {
            self.add(p, port, cx);
        }
        if port > 0 {
            cx.emit_batch(port, batch.take());
        }
    }

    fn pull(&mut self, port: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let batch = cx.pull(port, limit);
        for p in batch.iter() {
            self.add(p, port, cx);
        }
        batch
    }

    fn take_state(&mut self, old: &mut dyn Element, cx: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<PacketCounter>(old) {
            self.flows = std::mem::take(&mut old.flows);
            self.flows.values_mut().for_each(|columns| columns.resize(cx.inputs(), Column::new()));
            self.known = old.known;
        }
    }

    fn cleanup(&mut self, cx: &mut Cx<'_>) {
        if self.has_seen_packets && !self.has_seen_aggregates {
            let (name, class) = (cx.name(), CLASS.name);
            cx.chatter(&format!("{name} :: {class}: warning: saw no packets with aggregate annotations"));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::{Packet, anno};

    fn packet((aggregate, number): (u32, u32)) -> Packet {
        let mut p = Packet::new(b"x");
        p.set_anno_u32(anno::AGGREGATE, aggregate);
        p.set_anno_u32(anno::PACKET_NUMBER, number);
        p
    }

    #[test]
    fn tells_what_was_lost_between_two_places() {
        let mut t = Harness::new(
            "a :: Source -> [0] c :: AggregatePacketCounter [0] -> k :: Sink; b :: Source -> [1] c [1] -> l :: Sink",
        );
        t.push("a", 0, [(1, 5), (1, 3), (1, 4_000_000_000), (1, 3), (2, 1), (0, 9)].map(packet));
        t.push("b", 0, [(1, 5), (1, 3), (1, 7)].map(packet));
        assert_eq!((t.take("k").len(), t.take("l").len()), (6, 3));
        assert_eq!(t.read("c.count"), "8");
        assert_eq!(t.read("c.received 1"), "3\n5\n7\n4000000000\n");
        assert_eq!(t.read("c.undelivered 1"), "3\n4000000000\n");
        assert_eq!((t.read("c.received 77"), t.read("c.received")), (String::new(), String::new()));
        assert_eq!(t.read("c.received x"), "argument should be aggregate number");
        t.write("c.clear").unwrap();
        assert_eq!(t.read("c.count"), "0");
    }

    #[test]
    fn numbers_may_be_elsewhere_or_nowhere() {
        for (args, received) in [("ANNO SEQUENCE_NUMBER", "8\n"), ("ANNO NONE", "0\n")] {
            let mut t = Harness::new(&format!("s :: Source -> c :: AggregatePacketCounter({args}) -> Sink"));
            let mut p = packet((1, 5));
            p.set_anno_u32(anno::SEQUENCE_NUMBER, 8);
            t.push("s", 0, [p]);
            assert_eq!(t.read("c.received 1"), received);
        }
        let e = Harness::errors("Idle -> AggregatePacketCounter(ANNO nosuch) -> Idle");
        assert!(e.contains("bad ANNO"), "{e}");
    }

    #[test]
    fn warns_if_nothing_had_an_aggregate() {
        let mut t = Harness::new("s :: Source -> c :: AggregatePacketCounter -> Sink");
        t.push("s", 0, [packet((0, 1))]);
        t.router.cleanup();
        assert_eq!(
            t.printed(),
            "c :: AggregatePacketCounter: warning: saw no packets with aggregate annotations\n"
        );
    }
}
