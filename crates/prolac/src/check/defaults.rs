//! What a method returns that is written without a type.
//!
//! The manual says void; the paper's figures use such methods as conditions. Both hold: a method without a type returns
//! *bool if its body is a condition*, void otherwise. A condition is a comparison, `!`, `&&`, `||`, `true` or `false`, a
//! bool variable or field, a call of a method that returns bool; a choice between conditions; a sequence, `let` or
//! `outline` that ends in one. `==>`, assignments, C blocks and `catch` are actions.
//!
//! A method that overrides one with a written type has that type. The definitions without a type of one overridden method
//! stand together: they return bool if all their bodies are conditions. Methods that call each other count as conditions
//! until one of them is found not to be one.

use std::collections::BTreeMap;

use clickwork_source::Diagnostics;

use super::Checker;
use super::body::Constants;
use crate::program::tree::{Expr, ExprKind, UnaryOp};
use crate::program::{MethodId, MethodKind, Type};

impl Checker<'_> {
    /// Decides what all methods without a written type return.
    pub(super) fn infer_defaults(&mut self) {
        self.inherit_written();
        let mut open: BTreeMap<MethodId, Vec<MethodId>> = BTreeMap::new();
        for method in self.untyped().into_iter().filter(|&m| self.written_above(m).is_none()) {
            let family = self.program[method].slot;
            open.entry(family).or_default().push(method);
        }
        open.retain(|_, family| family.iter().any(|&m| self.has_body(m)));
        for &method in open.values().flatten() {
            self.set_returns(method, Type::Bool);
        }
        self.settle(open);
        self.constants = Constants::default();
        self.copy_to_forwarders();
    }

    fn is_untyped(&self, method: MethodId) -> bool {
        let ast = self.names.method_ast(method);
        ast.is_some_and(|ast| ast.returns.is_none()) && self.program[method].kind == MethodKind::Plain
    }

    fn untyped(&self) -> Vec<MethodId> {
        self.program.method_ids().filter(|&m| self.is_untyped(m)).collect()
    }

    fn has_body(&self, method: MethodId) -> bool {
        self.names.method_ast(method).is_some_and(|ast| ast.body.is_some())
    }

    /// A dynamic method without a type takes the one written for what it overrides.
    fn inherit_written(&mut self) {
        for method in self.untyped() {
            if let Some(written) = self.written_above(method) {
                let returns = self.signature(written).returns;
                self.set_returns(method, returns);
            }
        }
    }

    /// The nearest method that a dynamic one overrides and that has a written type.
    fn written_above(&self, method: MethodId) -> Option<MethodId> {
        let first = self.program[method].overrides.filter(|_| !self.program[method].is_static);
        std::iter::successors(first, |&m| self.program[m].overrides).find(|&m| !self.is_untyped(m))
    }

    /// Takes away bool from families with a body that is no condition, until nothing changes.
    fn settle(&mut self, mut open: BTreeMap<MethodId, Vec<MethodId>>) {
        loop {
            let failed: Vec<MethodId> = open
                .iter()
                .filter(|(_, family)| !self.all_conditions(family))
                .map(|(&slot, _)| slot)
                .collect();
            if failed.is_empty() {
                return;
            }
            for slot in failed {
                for method in open.remove(&slot).unwrap_or_default() {
                    self.set_returns(method, Type::Void);
                }
            }
        }
    }

    fn all_conditions(&mut self, family: &[MethodId]) -> bool {
        family.iter().all(|&method| {
            if !self.has_body(method) {
                return true;
            }
            // Messages are given when the types are known.
            let heard: Diagnostics = std::mem::take(&mut self.diagnostics);
            let body = self.body(method);
            self.diagnostics = heard;
            !matches!(body.root.kind, ExprKind::Raise(_)) && is_condition(&body.root)
        })
    }

    fn copy_to_forwarders(&mut self) {
        for method in self.program.method_ids() {
            if let Some(forward) = self.names.forward(method) {
                let returns = self.signature(forward.method).returns;
                self.set_returns(method, returns);
            }
        }
    }
}

/// Whether an expression of type bool was made to be one, not converted.
fn is_condition(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Raise(_) => true,
        _ if expr.ty != Type::Bool => false,
        ExprKind::Int(_) | ExprKind::And(..) | ExprKind::Or(..) | ExprKind::Unary(UnaryOp::Not, _) => true,
        ExprKind::Binary(op, ..) => op.is_comparison(),
        ExprKind::Conditional(_, a, b) => is_condition(a) && is_condition(b),
        ExprKind::Sequence(all) => all.last().is_some_and(is_condition),
        ExprKind::Let(_, body) | ExprKind::Outline(_, body) => is_condition(body),
        ExprKind::Call(_) => true,
        _ => expr.is_place(),
    }
}

#[cfg(test)]
mod tests {
    use clickwork_source::Sources;

    use super::*;
    use crate::program::Target;

    #[test]
    fn an_override_of_a_method_written_void_is_void_though_its_body_is_a_condition() {
        let mut sources = Sources::new();
        let text = "module A { f :> void ::= true; } module B :> A { f ::= 1 == 2; }\n\
            module C { g ::= true; } module D :> C { g ::= 1 == 2; }";
        let file = sources.add("a.pc", text);
        let ast = crate::syntax::parse(&mut sources, file, &mut Diagnostics::new());
        let checked = crate::check::check(&sources, &ast, Target::default());
        assert!(!checked.diagnostics.has_errors());
        let program = checked.program;
        let returns = |name: &str| {
            let method = program.method_ids().find(|&m| program.method_name(m) == name);
            method.map(|m| program[m].returns.clone())
        };
        assert_eq!([returns("B.f"), returns("D.g")], [Some(Type::Void), Some(Type::Bool)]);
    }
}
