//! CopyFlowID: gives packets the addresses and ports of others.

use super::tcp::{Flow, NOT_TCP};
use clickwork_packet::{Batch, Packet};
use clickwork_router::element::split_batch;
use clickwork_router::{Class, Cx, Element, write_handler};

/// The class facts.
pub static CLASS: Class = Class {
    help: "gives packets the addresses and ports of others",
    manual: "Packets with marked IP and TCP (or UDP) headers pass from input 0 to output 0; the addresses and ports of the first \
             are kept, until the handler reset. Packets that pass from input 1 to output 1 are given them. Checksums are \
             left as they are.",
    example: "InfiniteSource(DATA \\<4500002a00000000 400666cc0a000001 0a00000203e80015 0000000100000001 \
              501020000f680000 6869>, LIMIT 1) -> CheckIPHeader -> c :: CopyFlowID -> Discard; Idle -> [1]c[1] \
              -> Discard; Script(wait 10ms, stop)",
    ports: "2/2",
    handlers: &[write_handler!(
        "reset",
        "the next packet's addresses and ports are kept",
        |e: &mut CopyFlowId, _, _| e.flow = None
    )
    .flags("b")],
    ..Class::new("CopyFlowID", "local", || Box::<CopyFlowId>::default())
};

#[derive(Default)]
struct CopyFlowId {
    flow: Option<Flow>,
}

impl CopyFlowId {
    fn pass(&mut self, port: usize, p: &mut Packet) -> Option<()> {
        if port == 1 {
            return self.flow.unwrap_or_default().write(p);
        }
        let flow = Flow::of(p)?;
        self.flow.get_or_insert(flow);
        Some(())
    }
}

impl Element for CopyFlowId {
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
    use super::super::tcp::bare;
    use super::super::tcp::samples::{flow, segment};
    use super::*;
    use crate::testing::Harness;

    #[test]
    fn the_first_flow_is_copied_until_reset() {
        for (via, path) in [("", ""), ("Queue ->", "-> Queue")] {
            let mut t = Harness::new(&format!(
                "a :: Source -> {via} c :: CopyFlowID -> ka :: Sink; b :: Source -> {via} [1]c[1] {path} -> kb :: Sink"
            ).replace("-> Queue -> kb", "-> kb"));
            let mut other = segment(1, 0, b"");
            flow().reversed().write(&mut other);
            t.push("b", 0, [segment(1, 0, b"x"), Packet::new(b"?")]);
            assert_eq!(Flow::of(&t.take("kb")[0]), Some(Flow::default()));
            assert_eq!(t.read("c.drop_reasons"), "1\tno TCP header\n");
            t.push("a", 0, [segment(1, 0, b"x"), other.clone()]);
            t.push("b", 0, [bare(0, b"y", |_| {})]);
            assert_eq!(Flow::of(&t.take("kb")[0]), Some(flow()));
            assert_eq!(
                t.take("ka").iter().map(Flow::of).collect::<Vec<_>>(),
                [Some(flow()), Some(flow().reversed())]
            );
            t.write("c.reset").unwrap();
            t.push("a", 0, [other]);
            t.push("b", 0, [bare(0, b"y", |_| {})]);
            assert_eq!(Flow::of(&t.take("kb")[0]), Some(flow().reversed()));
        }
    }
}
