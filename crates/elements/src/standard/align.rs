//! Align: moves packet data to aligned positions.

use super::fast::align::Constants;
use clickwork_packet::Packet;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, Fast, FastPath, SimpleElement, Verdict, fast_path};

/// The class facts.
pub static CLASS: Class = Class {
    help: "aligns packet data",
    manual: "Moves each packet's data, if needed, so that its address in memory leaves the remainder OFFSET when divided \
             by MODULUS. No element here needs aligned data; configurations for machines that do keep working.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> Align(4, 2) -> Discard",
    packets: "any/align(MODULUS, OFFSET)",
    args: &[
        ArgSpec::required("MODULUS", ArgType::U32, "2, 4 or 8"),
        ArgSpec::required("OFFSET", ArgType::U32, "the remainder, below MODULUS"),
    ],
    fast: Some(FastPath::of::<Align>()),
    ..Class::new("Align", "standard", || Box::new(Align { constants: Constants { modulus: 4, offset: 0 } }))
};

struct Align {
    constants: Constants,
}

fast_path!(Align, align);

impl SimpleElement for Align {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        let Constants { modulus, offset } = &mut self.constants;
        args.read("MODULUS", modulus).read("OFFSET", offset);
        if !matches!(modulus, 2 | 4 | 8) {
            args.error("MODULUS must be 2, 4, or 8");
        } else if offset >= modulus {
            args.error("OFFSET must be smaller than MODULUS");
        }
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        if let Some(port) = self.common(p) {
            return Verdict::Out(port);
        }
        let (modulus, offset) = (self.constants.modulus as usize, self.constants.offset as usize);
        let is = p.data().as_ptr().addr() % modulus;
        if is != offset {
            p.shift_data(((offset + modulus - is) % modulus) as isize);
        }
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn moves_data_and_header_marks_together() {
        for offset in 0..8 {
            let mut t = Harness::new(&format!("s :: Source -> Align(8, {offset}) -> k :: Sink"));
            for headroom in 0..8 {
                let mut p = Packet::with_room(headroom, b"header and data", 3);
                p.set_network_header(2, 4);
                t.push("s", 0, [p]);
            }
            for p in t.take("k") {
                assert_eq!((p.data().as_ptr().addr() % 8, p.data()), (offset, &b"header and data"[..]));
                assert_eq!(p.transport_header(), Some(&b" and data"[..]));
            }
        }
    }

    #[test]
    fn says_what_is_wrong() {
        for (args, message) in
            [("3, 0", "MODULUS must be 2, 4, or 8"), ("4, 4", "OFFSET must be smaller than MODULUS")]
        {
            let e = Harness::errors(&format!("Idle -> Align({args}) -> Discard"));
            assert!(e.contains(message) && !e.contains(&format!(": {message}:")), "{e}");
        }
    }
}
