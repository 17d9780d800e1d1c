//! DupPath: sends packets one of two ways by their source address.

use clickwork_packet::headers::{Header, Ipv4Header};
use clickwork_packet::{Batch, Packet};
use clickwork_router::args::Args;
use clickwork_router::notify::{NotifierId, NotifierKind, Search};
use clickwork_router::{Class, Cx, Element};
use std::collections::VecDeque;

/// The class facts.
pub static CLASS: Class = Class {
    help: "sends packets one of two ways by their source address",
    manual: "Packets have marked IP headers. Those whose source address has different bits 0 and 4 are stored, 128 of them at \
             most, and pulled from output 1; further ones are dropped. Others are pushed out of output 0.",
    example: "InfiniteSource(LENGTH 20, LIMIT 1, STOP true) -> MarkIPHeader -> d :: DupPath -> Discard; d[1] -> Discard",
    ports: "1/2",
    processing: "h/hl",
    packets: "ip/ip",
    ..Class::new("DupPath", "local", || Box::<DupPath>::default())
};

const CAPACITY: usize = 128;

#[derive(Default)]
struct DupPath {
    stored: VecDeque<Packet>,
    ready: Option<NotifierId>,
}

/// Whether a packet is stored; nothing if it is not IP.
fn is_stored(p: &Packet) -> Option<bool> {
    let source = p.network_header().and_then(Ipv4Header::peek)?.source().to_bits();
    Some((source ^ (source >> 4)) & 1 == 1)
}

impl Element for DupPath {
    fn configure(&mut self, _: &mut Args, cx: &mut Cx<'_>) {
        let ready = cx.export_notifier(NotifierKind::Empty, Search::Stop);
        cx.sleep(ready);
        self.ready = Some(ready);
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        for p in batch.take() {
            match is_stored(&p) {
                Some(true) if self.stored.len() < CAPACITY => self.stored.push_back(p),
                Some(true) => cx.drop(p, "queue full"),
                Some(false) => cx.emit(0, p),
                None => cx.drop(p, "no IP header"),
            }
        }
        if let Some(ready) = self.ready.filter(|_| !self.stored.is_empty()) {
            cx.wake(ready);
        }
    }

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let mut batch = cx.fresh_batch();
        batch.extend(self.stored.drain(..limit.min(self.stored.len())));
        if let Some(ready) = self.ready.filter(|_| batch.is_empty()) {
            cx.sleep(ready);
        }
        batch
    }

    fn cleanup(&mut self, cx: &mut Cx<'_>) {
        for p in self.stored.drain(..) {
            cx.drop(p, "router stopped");
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::ip::samples::ip;
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn two_bits_of_the_source_choose_the_way() {
        let mut t = Harness::new(
            "s :: Source -> d :: DupPath -> a :: Sink; d[1] -> u :: Unqueue(LIMIT 2) -> b :: Sink",
        );
        let from = |last: u8| ip(&format!("1.0.0.{last}"), "2.0.0.2").marked();
        t.push("s", 0, [0x00, 0x01, 0x10, 0x11].map(from));
        let sources = |packets: Vec<Packet>| packets.iter().map(|p| p.data()[15]).collect::<Vec<_>>();
        assert_eq!((sources(t.take("a")), sources(t.take("b"))), (vec![0x00, 0x11], vec![0x01, 0x10]));
        t.push("s", 0, (0..130).map(|_| from(1)));
        t.push("s", 0, [Packet::new(b"?")]);
        assert_eq!(t.read("d.drop_reasons"), "2\tqueue full\n1\tno IP header\n");
    }
}
