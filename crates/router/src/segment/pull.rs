//! Packets that are pulled through a segment, which is a chain then.
//!
//! What elements on it emit waits in the slots until whoever pulls has returned, as it would without the segment.

use super::Node;
use super::table::Installed;
use crate::router::{Endpoint, Router};
use clickwork_packet::{BATCH_SIZE, Batch, Packet};
use std::sync::Arc;

impl Router {
    /// Asks the far end of the chain that ends at output `from` for packets and takes them through it; `None` if there is
    /// no such chain.
    #[inline]
    pub(crate) fn pull_through(&mut self, from: Endpoint, limit: usize) -> Option<Batch> {
        let first = self.segments.asked(from)?.segment.nodes[0].element;
        let mut batch = self.pull(Endpoint { element: first, port: 0 }, limit);
        let installed = self.segments.asked(from)?;
        let mut exits = [0; BATCH_SIZE];
        let exits = &mut exits[..batch.len()];
        let differ = installed.run(&self.elements, &self.infos, &mut batch, exits);
        if differ || exits.first().is_some_and(|&exit| !installed.is_through(exit)) {
            let installed = Arc::clone(installed);
            return Some(self.pull_apart(&installed.segment.nodes, batch, exits));
        }
        for node in &installed.segment.nodes[1..] {
            self.infos[node.element.index()].packets += batch.len() as u64;
        }
        Some(batch)
    }

    /// Packets went different ways: each element in turn says what becomes of those that are still there.
    fn pull_apart(&mut self, nodes: &[Node], batch: Batch, exits: &[u16]) -> Batch {
        // An exit is `None` once an element was asked: then all that follow must be.
        let mut there: Vec<(Packet, Option<u16>)> =
            batch.into_iter().zip(exits.iter().copied().map(Some)).collect();
        for (number, node) in nodes.iter().enumerate() {
            if number > 0 {
                self.infos[node.element.index()].packets += there.len() as u64;
            }
            there = there.into_iter().filter_map(|(p, exit)| self.pass(node, p, exit)).collect();
        }
        there.into_iter().map(|(p, _)| p).collect()
    }

    /// Takes a packet past an element; none is left if it went elsewhere.
    fn pass(&mut self, node: &Node, p: Packet, exit: Option<u16>) -> Option<(Packet, Option<u16>)> {
        match exit.map(|exit| (exit, node.output(exit))) {
            Some((exit, Some(0))) => Some((p, Some(exit))),
            Some((_, Some(output))) => {
                self.call(node.element, |_, cx| cx.emit(output, p));
                None
            }
            _ => {
                let mut batch = Batch::one(p);
                self.call(node.element, |element, cx| element.push(0, &mut batch, cx));
                batch.pop().map(|p| (p, None))
            }
        }
    }
}

impl Installed {
    /// Whether a packet with that exit came through the whole chain.
    fn is_through(&self, exit: u16) -> bool {
        let route = self.routes.get(usize::from(exit));
        let last = self.segment.nodes.last().map(|node| Endpoint { element: node.element, port: 0 });
        route.is_some_and(|route| route.end.is_some() && route.end == last)
    }
}
