//! The elements of a network by class.

use std::collections::{BTreeSet, HashMap};

use crate::{ElementId, Network};

/// The elements of a network by class. Whoever changes the network tells the index.
#[derive(Clone, Debug, Default)]
pub struct Index {
    by_class: HashMap<String, BTreeSet<ElementId>>,
}

impl Index {
    /// The index of all elements.
    pub fn new(network: &Network) -> Index {
        let mut index = Index::default();
        for (id, element) in network.elements() {
            index.add(id, &element.class);
        }
        index
    }

    /// Notes an element that was added.
    pub fn add(&mut self, id: ElementId, class: &str) {
        match self.by_class.get_mut(class) {
            Some(elements) => drop(elements.insert(id)),
            None => drop(self.by_class.insert(class.to_string(), BTreeSet::from([id]))),
        }
    }

    /// Notes that an element was removed.
    pub fn remove(&mut self, id: ElementId, class: &str) {
        if let Some(elements) = self.by_class.get_mut(class) {
            elements.remove(&id);
        }
    }

    /// Whether there are elements of a class.
    pub fn has_class(&self, class: &str) -> bool {
        self.by_class.get(class).is_some_and(|elements| !elements.is_empty())
    }

    /// The elements of a class, in order.
    pub fn of_class(&self, class: &str) -> impl Iterator<Item = ElementId> + '_ {
        self.by_class.get(class).into_iter().flatten().copied()
    }
}
