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
use crate::element::Verdict;
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

    /// How many packets there are.
    pub fn packets(&self) -> usize {
        self.packets.len()
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

/// What leaves an element.
struct Leaving {
    /// What it emits, in the order of delivery.
    emitted: Vec<Group>,
    /// Where each packet goes that is still there when all have been looked at.
    going: Vec<(u16, Packet, Exit)>,
    /// One emission a group, for Click's exact order.
    ordered: bool,
}

impl Leaving {
    /// Adds to the group that is open for that output, or begins one.
    fn emit(&mut self, output: u16, p: Packet, exit: Exit) {
        let last = self.emitted.iter_mut().rfind(|group| group.output == output);
        match last.filter(|group| !self.ordered && !group.packets.is_full()) {
            Some(group) => group.add(p, exit),
            None => self.emitted.push(Group::of([(p, exit)].into_iter(), output)),
        }
    }

    /// All groups in the order of delivery, of an element that `seen` packets came to: what was emitted for each output, what
    /// goes to other outputs than 0, then what stays in place for that one.
    fn groups(mut self, seen: usize, emits_all: bool) -> Vec<Group> {
        let going = std::mem::take(&mut self.going);
        if emits_all {
            going.into_iter().for_each(|(output, p, exit)| self.emit(output, p, exit));
            return self.emitted;
        }
        let first = going.first().map_or(0, |(output, ..)| *output);
        if going.len() == seen && going.iter().all(|(output, ..)| *output == first) {
            // The batch as a whole: not joined to what was emitted before.
            self.emitted.push(Group::of(going.into_iter().map(|(_, p, exit)| (p, exit)), first));
            return self.emitted;
        }
        let mut in_place = Group::of(std::iter::empty(), 0);
        for (output, p, exit) in going {
            match output {
                0 => in_place.add(p, exit),
                _ => self.emit(output, p, exit),
            }
        }
        self.emitted.push(in_place);
        self.emitted
    }
}

impl Group {
    fn of(packets: impl Iterator<Item = (Packet, Exit)>, output: u16) -> Group {
        let mut group = Group { output, packets: Batch::new(), exits: Vec::new() };
        packets.for_each(|(p, exit)| group.add(p, exit));
        group
    }

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
        let (emitted, going, ordered) = (Vec::new(), Vec::new(), self.is_ordered());
        let mut leaving = Leaving { emitted, going, ordered };
        let (node, seen) = (&visit.installed.segment.nodes[visit.node], visit.packets.len());
        let asked = visit.exits.iter().any(|&exit| node.output(exit).is_none());
        let emits_all = asked && self.infos[element.index()].class.fast.is_some_and(|fast| fast.emits_all());
        for (p, exit) in visit.packets.into_iter().zip(visit.exits) {
            match node.output(exit) {
                Some(output) => leaving.going.push((output as u16, p, exit)),
                None => self.ask_about(node, p, &mut leaving),
            }
        }
        if !self.commands.is_empty() {
            self.run_commands();
        }
        self.send_on(&visit.installed, visit.node, leaving.groups(seen, emits_all));
    }

    /// Has the element itself deal with a packet.
    fn ask_about(&mut self, node: &Node, mut p: Packet, leaving: &mut Leaving) {
        let verdict = self.call(node.element, |element, cx| element.act(&mut p, cx));
        let first = self.output_base[node.element.index()];
        for Slot { output, batch } in self.slots.take_all() {
            batch.into_iter().for_each(|p| leaving.emit((output - first) as u16, p, ASK));
        }
        match verdict {
            None => self.give_up(node.element, &mut Batch::one(p), "element in use"),
            Some(Some(Verdict::Out(output))) => leaving.going.push((output, p, ASK)),
            Some(Some(Verdict::Drop(reason))) => {
                self.in_name_of(node.element, |cx| cx.drop(p, reason));
            }
            Some(None) => self.split_one(node, p, leaving),
        }
    }

    /// Has an element that only sends packets to outputs deal with one.
    fn split_one(&mut self, node: &Node, p: Packet, leaving: &mut Leaving) {
        let mut batch = Batch::one(p);
        self.call(node.element, |element, cx| element.push(0, &mut batch, cx));
        let first = self.output_base[node.element.index()];
        for Slot { output, batch } in self.slots.take_all() {
            leaving.going.extend(batch.into_iter().map(|p| ((output - first) as u16, p, ASK)));
        }
        leaving.going.extend(batch.into_iter().map(|p| (0, p, ASK)));
    }

    /// Puts what leaves an element on the stack, the last to be delivered first.
    fn send_on(&mut self, installed: &Arc<Installed>, node: usize, groups: Vec<Group>) {
        for group in groups.into_iter().rev().filter(|group| !group.packets.is_empty()) {
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
