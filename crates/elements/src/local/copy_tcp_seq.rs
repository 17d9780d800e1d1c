//! CopyTCPSeq: gives TCP packets the latest sequence number of others.

use super::tcp::{NOT_TCP, before, tcp, tcp_mut};
use clickwork_packet::{Batch, Packet};
use clickwork_router::element::split_batch;
use clickwork_router::{Class, Cx, Element, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "gives TCP packets the latest sequence number of others",
    manual: "Packets with marked headers pass from input 0 to output 0; the latest of their sequence numbers is kept, until the \
             handler reset makes it begin anew. Packets that pass from input 1 to output 1 are given that number. Checksums \
             are left as they are.",
    example: "InfiniteSource(DATA \\<4500002a00000000 400666cc0a000001 0a00000203e80015 0000000100000001 \
              501020000f680000 6869>, LIMIT 1) -> CheckIPHeader -> c :: CopyTCPSeq -> Discard; Idle -> [1]c[1] \
              -> Discard; Script(wait 10ms, stop)",
    ports: "2/2",
    handlers: &[write_handler!(
        "reset",
        "the next packet's number is kept, whatever it is",
        |e: &mut CopyTcpSeq, _, _| e.started = false
    )
    .flags("b")],
    ..Class::new("CopyTCPSeq", "local", || Box::<CopyTcpSeq>::default())
};

#[derive(Default)]
struct CopyTcpSeq {
    started: bool,
    latest: u32,
}

impl CopyTcpSeq {
    fn pass(&mut self, port: usize, p: &mut Packet) -> Option<()> {
        if port == 1 {
            tcp_mut(p)?.set_sequence(self.latest);
            return Some(());
        }
        let sequence = tcp(p)?.sequence();
        if !self.started || before(self.latest, sequence) {
            (self.started, self.latest) = (true, sequence);
        }
        Some(())
    }
}

impl Element for CopyTcpSeq {
    fn push(&mut self, port: usize, batch: &mut Batch, cx: &mut Cx<'_>) {
        split_batch(batch, cx, NOT_TCP, |p| self.pass(port, p).map(|()| port as u16));
    }

    fn pull(&mut self, port: usize, limit: usize, cx: &mut Cx<'_>) -> Batch {
        let mut batch = cx.pull(port, limit);
        split_batch(&mut batch, cx, NOT_TCP, |p| self.pass(port, p).map(|()| 0));
        batch
    }
}

#[cfg(test)]
mod tests {
    use super::super::tcp::samples::{segment, sequences};
    use super::*;
    use crate::testing::Harness;

    #[test]
    fn the_latest_number_is_copied() {
        for via in ["", "Queue ->"] {
            let mut t = Harness::new(&format!(
                "a :: Source -> {via} c :: CopyTCPSeq -> ka :: Sink; b :: Source -> {via} [1]c[1] -> kb :: Sink"
            ));
            let mut seen = |numbers: &[u32]| {
                t.push("a", 0, numbers.iter().map(|&n| segment(n, 0, b"x")));
                t.push("b", 0, [segment(1, 0, b"y"), Packet::new(b"?")]);
                sequences(&t.take("kb"))
            };
            assert_eq!(seen(&[]), [0]);
            assert_eq!(seen(&[u32::MAX - 5]), [u32::MAX - 5]);
            assert_eq!(seen(&[7, 3]), [7]);
            assert_eq!(seen(&[u32::MAX]), [7]);
            t.write("c.reset").unwrap();
            t.push("a", 0, [segment(3, 0, b"")]);
            t.push("b", 0, [segment(1, 0, b"y")]);
            assert_eq!(sequences(&t.take("kb")), [3]);
            assert_eq!(t.read("c.drop_reasons"), "4\tno TCP header\n");
        }
    }
}
