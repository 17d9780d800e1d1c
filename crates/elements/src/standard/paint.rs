//! Paint: gives packets a colour.

use super::fast::paint::{Constants, fast};
use crate::values::store;
use clickwork_packet::Packet;
use clickwork_packet::anno;
use clickwork_router::args::{AnnoOfSize, ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, FastPath, SimpleElement, Verdict, fast_path, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "sets packets' paint annotation",
    manual: "Sets each packet's paint annotation, or the annotation ANNO, to COLOR. PaintTee, CheckPaint and PaintSwitch \
             look at it.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> Paint(2) -> CheckPaint(2) -> Discard",
    packets: "any/paint(COLOR, ANNO)",
    args: &[
        ArgSpec::required("COLOR", ArgType::U8, "the colour").or("0"),
        ArgSpec::positional("ANNO", ArgType::Anno(1), "PAINT", "where it is noted"),
    ],
    handlers: &[read_handler!("color", "the colour", |e: &mut Paint, _| e.constants.color)
        .and_write(write_handler!("", "", |e: &mut Paint, text, _| store(&mut e.constants.color, text, "")
            .map_err(|_| "expected uint8_t".to_string())))],
    fast: Some(FastPath::of::<Paint>()),
    ..Class::new("Paint", "standard", || {
        Box::new(Paint { constants: Constants { color: 0, anno: anno::PAINT.offset } })
    })
};

struct Paint {
    constants: Constants,
}

fast_path!(Paint, paint);

impl SimpleElement for Paint {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let mut anno = anno::PAINT;
        args.read("COLOR", &mut self.constants.color).read_with("ANNO", AnnoOfSize(1), &mut anno);
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
    fn paints_where_it_is_told() {
        let mut t = Harness::new("s :: Source -> a :: Paint(7) -> Paint(9, ANNO 20) -> k :: Sink");
        t.push("s", 0, [Packet::new(b"x")]);
        t.write("a.color 8").unwrap();
        t.push("s", 0, [Packet::new(b"x")]);
        let painted: Vec<_> = t.take("k").iter().map(|p| (p.paint(), p.anno_u8(20))).collect();
        assert_eq!(painted, [(7, 9), (8, 9)]);
        assert_eq!(t.read("a.color"), "8");
    }

    #[test]
    fn colours_are_bytes() {
        assert!(Harness::errors("Idle -> Paint(256) -> Discard").contains("COLOR: out of range, bound 255"));
        assert!(Harness::errors("Idle -> Paint -> Discard").contains("COLOR"));
    }
}
