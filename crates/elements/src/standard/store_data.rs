//! StoreData: writes fixed bytes into packets.

use super::fast::store_data::{Constants, fast};
use clickwork_packet::Packet;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, Fast, FastCode, FastPath, SimpleElement, Verdict};

/// The class facts.
pub static CLASS: Class = Class {
    help: "writes fixed bytes into packets",
    manual: "Writes DATA at OFFSET into each packet, as much of it as fits. Packets do not become longer.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> StoreData(2, \\<0102ff>) -> Discard",
    packets: "any/forget",
    args: &[
        ArgSpec::required("OFFSET", ArgType::U32, "where to write"),
        ArgSpec::required("DATA", ArgType::Data, "what to write"),
    ],
    fast: Some(FastPath::of::<StoreData>()),
    ..Class::new("StoreData", "standard", || Box::<StoreData>::default())
};

#[derive(Default)]
struct StoreData {
    offset: u32,
    data: Vec<u8>,
}

/// More bytes than this are not worth code of their own.
const MOST_IN_CODE: usize = 256;

impl Fast for StoreData {
    fn fast_code(&self) -> Option<FastCode> {
        if self.data.len() > MOST_IN_CODE {
            return None;
        }
        let source = include_str!("fast/store_data.rs").into();
        let constants = format!("Constants {{ offset: {}, data: &{:?} }}", self.offset, self.data);
        Some(FastCode { module: "store_data", source, constants })
    }

    #[inline]
    fn fast(&self, p: &mut Packet) -> Option<u16> {
        fast(&Constants { offset: self.offset as usize, data: &self.data }, p)
    }
}

impl SimpleElement for StoreData {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        args.read("OFFSET", &mut self.offset).read("DATA", &mut self.data);
    }

    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        if let Some(port) = self.common(p) {
            return Verdict::Out(port);
        }
        let from = self.offset as usize;
        if from < p.len() {
            p.data_mut()[from..].iter_mut().zip(&self.data).for_each(|(to, byte)| *to = *byte);
        }
        Verdict::PASS
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    #[test]
    fn writes_what_fits() {
        let mut t = Harness::new("s :: Source -> StoreData(2, XYZ) -> k :: Sink");
        t.push("s", 0, [Packet::new(b"abcdefg"), Packet::new(b"abc"), Packet::new(b"a")]);
        assert_eq!(t.bytes("k"), [b"abXYZfg".to_vec(), b"abX".to_vec(), b"a".to_vec()]);
    }

    #[test]
    fn copies_keep_their_bytes() {
        let mut t =
            Harness::new("s :: Source -> t :: Tee; t[0] -> StoreData(0, X) -> a :: Sink; t[1] -> b :: Sink");
        t.push("s", 0, [Packet::new(b"ab")]);
        assert_eq!((t.bytes("a"), t.bytes("b")), (vec![b"Xb".to_vec()], vec![b"ab".to_vec()]));
    }
}
