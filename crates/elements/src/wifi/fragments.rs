//! WifiFragment and WifiDefrag: dividing 802.11 frames and putting them together again (IEEE 802.11-2016 §10.4, §10.5).

use super::frame::{HEADER, WifiHeader, flag};
use super::params::{DEBUG, debug_handler, say};
use super::station_map::StationMap;
use clickwork_packet::addr::EtherAddress;
use clickwork_packet::headers::Header;
use clickwork_packet::{Batch, DEFAULT_HEADROOM, Packet};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element};
use zerocopy::IntoBytes;

/// The class facts of WifiFragment.
pub static FRAGMENT: Class = Class {
    help: "divides 802.11 frames",
    manual: "Divides frames whose bodies are longer than MTU bytes into fragments with bodies of at most MTU bytes. A frame \
             that would make more than 16 fragments is dropped: fragments have numbers of four bits. Fragments have no \
             annotations.",
    example: "InfiniteSource(LENGTH 100, LIMIT 1, STOP true) -> WifiEncap(0) -> WifiFragment(50) -> WifiDefrag -> Discard",
    processing: "h/h",
    packets: "any/forget",
    args: &[ArgSpec::positional("MTU", ArgType::U32, "0", "bytes of the longest body; 0: any number"), DEBUG],
    handlers: &[debug_handler!(WifiFragment)],
    ..Class::new("WifiFragment", "wifi", || Box::<WifiFragment>::default())
};

/// The class facts of WifiDefrag.
pub static DEFRAG: Class = Class {
    help: "puts fragments of 802.11 frames together",
    manual: "Keeps the fragments of each sender's last frame until it is whole; frames that are not fragments pass. A fragment \
             that is not the next of its frame is dropped with those before it. Frames of 1024 senders are kept, of at most \
             8192 bytes each; then the first sender's gives way.",
    example: "InfiniteSource(LENGTH 100, LIMIT 1, STOP true) -> WifiEncap(0) -> WifiFragment(50) -> WifiDefrag -> Discard",
    packets: "any/forget",
    args: &[DEBUG],
    handlers: &[debug_handler!(WifiDefrag)],
    ..Class::new("WifiDefrag", "wifi", || Box::<WifiDefrag>::default())
};

/// Fragments that a frame can have.
const MOST_FRAGMENTS: usize = 16;
/// Senders whose frames are kept, and bytes of the longest.
const SENDERS: usize = 1024;
const LONGEST: usize = 8192;

#[derive(Default)]
struct WifiFragment {
    debug: bool,
    longest: usize,
}

impl WifiFragment {
    fn divide(&self, p: Packet, cx: &mut Cx<'_>) {
        let Some(&header) =
            WifiHeader::of(&p).filter(|h| self.longest > 0 && p.len() > h.data_header_len() + self.longest)
        else {
            if self.debug {
                say(cx, "no modificatoin");
            }
            return cx.emit(0, p);
        };
        let (front, body) = p.data().split_at(header.data_header_len());
        let bodies = body.chunks(self.longest);
        let count = bodies.len();
        if count > MOST_FRAGMENTS {
            return cx.drop(p, "more than 16 fragments");
        }
        for (number, body) in bodies.enumerate() {
            let mut header = header;
            header.sequence = (header.sequence_number() << 4 | number as u16).into();
            if number + 1 < count {
                header.control[1] |= flag::MORE_FRAGMENTS;
            }
            if self.debug {
                let length = front.len() + body.len();
                say(cx, format_args!("push: on frag {number}/{count} len {length}"));
            }
            let parts = [header.as_bytes(), &front[HEADER..], body];
            cx.emit(0, Packet::with_room(DEFAULT_HEADROOM, &parts.concat(), 0));
        }
    }
}

impl Element for WifiFragment {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        self.longest = args.get::<u32>("MTU").unwrap_or(0) as usize;
        args.read("DEBUG", &mut self.debug);
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        for p in batch.drain() {
            self.divide(p, cx);
        }
    }
}

/// A frame of which fragments are missing.
struct Partial {
    frame: Packet,
    sequence: u16,
    next: u8,
}

struct WifiDefrag {
    debug: bool,
    partial: StationMap<EtherAddress, Option<Partial>>,
}

impl Default for WifiDefrag {
    fn default() -> WifiDefrag {
        WifiDefrag { debug: false, partial: StationMap::bounded(SENDERS) }
    }
}

impl WifiDefrag {
    /// Takes a packet; gives a frame that is whole.
    fn take(&mut self, p: Packet, cx: &mut Cx<'_>) -> Option<Packet> {
        let Some(&header) = WifiHeader::of(&p) else { return Some(p) };
        let (number, more) = (header.fragment(), header.has(flag::MORE_FRAGMENTS));
        if self.debug {
            self.tell(&header, number, more, cx);
        }
        if number == 0 && !more {
            if let Some(slot) = self.partial.get_mut(header.address2) {
                forget(slot, cx);
            }
            return Some(p);
        }
        if number == 0 {
            let slot = self.partial.entry(header.address2, || None);
            forget(slot, cx);
            *slot = Some(Partial { frame: p, sequence: header.sequence_number(), next: 1 });
            return None;
        }
        self.add(p, &header, cx)
    }

    fn is_next(&mut self, header: &WifiHeader, body: usize) -> bool {
        let partial = self.partial.get(header.address2).and_then(Option::as_ref);
        partial.is_some_and(|partial| {
            partial.next == header.fragment()
                && partial.sequence == header.sequence_number()
                && partial.frame.len() + body <= LONGEST
        })
    }

    fn add(&mut self, p: Packet, header: &WifiHeader, cx: &mut Cx<'_>) -> Option<Packet> {
        let body = p.data().get(header.data_header_len()..).unwrap_or_default();
        let is_next = self.is_next(header, body.len());
        let slot = self.partial.get_mut(header.address2);
        let (true, Some(slot)) = (is_next, slot) else {
            if let Some(slot) = self.partial.get_mut(header.address2) {
                forget(slot, cx);
            }
            cx.drop(p, "unrelated fragment");
            return None;
        };
        let partial = slot.as_mut()?;
        let length = partial.frame.len();
        partial.frame.put(body.len())[length..].copy_from_slice(body);
        partial.next += 1;
        if header.has(flag::MORE_FRAGMENTS) {
            return None;
        }
        let mut whole = slot.take()?.frame;
        if let Some(first) = WifiHeader::peek_mut(whole.data_mut()) {
            first.control[1] &= !flag::MORE_FRAGMENTS;
        }
        Some(whole)
    }

    fn tell(&mut self, header: &WifiHeader, number: u8, more: bool, cx: &Cx<'_>) {
        let what = match (number, more) {
            (0, false) => "no defrag",
            (0, true) => "first frag",
            _ if !self.is_next(header, 0) => "unrelated frag",
            (_, true) => return,
            (_, false) => "last frag",
        };
        say(cx, format_args!("{what} {} seq {} frag {number}", header.address2, header.sequence_number()));
    }
}

fn forget(slot: &mut Option<Partial>, cx: &mut Cx<'_>) {
    if let Some(partial) = slot.take() {
        cx.drop(partial.frame, "incomplete frame");
    }
}

impl Element for WifiDefrag {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("DEBUG", &mut self.debug);
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        for p in batch.drain() {
            if let Some(whole) = self.take(p, cx) {
                cx.emit(0, whole);
            }
        }
    }

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let mut whole = cx.fresh_batch();
        for p in cx.pull(0, limit) {
            whole.extend(self.take(p, cx));
        }
        whole
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<WifiDefrag>(old) {
            self.partial = std::mem::replace(&mut old.partial, StationMap::bounded(SENDERS));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;
    use crate::testing::Harness;

    /// A frame with a body of so many bytes, from a sender.
    fn frame(sender: u8, sequence: u16, body: usize) -> Vec<u8> {
        let mut bytes = samples::frame("data nods")[..HEADER].to_vec();
        bytes[15] = sender;
        bytes[22..24].copy_from_slice(&(sequence << 4).to_le_bytes());
        bytes.extend((0..body).map(|n| n as u8));
        bytes
    }

    fn fragments(frame: &[u8], mtu: usize) -> Vec<Vec<u8>> {
        let mut t = Harness::new(&format!("s :: Source -> f :: WifiFragment({mtu}) -> k :: Sink"));
        t.push("s", 0, [Packet::new(frame)]);
        t.bytes("k")
    }

    #[test]
    fn frames_are_divided() {
        let pieces = fragments(&frame(2, 7, 250), 100);
        let heads: Vec<_> =
            pieces.iter().map(|f| (f.len() - HEADER, f[1] & flag::MORE_FRAGMENTS, f[22])).collect();
        assert_eq!(heads, [(100, 4, 0x70), (100, 4, 0x71), (50, 0, 0x72)]);
        assert_eq!(
            pieces.iter().flat_map(|f| f[HEADER..].to_vec()).collect::<Vec<_>>(),
            frame(2, 7, 250)[HEADER..]
        );
        assert_eq!(fragments(&frame(2, 7, 200), 100).len(), 2);
        assert_eq!(fragments(&frame(2, 7, 100), 100), [frame(2, 7, 100)]);
        assert_eq!(fragments(&frame(2, 7, 100), 0), [frame(2, 7, 100)]);
        assert_eq!((fragments(&frame(2, 7, 160), 10).len(), fragments(&frame(2, 7, 161), 10).len()), (16, 0));
        assert_eq!(fragments(b"short", 1), [b"short"]);
    }

    #[test]
    fn fragments_of_several_senders_are_put_together() {
        for config in
            ["s :: Source -> WifiDefrag -> k :: Sink", "s :: Source -> Queue -> WifiDefrag -> k :: Sink"]
        {
            let mut t = Harness::new(config);
            let (one, two) = (frame(1, 7, 250), frame(2, 9, 280));
            let both = fragments(&one, 100).into_iter().zip(fragments(&two, 100)).flat_map(|(a, b)| [a, b]);
            t.push("s", 0, both.map(|f| Packet::new(&f)));
            t.push("s", 0, [Packet::new(&frame(3, 1, 5)), Packet::new(b"short")]);
            assert_eq!(t.bytes("k"), [one, two, frame(3, 1, 5), b"short".to_vec()], "{config}");
        }
    }

    #[test]
    fn what_does_not_fit_together_is_dropped_and_counted() {
        let mut t = Harness::new("s :: Source -> d :: WifiDefrag -> k :: Sink");
        let (one, other) = (fragments(&frame(1, 7, 250), 100), fragments(&frame(1, 8, 250), 100));
        // A fragment missing, one of another frame, one without a beginning, a beginning that nothing follows.
        for sequence in [[&one[0], &one[2]], [&one[0], &other[1]], [&one[1], &one[2]], [&one[0], &one[0]]] {
            t.push("s", 0, sequence.map(|f| Packet::new(f)));
        }
        t.push("s", 0, [Packet::new(&frame(1, 9, 3))]);
        assert_eq!(t.bytes("k"), [frame(1, 9, 3)]);
        assert_eq!(t.read("d.drop_reasons"), "4\tincomplete frame\n4\tunrelated fragment\n");
    }

    #[test]
    fn floods_of_fragments_are_bounded() {
        let mut d = WifiDefrag::default();
        for n in 0..10_000u32 {
            let [_, _, a, b] = n.to_be_bytes();
            let p = Packet::new(b"x");
            d.partial
                .insert(EtherAddress([2, 0, 0, 0, a, b]), Some(Partial { frame: p, sequence: 0, next: 1 }));
        }
        assert_eq!(d.partial.len(), SENDERS);
        let mut t = Harness::new("s :: Source -> d :: WifiDefrag -> k :: Sink");
        let long = fragments(&frame(1, 7, 9000), 1000);
        t.push("s", 0, long.iter().map(|f| Packet::new(f)));
        assert_eq!((t.take("k").len(), t.read("d.drop_reasons").contains("unrelated fragment")), (0, true));
    }
}
