//! Truncate: limits the length of packets.

use super::fast::truncate::{Constants, fast};
use crate::values::store;
use clickwork_packet::Packet;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, FastPath, SimpleElement, Verdict, fast_path, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "cuts packets to a length",
    manual: "Cuts each packet to at most LENGTH bytes. Unless EXTRA_LENGTH is false, the bytes cut off are added to the \
             packet's extra length annotation, so that elements which count or print still know the full length.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> Truncate(20) -> Discard",
    args: &[
        ArgSpec::required("LENGTH", ArgType::U16, "the greatest length, in bytes"),
        ArgSpec::keyword("EXTRA_LENGTH", ArgType::Bool, "true", "note the bytes cut off in an annotation"),
    ],
    handlers: &[read_handler!("nbytes", "the greatest length", |e: &mut Truncate, _| e.constants.length)
        .and_write(write_handler!("", "", |e: &mut Truncate, text, _| {
            store(&mut e.constants.length, text, "").map_err(|_| "expected integer".to_string())
        }))],
    fast: Some(FastPath::of::<Truncate>()),
    ..Class::new("Truncate", "standard", || {
        Box::new(Truncate { constants: Constants { length: 0, notes: true } })
    })
};

struct Truncate {
    constants: Constants,
}

fast_path!(Truncate, truncate);

impl SimpleElement for Truncate {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("LENGTH", &mut self.constants.length).read("EXTRA_LENGTH", &mut self.constants.notes);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        fast(&self.constants, p).map_or(Verdict::PASS, Verdict::Out)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::{Packet, anno};

    #[test]
    fn cuts_and_notes_what_is_missing() {
        let mut t = Harness::new("s :: Source -> Truncate(4) -> Truncate(3, EXTRA_LENGTH no) -> k :: Sink");
        t.push("s", 0, [Packet::new(b"abcdef"), Packet::new(b"ab")]);
        let seen: Vec<_> = t.take("k").iter().map(|p| (p.len(), p.anno_u32(anno::EXTRA_LENGTH))).collect();
        assert_eq!(seen, [(3, 2), (2, 0)]);
    }

    #[test]
    fn the_length_can_be_changed() {
        let mut t = Harness::new("a :: Source -> s :: Truncate(3) -> k :: Sink");
        t.write("s.nbytes 1").unwrap();
        t.push("a", 0, [Packet::new(b"abc")]);
        assert_eq!((t.bytes("k"), t.read("s.nbytes")), (vec![b"a".to_vec()], "1".into()));
        assert_eq!(t.write("s.nbytes x").unwrap_err(), "expected integer");
    }
}
