//! StoreTimestamp: writes the timestamp into the packet's data.

use clickwork_packet::Packet;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, SimpleElement, Verdict};

/// The class facts.
pub static CLASS: Class = Class {
    help: "writes packets' timestamp into their data",
    manual: "Writes the timestamp, in eight bytes, into the packet's data at OFFSET, or behind the data with TAIL true. A \
             packet that is too short is extended. The bytes are those of Click's representation in memory: a number \
             of nanoseconds, of 64 bits in the order of bytes of the machine.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> SetTimestamp -> StoreTimestamp(4) -> Discard",
    args: &[
        ArgSpec::positional("OFFSET", ArgType::I32, "", "where the timestamp is written"),
        ArgSpec::keyword("TAIL", ArgType::Bool, "false", "whether it is written behind the data"),
    ],
    ..Class::new("StoreTimestamp", "analysis", || Box::<StoreTimestamp>::default())
};

/// Bytes that a timestamp takes.
const SIZE: usize = 8;
/// No packet is extended beyond this.
const MAX_LENGTH: usize = 1 << 16;

#[derive(Default)]
struct StoreTimestamp {
    /// Behind the data, if there is none.
    offset: Option<usize>,
}

impl SimpleElement for StoreTimestamp {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let (mut offset, mut tail) = (-1i32, false);
        args.read("OFFSET", &mut offset).read("TAIL", &mut tail);
        self.offset = usize::try_from(offset).ok();
        if self.offset.is_some() == tail {
            args.error("supply exactly one of 'OFFSET' and 'TAIL'");
        }
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        let offset = self.offset.unwrap_or(p.len());
        let end = offset + SIZE;
        if end > MAX_LENGTH {
            return Verdict::Drop("too long for a timestamp");
        }
        if end > p.len() {
            let missing = end - p.len();
            let before = p.len();
            p.put(missing)[before..].fill(0);
        }
        let stamp: [u8; SIZE] = p.timestamp().nanos().to_ne_bytes();
        p.data_mut()[offset..end].copy_from_slice(&stamp);
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::{Packet, Timestamp};

    fn stamped() -> Packet {
        let mut p = Packet::new(&[9; 10]);
        p.set_timestamp(Timestamp::new(3, 2));
        p
    }

    /// As the first-timestamp annotation has it, and what else Click copies from memory.
    const STAMP: [u8; 8] = 3_000_000_002i64.to_ne_bytes();

    #[test]
    fn writes_at_an_offset_and_at_the_end() {
        let cases = [("1", vec![9, 9], 1..9), ("6", vec![9; 6], 6..14), ("TAIL true", vec![9; 10], 10..18)];
        for (args, others, at) in cases {
            let mut t = Harness::new(&format!("s :: Source -> StoreTimestamp({args}) -> k :: Sink"));
            t.push("s", 0, [stamped()]);
            let mut got = t.bytes("k").remove(0);
            assert_eq!(got[at.clone()], STAMP, "{args}");
            got.drain(at);
            assert_eq!(got, others, "{args}");
        }
    }

    #[test]
    fn needs_one_place() {
        for args in ["", "1, TAIL true"] {
            let e = Harness::errors(&format!("Idle -> StoreTimestamp({args}) -> Discard"));
            assert!(e.contains("exactly one of 'OFFSET' and 'TAIL'"), "{e}");
        }
    }

    #[test]
    fn far_offsets_do_not_take_memory() {
        let mut t = Harness::new("s :: Source -> x :: StoreTimestamp(2000000000) -> k :: Sink");
        t.push("s", 0, [stamped()]);
        assert!(t.bytes("k").is_empty());
    }
}
