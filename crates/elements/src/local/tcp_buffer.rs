//! TCPBuffer: puts TCP packets in the order of their sequence numbers.

use super::tcp::{NOT_TCP, Segment, before};
use clickwork_packet::{Batch, Packet};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::notify::{NotifierId, NotifierKind, Search};
use clickwork_router::{Class, Cx, Element, read_handler};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

/// The class facts.
pub static CLASS: Class = Class {
    help: "puts TCP packets in the order of their sequence numbers",
    manual: "Keeps packets with marked IP and TCP headers, all of one flow, and hands them out in the order of their sequence \
             numbers; of two with the same number the second is dropped. The first packet that is pulled begins the stream. \
             After that a packet whose number is not the next one has to wait for those before it, unless SKIP is \
             true: then gaps are passed over. As in Click, a packet that was handed out already and arrives again \
             is kept as well; it comes first, so that it stops the stream unless SKIP is true. At most 4096 packets wait; \
             further ones are dropped.",
    example: "InfiniteSource(DATA \\<4500002800000000400600000a0000010a000002 0400005000000001000000005002000000000000>, \
              LIMIT 1, STOP true) -> MarkIPHeader -> TCPBuffer -> Unqueue -> Discard",
    processing: "h/l",
    args: &[ArgSpec::positional("SKIP", ArgType::Bool, "false", "whether missing packets are passed over")],
    handlers: &[read_handler!("length", "packets that wait", |e: &mut TcpBuffer, _| e.chain().held.len())],
    ..Class::new("TCPBuffer", "local", || Box::<TcpBuffer>::default())
};

/// Packets that may wait.
const CAPACITY: usize = 4096;

/// What a TCPBuffer holds; TCPAck looks at it.
#[derive(Default)]
pub struct Buffered(Mutex<Chain>);

impl Buffered {
    /// The chain of packets.
    pub fn chain(&self) -> MutexGuard<'_, Chain> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// Packets in the order of their sequence numbers.
#[derive(Default)]
pub struct Chain {
    held: VecDeque<(Segment, Packet)>,
    /// The sequence number behind the last packet handed out.
    next: Option<u32>,
}

impl Chain {
    /// Adds a packet; one that cannot stay comes back with the reason.
    fn insert(&mut self, segment: Segment, p: Packet) -> Result<(), (Packet, &'static str)> {
        let not_behind = |(held, _): &(Segment, Packet)| !before(segment.sequence, held.sequence);
        let at = self.held.iter().rposition(not_behind).map_or(0, |last| last + 1);
        if at > 0 && self.held[at - 1].0.sequence == segment.sequence {
            return Err((p, "sequence number is there already"));
        }
        if self.held.len() == CAPACITY {
            return Err((p, "buffer is full"));
        }
        self.held.insert(at, (segment, p));
        Ok(())
    }

    /// The segment that can be handed out.
    fn first(&self, skip: bool) -> Option<Segment> {
        let (segment, _) = self.held.front()?;
        let is_next = self.next.is_none_or(|next| next == segment.sequence);
        (skip || is_next).then_some(*segment)
    }

    fn take(&mut self, skip: bool) -> Option<Packet> {
        self.next = Some(self.first(skip)?.end());
        self.held.pop_front().map(|(_, p)| p)
    }

    /// The first sequence number from `from` on that has not arrived; none if nothing has.
    pub fn next_missing(&self, from: u32) -> Option<u32> {
        let first = self.held.front().map(|(segment, _)| segment.sequence);
        let mut expected = self.next.or(first)?;
        for (segment, _) in &self.held {
            if segment.sequence != expected {
                if !before(expected, from) {
                    return Some(expected);
                }
                if before(from, segment.sequence) {
                    return Some(from);
                }
            }
            expected = segment.end();
        }
        Some(if before(expected, from) { from } else { expected })
    }
}

#[derive(Default)]
struct TcpBuffer {
    skip: bool,
    /// Active while a packet can be handed out.
    ready: Option<NotifierId>,
    buffered: Arc<Buffered>,
}

impl TcpBuffer {
    fn chain(&self) -> MutexGuard<'_, Chain> {
        self.buffered.chain()
    }
}

impl Element for TcpBuffer {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        args.read("SKIP", &mut self.skip);
        cx.export(Arc::clone(&self.buffered));
        let ready = cx.export_notifier(NotifierKind::Empty, Search::Stop);
        cx.sleep(ready);
        self.ready = Some(ready);
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        let mut chain = self.chain();
        for p in batch.drain() {
            let outcome = match Segment::of(&p) {
                Some(segment) => chain.insert(segment, p),
                None => Err((p, NOT_TCP)),
            };
            if let Err((p, reason)) = outcome {
                cx.drop(p, reason);
            }
        }
        if let Some(ready) = self.ready.filter(|_| chain.first(self.skip).is_some()) {
            cx.wake(ready);
        }
    }

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let (mut batch, mut chain) = (cx.fresh_batch(), self.chain());
        batch.extend(std::iter::from_fn(|| chain.take(self.skip)).take(limit));
        if let Some(ready) = self.ready.filter(|_| batch.is_empty()) {
            cx.sleep(ready);
        }
        batch
    }

    fn cleanup(&mut self, cx: &mut Cx<'_>) {
        for (_, p) in self.chain().held.drain(..) {
            cx.drop(p, "router stopped");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tcp::samples::{segment, sequences};
    use super::*;
    use crate::testing::Harness;

    const CONFIG: &str = "s :: Source -> b :: TCPBuffer -> u :: Unqueue(ACTIVE false, BURST 3) -> k :: Sink";

    /// What comes out after packets with these sequence numbers, each with two bytes, and what is left.
    fn after(t: &mut Harness, numbers: &[u32]) -> (Vec<u32>, String) {
        t.push("s", 0, numbers.iter().map(|&n| segment(n, 0, b"xy")));
        t.write("u.active true").unwrap();
        t.run();
        t.write("u.active false").unwrap();
        (sequences(&t.take("k")), t.read("b.length"))
    }

    #[test]
    fn the_stream_comes_out_in_order_and_waits_for_what_is_missing() {
        for config in [CONFIG.to_string(), CONFIG.replace("u ::", "p :: Null -> u ::")] {
            let mut t = Harness::new(&config);
            assert_eq!(after(&mut t, &[14, 10, 12, 10, 18]), (vec![10, 12, 14], "1".into()));
            assert_eq!(t.read("b.drop_reasons"), "1\tsequence number is there already\n");
            assert_eq!(after(&mut t, &[20]), (vec![], "2".into()));
            assert_eq!(after(&mut t, &[16]), (vec![16, 18, 20], "0".into()));
        }
    }

    #[test]
    fn numbers_go_on_behind_the_largest() {
        let mut t = Harness::new(CONFIG);
        let last = u32::MAX - 1;
        assert_eq!(after(&mut t, &[0, last - 2, 2, last]), (vec![last - 2, last, 0, 2], "0".into()));
    }

    #[test]
    fn with_skip_gaps_are_passed_over_but_the_order_stays() {
        let mut t = Harness::new(&CONFIG.replace("TCPBuffer", "TCPBuffer(true)"));
        assert_eq!(after(&mut t, &[30, 10]), (vec![10, 30], "0".into()));
        assert_eq!(after(&mut t, &[12]), (vec![12], "0".into()));
    }

    #[test]
    fn a_late_packet_stops_the_stream_without_skip() {
        let mut t = Harness::new(CONFIG);
        assert_eq!(after(&mut t, &[10, 12]).0, [10, 12]);
        assert_eq!(after(&mut t, &[10, 14]), (vec![], "2".into()));
    }

    #[test]
    fn it_never_holds_more_than_its_capacity() {
        let mut t = Harness::new(CONFIG);
        t.push("s", 0, [segment(0, 0, b"")]);
        t.push("s", 0, (0..5000).map(|n| segment(10 + 2 * n, 0, b"a")));
        t.push("s", 0, [Packet::new(b"what?")]);
        assert_eq!(t.read("b.length"), "4096");
        assert_eq!(t.read("b.drop_reasons"), "905\tbuffer is full\n1\tno TCP header\n");
    }

    #[test]
    fn what_is_missing_is_found() {
        let mut chain = Chain::default();
        assert_eq!(chain.next_missing(5), None);
        for n in [10, 12, 16] {
            chain.insert(Segment { sequence: n, length: 2 }, Packet::new(b"")).unwrap();
        }
        let missing = [8, 10, 13, 14, 15, 16, 18, 40].map(|from| chain.next_missing(from).unwrap());
        assert_eq!(missing, [14, 14, 14, 14, 15, 18, 18, 40]);
        while chain.take(false).is_some() {}
        assert_eq!(chain.next_missing(10), Some(14));
        assert_eq!(chain.next_missing(20), Some(20));
    }
}
