//! WifiSeq: numbers frames.

use super::extra::{Extra, flag};
use super::params::{DEBUG, debug_handler, line, parameter};
use clickwork_packet::Packet;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, SimpleElement, Verdict, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "numbers 802.11 frames",
    manual: "Writes consecutive numbers, shifted left by SHIFT bits, as little-endian numbers of BYTES bytes at OFFSET of the \
             packets: the sequence numbers of 802.11 frames, unless told otherwise. A flag in the annotation WIFI_EXTRA \
             tells the hardware to leave them. Packets that are too short pass without a number.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> WifiEncap(0) -> WifiSeq -> Discard",
    ports: "1/-",
    args: &[
        DEBUG,
        ArgSpec::keyword("OFFSET", ArgType::U32, "22", "where the number goes"),
        ArgSpec::keyword("BYTES", ArgType::U32, "2", "bytes of the number, 2 or 4"),
        ArgSpec::keyword("SHIFT", ArgType::U32, "4", "bits that it is shifted left"),
    ],
    handlers: &[
        debug_handler!(WifiSeq),
        parameter!(WifiSeq, "seq", sequence, "the next number", "seq parameter must be unsigned"),
        read_handler!("offset", "where the number goes", |e: &mut WifiSeq, _| line(e.offset)),
        read_handler!("bytes", "bytes of the number", |e: &mut WifiSeq, _| line(e.bytes)),
        read_handler!("shift", "bits that it is shifted left", |e: &mut WifiSeq, _| line(e.shift)),
        write_handler!("reset", "begins with 0 again", |e: &mut WifiSeq, _, _| e.sequence = 0).flags("b"),
    ],
    ..Class::new("WifiSeq", "wifi", || {
        Box::new(WifiSeq { debug: false, sequence: 0, offset: 22, bytes: 2, shift: 4 })
    })
};

struct WifiSeq {
    debug: bool,
    sequence: u32,
    offset: u32,
    bytes: u32,
    shift: u32,
}

impl SimpleElement for WifiSeq {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("DEBUG", &mut self.debug).read("OFFSET", &mut self.offset);
        args.read("BYTES", &mut self.bytes).read("SHIFT", &mut self.shift);
        if !matches!(self.bytes, 2 | 4) {
            args.error("BYTES must be either 2 or 4");
        }
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        let (offset, bytes) = (self.offset as usize, self.bytes as usize);
        // As Click, leaves out packets that end with the number.
        if p.len() <= offset.saturating_add(bytes) {
            return Verdict::PASS;
        }
        Extra::change(p, |extra| extra.set(flag::NO_SEQ, true));
        let number = self.sequence.checked_shl(self.shift).unwrap_or(0).to_le_bytes();
        p.data_mut()[offset..offset + bytes].copy_from_slice(&number[..bytes]);
        self.sequence = self.sequence.wrapping_add(1);
        Verdict::PASS
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<WifiSeq>(old) {
            self.sequence = old.sequence;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples;
    use super::*;
    use crate::testing::Harness;

    #[test]
    fn frames_are_numbered() {
        let mut t = Harness::new("s :: Source -> q :: WifiSeq -> k :: Sink");
        let frame = || Packet::new(&samples::frame("data nods"));
        t.push("s", 0, [frame(), Packet::new(&[0; 24]), frame()]);
        t.write("q.seq 4097").unwrap();
        t.push("s", 0, [frame()]);
        let out = t.take("k");
        let numbers = [0, 2, 3].map(|n| u16::from_le_bytes([out[n].data()[22], out[n].data()[23]]));
        assert_eq!((numbers, out[1].data()), ([0, 1 << 4, 1 << 4], &[0; 24][..]));
        assert!(Extra::of(&out[0]).has(flag::NO_SEQ) && !Extra::of(&out[1]).has(flag::NO_SEQ));
        assert_eq!(t.read("q.seq"), "4098\n");
        t.write("q.reset").unwrap();
        assert_eq!(t.read("q.seq"), "0\n");
    }

    #[test]
    fn numbers_have_two_or_four_bytes() {
        let mut t = Harness::new("s :: Source -> q :: WifiSeq(OFFSET 1, BYTES 4, SHIFT 8) -> k :: Sink");
        t.push("s", 0, [Packet::new(&[9; 6]), Packet::new(&[9; 6])]);
        assert_eq!(t.bytes("k"), [[9, 0, 0, 0, 0, 9], [9, 0, 1, 0, 0, 9]]);
        assert_eq!(["offset", "bytes", "shift"].map(|h| t.read(&format!("q.{h}"))), ["1\n", "4\n", "8\n"]);
        assert!(
            Harness::errors("Idle -> WifiSeq(BYTES 3) -> Discard").contains("BYTES must be either 2 or 4")
        );
        let mut t = Harness::new(
            "s :: Source -> WifiSeq(SHIFT 77, OFFSET 4294967295) -> WifiSeq(SHIFT 77, OFFSET 0) -> k :: Sink",
        );
        t.push("s", 0, [Packet::new(&[9; 3])]);
        assert_eq!(t.bytes("k"), [[0, 0, 9]]);
    }
}
