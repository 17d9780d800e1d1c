//! Dispatch removal: calls whose target is known are made direct.
//!
//! In: the program as checked. Out: every dispatch that one definition answers, by construction analysis
//! ([`analyze::reach`](crate::analyze::reach)), is `Exact`. The receiver is then a pointer to the module of that
//! definition, arguments have its parameters' types and the result is converted to what the caller expected. Dispatches on
//! types of which nothing is constructed always become direct, because there is no dispatch table to ask.

use std::collections::HashMap;

use crate::analyze::reach::{Reach, Site, overrides_below, site};
use crate::program::tree::{Call, Dispatch, Expr, ExprKind};
use crate::program::{MethodId, ModuleRef, Program, Type};

/// When a dispatch counts as having one target. The later ones know more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// Never.
    Naive,
    /// The method is defined once in the whole program.
    DefinedOnce,
    /// No override below the static type.
    Leaf,
    /// One definition among the constructed modules at or below the static type.
    Construction,
}

/// Answers whether dispatches have one target; each is looked at once.
pub struct Oracle<'a> {
    reach: &'a Reach,
    rule: Rule,
    /// Whether objects of which none is constructed are of their static type.
    foreign: bool,
    known: HashMap<Site, Option<MethodId>>,
}

impl<'a> Oracle<'a> {
    /// An oracle for the program that was analysed.
    pub fn new(reach: &'a Reach, rule: Rule, foreign: bool) -> Self {
        Oracle { reach, rule, foreign, known: HashMap::new() }
    }

    /// The only definition that the dispatch can reach.
    pub fn only_target(&mut self, program: &Program, site: Site) -> Option<MethodId> {
        if let Some(&known) = self.known.get(&site) {
            return known;
        }
        let target = self.find(program, site);
        self.known.insert(site, target);
        target
    }

    fn find(&self, program: &Program, site: Site) -> Option<MethodId> {
        let (module, method) = site;
        let own = program.definition_in(module, method);
        if self.foreign && self.reach.constructed(module).is_empty() {
            return Some(own);
        }
        match self.rule {
            Rule::Naive => None,
            Rule::DefinedOnce => {
                let root = program[program[method].slot].module;
                let alone = overrides_below(program, root, method).is_empty();
                alone.then_some(own)
            }
            Rule::Leaf => overrides_below(program, module, method).is_empty().then_some(own),
            Rule::Construction => match self.reach.targets(program, site)[..] {
                [target] => Some(target),
                _ => None,
            },
        }
    }
}

/// Makes the calls of an expression direct where the oracle knows the target.
pub fn devirtualise(program: &Program, oracle: &mut Oracle<'_>, e: &mut Expr) {
    e.for_each_child_mut(|part| devirtualise(program, oracle, part));
    let ExprKind::Call(call) = &e.kind else { return };
    let Some(site) = site(program, call) else { return };
    let exact = exact_target(program, call).filter(|_| oracle.rule > Rule::Naive);
    if let Some(target) = exact.or_else(|| oracle.only_target(program, site)) {
        direct(program, e, target);
    }
}

/// Makes a dispatch on a variable direct; such appear when bodies are copied.
pub fn devirtualise_exact(program: &Program, e: &mut Expr) {
    let ExprKind::Call(call) = &e.kind else { return };
    if let Some(target) = site(program, call).and_then(|_| exact_target(program, call)) {
        direct(program, e, target);
    }
}

/// The definition called if the receiver is a variable or a part of one: such objects are exactly of their type.
fn exact_target(program: &Program, call: &Call) -> Option<MethodId> {
    let mut receiver = call.receiver.as_ref()?;
    while let ExprKind::Convert(from) = &receiver.kind {
        receiver = from;
    }
    let ExprKind::AddressOf(place) = &receiver.kind else { return None };
    let is_variable =
        matches!(place.kind, ExprKind::Local(_) | ExprKind::StaticField(_) | ExprKind::Field(..));
    let module = place.ty.module().filter(|_| is_variable)?;
    Some(program.definition_in(module.module, call.method))
}

/// Makes a call one of `target`.
fn direct(program: &Program, e: &mut Expr, target: MethodId) {
    let ExprKind::Call(call) = &mut e.kind else { return };
    call.dispatch = Dispatch::Exact;
    call.method = target;
    if let Some(receiver) = &mut call.receiver {
        point_to(receiver, program, target);
    }
    for (arg, param) in call.args.iter_mut().zip(&program[target].body.locals) {
        convert(arg, &param.ty);
    }
    convert_result(program, e, target);
}

/// Makes the receiver a pointer to an object of the method's module.
fn point_to(receiver: &mut Expr, program: &Program, target: MethodId) {
    let Some(static_type) = receiver.ty.pointee().and_then(Type::module) else { return };
    let module = program[target].module;
    if static_type.module != module {
        convert(receiver, &Type::pointer(Type::Module(ModuleRef { module, ..static_type })));
    }
}

fn convert_result(program: &Program, call: &mut Expr, target: MethodId) {
    let returns = &program[target].returns;
    if *returns != call.ty {
        let wanted = std::mem::replace(&mut call.ty, returns.clone());
        convert(call, &wanted);
    }
}

fn convert(e: &mut Expr, to: &Type) {
    if e.ty != *to && e.ty != Type::Never {
        let (span, inner) = (e.span, std::mem::replace(e, Expr::nothing(e.span)));
        *e = Expr::new(to.clone(), span, ExprKind::Convert(Box::new(inner)));
    }
}
