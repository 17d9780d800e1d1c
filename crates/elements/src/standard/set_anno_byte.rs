//! SetAnnoByte: sets one byte of packets' annotations.

use super::fast::paint::{Constants, fast};
use crate::values::store;
use clickwork_packet::Packet;
use clickwork_packet::anno;
use clickwork_router::args::{AnnoOfSize, ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, FastPath, SimpleElement, Verdict, fast_path, read_handler, write_handler};

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
        read_handler!("anno", "where the byte is", |e: &mut SetAnnoByte, _| e.constants.anno),
        read_handler!("value", "its value", |e: &mut SetAnnoByte, _| e.constants.color).and_write(
            write_handler!("", "", |e: &mut SetAnnoByte, text, _| store(
                &mut e.constants.color,
                text,
                "uint8_t"
            )),
        ),
    ],
    fast: Some(FastPath::of::<SetAnnoByte>()),
    ..Class::new("SetAnnoByte", "standard", || {
        Box::new(SetAnnoByte { constants: Constants { color: 0, anno: anno::PAINT.offset } })
    })
};

struct SetAnnoByte {
    constants: Constants,
}

fast_path!(SetAnnoByte, paint);

impl SimpleElement for SetAnnoByte {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.warn("SetAnnoByte(ANNO, VALUE) is obsolete, use Paint(VALUE, ANNO) instead");
        let mut anno = anno::PAINT;
        args.read_with("ANNO", AnnoOfSize(1), &mut anno).read("VALUE", &mut self.constants.color);
        self.constants.anno = anno.offset;
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        fast(&self.constants, p).map_or(Verdict::PASS, Verdict::Out)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn sets_the_byte() {
        let mut t = Harness::new("s :: Source -> a :: SetAnnoByte(30, 7) -> k :: Sink");
        let obsolete = "warning: SetAnnoByte(ANNO, VALUE) is obsolete, use Paint(VALUE, ANNO) instead";
        assert_eq!(t.warnings(), format!("config:1: While configuring 'a :: SetAnnoByte':\n  {obsolete}\n"));
        t.push("s", 0, [Packet::new(b"")]);
        t.write("a.value 9").unwrap();
        assert_eq!(t.write("a.value 256").unwrap_err(), "expected uint8_t");
        t.push("s", 0, [Packet::new(b"")]);
        let seen: Vec<_> = t.take("k").iter().map(|p| p.anno_u8(30)).collect();
        assert_eq!((seen, t.read("a.anno"), t.read("a.value")), (vec![7, 9], "30".into(), "9".into()));
    }
}
