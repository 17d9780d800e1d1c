//! IPReassembler: puts fragmented IP packets together again. Read first: RFC 791 §3.2.

use super::assemblies::Assemblies;
use super::reassembly::{Assembly, Fragment};
use clickwork_packet::anno::Anno;
use clickwork_packet::{Batch, Packet, Timestamp};
use clickwork_router::args::{AnnoOfSize, ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, read_handler};
use std::fmt::Write;

/// The class facts.
pub static CLASS: Class = Class {
    help: "reassembles fragmented IP packets",
    manual: "Collects the fragments of IP packets and passes each packet on when it is complete, with the timestamp of the \
             last fragment; other packets pass at once. What has had no success for 30 seconds goes as far as it has come \
             to output 1 if that is connected, and is dropped otherwise; so do the oldest when more than HIMEM bytes are \
             held. MAX_MTU_ANNO names an annotation of two bytes that is set to the length of the longest fragment.",
    example: "InfiniteSource(LENGTH 2000, LIMIT 2, STOP true) -> UDPIPEncap(1.0.0.1, 1, 2.0.0.2, 2) -> IPFragmenter(576) \
              -> IPReassembler -> Discard",
    ports: "1/1-2",
    processing: "a/ah",
    packets: "ip/ip,ip",
    args: &[
        ArgSpec::keyword("HIMEM", ArgType::U32, "262144", "bytes that may be held"),
        ArgSpec::keyword(
            "MAX_MTU_ANNO",
            ArgType::Anno(2),
            "",
            "where the longest fragment's length is noted",
        ),
    ],
    handlers: &[read_handler!(
        "dump",
        "statistics and the packets being reassembled",
        |e: &mut IPReassembler, _| e.dump()
    )],
    ..Class::new("IPReassembler", "ip", || Box::<IPReassembler>::default())
};

/// Seconds after which a packet is given up.
const TIMEOUT: i64 = 30;
/// Seconds between looks for packets to give up.
const INTERVAL: i64 = 10;
/// What a packet being reassembled costs besides its payload, in bytes.
const OVERHEAD: u32 = 40;

struct IPReassembler {
    assemblies: Assemblies,
    /// Bytes held now, and at most.
    held: u32,
    most_held: u32,
    longest_anno: Option<Anno>,
    /// When to look again for packets to give up, in seconds.
    next_look: i64,
    fragments: u64,
    good: u64,
    failed: u64,
    bad: u64,
}

impl Default for IPReassembler {
    fn default() -> IPReassembler {
        IPReassembler {
            assemblies: Assemblies::default(),
            held: 0,
            most_held: 256 * 1024,
            longest_anno: None,
            next_look: 0,
            fragments: 0,
            good: 0,
            failed: 0,
            bad: 0,
        }
    }
}

impl IPReassembler {
    fn dump(&self) -> String {
        let mut text = format!(
            "frags seen total:    {}\ngood reassemblies:   {}\nfailed reassemblies: {}\nbad fragments seen:  {}\n\
             cached chunk data:\n",
            self.fragments, self.good, self.failed, self.bad
        );
        for (key, assembly) in self.assemblies.listed() {
            let _ = write!(text, " {}", assembly.describe(key));
            for r in assembly.arrived() {
                let _ = write!(text, " ({},{})", r.start, r.end);
            }
            text.push('\n');
        }
        text
    }

    /// Gives up what began before a time.
    fn give_up_before(&mut self, before: i64, cx: &mut Cx<'_>) {
        for assembly in self.assemblies.remove_all(|assembly| seconds(assembly.since) < before) {
            self.give_up(assembly, cx);
        }
    }

    /// Gives up what is late, now and then.
    fn give_up_late(&mut self, now: i64, cx: &mut Cx<'_>) {
        if now < self.next_look - INTERVAL - TIMEOUT {
            // The clock was set back. What came before would not grow old for as long.
            self.give_up_before(i64::MAX, cx);
        } else if now >= self.next_look {
            self.give_up_before(now - TIMEOUT, cx);
        } else {
            return;
        }
        self.next_look = now + INTERVAL;
    }

    fn give_up(&mut self, assembly: Assembly, cx: &mut Cx<'_>) {
        self.held -= assembly.held() + OVERHEAD;
        if cx.outputs() < 2 {
            // Nobody wants it as far as it has come, so it is not put together.
            cx.count_drop("not reassembled in time", 1);
        } else if let Some(p) = self.finish(assembly, cx) {
            cx.emit_or_drop(1, p, "not reassembled in time");
        }
    }

    /// Makes room: gives up the oldest until a quarter is free. Only these count as failed.
    fn make_room(&mut self, cx: &mut Cx<'_>) {
        while self.held > self.most_held / 4 * 3 {
            let Some(oldest) = self.assemblies.remove_oldest() else { return };
            self.failed += 1;
            self.give_up(oldest, cx);
        }
    }

    /// Takes a packet in; gives it back if it is no fragment, and the whole packet if it was the last piece of one.
    fn take_in(&mut self, mut p: Packet, cx: &mut Cx<'_>) -> Option<Packet> {
        if !Fragment::is_one(&p) {
            return Some(p);
        }
        self.fragments += 1;
        if p.timestamp() == Timestamp::ZERO {
            p.set_timestamp(cx.now());
        }
        self.give_up_late(seconds(p.timestamp()), cx);
        let Some(fragment) = Fragment::of(&p) else {
            self.bad += 1;
            cx.drop(p, "bad fragment");
            return None;
        };
        if self.held > self.most_held {
            self.make_room(cx);
        }
        self.add(p, &fragment, cx)
    }

    fn add(&mut self, p: Packet, fragment: &Fragment, cx: &mut Cx<'_>) -> Option<Packet> {
        let stamp = p.timestamp();
        let (assembly, is_new) =
            self.assemblies.get_or_begin(fragment.key, |number| Assembly::new(p.clone(), number));
        if is_new {
            self.held += OVERHEAD;
        }
        let held = assembly.held();
        if !assembly.add(p, fragment) {
            cx.count_drop("fragment beyond the end", 1);
            return None;
        }
        self.held += assembly.held() - held;
        if !assembly.is_complete() {
            return None;
        }
        let assembly = self.assemblies.remove(&fragment.key)?;
        self.held -= assembly.held() + OVERHEAD;
        let longest = assembly.longest();
        let mut whole = self.finish(assembly, cx)?;
        self.good += 1;
        whole.set_timestamp(stamp);
        if let Some(anno) = self.longest_anno {
            whole.set_anno_u16(anno, longest);
        }
        Some(whole)
    }

    fn finish(&mut self, assembly: Assembly, cx: &mut Cx<'_>) -> Option<Packet> {
        let whole = assembly.into_packet();
        if whole.is_none() {
            cx.count_drop("reassembled too long", 1);
        }
        whole
    }
}

fn seconds(t: Timestamp) -> i64 {
    t.nanos().div_euclid(1_000_000_000)
}

impl Element for IPReassembler {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("HIMEM", &mut self.most_held);
        self.longest_anno = args.get_with("MAX_MTU_ANNO", AnnoOfSize(2));
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        if !batch.iter().any(Fragment::is_one) {
            return;
        }
        let mut kept = cx.fresh_batch();
        batch.drain().filter_map(|p| self.take_in(p, cx)).for_each(|p| kept.push(p));
        *batch = kept;
    }

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let mut batch = cx.pull(0, limit);
        self.push(0, &mut batch, cx);
        batch
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<IPReassembler>(old) {
            self.assemblies = std::mem::take(&mut old.assemblies);
            (self.held, self.fragments, self.good) = (old.held, old.fragments, old.good);
            (self.failed, self.bad) = (old.failed, old.bad);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{Sample, ip};
    use crate::testing::Harness;
    use clickwork_packet::{Packet, Timestamp};
    use proptest::prelude::*;

    const MORE: u16 = 0x2000;

    fn piece(field: u16, payload: &[u8]) -> Sample {
        ip("1.0.0.1", "2.0.0.2").fragment(field).payload(17, payload)
    }

    fn whole(payload: &[u8]) -> Vec<u8> {
        ip("1.0.0.1", "2.0.0.2").payload(17, payload).bytes()
    }

    /// Pushes a fragment of a packet of its own.
    fn flood(t: &mut Harness, n: u32) {
        let [a, b, c, d] = n.to_be_bytes();
        let mut bytes = piece(MORE, &[0; 8]).bytes();
        bytes[4..6].copy_from_slice(&[c, d]);
        bytes[14..16].copy_from_slice(&[a, b]);
        let mut p = Packet::new(&bytes);
        p.set_network_header(0, 20);
        let element = t.router.find("s").expect("a Source");
        t.router.push(clickwork_router::Endpoint { element, port: 0 }, clickwork_packet::Batch::one(p));
    }

    #[test]
    fn the_oldest_are_given_up_first() {
        let mut t =
            Harness::new("s :: Source -> r :: IPReassembler(HIMEM 480); r[0] -> Discard; r[1] -> k :: Sink");
        (0..12).for_each(|n| flood(&mut t, n * 777));
        let ids: Vec<u16> = t.bytes("k").iter().map(|b| u16::from_be_bytes([b[4], b[5]])).collect();
        assert_eq!(ids, [0, 777, 1554, 2331]);
    }

    #[test]
    fn pieces_in_any_order_make_the_packet() {
        let payload: Vec<u8> = (0..28).collect();
        let pieces = [piece(MORE, &payload[..8]), piece(MORE | 1, &payload[8..24]), piece(3, &payload[24..])];
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let mut t = Harness::batched("s :: Source -> r :: IPReassembler(MAX_MTU_ANNO 20) -> k :: Sink");
            t.push_batch("s", 0, order.map(|i| pieces[i].marked()));
            let got = t.take("k");
            assert_eq!(
                (got.len(), got[0].data(), got[0].anno_u16(clickwork_packet::anno::VLAN_TCI)),
                (1, &whole(&payload)[..], 36)
            );
            assert_eq!(t.router.total_drops(), 0);
        }
    }

    #[test]
    fn what_a_fragmenter_cuts_is_whole_again() {
        let mut t = Harness::new("s :: Source -> IPFragmenter(68) -> IPReassembler -> k :: Sink");
        let options = [7, 3, 4, 148, 4, 0, 0];
        let packet = ip("1.0.0.1", "2.0.0.2").options(&options).payload(17, &(0..=255).collect::<Vec<u8>>());
        t.push("s", 0, [packet.marked(), packet.marked()]);
        assert_eq!(t.bytes("k"), [packet.bytes(), packet.bytes()]);
    }

    #[test]
    fn overlaps_and_repetitions_do_no_harm() {
        let mut t = Harness::new("s :: Source -> IPReassembler -> k :: Sink");
        let pieces =
            [piece(MORE, &[1; 16]), piece(MORE, &[1; 16]), piece(MORE | 1, &[1; 16]), piece(2, &[1; 12])];
        t.push("s", 0, pieces.map(|p| p.marked()));
        assert_eq!(t.bytes("k"), [whole(&[1; 28])]);
    }

    #[test]
    fn bad_fragments_are_dropped_and_other_packets_pass() {
        let mut t = Harness::new("s :: Source -> r :: IPReassembler -> k :: Sink");
        let mut cut = piece(MORE, &[0; 16]).marked();
        cut.take(1);
        let bad =
            [piece(MORE, &[0; 9]).marked(), piece(MORE, &[]).marked(), piece(0x1FFF, &[0; 9]).marked(), cut];
        t.push("s", 0, bad.into_iter().chain([Packet::new(b"no header"), ip("1.0.0.1", "2.0.0.2").marked()]));
        assert_eq!((t.bytes("k").len(), t.read("r.drop_reasons")), (2, "4\tbad fragment\n".into()));
        assert!(t.read("r.dump").contains("bad fragments seen:  4\n"));
    }

    #[test]
    fn old_pieces_are_given_up() {
        let mut t = Harness::new("s :: Source -> r :: IPReassembler -> k :: Sink; r[1] -> old :: Sink");
        let at = |seconds, mut p: Packet| {
            p.set_timestamp(Timestamp::new(seconds, 0));
            p
        };
        let other = |field| ip("3.0.0.3", "2.0.0.2").fragment(field).payload(17, &[2; 8]);
        t.push("s", 0, [at(100, piece(MORE, &[1; 8]).marked()), at(129, other(MORE).marked())]);
        assert_eq!(t.bytes("old").len(), 0);
        t.push("s", 0, [at(140, other(1).marked())]);
        assert_eq!((t.bytes("k").len(), t.bytes("old")), (1, vec![piece(MORE, &[1; 8]).bytes()]));
    }

    #[test]
    fn nothing_is_kept_longer_because_the_clock_was_set_back() {
        let mut t = Harness::new("s :: Source -> r :: IPReassembler -> k :: Sink; r[1] -> old :: Sink");
        t.push("s", 0, [piece(MORE, &[1; 8]).marked()]);
        t.router.clock().step_wall(Timestamp::new(-3600, 0));
        let other = |field| ip("3.0.0.3", "2.0.0.2").fragment(field).payload(17, &[2; 8]).marked();
        t.push("s", 0, [other(MORE), other(1)]);
        assert_eq!((t.bytes("k").len(), t.bytes("old")), (1, vec![piece(MORE, &[1; 8]).bytes()]));
    }

    #[test]
    fn memory_is_bounded() {
        let mut t =
            Harness::new("s :: Source -> r :: IPReassembler(HIMEM 10000) -> k :: Sink; r[1] -> old :: Sink");
        for host in 1..=50 {
            t.push(
                "s",
                0,
                [ip(&format!("3.0.0.{host}"), "2.0.0.2").fragment(MORE).payload(17, &[0; 1000]).marked()],
            );
        }
        let (held, given_up) = (t.read("r.dump").lines().count() - 5, t.bytes("old").len());
        assert_eq!(held + given_up, 50);
        assert!(held <= 11, "{held}");
        // Room is made only as far as is needed.
        assert!(held >= 7, "{held}");
    }

    #[test]
    fn the_dump_names_flows_in_the_order_of_their_buckets() {
        let mut t = Harness::new("s :: Source -> r :: IPReassembler -> k :: Sink; r[1] -> old :: Sink");
        let first = |host| {
            let payload = [0, 7, 0, 9, 1, 1, 1, 1];
            ip(&format!("1.0.0.{host}"), "2.0.0.2").fragment(MORE).payload(17, &payload).marked()
        };
        t.push("s", 0, [first(1), first(2), piece(MORE | 2, &[2; 8]).marked()]);
        let dump = t.read("r.dump");
        let lines: Vec<&str> = dump.lines().skip(5).collect();
        assert_eq!(lines, [" (1.0.0.2, 7, 2.0.0.2, 9) 0 (0,8)", " (1.0.0.1, 7, 2.0.0.2, 9) 0 (0,8) (16,24)"]);
    }

    #[test]
    fn what_is_given_up_keeps_the_header_of_its_first_fragment() {
        let mut t = Harness::new("s :: Source -> r :: IPReassembler -> k :: Sink; r[1] -> old :: Sink");
        let at = |seconds, mut p: Packet| {
            p.set_timestamp(Timestamp::new(seconds, 0));
            p
        };
        let [first, second] = [piece(MORE, &[1; 8]), piece(MORE | 1, &[2; 8])];
        t.push("s", 0, [first.marked(), second.marked()].map(|p| at(100, p)));
        t.push("s", 0, [at(200, ip("3.0.0.3", "2.0.0.2").fragment(MORE).payload(17, &[0; 8]).marked())]);
        assert_eq!(t.bytes("old"), [[first.bytes(), vec![2; 8]].concat()]);
        assert!(t.read("r.dump").contains("failed reassemblies: 0\n"));
    }

    proptest! {
        #[test]
        fn no_fragments_confuse_it(pieces in proptest::collection::vec((any::<u16>(), 0usize..6, 0usize..40), 1..60)) {
            let mut t = Harness::batched("s :: Source -> r :: IPReassembler -> k :: Sink");
            t.push_batch("s", 0, pieces.iter().map(|&(flags, at, len)| {
                piece(flags & MORE | at as u16, &vec![7; len]).marked()
            }));
            for p in t.take("k") {
                prop_assert!(p.network_header().is_some_and(|h| h.len() == p.len()));
            }
            prop_assert!(t.read("r.dump").contains("frags seen"));
        }
    }
}
