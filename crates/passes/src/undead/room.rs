//! Sources that look for room in the queues downstream before they send.
//!
//! Such a source sends as long as any queue that it finds has room, so a queue matters to it although nothing comes out of
//! the queue. Those that it finds behind outputs that a static switch never takes do not count: that the source stops
//! looking there is what who sets the switch wants.

use std::collections::BTreeSet;

use clickwork_router::Processing;

use super::Undead;
use crate::ElementId;

impl Undead<'_> {
    /// Whether an element looks for room before it sends.
    pub(super) fn waits_for_room(&self, id: ElementId) -> bool {
        let class = self.network.element(id).map_or("", |e| self.facts.base(&e.class));
        matches!(class, "InfiniteSource" | "FromHost")
    }

    /// Whether packets are pushed in and pulled out.
    fn is_queue(&self, id: ElementId) -> bool {
        let facts = self.facts.of(self.network.element(id).map_or("", |e| e.class.as_str()));
        let kind = |is_output| facts.processing(is_output, 0);
        kind(false) == Processing::Push && kind(true) == Processing::Pull
    }

    /// The queues in which a source looks for room: all that can be reached without passing others.
    pub(super) fn queues(&self, source: ElementId) -> BTreeSet<ElementId> {
        let mut found = BTreeSet::new();
        let mut reached = BTreeSet::from([source]);
        let mut stack = vec![source];
        while let Some(id) = stack.pop() {
            for next in self.network.outputs(id).into_iter().map(|c| c.to.element) {
                if self.is_queue(next) {
                    found.insert(next);
                } else if reached.insert(next) {
                    stack.push(next);
                }
            }
        }
        found
    }
}
