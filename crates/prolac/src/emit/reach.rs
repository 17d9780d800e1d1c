//! What a program can reach from its exports: which modules are constructed and which methods are dispatched on.
//!
//! This is coarse: it believes that every constructed module meets every dispatch that its type allows.

use std::collections::{BTreeMap, BTreeSet};

use crate::program::tree::{Call, Dispatch, Expr, ExprKind};
use crate::program::{MethodId, ModuleId, Program, Type};

/// What is reachable.
#[derive(Default)]
pub(super) struct Reach {
    /// Methods that can be called.
    pub methods: BTreeSet<MethodId>,
    /// Modules of which objects can be made.
    pub constructed: BTreeSet<ModuleId>,
    /// For each module, those of `constructed` that are it or are derived from it.
    made: BTreeMap<ModuleId, Vec<ModuleId>>,
    /// Calls by run-time type: for the static type of the receiver, the slots.
    dispatched: BTreeMap<ModuleId, BTreeSet<MethodId>>,
    /// For each module, those of its slots that are in tables.
    slots: BTreeMap<ModuleId, BTreeSet<MethodId>>,
}

impl Reach {
    /// The modules whose objects need a pointer to a table.
    pub fn tables(&self) -> BTreeSet<ModuleId> {
        self.slots.keys().copied().collect()
    }

    /// The slots in the table of `module`, in the order of their definitions.
    pub fn slots(&self, module: ModuleId) -> impl Iterator<Item = MethodId> {
        self.slots.get(&module).into_iter().flatten().copied()
    }

    /// The modules of which objects can exist, at or below `module`.
    pub fn made(&self, module: ModuleId) -> &[ModuleId] {
        self.made.get(&module).map_or(&[], Vec::as_slice)
    }

    /// The definitions that a dynamic call can reach.
    pub fn targets(&self, program: &Program, call: &Call) -> BTreeSet<MethodId> {
        let made = self.made(receiver(program, call));
        let mut targets: BTreeSet<MethodId> =
            made.iter().map(|&m| program.definition_in(m, call.method)).collect();
        if targets.is_empty() {
            targets.insert(call.method);
        }
        targets
    }
}

/// The static type of a call's receiver.
pub(super) fn receiver(program: &Program, call: &Call) -> ModuleId {
    let of_type = |e: &Expr| e.ty.pointee().and_then(Type::module).map(|m| m.module);
    call.receiver.as_ref().and_then(of_type).unwrap_or(program[call.method].module)
}

/// Finds what is reachable.
pub(super) fn reach(program: &Program) -> Reach {
    let mut search = Search { program, reach: Reach::default(), open: program.exports.clone() };
    for &export in program.exports.iter().filter(|&&m| program[m].kind.is_constructor()) {
        search.construct(program[export].module);
    }
    let statics = program.fields.iter().filter(|f| f.is_static);
    statics.flat_map(|f| program.objects_in(&f.ty)).for_each(|m| search.construct(m));
    while let Some(method) = search.open.pop() {
        if search.reach.methods.insert(method) {
            program[method].body.root.walk(&mut |e| search.visit(e));
        }
    }
    search.finish()
}

struct Search<'a> {
    program: &'a Program,
    reach: Reach,
    /// Methods whose bodies may have to be read.
    open: Vec<MethodId>,
}

impl Search<'_> {
    fn visit(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Call(call) if call.dispatch == Dispatch::Dynamic => {
                self.dispatch(receiver(self.program, call), self.program[call.method].slot);
            }
            ExprKind::Call(call) => self.open.push(call.method),
            ExprKind::Construct { module, .. } | ExprKind::ConstructAt { module, .. } => {
                self.construct(*module);
                self.open.push(self.program[*module].constructor);
            }
            _ => {}
        }
    }

    fn construct(&mut self, module: ModuleId) {
        if !self.reach.constructed.insert(module) {
            return;
        }
        for ancestor in self.program.ancestry(module) {
            self.reach.made.entry(ancestor).or_default().push(module);
            let slots = self.reach.dispatched.get(&ancestor).into_iter().flatten();
            self.open.extend(slots.map(|&slot| self.program.definition_in(module, slot)));
        }
    }

    fn dispatch(&mut self, module: ModuleId, slot: MethodId) {
        if self.reach.dispatched.entry(module).or_default().insert(slot) {
            self.open.push(self.program.definition_in(module, slot));
            let made = self.reach.made(module).iter();
            self.open.extend(made.map(|&m| self.program.definition_in(m, slot)));
        }
    }

    fn finish(self) -> Reach {
        let mut reach = self.reach;
        let of_made = reach.dispatched.iter().filter(|(module, _)| reach.made.contains_key(module));
        for &slot in of_made.flat_map(|(_, slots)| slots) {
            reach.slots.entry(self.program[slot].module).or_default().insert(slot);
        }
        reach
    }
}

/// The module of the objects in a variable.
pub(super) fn object(ty: &Type) -> Option<ModuleId> {
    match ty {
        Type::Module(m) => Some(m.module),
        Type::Array(of, _) => object(of),
        _ => None,
    }
}
