//! Aligns that do nothing: packets are moved again at the next one, come aligned already, or never come.

use std::collections::BTreeSet;

use clickwork_lang::{Connection, Port};

use super::Align;
use super::alignment::Alignment;
use super::flow::Have;
use super::rules::Change;
use crate::ElementId;

impl Align<'_> {
    /// Leads packets to each Align past others that stand right before it and whose work it undoes.
    pub(super) fn join_neighbours(&mut self) {
        for id in self.network.of_class("Align") {
            let input = Port { element: id, port: 0 };
            let before: Vec<Connection> = self.network.entering(input).copied().collect();
            if !before.iter().any(|c| self.is_undone(c.from.element, id)) {
                continue;
            }
            before.iter().for_each(|c| self.network.disconnect(c.from, c.to));
            let mut passed = BTreeSet::new();
            let mut queue = before;
            while let Some(c) = queue.pop() {
                if !self.is_undone(c.from.element, id) {
                    self.network.connect(c.from, input, c.span);
                } else if passed.insert(c.from.element) {
                    let above = Port { element: c.from.element, port: 0 };
                    queue.extend(self.network.entering(above));
                }
            }
        }
    }

    /// Whether an element is an Align whose work the Align `next` undoes.
    fn is_undone(&self, id: ElementId, next: ElementId) -> bool {
        let made = |id| self.made(id).unwrap_or(Alignment::ANY);
        id != next && !self.mentioned.contains(&id) && self.is_align(id) && !made(id).satisfies(made(next))
    }

    fn is_align(&self, id: ElementId) -> bool {
        self.network.element(id).is_some_and(|e| e.class == "Align")
    }

    /// What an Align makes, if that can be told.
    fn made(&self, id: ElementId) -> Option<Alignment> {
        match self.rules.change(Port { element: id, port: 0 }) {
            Change::Make(alignment) => Some(alignment),
            _ => None,
        }
    }

    /// Leads packets that come aligned already past Aligns, until there are no more such ways: at the latest when all have
    /// been led past as many Aligns as there are.
    pub(super) fn bypass_spare(&mut self) {
        for _ in 0..=self.network.of_class("Align").len() {
            let have = Have::new(self.network, &self.rules);
            let is_spare = |c: &&Connection| {
                let id = c.to.element;
                let is_aligned = || self.made(id).is_some_and(|made| have.output(c.from).satisfies(made));
                self.is_align(id) && !self.mentioned.contains(&id) && is_aligned()
            };
            let spare: Vec<Connection> = self.network.connections().filter(is_spare).copied().collect();
            if spare.is_empty() {
                return;
            }
            spare.into_iter().for_each(|c| self.bypass(c));
            self.remove_unused();
        }
    }

    /// Leads one connection past the Align that it ends at.
    fn bypass(&mut self, c: Connection) {
        let output = Port { element: c.to.element, port: 0 };
        let targets: Vec<Port> = self.network.leaving(output).map(|c| c.to).collect();
        self.network.disconnect(c.from, c.to);
        targets.into_iter().filter(|t| *t != c.to).for_each(|to| self.network.connect(c.from, to, c.span));
    }

    /// Removes Aligns that no packets reach or leave.
    pub(super) fn remove_unused(&mut self) {
        loop {
            let unused = |id: &ElementId| {
                let has_no_use = self.network.inputs(*id).is_empty() || self.network.outputs(*id).is_empty();
                has_no_use && !self.mentioned.contains(id)
            };
            let unused: Vec<ElementId> = self.network.of_class("Align").into_iter().filter(unused).collect();
            if unused.is_empty() {
                return;
            }
            unused.into_iter().for_each(|id| drop(self.network.remove(id)));
        }
    }
}
