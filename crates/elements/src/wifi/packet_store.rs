//! PacketStore: keeps the beginnings of packets for a reader.

use super::params::set;
use clickwork_packet::{Packet, Timestamp};
use clickwork_router::element::try_downcast;
use clickwork_router::{Class, Cx, Element, SimpleElement, Verdict, read_handler, write_handler};
use std::collections::VecDeque;
use std::fmt::Write;

/// The class facts.
pub static CLASS: Class = Class {
    help: "keeps the beginnings of packets for a reader",
    manual: "Passes every packet on and keeps its timestamp and first 80 bytes, of 16384 packets at most; then the oldest gives \
             way. Each time the handler pop is read, it gives the oldest packet and forgets it. FromHandler makes packets of \
             that again.",
    example: "InfiniteSource(LIMIT 3, STOP true) -> s :: PacketStore -> Discard; DriverManager(wait_stop, print s.length)",
    flow: "#/#",
    handlers: &[
        read_handler!("length", "packets kept", |e: &mut PacketStore, _| e.kept.len()),
        read_handler!(
            "pop",
            "timestamp and bytes of the oldest packet, which is forgotten",
            |e: &mut PacketStore, _| e.pop()
        )
        .raw(),
        read_handler!("dirty", "always 0, as in Click", |_: &mut PacketStore, _| 0u32),
        write_handler!("reset", "forgets the packets if true is written", |e: &mut PacketStore, text, cx| {
            let mut all = false;
            set(&mut all, text, cx, "reset parameter must be boolean")?;
            if all {
                e.kept.clear();
            }
            Ok::<(), String>(())
        }),
    ],
    ..Class::new("PacketStore", "wifi", || Box::<PacketStore>::default())
};

/// Packets that are kept, and bytes of each.
const LIMIT: usize = 16_384;
const BYTES: usize = 80;

#[derive(Default)]
struct PacketStore {
    kept: VecDeque<(Timestamp, Vec<u8>)>,
}

impl PacketStore {
    fn pop(&mut self) -> String {
        let Some((timestamp, bytes)) = self.kept.pop_front() else { return String::new() };
        let mut text = format!("{timestamp} | ");
        for byte in bytes {
            // A String takes any text.
            let _ = write!(text, "{byte:02x}");
        }
        text + "\n"
    }
}

impl SimpleElement for PacketStore {
    fn simple_action(&mut self, p: &mut Packet, _: &mut Cx<'_>) -> Verdict {
        if self.kept.len() >= LIMIT {
            self.kept.pop_front();
        }
        self.kept.push_back((p.timestamp(), p.data()[..p.len().min(BYTES)].to_vec()));
        Verdict::PASS
    }

    fn take_state(&mut self, old: &mut dyn Element, _: &mut Cx<'_>) {
        if let Some(old) = try_downcast::<PacketStore>(old) {
            self.kept = std::mem::take(&mut old.kept);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Harness;

    #[test]
    fn packets_are_popped_in_order() {
        let mut t = Harness::new("s :: Source -> p :: PacketStore -> k :: Sink");
        let mut first = Packet::new(b"\x01\xab");
        first.set_timestamp(Timestamp::new(5, 250_000_000));
        t.push("s", 0, [first, Packet::new(&[0x7f; 100])]);
        assert_eq!((t.take("k").len(), t.read("p.length").as_str()), (2, "2"));
        assert_eq!(t.read("p.pop"), "5.250000 | 01ab\n");
        assert_eq!(t.read("p.pop"), format!("0.000000 | {}\n", "7f".repeat(80)));
        assert_eq!((t.read("p.pop"), t.read("p.dirty")), (String::new(), "0".into()));
    }

    #[test]
    fn it_is_reset_and_bounded() {
        let mut t = Harness::new("s :: Source -> p :: PacketStore -> Discard");
        let id = t.router.find("p").unwrap();
        let to = clickwork_router::Endpoint { element: id, port: 0 };
        for _ in 0..LIMIT + 10 {
            t.router.push(to, clickwork_packet::Batch::one(Packet::new(b"x")));
        }
        assert_eq!(t.read("p.length"), LIMIT.to_string());
        t.write("p.reset false").unwrap();
        assert_eq!(t.read("p.length"), LIMIT.to_string());
        t.write("p.reset true").unwrap();
        assert_eq!(t.read("p.length"), "0");
        assert_eq!(t.write("p.reset x").unwrap_err(), "reset parameter must be boolean");
    }
}
