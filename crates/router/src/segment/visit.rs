//! The walk over a segment when the packets of a batch went different ways, or elements must be asked.
//!
//! It does what the router would have done element by element. Fast paths have no effect that could be seen, so it does not
//! matter that they are done already: at each element, the packets that it must be asked about are handed to it one by
//! one, the others just go on to the output that their exit names, and all leave in the order in which the element would have
//! sent them: what it emitted first, output by output, then what stays in place for output 0.
//!
//! The walk is a sequence of steps on the router's stack, one element each, so that what leaves the segment is delivered
//! between them as it would have been, and nothing recurses.

use super::table::Installed;
use super::{Exit, Node};
use crate::outputs::Slot;
use crate::router::{Endpoint, Router, Work};
use clickwork_packet::{Batch, Packet};
use std::sync::Arc;

/// The exit of a packet that comes out of an element that was asked: all elements from here on must be.
const ASK: Exit = Exit::MAX;

/// Packets that are to pass an element of a segment.
pub(crate) struct Visit {
    installed: Arc<Installed>,
    node: usize,
    packets: Batch,
    exits: Vec<Exit>,
}

impl Visit {
    pub fn new(installed: Arc<Installed>, node: usize, packets: Batch, exits: Vec<Exit>) -> Visit {
        Visit { installed, node, packets, exits }
    }

    fn node(&self) -> &Node {
        &self.installed.segment.nodes[self.node]
    }
}

/// Packets that leave an element by one output.
struct Group {
    output: u16,
    packets: Batch,
    exits: Vec<Exit>,
}

/// What leaves an element, in the order of delivery.
struct Leaving {
    emitted: Vec<Group>,
    in_place: Group,
    /// One emission a group, for Click's exact order.
    ordered: bool,
}

impl Leaving {
    fn new(ordered: bool) -> Leaving {
        let in_place = Group { output: 0, packets: Batch::new(), exits: Vec::new() };
        Leaving { emitted: Vec::new(), in_place, ordered }
    }

    fn emit(&mut self, output: u16, p: Packet, exit: Exit) {
        let last = self.emitted.iter_mut().rfind(|group| group.output == output);
        match last.filter(|group| !self.ordered && !group.packets.is_full()) {
            Some(group) => group.add(p, exit),
            None => self.emitted.push(Group { output, packets: Batch::one(p), exits: vec![exit] }),
        }
    }

    fn leave(&mut self, output: u16, p: Packet, exit: Exit) {
        match output {
            0 => self.in_place.add(p, exit),
            _ => self.emit(output, p, exit),
        }
    }
}

impl Group {
    fn add(&mut self, p: Packet, exit: Exit) {
        self.packets.push(p);
        self.exits.push(exit);
    }
}

impl Router {
    /// Begins a walk. What waits in the slots was there before it.
    pub(crate) fn begin_visit(&mut self, visit: Visit) {
        self.stack.push(Work::Visit(Box::new(visit)));
        self.slots.unload(&mut self.stack);
    }

    /// One step of a walk.
    pub(crate) fn visit(&mut self, visit: Visit) {
        let element = visit.node().element;
        self.visits += 1;
        self.infos[element.index()].packets += visit.packets.len() as u64;
        let mut leaving = Leaving::new(self.is_ordered());
        let node = &visit.installed.segment.nodes[visit.node];
        for (p, exit) in visit.packets.into_iter().zip(visit.exits) {
            match node.output(exit) {
                Some(output) => leaving.leave(output as u16, p, exit),
                None => self.ask_about(node, p, &mut leaving),
            }
        }
        if !self.commands.is_empty() {
            self.run_commands();
        }
        self.send_on(&visit.installed, visit.node, leaving);
    }

    /// Has the element itself deal with a packet.
    fn ask_about(&mut self, node: &Node, p: Packet, leaving: &mut Leaving) {
        let mut batch = Batch::one(p);
        if self.call(node.element, |element, cx| element.push(0, &mut batch, cx)).is_none() {
            return self.give_up(node.element, &mut batch, "element in use");
        }
        let first = self.output_base[node.element.index()];
        for Slot { output, batch } in self.slots.take_all() {
            for p in batch {
                leaving.emit((output - first) as u16, p, ASK);
            }
        }
        for p in batch {
            leaving.leave(0, p, ASK);
        }
    }

    /// Puts what leaves an element on the stack, the last to be delivered first.
    fn send_on(&mut self, installed: &Arc<Installed>, node: usize, leaving: Leaving) {
        let groups = leaving.emitted.into_iter().chain([leaving.in_place]);
        for group in groups.rev().filter(|group| !group.packets.is_empty()) {
            let from = &installed.segment.nodes[node];
            let next = from.ways.get(usize::from(group.output)).and_then(|way| way.node);
            let went_on = group.exits.iter().any(|&exit| exit != ASK);
            match next.filter(|_| went_on) {
                Some(next) => {
                    let visit = Visit::new(Arc::clone(installed), next, group.packets, group.exits);
                    self.stack.push(Work::Visit(Box::new(visit)));
                }
                None => self.send_out(Endpoint { element: from.element, port: group.output }, group.packets),
            }
        }
    }

    fn send_out(&mut self, from: Endpoint, mut batch: Batch) {
        match self.output_number(from) {
            Some(output) => self.stack.push(Work::Slot(Slot { output, batch })),
            None => self.give_up(from.element, &mut batch, "no such output"),
        }
    }
}
