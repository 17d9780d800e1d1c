//! The optimiser: rewrites the bodies of a checked program so that they do the same with less.
//!
//! Passes, in order, each with its contract at the head of its file: [`devirtualise`] makes dispatches direct, [`fold`]
//! does what is known already, [`inline`] replaces calls by bodies (with [`instantiate`]), and [`propagate`] removes
//! variables that need not be. Methods that nobody calls any more stay in the tables; `emit` asks
//! [`Reach`] which are left. Every pass takes time in proportion to the size of its result.

pub mod devirtualise;
mod fold;
mod inline;
mod instantiate;
mod propagate;
#[cfg(test)]
pub(crate) mod random;
mod report;
#[cfg(test)]
mod tests;

use crate::analyze::callee;
use crate::analyze::callgraph::CallGraph;
use crate::analyze::reach::{Reach, site};
use crate::program::tree::{Expr, ExprKind};
use crate::program::{MethodId, Program};
use devirtualise::{Oracle, Rule, devirtualise};
pub(crate) use inline::COLD;
use inline::Fates;
pub use report::{CallSite, Fate, Reason, Report};

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// 0: nothing. 1: dispatch removal and folding. 2: inlining where it is asked for or costs nothing. 3: also where it
    /// is likely to pay.
    pub level: u8,
    /// Whether the analysis of the whole program may make dispatches direct.
    pub cha: bool,
    /// Whether to inline.
    pub inline: bool,
    /// Whether `outline` has a meaning.
    pub outline: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { level: 3, cha: true, inline: true, outline: true }
    }
}

/// Optimises a checked program.
pub fn optimize(program: &mut Program, options: &Options) -> Report {
    let rule = if options.cha && options.level > 0 { Rule::Construction } else { Rule::Naive };
    run(program, options, rule, true)
}

/// Optimises a program that only is to be counted, with a rule for dispatches. That objects which nobody constructs are of
/// their static type is left out of account.
pub(crate) fn optimize_for_counts(program: &mut Program, options: &Options, rule: Rule) -> Report {
    run(program, options, rule, false)
}

fn run(program: &mut Program, options: &Options, rule: Rule, foreign: bool) -> Report {
    let reach = Reach::new(program);
    let mut oracle = Oracle::new(&reach, rule, foreign);
    let mut report = Report { calls: call_sites(program, &reach, &mut oracle) };
    each_body(program, &reach, |program, root| devirtualise(program, &mut oracle, root));
    if !options.outline {
        each_body(program, &reach, |_, root| drop_outlines(root));
    }
    if options.level == 0 {
        return report;
    }
    let reach = Reach::new(program);
    let graph = CallGraph::new(program, &reach);
    fold_all(program, &graph);
    if options.level >= 2 && options.inline {
        let fates = inline::inline(program, &graph, &reach, options.level >= 3, rule > Rule::Naive);
        note_fates(&mut report, &fates);
    }
    report
}

/// Changes the bodies of the methods that can run.
fn each_body(program: &mut Program, reach: &Reach, mut change: impl FnMut(&Program, &mut Expr)) {
    for method in reach.methods() {
        let span = program[method].span;
        let mut root = std::mem::replace(&mut program[method].body.root, Expr::nothing(span));
        change(program, &mut root);
        program[method].body.root = root;
    }
}

/// Callees first, so that constant methods are constants when their callers are folded.
fn fold_all(program: &mut Program, graph: &CallGraph) {
    for &method in graph.order() {
        let span = program[method].span;
        let mut root = std::mem::replace(&mut program[method].body.root, Expr::nothing(span));
        fold::fold(program, &mut root);
        program[method].body.root = root;
    }
}

fn drop_outlines(expr: &mut Expr) {
    expr.for_each_child_mut(drop_outlines);
    if matches!(expr.kind, ExprKind::Outline(..)) {
        fold::rewrite_with(expr, |e| match e.kind {
            ExprKind::Outline(_, part) => *part,
            kind => Expr { kind, ..e },
        });
    }
}

/// All calls as they were written, with what they can call.
fn call_sites(program: &Program, reach: &Reach, oracle: &mut Oracle<'_>) -> Vec<CallSite> {
    let mut found = Vec::new();
    for caller in reach.methods() {
        program[caller].body.root.walk(&mut |expr| {
            found.extend(call_site(program, reach, oracle, caller, expr));
        });
    }
    found
}

fn call_site(
    program: &Program,
    reach: &Reach,
    oracle: &mut Oracle<'_>,
    caller: MethodId,
    expr: &Expr,
) -> Option<CallSite> {
    let method = callee(program, expr)?;
    let dispatch = match &expr.kind {
        ExprKind::Call(call) => site(program, call),
        _ => None,
    };
    let targets = match dispatch {
        None => vec![method],
        Some(site) => match oracle.only_target(program, site) {
            Some(target) => vec![target],
            None => reach.targets(program, site),
        },
    };
    let fate = Fate::Kept(Reason::Disabled);
    Some(CallSite { caller, span: expr.span, method, dispatched_on: dispatch.map(|(m, _)| m), targets, fate })
}

/// Calls that the inliner never met are gone.
fn note_fates(report: &mut Report, fates: &Fates) {
    for call in &mut report.calls {
        let fate = match call.targets[..] {
            [target] => fates.get(&(call.caller, call.span, target)),
            _ => Some(&Fate::Kept(Reason::Dynamic)),
        };
        call.fate = fate.copied().unwrap_or(Fate::Kept(Reason::Gone));
    }
}
