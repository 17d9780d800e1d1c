//! BufferConverter: text written to a handler becomes TCP packets, and the payload of TCP packets text.

use super::tcp::{HEADERS, NOT_TCP, bare, payload};
use clickwork_packet::Batch;
use clickwork_packet::headers::tcp::flag;
use clickwork_router::args::{ArgSpec, ArgType, Args};
use clickwork_router::{Class, Cx, Element, read_handler, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "turns data of a handler into TCP packets and back",
    manual: "What the handler data is written with leaves by output 0 as the payload of a TCP packet, at most MTU bytes of it; \
             the rest goes into the next packets, one for each further write. Up to a megabyte can wait so. Reading the \
             handler pulls a packet with marked headers from input 0 and gives its payload; packets without payload are \
             passed over. Packets pushed to input 1 are dropped. Addresses, numbers and checksums are left to other \
             elements, such as TCPConn.",
    example: "Idle -> Queue -> b :: BufferConverter(1000) -> c :: Counter -> Discard; Idle -> [1]b; \
              Script(write b.data hello, print c.count, stop)",
    ports: "2/1",
    processing: "lh/h",
    args: &[ArgSpec::required(
        "MTU",
        ArgType::IntRange { min: 1, max: LARGEST as i64 },
        "largest payload of a packet",
    )],
    handlers: &[read_handler!("data", "the payload of the next packet", |e: &mut BufferConverter, cx| e
        .receive(cx))
    .and_write(write_handler!("", "", |e: &mut BufferConverter, text, cx| e.send(text, cx)))],
    ..Class::new("BufferConverter", "local", || Box::<BufferConverter>::default())
};

/// The largest payload that fits into an IP packet.
const LARGEST: usize = 65535 - HEADERS;
/// Bytes that may wait for a packet.
const CAPACITY: usize = 1 << 20;
/// Packets without payload that one reading passes over.
const MAX_EMPTY: usize = 10_000;

#[derive(Default)]
struct BufferConverter {
    mtu: usize,
    waiting: Vec<u8>,
}

impl BufferConverter {
    fn send(&mut self, text: &str, cx: &mut Cx<'_>) -> Result<(), String> {
        let bytes = clickwork_source::text::encode(text);
        if self.waiting.len() + bytes.len() > CAPACITY {
            return Err(format!("too much data: {} bytes wait to be sent", self.waiting.len()));
        }
        self.waiting.extend_from_slice(&bytes);
        let length = self.waiting.len().min(self.mtu);
        let p = bare(flag::PSH, &self.waiting[..length], |_| {});
        self.waiting.drain(..length);
        cx.emit(0, p);
        Ok(())
    }

    fn receive(&mut self, cx: &mut Cx<'_>) -> Vec<u8> {
        for _ in 0..MAX_EMPTY {
            let Some(p) = cx.pull(0, 1).pop() else { break };
            match payload(&p) {
                Some([]) => {}
                Some(data) => return data.to_vec(),
                None => cx.drop(p, NOT_TCP),
            }
        }
        Vec::new()
    }
}

impl Element for BufferConverter {
    fn configure(&mut self, args: &mut Args, _: &mut Cx<'_>) {
        if let Some(mtu) = args.get::<u32>("MTU").map(|n| n as usize) {
            self.mtu = mtu;
            if !(1..=LARGEST).contains(&mtu) {
                args.error_in("MTU", format!("must be between 1 and {LARGEST}"));
            }
        }
    }

    fn push(&mut self, _: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        cx.drop_batch(batch, "not used");
    }
}

#[cfg(test)]
mod tests {
    use super::super::tcp::samples::segment;
    use super::*;
    use crate::testing::Harness;
    use clickwork_packet::Packet;

    const CONFIG: &str = "in :: Source -> Queue -> b :: BufferConverter(4) -> k :: Sink; x :: Source -> [1]b";

    #[test]
    fn data_leaves_in_packets_of_at_most_the_mtu() {
        let mut t = Harness::new(CONFIG);
        let mut sent = |text: &str| {
            t.write(&format!("b.data {text}")).unwrap();
            t.bytes("k").iter().map(|b| String::from_utf8(b[HEADERS..].to_vec()).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(sent("abcdef"), ["abcd"]);
        assert_eq!(sent("gh"), ["efgh"]);
        assert_eq!(sent("ij"), ["ij"]);
        assert_eq!(sent(""), [""]);
    }

    #[test]
    fn payloads_are_read_one_by_one() {
        let mut t = Harness::new(CONFIG);
        assert_eq!(t.read("b.data"), "");
        t.push("in", 0, [segment(1, 0, b""), Packet::new(b"?"), segment(1, 0, b"ab"), segment(3, 0, b"c")]);
        assert_eq!([t.read("b.data"), t.read("b.data"), t.read("b.data")], ["ab", "c", ""]);
        t.push("x", 0, [segment(1, 0, b"")]);
        assert_eq!(t.read("b.drop_reasons"), "1\tno TCP header\n1\tnot used\n");
    }

    #[test]
    fn what_waits_is_bounded() {
        let mut t = Harness::new(CONFIG);
        t.write(&format!("b.data {}", "x".repeat(CAPACITY))).unwrap();
        let e = t.write("b.data 12345").unwrap_err();
        assert_eq!(e, "too much data: 1048572 bytes wait to be sent");
        for mtu in ["0", "65496"] {
            let e = Harness::errors(&format!("Idle -> b :: BufferConverter({mtu}) -> Discard; Idle -> [1]b"));
            assert!(e.contains("MTU: must be between 1 and 65495"), "{e}");
        }
    }
}
