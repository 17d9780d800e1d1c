//! Unstrip: puts bytes back at the front of packets.

use super::fast::unstrip::Constants;
use clickwork_packet::Packet;
use clickwork_router::args::{ArgSpec, ArgType, Args, Bounded};
use clickwork_router::{Class, Cx, Fast, FastPath, SimpleElement, Verdict, fast_path};

/// The class facts.
pub static CLASS: Class = Class {
    help: "adds bytes to the front of packets",
    manual: "Adds LENGTH bytes to the front of each packet: those that Strip removed, if it did; otherwise whatever the \
             buffer holds there.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> Strip(4) -> Unstrip(4) -> Discard",
    packets: "any/unstrip(LENGTH)",
    args: &[ArgSpec::required("LENGTH", ArgType::U16, "bytes to add")],
    fast: Some(FastPath::of::<Unstrip>()),
    ..Class::new("Unstrip", "standard", || Box::<Unstrip>::default())
};

#[derive(Default)]
struct Unstrip {
    constants: Constants,
}

fast_path!(Unstrip, unstrip);

impl SimpleElement for Unstrip {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read_with("LENGTH", Bounded(0..=u32::from(u16::MAX)), &mut self.constants.length);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        if self.common(p).is_none() {
            p.unpull(self.constants.length as usize);
        }
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn puts_back_what_strip_removed() {
        let mut t = Harness::new("s :: Source -> Strip(3) -> Unstrip(2) -> k :: Sink");
        t.push("s", 0, [Packet::new(b"abcdef")]);
        assert_eq!(t.bytes("k"), [b"bcdef"]);
    }

    #[test]
    fn makes_room_if_there_is_none() {
        let mut t = Harness::new("s :: Source -> Unstrip(1000) -> Strip(1000) -> k :: Sink");
        t.push("s", 0, [Packet::with_room(0, b"abc", 0)]);
        assert_eq!(t.bytes("k"), [b"abc"]);
    }
}
