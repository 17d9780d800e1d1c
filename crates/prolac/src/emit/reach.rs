//! What a program can reach, in the form that dispatch tables want: see [`analyze::reach`](crate::analyze::reach).

use std::collections::{BTreeMap, BTreeSet};

use crate::analyze;
use crate::analyze::reach::{Site, site};
use crate::program::tree::Call;
use crate::program::{MethodId, ModuleId, Program};

/// What is reachable.
pub(super) struct Reach {
    all: analyze::Reach,
    /// What each dispatch can call.
    targets: BTreeMap<Site, Vec<MethodId>>,
    /// The slots that are looked up in tables, by the module that introduces them.
    slots: BTreeMap<ModuleId, BTreeSet<MethodId>>,
}

impl Reach {
    /// Finds what is reachable.
    pub fn new(program: &Program) -> Reach {
        let all = analyze::Reach::new(program);
        let targets = all.sites().map(|(site, _)| (site, all.targets(program, site))).collect();
        let mut slots: BTreeMap<ModuleId, BTreeSet<MethodId>> = BTreeMap::new();
        for ((module, method), _) in all.sites() {
            if !all.constructed(module).is_empty() {
                let slot = program[method].slot;
                slots.entry(program[slot].module).or_default().insert(slot);
            }
        }
        Reach { all, targets, slots }
    }

    /// The methods that can run, callees before callers where that can be.
    pub fn callees_first(&self, program: &Program) -> Vec<MethodId> {
        analyze::CallGraph::new(program, &self.all).order().to_vec()
    }

    /// Whether a method can run.
    pub fn has(&self, method: MethodId) -> bool {
        self.all.has(method)
    }

    /// The modules whose objects need a pointer to a table.
    pub fn tables(&self) -> BTreeSet<ModuleId> {
        self.slots.keys().copied().collect()
    }

    /// The slots in the table of `module`, in the order of their definitions.
    pub fn slots(&self, module: ModuleId) -> impl Iterator<Item = MethodId> {
        self.slots.get(&module).into_iter().flatten().copied()
    }

    /// The modules at or below `module` of which there are objects.
    pub fn made(&self, module: ModuleId) -> &[ModuleId] {
        self.all.constructed(module)
    }

    /// Whether a call goes through a table. Where nothing is constructed, C code made the objects without tables.
    pub fn has_table(&self, program: &Program, call: &Call) -> bool {
        site(program, call).is_some_and(|(module, _)| !self.made(module).is_empty())
    }

    /// The definitions that a dynamic call can reach.
    pub fn targets(&self, program: &Program, call: &Call) -> &[MethodId] {
        site(program, call).and_then(|site| self.targets.get(&site)).map_or(&[], Vec::as_slice)
    }
}
