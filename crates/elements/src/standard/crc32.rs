//! SetCRC32 and CheckCRC32: a 32-bit cyclic redundancy check behind packets.
//!
//! The polynomial is Ethernet's (IEEE 802.3 §3.2.9), but bits are taken highest first, the result is not inverted, and
//! it stands behind the packet lowest byte first. So Click has it; the catalogue of CRCs calls it CRC-32/MPEG-2.

use clickwork_packet::Packet;
use clickwork_router::{Class, Cx, SimpleElement, Verdict, read_handler};

/// The class facts.
pub static SET: Class = Class {
    help: "puts a CRC behind packets",
    manual: "Computes a 32-bit CRC over each packet and appends it, four bytes. CheckCRC32 checks and removes it. It is not \
             the frame check sequence of Ethernet.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> SetCRC32 -> CheckCRC32 -> Discard",
    ..Class::new("SetCRC32", "standard", || Box::new(SetCrc32))
};

/// The class facts.
pub static CHECK: Class = Class {
    help: "checks and removes the CRC behind packets",
    manual: "Removes the four bytes that SetCRC32 appended. If they are not the CRC of the rest, the packet is dropped with \
             a message.",
    example: "InfiniteSource(LIMIT 1, STOP true) -> SetCRC32 -> CheckCRC32 -> Discard",
    packets: "any/each",
    handlers: &[read_handler!("drops", "packets with a wrong CRC", |e: &mut CheckCrc32, _| e.drops)],
    ..Class::new("CheckCRC32", "standard", || Box::<CheckCrc32>::default())
};

/// Bytes of a CRC.
const LEN: usize = 4;
const POLYNOMIAL: u32 = 0x04c1_1db7;

/// The remainder for each value of a byte.
static TABLE: [u32; 256] = table();

const fn table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut remainder = (byte as u32) << 24;
        let mut bit = 0;
        while bit < 8 {
            let carry = if remainder >> 31 == 1 { POLYNOMIAL } else { 0 };
            remainder = remainder << 1 ^ carry;
            bit += 1;
        }
        table[byte] = remainder;
        byte += 1;
    }
    table
}

fn crc(data: &[u8]) -> [u8; LEN] {
    let step = |crc: u32, &byte: &u8| crc << 8 ^ TABLE[usize::from((crc >> 24) as u8 ^ byte)];
    data.iter().fold(u32::MAX, step).to_le_bytes()
}

struct SetCrc32;

impl SimpleElement for SetCrc32 {
    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        let crc = crc(p.data());
        let end = p.len();
        p.put(LEN)[end..].copy_from_slice(&crc);
        Verdict::PASS
    }
}

#[derive(Default)]
struct CheckCrc32 {
    drops: u64,
}

impl SimpleElement for CheckCrc32 {
    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        if p.data().split_last_chunk::<LEN>().is_some_and(|(data, last)| crc(data) == *last) {
            p.take(LEN);
            return Verdict::PASS;
        }
        cx.report("CRC32 failed", || format!("CRC32 failed, len {}", p.len()));
        self.drops += 1;
        Verdict::Drop("wrong CRC")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Harness;

    #[test]
    fn the_check_value_of_the_catalogue_comes_out() {
        assert_eq!(crc(b"123456789"), 0x0376_e6e7_u32.to_le_bytes());
    }

    #[test]
    fn what_was_set_passes_and_is_removed() {
        let mut t =
            Harness::new("s :: Source -> SetCRC32 -> t :: Tee -> CheckCRC32 -> k :: Sink; t[1] -> r :: Sink");
        t.push("s", 0, [Packet::new(b"abc"), Packet::new(b"")]);
        assert_eq!(t.bytes("k"), [&b"abc"[..], b""]);
        let raw = t.bytes("r");
        assert_eq!((raw[0].len(), raw[1].as_slice()), (7, &[255u8; 4][..]));
    }

    #[test]
    fn damage_is_found() {
        let mut t = Harness::new("s :: Source -> c :: CheckCRC32 -> k :: Sink");
        let mut bytes = b"abc".to_vec();
        bytes.extend(crc(b"abc"));
        for bit in 0..56 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            t.push("s", 0, [Packet::new(&damaged)]);
        }
        t.push("s", 0, [Packet::new(b"xyz"), Packet::new(&bytes)]);
        assert_eq!((t.bytes("k"), t.read("c.drops")), (vec![b"abc".to_vec()], "57".into()));
        assert_eq!(t.printed(), "CRC32 failed, len 7\n".repeat(clickwork_router::REPORTED as usize));
        t.router.cleanup();
        assert_eq!(t.printed(), "c :: CheckCRC32: 52 more: CRC32 failed\n");
    }
}
