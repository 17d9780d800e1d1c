//! CheckPaint: lets packets of one colour through.

use super::fast::check_paint::Constants;
use crate::values::store;
use clickwork_packet::Packet;
use clickwork_packet::anno;
use clickwork_router::args::{AnnoOfSize, ArgSpec, ArgType, Args};
use clickwork_router::{
    Class, Cx, Fast, FastPath, SimpleElement, Verdict, fast_path, read_handler, write_handler,
};

/// The class facts.
pub static CLASS: Class = Class {
    help: "passes packets of one colour",
    manual: "Passes packets whose paint annotation (or annotation ANNO) is COLOR. The others go to output 1 if it is \
             connected, and are dropped otherwise.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> Paint(2) -> CheckPaint(2) -> Discard",
    ports: "1/1-2",
    processing: "a/ah",
    packets: "any/painted-as(COLOR, ANNO),painted-not(COLOR, ANNO)",
    args: &[
        ArgSpec::required("COLOR", ArgType::U8, "the colour to pass").or("0"),
        ArgSpec::positional("ANNO", ArgType::Anno(1), "PAINT", "where it is noted"),
    ],
    handlers: &[read_handler!("color", "the colour to pass", |e: &mut CheckPaint, _| e.constants.color)
        .and_write(write_handler!("", "", |e: &mut CheckPaint, text, _| store(
            &mut e.constants.color,
            text,
            ""
        )
        .map_err(|_| "expected uint8_t".to_string())))],
    fast: Some(FastPath::of::<CheckPaint>()),
    ..Class::new("CheckPaint", "standard", || {
        Box::new(CheckPaint { constants: Constants { color: 0, anno: anno::PAINT.offset } })
    })
};

struct CheckPaint {
    constants: Constants,
}

fast_path!(CheckPaint, check_paint);

impl SimpleElement for CheckPaint {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let mut anno = anno::PAINT;
        args.read("COLOR", &mut self.constants.color).read_with("ANNO", AnnoOfSize(1), &mut anno);
        self.constants.anno = anno.offset;
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let Constants { color, anno } = self.constants;
        match self.common(p) {
            Some(port) => Verdict::Out(port),
            None if p.anno_u8(anno) == color => Verdict::PASS,
            None => cx.out_or_drop(1, "other colour"),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn other_colours_leave_by_output_1_or_are_dropped() {
        let mut t = Harness::new(
            "s :: Source -> p :: Paint(1) -> c :: CheckPaint(1) -> a :: Sink; c[1] -> b :: Sink",
        );
        t.push("s", 0, [Packet::new(b"x")]);
        t.write("p.color 2").unwrap();
        t.push("s", 0, [Packet::new(b"y")]);
        assert_eq!((t.bytes("a"), t.bytes("b")), (vec![b"x".to_vec()], vec![b"y".to_vec()]));

        let mut t = Harness::new("s :: Source -> c :: CheckPaint(1) -> a :: Sink");
        t.push("s", 0, [Packet::new(b"x")]);
        assert_eq!((t.bytes("a").len(), t.read("c.drop_reasons")), (0, "1\tother colour\n".into()));
    }
}
