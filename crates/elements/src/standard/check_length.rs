//! CheckLength: lets packets up to a length through.

use super::fast::check_length::Constants;
use crate::values::store;
use clickwork_packet::Packet;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{
    Class, Cx, Fast, FastPath, SimpleElement, Verdict, fast_path, read_handler, write_handler,
};

/// The class facts.
pub static CLASS: Class = Class {
    help: "passes packets up to a length",
    manual: "Passes packets of at most LENGTH bytes. Longer ones go to output 1 if it is connected, and are dropped \
             otherwise.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> CheckLength(1500) -> Discard",
    ports: "1/1-2",
    processing: "a/ah",
    args: &[ArgSpec::required("LENGTH", ArgType::U32, "the greatest length, in bytes")],
    handlers: &[read_handler!("length", "the greatest length", |e: &mut CheckLength, _| e.constants.length)
        .and_write(write_handler!("", "", |e: &mut CheckLength, text, _| store(
            &mut e.constants.length,
            text,
            "integer"
        )))],
    fast: Some(FastPath::of::<CheckLength>()),
    ..Class::new("CheckLength", "standard", || Box::<CheckLength>::default())
};

#[derive(Default)]
struct CheckLength {
    constants: Constants,
}

fast_path!(CheckLength, check_length);

impl SimpleElement for CheckLength {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("LENGTH", &mut self.constants.length);
    }

    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        match self.common(p) {
            Some(port) => Verdict::Out(port),
            None if p.len() <= self.constants.length as usize => Verdict::PASS,
            None => cx.out_or_drop(1, "too long"),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn the_length_itself_passes() {
        let mut t = Harness::new("s :: Source -> c :: CheckLength(3) -> k :: Sink; c[1] -> long :: Sink");
        t.push("s", 0, [Packet::new(b"abc"), Packet::new(b"abcd")]);
        assert_eq!((t.bytes("k"), t.bytes("long")), (vec![b"abc".to_vec()], vec![b"abcd".to_vec()]));
    }
}
