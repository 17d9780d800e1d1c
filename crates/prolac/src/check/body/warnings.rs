//! Warnings: what is allowed and most likely not meant.

use clickwork_source::Diagnostic;

use super::convert::discard;
use super::{BodyChecker, is_wrong};
use crate::program::tree::{Expr, ExprKind, LocalId};
use crate::program::{MethodId, Type};
use crate::syntax::ast;

impl<'a> BodyChecker<'_, 'a> {
    /// An expression whose value is not wanted.
    pub(super) fn dropped(&mut self, e: &'a ast::Expr) -> Expr {
        let value = self.expr(e);
        self.warn_lost_object(&value);
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

/// Whether an expression does nothing but compute a value, and no cast to void says that this is meant. Constants are not reported: they are used as "do nothing".
fn is_useless(e: &Expr) -> bool {
    use ExprKind::*;
    match &e.kind {
        Local(_) | This | StaticField(_) | Binary(..) | Unary(..) | MinMax(..) | Field(..) | Deref(_)
        | And(..) | Or(..) | AddressOf(_) => is_pure(e),
        Convert(inner) => e.ty != Type::Void && is_useless(inner),
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
