//! Warnings: what is allowed and most likely not meant.

use std::collections::HashMap;

use clickwork_source::{Diagnostic, Span};

use super::chains::Arm;
use super::convert::discard;
use super::{BodyChecker, is_wrong};
use crate::check::quiet::{Suspicion, acts_itself};
use crate::program::tree::{Dispatch, Expr, ExprKind, LocalId};
use crate::program::{MethodId, Type};
use crate::syntax::ast;

impl<'a> BodyChecker<'_, 'a> {
    /// An expression whose value is not wanted.
    pub(super) fn dropped(&mut self, e: &'a ast::Expr) -> Expr {
        let value = self.expr(e);
        self.warn_lost_object(&value);
        self.suspect_lost_result(&value);
        if is_useless(&value) {
            let mut message = Diagnostic::warning(value.span, "this computes a value that nobody uses");
            if matches!(e.kind, ast::ExprKind::Binary(ast::BinaryOp::Equal, ..)) {
                message = message.hint("`==` compares; to assign, write `=`");
            }
            self.report(message);
        }
        discard(value)
    }

    /// An object that is made and not used: meant for the parent, perhaps.
    pub(super) fn warn_lost_object(&mut self, value: &Expr) {
        match &value.kind {
            ExprKind::Sequence(all) => all.last().into_iter().for_each(|last| self.warn_lost_object(last)),
            ExprKind::Construct { module, .. } => {
                let message = Diagnostic::warning(value.span, "this makes an object that nobody uses");
                let hint =
                    "a parent is constructed only at the beginning of a constructor's body, before all else";
                let parent = self.check.program.is_derived(self.module(), *module);
                self.report(if parent { message.hint(hint) } else { message });
            }
            _ => {}
        }
    }

    /// The result of a call that does nothing else is not used. What gives a constant is a hook that does nothing.
    fn suspect_lost_result(&mut self, value: &Expr) {
        match &value.kind {
            ExprKind::Sequence(all) => all.last().into_iter().for_each(|last| self.suspect_lost_result(last)),
            ExprKind::Let(_, body) | ExprKind::Outline(_, body) => self.suspect_lost_result(body),
            ExprKind::Call(call) if !matches!(value.ty, Type::Void | Type::Never | Type::Error) => {
                let Some(calls) = calls_of(value) else { return };
                let name = self.check.program.method_name(call.method);
                let message = format!("the result of `{name}` is not used, and the call does nothing else");
                let message = Diagnostic::warning(value.span, message)
                    .hint("take the call out, or do something with what it returns");
                let hook = self.check.names.method_ast(call.method).and_then(|ast| ast.body.as_ref());
                if !hook.is_some_and(|body| {
                    matches!(body.kind, ast::ExprKind::Bool(_) | ast::ExprKind::Int { .. })
                }) {
                    self.check.suspicions.push(Suspicion { calls, message });
                }
            }
            _ => {}
        }
    }

    /// What `catch` protects; its value is dropped.
    pub(super) fn protected(&mut self, e: &'a ast::Expr) -> Expr {
        let value = self.expr(e);
        if let Some(span) = lost_value(&value) {
            let message = "this value is dropped: `e catch X` says whether X was caught in `e`, and nothing of its value";
            let hint = "for a value of its own in each case, write `(e catch X) ? caught : not-caught`";
            self.report(Diagnostic::warning(span, message).hint(hint));
        }
        discard(value)
    }

    /// Cases that can never be reached, because the same was asked before.
    pub(super) fn warn_repeated(&mut self, arms: &[Arm]) {
        let mut seen: HashMap<String, usize> = HashMap::new();
        let calls: Vec<_> = arms.iter().map(|arm| calls_of(&arm.condition)).collect();
        for (index, arm) in arms.iter().enumerate() {
            if arm.asked == Span::NONE || calls[index].is_none() {
                seen.clear();
                continue;
            }
            let text = self.check.sources.slice(arm.asked);
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let Some(&first) = seen.get(&text) else {
                seen.insert(text, index);
                continue;
            };
            let message = Diagnostic::warning(
                arm.asked,
                "this was asked before in this chain, so that it cannot hold here",
            )
            .label(arms[first].asked, "asked here first")
            .hint("take this case out, or ask something else");
            let calls = calls[first..=index].iter().flatten().flatten().copied().collect();
            self.check.suspicions.push(Suspicion { calls, message });
        }
    }

    /// A method without a written type that computes something.
    pub(super) fn warn_lost_result(&mut self, method: MethodId, value: &Expr) {
        let untyped = self.check.names.method_ast(method).is_some_and(|ast| ast.returns.is_none());
        if untyped && is_useless(value) {
            let message =
                Diagnostic::warning(value.span, "this computes a value that the method does not return")
                    .label(self.check.program[method].span, "declared without a return type")
                    .hint(format!("to return it, write `:> {}`", self.check.program.type_name(&value.ty)));
            self.report(message);
        }
    }

    /// A number that the type cannot hold. That a number with the top bit set becomes negative is no surprise.
    pub(super) fn warn_cut_number(&mut self, e: &Expr) {
        let ExprKind::Convert(inner) = &e.kind else { return };
        let (ExprKind::Int(value), Type::Int(int)) = (&inner.kind, &e.ty) else { return };
        let (from, bits) = (inner.ty.int(), int.bits());
        if bits < 64 && from.is_some_and(|from| from.bits() > bits) && *value >> bits != 0 {
            let message =
                format!("{value} does not fit in `{}`: this is {}", int.keyword(), int.wrap(*value));
            self.report(Diagnostic::warning(e.span, message).hint("if that is meant, cast it"));
        }
    }

    /// Variables that nothing names. An object can be there for what its constructor does.
    pub(super) fn warn_unused(&mut self, bound: &[(LocalId, Option<Expr>)]) {
        for (id, _) in bound {
            let local = &self.locals[id.0 as usize];
            let wanted = local.name.as_str().starts_with('_') || local.ty.module().is_some();
            if !self.used[id.0 as usize] && !wanted {
                let message =
                    Diagnostic::warning(local.span, format!("variable `{}` is never used", local.name));
                self.report(message.hint("take it out, or let its name begin with `_`"));
            }
        }
    }
}

/// The calls in an expression, which does nothing itself; `None` if it does something.
fn calls_of(e: &Expr) -> Option<Vec<(MethodId, Dispatch)>> {
    let (mut calls, mut acts) = (Vec::new(), false);
    e.walk(&mut |part| match &part.kind {
        ExprKind::Call(call) => calls.push((call.method, call.dispatch)),
        ExprKind::Assign(..) | ExprKind::Update { .. } | ExprKind::Step { .. } => acts = true,
        _ => acts |= acts_itself(part),
    });
    (!acts).then_some(calls)
}

/// The part of an expression that computes its value and does nothing else.
fn lost_value(e: &Expr) -> Option<Span> {
    match &e.kind {
        ExprKind::Sequence(all) => {
            let last = all.last()?;
            let number = matches!(last.kind, ExprKind::Int(_));
            if number { Some(last.span) } else { lost_value(last) }
        }
        ExprKind::Let(_, body) | ExprKind::Outline(_, body) => lost_value(body),
        _ => is_useless(e).then_some(e.span),
    }
}

/// Whether an expression does nothing but compute a value, and no cast to void says that this is meant. Constants are not reported: they are used as "do nothing".
fn is_useless(e: &Expr) -> bool {
    use ExprKind::*;
    match &e.kind {
        Local(_) | This | StaticField(_) | Binary(..) | Unary(..) | MinMax(..) | Field(..) | Deref(_)
        | And(..) | Or(..) | AddressOf(_) => is_pure(e),
        Convert(inner) => e.ty != Type::Void && is_useless(inner),
        Conditional(_, a, b) => is_pure(e) && (is_useless(a) || is_useless(b)),
        Sequence(all) => all.last().is_some_and(is_useless),
        Let(_, body) => is_useless(body),
        _ => false,
    }
}

fn is_pure(e: &Expr) -> bool {
    use ExprKind::*;
    let mut pure = true;
    e.walk(&mut |part| {
        pure &= !matches!(
            part.kind,
            Assign(..)
                | Update { .. }
                | Step { .. }
                | Call(_)
                | Construct { .. }
                | ConstructAt { .. }
                | Raise(_)
                | Catch(..)
                | CBlock(_)
                | Missing
                | Implies(..)
        ) && !is_wrong(&part.ty);
    });
    pure
}
