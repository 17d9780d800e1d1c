//! Who calls whom, in the bodies as they were written.

use std::collections::BTreeSet;

use crate::program::tree::{Call, Dispatch, ExprKind};
use crate::program::{MethodId, MethodKind, Program};

/// A call in a body.
#[derive(Clone, Debug)]
pub struct CallSite {
    /// The method whose body it stands in.
    pub caller: MethodId,
    /// The definition that the receiver's static type has.
    pub named: MethodId,
    /// The definitions that can be meant: several if it dispatches.
    pub targets: Vec<MethodId>,
}

/// All calls of the program, by caller, in the order of evaluation.
pub fn call_sites(program: &Program) -> Vec<CallSite> {
    program.method_ids().flat_map(|caller| sites_of(program, caller)).collect()
}

fn sites_of(program: &Program, caller: MethodId) -> Vec<CallSite> {
    let mut sites = Vec::new();
    program[caller].body.root.walk(&mut |expr| {
        let site = |named: MethodId, targets: Vec<MethodId>| CallSite { caller, named, targets };
        match &expr.kind {
            ExprKind::Call(call) => {
                sites.push(site(call.method, targets(program, call)));
            }
            ExprKind::Construct { module, .. } | ExprKind::ConstructAt { module, .. } => {
                let constructor = program[*module].constructor;
                sites.push(site(constructor, vec![constructor]));
            }
            _ => {}
        }
    });
    sites
}

/// The definitions in the receiver's static type and all modules derived from it.
fn targets(program: &Program, call: &Call) -> Vec<MethodId> {
    let receiver = call.receiver.as_ref().filter(|_| call.dispatch == Dispatch::Dynamic);
    let module = receiver.and_then(|r| r.ty.pointee()).and_then(|to| to.module());
    let Some(module) = module.map(|m| m.module) else { return vec![call.method] };
    let mut found = BTreeSet::new();
    let mut waiting = vec![module];
    while let Some(module) = waiting.pop() {
        found.insert(program.definition_in(module, call.method));
        waiting.extend(&program[module].children);
    }
    found.into_iter().collect()
}

/// The method itself, or what a forwarder stands for in the end.
pub fn behind(program: &Program, method: MethodId) -> MethodId {
    let mut method = method;
    // A forwarder stands for one method, so that this ends; the bound guards against trees that break rules.
    for _ in 0..program.methods.len() {
        if program[method].kind != MethodKind::Forwarder {
            break;
        }
        match sites_of(program, method).first() {
            Some(site) => method = site.named,
            None => break,
        }
    }
    method
}
