//! Hot swap: a new router takes the place of a running one and inherits what it knows.
//!
//! The new router is built and initialised completely before anything of the old one is touched, so a bad configuration
//! changes nothing. Then each element with the same name and class takes over its predecessor's state.

use crate::router::{ElementId, Router};

impl Router {
    /// Takes over state from the router that this one replaces: clock, counts, and the state of each element that has a
    /// predecessor of the same name and class. Returns the names of those that did.
    pub fn take_over(&mut self, mut old: Router) -> Vec<String> {
        self.clock = std::mem::replace(&mut old.clock, crate::clock::Clock::real());
        let mut taken = Vec::new();
        for id in self.ids() {
            if let Some(before) = old.find(&self.info(id).name).filter(|&b| self.same_class(id, &old, b)) {
                self.take_element(id, &mut old, before);
                taken.push(self.info(id).name.clone());
            }
        }
        old.cleanup();
        taken
    }

    fn same_class(&self, id: ElementId, old: &Router, before: ElementId) -> bool {
        std::ptr::eq(self.info(id).class, old.info(before).class)
    }

    fn take_element(&mut self, id: ElementId, old: &mut Router, before: ElementId) {
        let Some(predecessor) = &mut old.elements[before.index()] else { return };
        self.with_element(id, |e, cx| e.take_state(&mut **predecessor, cx));
        let (packets, drops) =
            (old.info(before).packets, std::mem::take(&mut old.infos[before.index()].drops));
        let info = &mut self.infos[id.index()];
        info.packets += packets;
        info.drops.extend(drops);
    }
}
