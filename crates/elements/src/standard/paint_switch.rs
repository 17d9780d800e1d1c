//! PaintSwitch: sends packets to the output that their colour names.

use super::fast::paint_switch::{ALL, Constants, fast};
use clickwork_packet::Batch;
use clickwork_packet::anno;
use clickwork_router::args::{AnnoOfSize, ArgSpec, ArgType, Args};
use clickwork_router::element::split_batch;
use clickwork_router::{Class, Cx, Element, FastPath, fast_path};

/// The class facts.
pub static CLASS: Class = Class {
    help: "sends packets to the output that their colour names",
    manual: "Sends each packet to the output whose number is its paint annotation (or annotation ANNO). A packet of colour \
             255 is copied to all outputs. Colours beyond the last output are dropped.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> Paint(1) -> s :: PaintSwitch; s[0] -> Discard; s[1] -> Discard",
    ports: "1/-",
    processing: "h/h",
    packets: "any/painted(ANNO)",
    args: &[ArgSpec::positional("ANNO", ArgType::Anno(1), "PAINT", "where the colour is noted")],
    fast: Some(FastPath::of::<PaintSwitch>().emitting_all()),
    ..Class::new("PaintSwitch", "standard", || {
        Box::new(PaintSwitch { constants: Constants { anno: anno::PAINT.offset, outputs: 0 } })
    })
};

struct PaintSwitch {
    constants: Constants,
}

fast_path!(PaintSwitch, paint_switch);

impl Element for PaintSwitch {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        let mut anno = anno::PAINT;
        args.read_with("ANNO", AnnoOfSize(1), &mut anno);
        self.constants = Constants { anno: anno.offset, outputs: cx.outputs() };
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        let Constants { anno: at, outputs } = self.constants;
        if batch.iter_mut().all(|p| fast(&self.constants, p).is_some()) {
            return split_batch(batch, cx, "no output of that colour", |p| fast(&self.constants, p));
        }
        for p in batch.take() {
            match p.anno_u8(at) {
                ALL if outputs > 0 => {
                    (0..outputs - 1).for_each(|port| cx.emit(port, p.clone()));
                    cx.emit(outputs - 1, p);
                }
                color => cx.emit_or_drop(color.into(), p, "no output of that colour"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    fn painted(data: &[u8], color: u8) -> Packet {
        let mut p = Packet::new(data);
        p.set_paint(color);
        p
    }

    #[test]
    fn colours_name_outputs_and_255_all_of_them() {
        for batched in [false, true] {
            let config = "s :: Source -> p :: PaintSwitch; p[0] -> a :: Sink; p[1] -> b :: Sink";
            let mut t = if batched { Harness::batched(config) } else { Harness::new(config) };
            let first = || [painted(b"1", 1), painted(b"0", 0), painted(b"2", 2)];
            let second = || [painted(b"x", 255), painted(b"1", 1)];
            match batched {
                true => (t.push_batch("s", 0, first()), t.push_batch("s", 0, second())),
                false => (t.push("s", 0, first()), t.push("s", 0, second())),
            };
            assert_eq!((t.bytes("a").concat(), t.bytes("b").concat()), (b"0x".to_vec(), b"1x1".to_vec()));
            assert_eq!(t.read("p.drop_reasons"), "1\tno output of that colour\n");
        }
    }
}
