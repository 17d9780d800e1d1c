//! Packets that go round in a circle without end.
//!
//! A circle of push connections is harmless as long as packets leave it. A delivery that goes on for too long, or in which
//! too many packets wait (a Tee in a circle doubles them each time), is taken to be endless: from then on all packets that
//! come to an element on a circle are dropped and counted there. Others still get where they go, which is not far.

use crate::cx::Cx;
use crate::facts::Processing;
use crate::router::{ElementId, Endpoint, Router, Work};
use clickwork_packet::Batch;
use std::collections::{HashMap, HashSet, VecDeque};

/// Element calls after which a delivery is taken to be endless.
pub(crate) const MOST_VISITS: u64 = 1 << 20;
/// The same where packets go on otherwise than by connections.
const MOST_VISITS_OF_ALL: u64 = 1 << 26;
/// Packets that may wait in a delivery: about 140 MB of them.
const MOST_WAITING: usize = 1 << 16;
/// They are counted when so many more batches wait than before.
pub(crate) const LOOK_EVERY: usize = 1 << 10;
/// The reason for dropping packets on a circle.
const ENDLESS: &str = "endless loop";
/// Elements of a circle that a message names.
const MOST_NAMES: usize = 10;

/// Elements that have been looked at, and whether they are on a circle.
pub(crate) type OnCircle = HashMap<ElementId, bool>;

impl Router {
    /// Counts the packets that wait.
    #[cold]
    pub(crate) fn look_at_waiting(&mut self) {
        self.next_look = self.stack.len() + LOOK_EVERY;
        if self.stack.iter().map(Work::packets).sum::<usize>() > MOST_WAITING {
            self.visits = self.visits.max(MOST_VISITS);
        }
    }

    /// In an endless delivery: drops a batch that came to an element on a circle. Says whether it did.
    #[cold]
    pub(crate) fn break_circle(&mut self, id: ElementId, batch: &mut Batch) -> bool {
        if !self.is_on_circle(id) && self.visits < MOST_VISITS_OF_ALL {
            return false;
        }
        let told = self.infos[id.index()].drops.iter().any(|(reason, _)| *reason == ENDLESS);
        let mut cx = Cx { router: self, me: id };
        if !told {
            let circle = cx.router.circle_text(id);
            cx.chatter(&format!(
                "{}: packets go round in a circle without end{circle}; they are dropped",
                cx.name()
            ));
        }
        cx.drop_batch(batch, ENDLESS);
        true
    }

    fn is_on_circle(&mut self, id: ElementId) -> bool {
        if let Some(&known) = self.on_circle.get(&id) {
            return known;
        }
        let is_on_circle = self.circle(id).is_some();
        self.on_circle.insert(id, is_on_circle);
        is_on_circle
    }

    /// ` (a -> b -> a)`.
    fn circle_text(&self, id: ElementId) -> String {
        let Some(circle) = self.circle(id) else { return String::new() };
        let mut names: Vec<&str> = circle.iter().map(|&id| self.info(id).name.as_str()).collect();
        if names.len() > MOST_NAMES {
            names.truncate(MOST_NAMES);
            names.push("...");
        }
        format!(" ({} -> {})", names.join(" -> "), self.info(id).name)
    }

    /// The shortest way of pushed packets from an element back to it: the elements on it, this one first.
    fn circle(&self, id: ElementId) -> Option<Vec<ElementId>> {
        let mut came_from = HashMap::new();
        let mut seen = HashSet::new();
        let mut waiting = VecDeque::from([id]);
        while let Some(at) = waiting.pop_front() {
            for next in self.pushes_to(at) {
                if next == id {
                    return Some(way_back(at, id, &came_from));
                }
                if seen.insert(next) {
                    came_from.insert(next, at);
                    waiting.push_back(next);
                }
            }
        }
        None
    }

    fn pushes_to(&self, id: ElementId) -> impl Iterator<Item = ElementId> {
        let outputs = self.info(id).outputs.iter().zip(0u16..);
        let pushes = outputs.filter(|(kind, _)| **kind == Processing::Push);
        pushes.flat_map(move |(_, port)| self.targets(Endpoint { element: id, port })).map(|to| to.element)
    }
}

/// The elements from `first` to `last`.
fn way_back(last: ElementId, first: ElementId, came_from: &HashMap<ElementId, ElementId>) -> Vec<ElementId> {
    let mut way = vec![last];
    let mut at = last;
    while at != first {
        at = came_from[&at];
        way.push(at);
    }
    way.reverse();
    way
}
