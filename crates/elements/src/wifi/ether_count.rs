//! EtherCount: counts the packets of each Ethernet source.

use super::station_map::StationMap;
use clickwork_packet::Packet;
use clickwork_packet::addr::EtherAddress;
use clickwork_packet::headers::{EthernetHeader, Header};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, SimpleElement, Verdict, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "counts the packets of each Ethernet source",
    manual: "Passes every packet on. The handler stats gives the number of frames from each source address. 16384 addresses \
             are counted; then the one seen first gives way. Packets that are too short for an Ethernet header are not counted.",
    example: "InfiniteSource(DATA \\<000000000001 000000000002 0800>, LIMIT 3, STOP true) -> c :: EtherCount -> Discard; \
              DriverManager(wait_stop, print c.stats)",
    packets: "should ether/same",
    handlers: &[
        read_handler!("stats", "sources and their packets", |e: &mut EtherCount, _| e.stats()),
        write_handler!("reset", "forgets the counts", |e: &mut EtherCount, _, _| e.counts.clear()).flags("b"),
    ],
    ..Class::new("EtherCount", "wifi", || Box::<EtherCount>::default())
};

#[derive(Default)]
struct EtherCount {
    counts: StationMap<EtherAddress, u64>,
}

impl EtherCount {
    fn stats(&self) -> String {
        self.counts.iter().map(|(source, count)| format!("{source} {count}\n")).collect()
    }
}

impl SimpleElement for EtherCount {
    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        if let Some(header) = EthernetHeader::peek(p.data()) {
            *self.counts.entry(header.source, || 0) += 1;
        }
        Verdict::PASS
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<EtherCount>(old) {
            self.counts = std::mem::take(&mut old.counts);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn sources_are_counted() {
        let mut t = Harness::new("s :: Source -> c :: EtherCount -> k :: Sink");
        let from = |last| Packet::new(&[0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, last, 8, 0]);
        t.push("s", 0, [from(2), from(1), from(2), Packet::new(&[0; 13])]);
        assert_eq!(t.read("c.stats"), "00-00-00-00-00-01 1\n00-00-00-00-00-02 2\n");
        assert_eq!(t.take("k").len(), 4);
        t.write("c.reset").unwrap();
        assert_eq!(t.read("c.stats"), "");
    }
}
