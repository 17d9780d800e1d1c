//! Packets that are pulled through elements that pass them on: one, or a chain of them, which is a segment.
//!
//! What elements on it emit waits in the slots until whoever pulls has returned, as it would without the segment.

use super::Node;
use super::table::Installed;
use crate::cx::Cx;
use crate::element::Verdict;
use crate::router::{ElementId, Endpoint, Router};
use clickwork_packet::{BATCH_SIZE, Batch, Packet};
use std::sync::Arc;

/// A packet with its exit, or none if an element before has been asked about it.
type Traveller = (Packet, Option<u16>);

impl Router {
    /// The first element of the chain that packets come through to output `from`: of a segment, or an element that passes
    /// on what it pulls.
    #[inline]
    pub(crate) fn chain_before(&self, from: Endpoint) -> Option<ElementId> {
        match self.segments.asked(from) {
            Some(installed) => Some(installed.first()),
            None => self.passes_on[from.element.index()].then_some(from.element),
        }
    }

    /// Pulls packets into element `first` and takes them through the chain from there to output `from`. None of its
    /// elements is busy while others give the packets. They may call its handlers, and so change its code: only then is
    /// it settled how the packets pass.
    #[inline]
    pub(crate) fn pull_through(&mut self, first: ElementId, from: Endpoint, limit: usize) -> Batch {
        let mut batch = self.pull(Endpoint { element: first, port: 0 }, limit);
        let Some(installed) = self.segments.asked(from).filter(|installed| installed.first() == first) else {
            self.pass_on(first, from.element, &mut batch);
            return batch;
        };
        let mut exits = [0; BATCH_SIZE];
        let exits = &mut exits[..batch.len()];
        let differ = installed.run(&self.elements, &self.infos, &mut batch, exits);
        if differ || exits.first().is_some_and(|&exit| !installed.is_through(exit)) {
            let installed = Arc::clone(installed);
            return self.pull_apart(&installed.segment.nodes, batch, exits);
        }
        for node in &installed.segment.nodes[1..] {
            self.infos[node.element.index()].packets += batch.len() as u64;
        }
        batch
    }

    /// Has the elements from `first` to `last`, which pass on what they pull, deal with packets one after the other.
    #[inline]
    fn pass_on(&mut self, first: ElementId, last: ElementId, batch: &mut Batch) {
        let mut id = first;
        while !batch.is_empty() {
            self.pass_by(id, batch);
            if id == last {
                return;
            }
            let Some(&next) = self.targets(Endpoint { element: id, port: 0 }).first() else { return };
            id = next.element;
            self.infos[id.index()].packets += batch.len() as u64;
        }
    }

    #[inline]
    fn pass_by(&mut self, id: ElementId, batch: &mut Batch) {
        let Some(mut element) = self.elements[id.index()].take() else {
            return self.give_up(id, batch, "element in use");
        };
        let _custody = self.custody(id);
        element.push(0, batch, &mut Cx { router: self, me: id });
        self.elements[id.index()] = Some(element);
    }

    /// Packets went different ways: each element in turn says what becomes of those that are still there.
    fn pull_apart(&mut self, nodes: &[Node], batch: Batch, exits: &[u16]) -> Batch {
        // An exit is `None` once an element was asked: then all that follow must be.
        let mut there: Vec<Traveller> = batch.into_iter().zip(exits.iter().copied().map(Some)).collect();
        for (number, node) in nodes.iter().enumerate() {
            if number > 0 {
                self.infos[node.element.index()].packets += there.len() as u64;
            }
            there = self.pass(node, there);
        }
        there.into_iter().map(|(p, _)| p).collect()
    }

    /// Takes packets past an element; those stay that leave it by output 0.
    fn pass(&mut self, node: &Node, packets: Vec<Traveller>) -> Vec<Traveller> {
        let seen = packets.len();
        let mut going: Vec<(usize, Traveller)> = Vec::with_capacity(seen);
        for (p, exit) in packets {
            match exit.and_then(|exit| node.output(exit)) {
                Some(output) => going.push((output, (p, exit))),
                None => going.extend(self.ask_for(node, p)),
            }
        }
        let (stay, leave): (Vec<_>, Vec<_>) = going.into_iter().partition(|(output, _)| *output == 0);
        self.send_away(node, leave, seen);
        stay.into_iter().map(|(_, traveller)| traveller).collect()
    }

    /// Has the element itself deal with a packet: where it goes then, unless it is gone or emitted.
    fn ask_for(&mut self, node: &Node, mut p: Packet) -> Option<(usize, Traveller)> {
        match self.call(node.element, |element, cx| element.act(&mut p, cx)) {
            Some(Some(Verdict::Out(output))) => return Some((output.into(), (p, None))),
            Some(Some(Verdict::Drop(reason))) => self.in_name_of(node.element, |cx| cx.drop(p, reason)),
            Some(None) => {
                let mut batch = Batch::one(p);
                self.call(node.element, |element, cx| element.push(0, &mut batch, cx));
                return batch.pop().map(|p| (0, (p, None)));
            }
            None => self.give_up(node.element, &mut Batch::one(p), "element in use"),
        }
        None
    }

    /// Emits packets that leave by other outputs, as a batch if all of it leaves by one.
    fn send_away(&mut self, node: &Node, leave: Vec<(usize, Traveller)>, seen: usize) {
        let first = leave.first().map_or(0, |(output, _)| *output);
        let together = leave.len() == seen && leave.iter().all(|(output, _)| *output == first);
        self.in_name_of(node.element, |cx| match together {
            true => cx.emit_batch(first, leave.into_iter().map(|(_, (p, _))| p).collect()),
            false => leave.into_iter().for_each(|(output, (p, _))| cx.emit(output, p)),
        });
    }
}

impl Installed {
    /// Where packets come into a chain.
    #[inline]
    fn first(&self) -> ElementId {
        self.segment.nodes[0].element
    }

    /// Whether a packet with that exit came through the whole chain.
    fn is_through(&self, exit: u16) -> bool {
        let route = self.routes.get(usize::from(exit));
        let last = self.segment.nodes.last().map(|node| Endpoint { element: node.element, port: 0 });
        route.is_some_and(|route| route.end.is_some() && route.end == last)
    }
}
