//! Warnings that depend on whether methods do anything: known only when all bodies are.

use std::collections::{BTreeMap, HashSet};

use clickwork_source::Diagnostic;

use super::Checker;
use crate::analyze::effects::root_local;
use crate::program::tree::{Dispatch, Expr, ExprKind};
use crate::program::{MethodId, Program, Type};

/// A warning to give if none of these calls does anything but give a value.
pub struct Suspicion {
    /// The methods that are called, with whether overrides can be meant.
    pub calls: Vec<(MethodId, Dispatch)>,
    /// What is to be said.
    pub message: Diagnostic,
}

impl Checker<'_> {
    /// Gives the warnings that were waiting, unless there are errors.
    pub(super) fn report_suspicions(&mut self) {
        let waiting = std::mem::take(&mut self.suspicions);
        if waiting.is_empty() || self.diagnostics.has_errors() {
            return;
        }
        let loud = Loud::new(&self.program);
        let mut known = HashSet::new();
        for Suspicion { calls, message } in waiting {
            let quiet =
                calls.iter().all(|&(method, dispatch)| loud.is_quiet(&self.program, method, dispatch));
            if quiet && known.insert((message.span(), message.message.clone())) {
                self.report(message);
            }
        }
    }
}

/// Which methods do more than to give a value: they change memory, raise exceptions, run C, or may fail.
struct Loud {
    methods: Vec<bool>,
    /// The definitions of each slot.
    definitions: BTreeMap<MethodId, Vec<MethodId>>,
}

impl Loud {
    fn new(program: &Program) -> Loud {
        let mut definitions: BTreeMap<MethodId, Vec<MethodId>> = BTreeMap::new();
        program.method_ids().for_each(|m| definitions.entry(program[m].slot).or_default().push(m));
        let mut loud = Loud { methods: vec![false; program.methods.len()], definitions };
        let mut callers: BTreeMap<MethodId, Vec<MethodId>> = BTreeMap::new();
        let mut waiting = Vec::new();
        for method in program.method_ids() {
            let mut acts = false;
            program[method].body.root.walk(&mut |e| match &e.kind {
                ExprKind::Call(call) => {
                    let meant = loud.meant(program, call.method, call.dispatch);
                    meant.iter().for_each(|&m| callers.entry(m).or_default().push(method));
                }
                _ => acts |= acts_itself(e),
            });
            if acts {
                waiting.push(method);
            }
        }
        while let Some(method) = waiting.pop() {
            if !std::mem::replace(&mut loud.methods[method.0 as usize], true) {
                waiting.extend(callers.get(&method).into_iter().flatten());
            }
        }
        loud
    }

    fn meant(&self, program: &Program, method: MethodId, dispatch: Dispatch) -> Vec<MethodId> {
        match (dispatch, self.definitions.get(&program[method].slot)) {
            (Dispatch::Dynamic, Some(all)) => all.clone(),
            _ => vec![method],
        }
    }

    fn is_quiet(&self, program: &Program, method: MethodId, dispatch: Dispatch) -> bool {
        self.meant(program, method, dispatch).iter().all(|m| !self.methods[m.0 as usize])
    }
}

/// Whether an expression does something besides what its parts do.
pub fn acts_itself(e: &Expr) -> bool {
    match &e.kind {
        // A variable is nobody else's.
        ExprKind::Assign(place, _) | ExprKind::Update { place, .. } | ExprKind::Step { place, .. } => {
            root_local(place).is_none()
        }
        ExprKind::Construct { .. }
        | ExprKind::ConstructAt { .. }
        | ExprKind::Raise(_)
        | ExprKind::CBlock(_)
        | ExprKind::Missing => true,
        _ => e.ty == Type::Error,
    }
}
