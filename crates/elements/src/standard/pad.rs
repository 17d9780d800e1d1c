//! Pad: makes packets longer.

use super::fast::pad::{Constants, LONGEST, wanted};
use clickwork_packet::{Packet, anno};
use clickwork_router::args::{ArgSpec, ArgType, Args, Bounded};
use clickwork_router::{Class, Cx, Fast, FastPath, SimpleElement, Verdict, fast_path};

/// The class facts.
pub static CLASS: Class = Class {
    help: "extends packets to a length",
    manual: "Extends packets shorter than LENGTH bytes to that length, with zeros unless ZERO is false. Without LENGTH, \
             each packet is extended by its extra length annotation: by what Truncate or a capture left out. The \
             annotation is cleared.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> Pad(60) -> Discard",
    args: &[
        ArgSpec::positional("LENGTH", ArgType::U16, "", "the least length, in bytes"),
        ArgSpec::keyword("ZERO", ArgType::Bool, "true", "whether the new bytes are set to 0"),
    ],
    fast: Some(FastPath::of::<Pad>()),
    ..Class::new("Pad", "standard", || Box::new(Pad { constants: Constants { length: 0, zero: true } }))
};

struct Pad {
    constants: Constants,
}

fast_path!(Pad, pad);

impl SimpleElement for Pad {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read_with("LENGTH", Bounded(0..=LONGEST), &mut self.constants.length)
            .read("ZERO", &mut self.constants.zero);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        if let Some(port) = self.common(p) {
            return Verdict::Out(port);
        }
        let (len, wanted) = (p.len(), wanted(&self.constants, p));
        if wanted > len.max(LONGEST as usize) {
            return Verdict::Drop("padded too long");
        }
        if wanted > len {
            let data = p.put(wanted - len);
            if self.constants.zero {
                data[len..].fill(0);
            }
        }
        p.set_anno_u32(anno::EXTRA_LENGTH, 0);
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::{Packet, anno};

    #[test]
    fn short_packets_grow_and_long_ones_stay() {
        let mut t = Harness::new("s :: Source -> Pad(4) -> k :: Sink");
        t.push("s", 0, [Packet::with_room(0, b"ab", 0), Packet::new(b"abcdef")]);
        assert_eq!(t.bytes("k"), [b"ab\0\0".to_vec(), b"abcdef".to_vec()]);
    }

    #[test]
    fn what_truncate_cut_comes_back_as_zeros() {
        let mut t = Harness::new("s :: Source -> Truncate(2) -> p :: Pad -> k :: Sink");
        let mut absurd = Packet::new(b"x");
        absurd.set_anno_u32(anno::EXTRA_LENGTH, u32::MAX);
        t.push("s", 0, [Packet::new(b"abcd"), absurd]);
        let got = t.take("k");
        assert_eq!((got[0].data(), got[0].anno_u32(anno::EXTRA_LENGTH), got.len()), (&b"ab\0\0"[..], 0, 1));
        assert_eq!(t.read("p.drop_reasons"), "1\tpadded too long\n");
    }
}
