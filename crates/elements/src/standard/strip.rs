//! Strip: removes bytes from the front of packets.

use super::fast::strip::{Constants, fast};
use clickwork_packet::Packet;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, FastPath, SimpleElement, Verdict, fast_path};

/// The class facts.
pub static CLASS: Class = Class {
    help: "removes bytes from the front of packets",
    manual: "Removes the first LENGTH bytes of each packet; a shorter packet becomes empty. Strip(14) removes an Ethernet \
             header. Unstrip puts the bytes back.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> Strip(14) -> Discard",
    packets: "any/strip(LENGTH)",
    args: &[ArgSpec::required("LENGTH", ArgType::U32, "bytes to remove")],
    fast: Some(FastPath::of::<Strip>()),
    ..Class::new("Strip", "standard", || Box::<Strip>::default())
};

#[derive(Default)]
struct Strip {
    constants: Constants,
}

fast_path!(Strip, strip);

impl SimpleElement for Strip {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("LENGTH", &mut self.constants.length);
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
    fn removes_the_front_and_no_more_than_there_is() {
        let mut t = Harness::new("s :: Source -> Strip(3) -> k :: Sink");
        t.push("s", 0, [Packet::new(b"abcdef"), Packet::new(b"ab")]);
        assert_eq!(t.bytes("k"), [b"def".to_vec(), vec![]]);
    }
}
