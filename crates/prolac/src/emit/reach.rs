//! What a program can reach from its exports: which modules are constructed and which methods are dispatched on.
//!
//! This is coarse: it believes that every constructed module meets every dispatch that its type allows.

use std::collections::BTreeSet;

use crate::program::tree::{Call, Dispatch, Expr, ExprKind};
use crate::program::{MethodId, ModuleId, Program, Type};

/// What is reachable.
#[derive(Default)]
pub(super) struct Reach {
    /// Methods that can be called.
    pub methods: BTreeSet<MethodId>,
    /// Modules of which objects can be made.
    pub constructed: BTreeSet<ModuleId>,
    /// Calls by run-time type: the static type of the receiver, and the slot.
    dispatched: BTreeSet<(ModuleId, MethodId)>,
}

impl Reach {
    /// The modules whose objects need a pointer to a table.
    pub fn tables(&self, program: &Program) -> BTreeSet<ModuleId> {
        let real = self.dispatched.iter().filter(|&&(module, _)| self.is_made(program, module));
        real.map(|&(_, slot)| program[slot].module).collect()
    }

    /// The slots in the table of `module`, in the order of their definitions.
    pub fn slots(&self, program: &Program, module: ModuleId) -> Vec<MethodId> {
        let slots: BTreeSet<MethodId> = self
            .dispatched
            .iter()
            .filter(|&&(m, _)| self.is_made(program, m))
            .map(|&(_, slot)| slot)
            .collect();
        slots.into_iter().filter(|&slot| program[slot].module == module).collect()
    }

    /// Whether an object of `module` or of a module derived from it can exist.
    pub fn is_made(&self, program: &Program, module: ModuleId) -> bool {
        self.constructed.iter().any(|&m| program.is_derived(m, module))
    }

    /// The definitions that a dynamic call can reach.
    pub fn targets(&self, program: &Program, call: &Call) -> BTreeSet<MethodId> {
        let receiver = receiver(program, call);
        let made = self.constructed.iter().filter(|&&m| program.is_derived(m, receiver));
        let mut targets: BTreeSet<MethodId> = made.map(|&m| program.definition_in(m, call.method)).collect();
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
    let mut reach = Reach::default();
    let mut open: Vec<MethodId> = program.exports.clone();
    for &export in &program.exports {
        if program[export].kind.is_constructor() {
            reach.constructed.insert(program[export].module);
        }
    }
    for field in program.fields.iter().filter(|f| f.is_static) {
        reach.constructed.extend(object(&field.ty));
    }
    loop {
        while let Some(method) = open.pop() {
            if reach.methods.insert(method) {
                program[method].body.root.walk(&mut |e| visit(program, &mut reach, &mut open, e));
            }
        }
        let targets = reach.dispatched.iter().flat_map(|&(module, slot)| {
            let made = reach.constructed.iter().filter(move |&&m| program.is_derived(m, module));
            made.map(move |&m| program.definition_in(m, slot)).chain([program.definition_in(module, slot)])
        });
        open.extend(targets.filter(|m| !reach.methods.contains(m)));
        if open.is_empty() {
            return reach;
        }
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

fn visit(program: &Program, reach: &mut Reach, open: &mut Vec<MethodId>, e: &Expr) {
    match &e.kind {
        ExprKind::Call(call) if call.dispatch == Dispatch::Dynamic => {
            reach.dispatched.insert((receiver(program, call), program[call.method].slot));
        }
        ExprKind::Call(call) => open.push(call.method),
        ExprKind::Construct { module, .. } | ExprKind::ConstructAt { module, .. } => {
            reach.constructed.insert(*module);
            open.push(program[*module].constructor);
        }
        _ => {}
    }
}
