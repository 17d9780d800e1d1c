//! PushAnno and ReadAnno: a packet's annotations, in front of its data.

use clickwork_packet::{ANNO_SIZE, Packet};
use clickwork_router::{Class, Cx, SimpleElement, Verdict};

/// The class facts of PushAnno.
pub static PUSH: Class = Class {
    help: "puts the annotations in front of packets",
    manual: "Adds 48 bytes in front of each packet: its annotations, as they stand in memory.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> Paint(5) -> PushAnno -> ReadAnno -> Discard",
    packets: "any/forget",
    ..Class::new("PushAnno", "wifi", || Box::new(PushAnno))
};

/// The class facts of ReadAnno.
pub static READ: Class = Class {
    help: "reads the annotations from the front of packets",
    manual: "Makes the first 48 bytes of each packet its annotations. The bytes stay where they are: a Strip(48) behind it \
             removes what PushAnno added. Packets that are shorter pass unchanged.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> Paint(5) -> PushAnno -> ReadAnno -> Strip(48) -> Discard",
    packets: "any/unpainted",
    ..Class::new("ReadAnno", "wifi", || Box::new(ReadAnno))
};

struct PushAnno;
struct ReadAnno;

impl SimpleElement for PushAnno {
    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        let annotations = *p.annotations();
        p.push(ANNO_SIZE)[..ANNO_SIZE].copy_from_slice(&annotations);
        Verdict::PASS
    }
}

impl SimpleElement for ReadAnno {
    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        if let Some(annotations) = p.data().first_chunk().copied() {
            *p.annotations_mut() = annotations;
        }
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn annotations_survive_as_data() {
        let mut t = Harness::new(
            "s :: Source -> Paint(5) -> PushAnno -> Paint(6) -> k :: Sink;
                                  r :: Source -> ReadAnno -> Strip(48) -> j :: Sink",
        );
        t.push("s", 0, [Packet::new(b"abc")]);
        let out = t.bytes("k").remove(0);
        let mut expected = [0; 48];
        expected[16] = 5;
        assert_eq!(out, [&expected[..], b"abc"].concat());
        t.push("r", 0, [Packet::new(&out)]);
        let back = t.take("j").remove(0);
        assert_eq!((back.data(), back.paint()), (&b"abc"[..], 5));
    }

    #[test]
    fn short_packets_pass() {
        let mut t = Harness::new("s :: Source -> Paint(5) -> ReadAnno -> k :: Sink");
        t.push("s", 0, [Packet::new(&[0; 47]), Packet::new(&[7; 48])]);
        assert_eq!(t.take("k").iter().map(Packet::paint).collect::<Vec<_>>(), [5, 7]);
    }
}
