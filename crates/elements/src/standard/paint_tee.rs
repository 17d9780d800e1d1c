//! PaintTee: copies packets of one colour to a second output.

use super::fast::paint_tee::Constants;
use crate::values::store;
use clickwork_packet::Packet;
use clickwork_packet::anno;
use clickwork_router::args::{AnnoOfSize, ArgSpec, ArgType, Args};
use clickwork_router::{
    Class, Cx, Fast, FastPath, SimpleElement, Verdict, fast_path, read_handler, write_handler,
};

/// The class facts.
pub static CLASS: Class = Class {
    help: "copies packets of one colour to output 1",
    manual: "Passes every packet on. Of those whose paint annotation (or annotation ANNO) is COLOR, a copy goes to \
             output 1 first. In a router this finds packets that leave by the interface they came from, whose sender \
             should be told a better way (ICMP redirect).",
    example: "InfiniteSource(LIMIT 1, STOP true) -> Paint(1) -> t :: PaintTee(1) -> Discard; t[1] -> Discard",
    ports: "1/2",
    processing: "a/ah",
    args: &[
        ArgSpec::required("COLOR", ArgType::U8, "the colour to copy").or("0"),
        ArgSpec::positional("ANNO", ArgType::Anno(1), "PAINT", "where it is noted"),
    ],
    handlers: &[read_handler!("color", "the colour to copy", |e: &mut PaintTee, _| e.constants.color)
        .and_write(write_handler!("", "", |e: &mut PaintTee, text, _| store(
            &mut e.constants.color,
            text,
            ""
        )
        .map_err(|_| "expected uint8_t".to_string())))],
    fast: Some(FastPath::of::<PaintTee>()),
    ..Class::new("PaintTee", "standard", || {
        Box::new(PaintTee { constants: Constants { color: 0, anno: anno::PAINT.offset } })
    })
};

struct PaintTee {
    constants: Constants,
}

fast_path!(PaintTee, paint_tee);

impl SimpleElement for PaintTee {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let mut anno = anno::PAINT;
        args.read("COLOR", &mut self.constants.color).read_with("ANNO", AnnoOfSize(1), &mut anno);
        self.constants.anno = anno.offset;
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        if self.common(p).is_none() && p.anno_u8(self.constants.anno) == self.constants.color {
            cx.emit(1, p.clone());
        }
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn copies_one_colour_only() {
        for config in [
            "s :: Source -> Paint(1) -> t :: PaintTee(1) -> k :: Sink; t[1] -> c :: Sink",
            "s :: Source -> Paint(2) -> t :: PaintTee(1) -> k :: Sink; t[1] -> c :: Sink",
        ] {
            let mut t = Harness::batched(config);
            t.push_batch("s", 0, [Packet::new(b"x"), Packet::new(b"y")]);
            let copies = if config.contains("Paint(1)") { 2 } else { 0 };
            assert_eq!((t.bytes("k").len(), t.bytes("c").len()), (2, copies), "{config}");
        }
    }
}
