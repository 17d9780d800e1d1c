//! Reframe: cuts a stream of bytes into frames that state their length.

use clickwork_packet::{Batch, Packet};
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::notify::{NotifierId, NotifierKind, Search};
use clickwork_router::{Class, Cx, Element};

/// The class facts.
pub static CLASS: Class = Class {
    help: "cuts a stream of bytes into frames that state their length",
    manual: "Takes packets as pieces of a stream, such as a Socket of type TCP emits, and emits frames. FOFF bytes behind its \
             beginning, each frame has a number of FLEN bytes (1, 2 or 4; in network order unless NTOH is false); it is \
             multiplied by MUL, rounded up to a multiple of ALIGN, and with ADD added it is the length of the whole frame. \
             With FLEN 0 all frames are ADD bytes long. A frame of no length, or of more than 65535 bytes, means that \
             the stream is out of step: what is there of it is dropped.",
    example: "InfiniteSource(DATA \\<000361626300>, LIMIT 2, STOP true) -> Reframe(ADD 2) -> Discard",
    processing: "h/a",
    args: &[
        ArgSpec::positional("FOFF", ArgType::U32, "2", "where in a frame its length stands"),
        ArgSpec::positional("FLEN", ArgType::U32, "2", "bytes of the length: 0, 1, 2 or 4"),
        ArgSpec::positional("NTOH", ArgType::Bool, "true", "whether it is in network order"),
        ArgSpec::positional("MUL", ArgType::I32, "1", "what it is multiplied by"),
        ArgSpec::positional("ALIGN", ArgType::I32, "1", "what it is then rounded up to a multiple of"),
        ArgSpec::positional("ADD", ArgType::I32, "0", "what is then added"),
    ],
    ..Class::new("Reframe", "local", || Box::<Reframe>::default())
};

/// The longest frame.
const LONGEST: i64 = 65535;
/// Bytes that may wait to be pulled.
const CAPACITY: usize = 1 << 20;

struct Reframe {
    offset: u32,
    length: u32,
    network_order: bool,
    multiply: i32,
    align: i32,
    add: i32,
    stream: Vec<u8>,
    /// How much of the stream has been emitted.
    done: usize,
    ready: Option<NotifierId>,
}

impl Default for Reframe {
    fn default() -> Reframe {
        Reframe {
            offset: 2,
            length: 2,
            network_order: true,
            multiply: 1,
            align: 1,
            add: 0,
            stream: Vec::new(),
            done: 0,
            ready: None,
        }
    }
}

impl Reframe {
    /// The number in a frame, once it is there.
    fn number(&self) -> Option<i64> {
        let start = self.done + self.offset as usize;
        let mut bytes = self.stream.get(start..start + self.length as usize)?.to_vec();
        if self.network_order {
            bytes.reverse();
        }
        Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | i64::from(*byte)))
    }

    /// The length of the next frame, once it is known.
    fn next_length(&self) -> Option<i64> {
        if self.length == 0 {
            return Some(self.add.into());
        }
        let (align, number) = (i64::from(self.align), self.number()?.saturating_mul(self.multiply.into()));
        let aligned = (number.saturating_add(align - 1) / align).saturating_mul(align);
        Some(aligned.saturating_add(self.add.into()))
    }

    /// The next frame, if it is whole.
    fn frame(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        let length = self.next_length()?;
        if !(1..=LONGEST).contains(&length) {
            (self.stream, self.done) = (Vec::new(), 0);
            cx.count_drop("stream out of step", 1);
            return None;
        }
        let frame = self.stream.get(self.done..self.done + length as usize)?;
        let p = Packet::new(frame);
        self.done += length as usize;
        Some(p)
    }

    /// Forgets what was emitted.
    fn compact(&mut self) {
        self.stream.drain(..std::mem::take(&mut self.done));
    }
}

impl Element for Reframe {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        let ready = cx.export_notifier(NotifierKind::Empty, Search::Stop);
        cx.sleep(ready);
        self.ready = Some(ready);
        args.read("FOFF", &mut self.offset)
            .read("FLEN", &mut self.length)
            .read("NTOH", &mut self.network_order)
            .read("MUL", &mut self.multiply)
            .read("ALIGN", &mut self.align)
            .read("ADD", &mut self.add);
        if !matches!(self.length, 0 | 1 | 2 | 4) {
            let n = self.length;
            args.error(format!("invalid field length {n} (valid field lengths are 0, 1, 2, and 4 bytes)"));
        }
        if self.align < 1 {
            args.error_in("ALIGN", "must be at least 1");
        }
        if i64::from(self.offset) > LONGEST {
            args.error_in("FOFF", "out of range");
        }
        if self.length == 0 && self.add < 1 {
            args.error_in("ADD", "must be at least 1 if frames do not state their length");
        }
    }

    fn initialize(&mut self, cx: &mut Cx<'_>) -> Result<(), String> {
        self.ready = self.ready.filter(|_| !cx.output_is_push(0));
        Ok(())
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        for p in batch.take() {
            if self.stream.len() - self.done + p.len() > CAPACITY {
                cx.drop(p, "too much waits");
                continue;
            }
            self.stream.extend_from_slice(p.data());
            if self.ready.is_none() {
                while let Some(frame) = self.frame(cx) {
                    cx.emit(0, frame);
                }
                self.compact();
            }
        }
        if let Some(ready) = self.ready {
            cx.wake(ready);
        }
    }

    fn pull(&mut self, _: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let mut batch = cx.fresh_batch();
        while batch.len() < limit
            && let Some(frame) = self.frame(cx)
        {
            batch.push(frame);
        }
        self.compact();
        if let Some(ready) = self.ready.filter(|_| batch.is_empty()) {
            cx.sleep(ready);
        }
        batch
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Harness;

    fn frames(args: &str, via: &str, pieces: &[&[u8]]) -> (Vec<Vec<u8>>, Harness) {
        let mut t = Harness::new(&format!("s :: Source -> r :: Reframe({args}) {via} -> k :: Sink"));
        t.push("s", 0, pieces.iter().map(|piece| Packet::new(piece)));
        (t.bytes("k"), t)
    }

    #[test]
    fn frames_are_cut_out_of_pieces_of_any_length() {
        let stream = b"..\0\x06ab..\0\x04..\0\x09abcde..";
        let expected: [&[u8]; 3] = [b"..\0\x06ab", b"..\0\x04", b"..\0\x09abcde"];
        for via in ["", "-> Unqueue"] {
            for size in 1..=stream.len() {
                let pieces: Vec<&[u8]> = stream.chunks(size).collect();
                assert_eq!(frames("", via, &pieces).0, expected, "{size}");
            }
        }
    }

    #[test]
    fn the_length_is_computed_as_asked() {
        let three =
            |args: &str, piece: &[u8]| frames(args, "", &[piece]).0.iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(three("FOFF 0, FLEN 1, ADD 1", b"\x02ab\x01a\x03"), [3, 2]);
        assert_eq!(three("FOFF 0, FLEN 1, MUL 2, ADD 1", b"\x01ab\x02abcd"), [3, 5]);
        assert_eq!(three("FOFF 0, FLEN 1, ALIGN 4", b"\x01...\x05......."), [4, 8]);
        assert_eq!(three("FOFF 0, FLEN 2, NTOH false", b"\x03\0.\x02\0"), [3, 2]);
        assert_eq!(three("FOFF 1, FLEN 4", b".\0\0\0\x06."), [6]);
        assert_eq!(three("FLEN 0, ADD 3", b"abcdefgh"), [3, 3]);
    }

    #[test]
    fn a_stream_out_of_step_is_dropped() {
        let (out, mut t) = frames("FOFF 0", "", &[b"\0\0....", b"\0\x03a"]);
        assert_eq!(
            (out, t.read("r.drop_reasons")),
            (vec![b"\0\x03a".to_vec()], "1\tstream out of step\n".into())
        );
        let (_, mut t) = frames("FOFF 0, FLEN 4", "", &[b"\xff\xff\xff\xff"]);
        assert_eq!(t.read("r.drop_reasons"), "1\tstream out of step\n");
    }

    #[test]
    fn mistakes_are_named() {
        for (args, message) in [
            ("FLEN 3", "invalid field length 3 (valid field lengths are 0, 1, 2, and 4 bytes)"),
            ("ALIGN 0", "ALIGN: must be at least 1"),
            ("FLEN 0", "must be at least 1 if frames do not state their length"),
        ] {
            let e = Harness::errors(&format!("Idle -> Reframe({args}) -> Discard"));
            assert!(e.contains(message), "{e}");
        }
    }
}
