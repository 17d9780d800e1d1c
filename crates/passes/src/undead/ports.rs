//! Ports of schedulers and tees that nothing is connected to any more: the element does with fewer, or, if one is left,
//! goes altogether.

use clickwork_lang::config::split_args;

use super::{Undead, port};
use crate::ElementId;

/// Schedulers that treat their other inputs the same whether an input without packets is there or not. DRRSched does not:
/// the input after an empty one has got its share when it is first looked at, the first input has not.
const SCHEDULERS: [&str; 5] =
    ["RoundRobinSched", "SimpleRoundRobinSched", "PrioSched", "SimplePrioSched", "StrideSched"];

impl Undead<'_> {
    /// Takes free ports from schedulers and tees, and removes those that have one left. Whether any element went.
    pub(super) fn free_ports(&mut self) -> bool {
        let before = self.network.elements().count();
        self.weak = None;
        for class in SCHEDULERS {
            self.removable(class).into_iter().for_each(|id| self.free_inputs(id, class));
        }
        for (class, first) in [("Tee", 0), ("PullTee", 1)] {
            self.removable(class).into_iter().for_each(|id| self.free_outputs(id, first));
        }
        self.network.elements().count() < before
    }

    fn free_inputs(&mut self, id: ElementId, class: &str) {
        let Some(&(count, outputs)) = self.ports.get(&id) else { return };
        let mut tickets = self.network.element(id).map_or(Vec::new(), |e| split_args(&e.config));
        if class == "StrideSched" && tickets.len() != count {
            return;
        }
        let used: Vec<usize> =
            (0..count).filter(|&p| self.network.entering(port(id, p)).next().is_some()).collect();
        if used.len() < count {
            for (new, &old) in used.iter().enumerate().filter(|(new, old)| new != *old) {
                self.network.redirect_inputs(port(id, old), port(id, new));
            }
            self.note(
                id,
                "made smaller",
                &format!("no packets come to {} of its {count} inputs", count - used.len()),
            );
            self.ports.insert(id, (used.len(), outputs));
            if class == "StrideSched" {
                tickets = used.iter().map(|&p| tickets[p].clone()).collect();
                self.set_config(id, &tickets.join(", "));
            }
        }
        let never_pulls = class == "StrideSched" && tickets[..] == ["0"];
        if used.len() == 1 && !never_pulls {
            self.bypass(id, port(id, 0), port(id, 0), "it has but one input to choose from");
        }
    }

    /// Takes free outputs from a tee, from number `first` on.
    fn free_outputs(&mut self, id: ElementId, first: usize) {
        let Some(&(inputs, count)) = self.ports.get(&id) else { return };
        let is_used = |p: &usize| *p < first || self.network.leaving(port(id, *p)).next().is_some();
        let used: Vec<usize> = (0..count).filter(is_used).collect();
        if used.len() < count {
            for (new, &old) in used.iter().enumerate().filter(|(new, old)| new != *old) {
                self.network.redirect_outputs(port(id, old), port(id, new));
            }
            let unused = count - used.len();
            self.note(
                id,
                "made smaller",
                &format!("copies of packets get nowhere on {unused} of its {count} outputs"),
            );
            self.ports.insert(id, (inputs, used.len()));
        }
        self.set_config(id, &used.len().to_string());
        if used.len() == 1 {
            self.bypass(id, port(id, 0), port(id, 0), "it makes no copies with but one output");
        }
    }

    fn set_config(&mut self, id: ElementId, config: &str) {
        if let Some(element) = self.network.element_mut(id) {
            element.config = config.to_string();
        }
    }
}
