//! MarkMACHeader: notes where the link-level header is.

use super::fast::mark_mac_header::{Constants, fast};
use clickwork_packet::Packet;
use clickwork_router::args::{ArgSpec, ArgType, Args, Bounded};
use clickwork_router::{Class, Cx, FastPath, SimpleElement, Verdict, fast_path};

/// The class facts.
pub static CLASS: Class = Class {
    help: "marks the link-level header",
    manual: "Notes that the link-level header of each packet is OFFSET bytes behind its start. If LENGTH is given and not 0, \
             the network header is marked so many bytes behind it.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> MarkMACHeader(0, 14) -> Discard",
    packets: "any/remarked",
    args: &[
        ArgSpec::positional("OFFSET", ArgType::U16, "0", "where the link-level header is in the packet"),
        ArgSpec::positional("LENGTH", ArgType::U16, "0", "its length"),
    ],
    fast: Some(FastPath::of::<MarkMACHeader>()),
    ..Class::new("MarkMACHeader", "standard", || Box::<MarkMACHeader>::default())
};

#[derive(Default)]
struct MarkMACHeader {
    constants: Constants,
}

fast_path!(MarkMACHeader, mark_mac_header);

impl SimpleElement for MarkMACHeader {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read_with("OFFSET", Bounded(0..=i32::from(u16::MAX)), &mut self.constants.offset);
        args.read_with("LENGTH", Bounded(0..=u32::from(u16::MAX)), &mut self.constants.length);
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
    fn marks_one_header_or_two() {
        for (config, network) in [("2", None), ("2, 3", Some(5))] {
            let mut t = Harness::new(&format!("s :: Source -> MarkMACHeader({config}) -> k :: Sink"));
            t.push("s", 0, [Packet::new(b"abcdefgh")]);
            let p = t.take("k").remove(0);
            assert_eq!((p.mac_header(), p.network_offset()), (Some(&b"cdefgh"[..]), network), "{config}");
        }
    }
}
