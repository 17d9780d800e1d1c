//! Which elements lie on a way from a source of packets to a sink.
//!
//! Sources and sinks are what the flags of a class say (`S1`, `S2`, `S3` for both, `S0` for neither), else elements
//! without inputs and elements without outputs; and besides, elements that show packets to the world on their way
//! (Print), talk to devices, or are called by name.

use std::collections::BTreeSet;

use clickwork_router::Processing;

use super::Undead;
use crate::ElementId;
use crate::kinds::Kinds;

/// What an element that lies on no such way lacks.
enum Lack {
    Source,
    Sink,
}

impl Undead<'_> {
    /// Removes all elements that lie on no way from a source to a sink. Whether there were any.
    pub(super) fn remove_dead(&mut self) -> bool {
        let dead = self.dead();
        for (id, lack) in &dead {
            let why = match lack {
                Lack::Source => "no packet reaches it",
                Lack::Sink => "no packet gets anywhere through it",
            };
            self.note(*id, "removed", why);
        }
        dead.iter().for_each(|(id, _)| drop(self.network.remove(*id)));
        !dead.is_empty()
    }

    fn dead(&self) -> Vec<(ElementId, Lack)> {
        let ids: Vec<ElementId> = self.network.elements().map(|(id, _)| id).collect();
        let sources = self.spread(ids.iter().copied().filter(|&id| self.is_source(id)).collect(), true);
        let sinks = self.sinks(&ids, &sources);
        let is_live = |id: ElementId| sources.contains(&id) && sinks.contains(&id) || self.is_independent(id);
        let lack = |id| if sources.contains(&id) { Lack::Sink } else { Lack::Source };
        ids.into_iter().filter(|&id| !is_live(id)).map(|id| (id, lack(id))).collect()
    }

    /// All elements that lead to a sink. Whoever pulls packets out of a live element counts as one, even if it throws them
    /// away: without it a queue that overflows to somewhere would overflow at other times. So does a queue in which a live
    /// source looks for room.
    fn sinks(&self, ids: &[ElementId], sources: &BTreeSet<ElementId>) -> BTreeSet<ElementId> {
        let kinds = Kinds::new(self.network, self.facts, |_| None);
        let mut roots: BTreeSet<ElementId> = ids.iter().copied().filter(|&id| self.is_sink(id)).collect();
        loop {
            let sinks = self.spread(roots.clone(), false);
            let is_live = |id: &ElementId| sources.contains(id) && sinks.contains(id);
            let pulls = self.network.connections().filter(|c| kinds.output(c.from) == Processing::Pull);
            let pullers = pulls.filter(|c| is_live(&c.from.element) && !sinks.contains(&c.to.element));
            let before = roots.len();
            roots.extend(pullers.map(|c| c.to.element));
            let waiting = ids.iter().copied().filter(|id| is_live(id) && self.waits_for_room(*id));
            roots.extend(waiting.flat_map(|id| self.queues(id)));
            if roots.len() == before {
                return sinks;
            }
        }
    }

    /// What can be reached from some elements, forward or backward along connections.
    fn spread(&self, mut reached: BTreeSet<ElementId>, forward: bool) -> BTreeSet<ElementId> {
        let mut queue: Vec<ElementId> = reached.iter().copied().collect();
        while let Some(id) = queue.pop() {
            let connections = if forward { self.network.outputs(id) } else { self.network.inputs(id) };
            for c in connections {
                let next = if forward { c.to.element } else { c.from.element };
                if reached.insert(next) {
                    queue.push(next);
                }
            }
        }
        reached
    }

    fn is_source(&self, id: ElementId) -> bool {
        let (inputs, outputs) = self.ports.get(&id).copied().unwrap_or_default();
        let (flag, family) = self.role(id);
        flag.map_or(inputs == 0 && outputs > 0, |s| s & 1 != 0)
            || matches!(family, "device" | "control") && outputs > 0
    }

    fn is_sink(&self, id: ElementId) -> bool {
        let (inputs, outputs) = self.ports.get(&id).copied().unwrap_or_default();
        let (flag, family) = self.role(id);
        let is_end = flag.map_or(outputs == 0 && inputs > 0, |s| s & 2 != 0);
        is_end
            || matches!(family, "device" | "control" | "print" | "capture") && inputs > 0
            || self.mentioned.contains_key(&id)
    }

    /// The source and sink flag of the class, and its family.
    fn role(&self, id: ElementId) -> (Option<i32>, &'static str) {
        let facts = self.facts.of(self.network.element(id).map_or("", |e| e.class.as_str()));
        (facts.flag('S'), facts.family())
    }

    /// Whether an element is there for other things than packets.
    fn is_independent(&self, id: ElementId) -> bool {
        let facts = self.facts.of(self.network.element(id).map_or("", |e| e.class.as_str()));
        let has_no_ports = self.ports.get(&id).is_some_and(|&ports| ports == (0, 0));
        self.mentioned.contains_key(&id) || facts.flag('L').map_or(has_no_ports, |l| l != 0)
    }
}
