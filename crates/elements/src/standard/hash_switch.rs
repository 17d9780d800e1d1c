//! HashSwitch: sends packets with the same bytes to the same output.

use super::fast::hash_switch::{Constants, fast};
use clickwork_packet::Batch;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::element::split_batch;
use clickwork_router::{Class, Cx, Element, FastPath, fast_path};

/// The class facts.
pub static CLASS: Class = Class {
    help: "chooses the output by some of a packet's bytes",
    manual: "Adds up the LENGTH bytes at OFFSET of each packet and chooses an output by the sum, so that packets that agree \
             there take the same way. Packets too short go to output 0.",
    example: "InfiniteSource(LIMIT 4, STOP true) -> s :: HashSwitch(0, 4); s[0] -> Discard; s[1] -> Discard",
    ports: "1/1-",
    processing: "h/h",
    args: &[
        ArgSpec::required("OFFSET", ArgType::U32, "where the bytes are in the packet"),
        ArgSpec::required("LENGTH", ArgType::U32, "how many they are"),
    ],
    fast: Some(FastPath::of::<HashSwitch>()),
    ..Class::new("HashSwitch", "standard", || Box::<HashSwitch>::default())
};

#[derive(Default)]
struct HashSwitch {
    constants: Constants,
}

fast_path!(HashSwitch, hash_switch);

impl Element for HashSwitch {
    fn configure(&mut self, args: &mut Args, cx: &mut Cx<'_>) {
        let (mut offset, mut length) = (0u32, 0u32);
        args.read("OFFSET", &mut offset).read("LENGTH", &mut length);
        self.constants =
            Constants { offset: offset as usize, length: length as usize, outputs: cx.outputs() };
        if length == 0 {
            args.error("length must be > 0");
        }
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        split_batch(batch, cx, "no output", |p| fast(&self.constants, p));
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn the_sum_of_the_bytes_chooses() {
        let mut t = Harness::new("s :: Source -> h :: HashSwitch(1, 2) => a :: Sink, b :: Sink, c :: Sink");
        t.push("s", 0, [[9, 1, 1, 0], [0, 1, 2, 0], [0, 200, 201, 7]].map(|b| Packet::new(&b)));
        t.push("s", 0, [Packet::new(&[1, 2])]);
        assert_eq!(["a", "b", "c"].map(|k| t.bytes(k).len()), [2, 0, 2]);
        let mut t = Harness::new("s :: Source -> h :: HashSwitch(0, 1) => a :: Sink, b :: Sink");
        t.push("s", 0, [[0x11], [0x10]].map(|b| Packet::new(&b)));
        assert_eq!(["a", "b"].map(|k| t.bytes(k).concat()), [[0x11], [0x10]]);
    }

    #[test]
    fn some_bytes_are_needed() {
        assert!(Harness::errors("Idle -> HashSwitch(1, 0) -> Discard").contains("length must be > 0"));
    }
}
