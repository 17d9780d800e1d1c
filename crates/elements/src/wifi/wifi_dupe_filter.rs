//! WifiDupeFilter: drops frames that were received before (IEEE 802.11-2016 §10.3.2.11).

use super::frame::{WifiHeader, flag, kind};
use super::params::{DEBUG, debug_handler, line, say};
use super::station_map::StationMap;
use clickwork_packet::Packet;
use clickwork_packet::addr::EtherAddress;
use clickwork_router::args::Args;
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, SimpleElement, Verdict, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "drops frames that were received before",
    manual: "A frame that is marked as sent again and has the sequence number of the last frame of the same sender, and no \
             later fragment number, is dropped: the sender did not get the acknowledgement. Frames to groups and control frames \
             pass. The last frames of 16384 senders are remembered.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> WifiEncap(0) -> WifiDupeFilter -> Discard",
    args: &[DEBUG],
    handlers: &[
        debug_handler!(WifiDupeFilter),
        read_handler!("dupes", "frames dropped", |e: &mut WifiDupeFilter, _| line(e.dupes)),
        read_handler!("drops", "frames dropped", |e: &mut WifiDupeFilter, _| line(e.dupes)),
        read_handler!("stats", "what is known of each sender", |e: &mut WifiDupeFilter, _| e.stats()),
        write_handler!(
            "reset",
            "forgets the senders and restarts the count",
            |e: &mut WifiDupeFilter, _, _| {
                e.senders.clear();
                e.dupes = 0;
            }
        )
        .flags("b"),
    ],
    ..Class::new("WifiDupeFilter", "wifi", || Box::<WifiDupeFilter>::default())
};

#[derive(Default)]
struct WifiDupeFilter {
    debug: bool,
    dupes: u32,
    senders: StationMap<EtherAddress, Sender>,
}

/// The last frame of a sender.
#[derive(Default)]
struct Sender {
    dupes: u32,
    sequence: u16,
    fragment: u8,
}

impl WifiDupeFilter {
    /// Click has a packet count for each sender, which stays 0.
    fn stats(&self) -> String {
        let line = |(address, s): (EtherAddress, &Sender)| {
            format!("{address} packets 0 dupes {} seq {} frag {}\n", s.dupes, s.sequence, s.fragment)
        };
        self.senders.iter().map(line).collect()
    }
}

impl SimpleElement for WifiDupeFilter {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("DEBUG", &mut self.debug);
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let Some(header) = WifiHeader::of(p) else { return Verdict::PASS };
        if header.control[0] & kind::CONTROL != 0 || header.address1.is_multicast() {
            return Verdict::PASS;
        }
        let (sequence, fragment) = (header.sequence_number(), header.fragment());
        let is_fragment = fragment != 0 || header.has(flag::MORE_FRAGMENTS);
        let sender = self.senders.entry(header.address2, Sender::default);
        if header.has(flag::RETRY)
            && sequence == sender.sequence
            && (!is_fragment || fragment <= sender.fragment)
        {
            if self.debug {
                say(cx, format_args!("dup seq {sequence} frag {fragment} src {}", header.address2));
            }
            sender.dupes += 1;
            self.dupes += 1;
            return Verdict::Drop("duplicate");
        }
        (sender.sequence, sender.fragment) = (sequence, fragment);
        Verdict::PASS
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<WifiDupeFilter>(old) {
            self.senders = std::mem::take(&mut old.senders);
            self.dupes = old.dupes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;
    use crate::testing::Harness;

    /// The sample frame with sequence and fragment number, perhaps sent again, perhaps with fragments to follow.
    fn frame(sequence: u16, fragment: u16, flags: u8) -> Packet {
        let mut bytes = samples::frame("data fromds");
        bytes[1] |= flags;
        bytes[22..24].copy_from_slice(&(sequence << 4 | fragment).to_le_bytes());
        Packet::new(&bytes)
    }

    #[test]
    fn only_frames_sent_again_are_dropped() {
        let mut t = Harness::new("s :: Source -> f :: WifiDupeFilter(DEBUG true) -> k :: Sink");
        let (retry, more) = (flag::RETRY, flag::MORE_FRAGMENTS);
        t.push("s", 0, [frame(5, 0, 0), frame(5, 0, retry), frame(5, 0, 0), frame(6, 0, retry)]);
        assert_eq!(t.take("k").len(), 3);
        assert_eq!(t.printed(), "f :: WifiDupeFilter: dup seq 5 frag 0 src 02-00-00-00-00-03\n");
        t.push(
            "s",
            0,
            [frame(7, 0, more), frame(7, 1, retry | more), frame(7, 1, retry | more), frame(7, 2, retry)],
        );
        assert_eq!(t.take("k").len(), 3);
        assert_eq!((t.read("f.dupes"), t.read("f.drops")), ("2\n".into(), "2\n".into()));
        assert_eq!(t.read("f.stats"), "02-00-00-00-00-03 packets 0 dupes 2 seq 7 frag 2\n");
        t.write("f.reset").unwrap();
        assert_eq!((t.read("f.dupes"), t.read("f.stats")), ("0\n".into(), "".into()));
    }

    #[test]
    fn groups_control_frames_and_short_packets_pass() {
        let mut t = Harness::new("s :: Source -> f :: WifiDupeFilter -> k :: Sink");
        let mut group = samples::frame("beacon");
        group[1] |= flag::RETRY;
        t.push(
            "s",
            0,
            [Packet::new(&group), Packet::new(&group), Packet::new(&samples::frame("ack")), Packet::new(b"")],
        );
        assert_eq!((t.take("k").len(), t.read("f.stats").as_str()), (4, ""));
    }
}
