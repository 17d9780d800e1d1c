//! SetAnnoByte: sets one byte of packets' annotations.

use crate::values::store;
use clickwork_packet::Packet;
use clickwork_packet::anno::{self, Anno};
use clickwork_router::args::{AnnoOfSize, ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, SimpleElement, Verdict, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "sets a byte of packets' annotations",
    manual: "Sets the annotation byte ANNO of each packet to VALUE.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> SetAnnoByte(PAINT, 3) -> CheckPaint(3) -> Discard",
    packets: "any/paint(VALUE, ANNO)",
    args: &[
        ArgSpec::required("ANNO", ArgType::Anno(1), "the annotation byte"),
        ArgSpec::required("VALUE", ArgType::U8, "its value"),
    ],
    handlers: &[
        read_handler!("anno", "where the byte is", |e: &mut SetAnnoByte, _| e.anno.offset),
        read_handler!("value", "its value", |e: &mut SetAnnoByte, _| e.value).and_write(write_handler!(
            "",
            "",
            |e: &mut SetAnnoByte, text, _| store(&mut e.value, text, "a number from 0 to 255")
        )),
    ],
    ..Class::new("SetAnnoByte", "standard", || Box::new(SetAnnoByte { anno: anno::PAINT, value: 0 }))
};

struct SetAnnoByte {
    anno: Anno,
    value: u8,
}

impl SimpleElement for SetAnnoByte {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read_with("ANNO", AnnoOfSize(1), &mut self.anno).read("VALUE", &mut self.value);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        p.set_anno_u8(self.anno.offset, self.value);
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn sets_the_byte() {
        let mut t = Harness::new("s :: Source -> a :: SetAnnoByte(30, 7) -> k :: Sink");
        t.push("s", 0, [Packet::new(b"")]);
        t.write("a.value 9").unwrap();
        t.push("s", 0, [Packet::new(b"")]);
        let seen: Vec<_> = t.take("k").iter().map(|p| p.anno_u8(30)).collect();
        assert_eq!((seen, t.read("a.anno"), t.read("a.value")), (vec![7, 9], "30".into(), "9".into()));
    }
}
