//! The literal `0`, which is also the pointer to nothing. It may stand at the end of a row, of a `let`, behind `outline`
//! and in both branches of a choice.

use crate::program::Type;
use crate::program::tree::{Expr, ExprKind};

/// Whether the value is the literal `0`, whatever is done before.
pub(super) fn is_zero(e: &Expr) -> bool {
    if !e.ty.is_int() {
        return false;
    }
    match &e.kind {
        ExprKind::Int(value) => *value == 0,
        ExprKind::Sequence(all) => all.last().is_some_and(is_zero),
        ExprKind::Let(_, last) | ExprKind::Outline(_, last) => is_zero(last),
        ExprKind::Conditional(_, a, b) => zero_or_never(a) && zero_or_never(b),
        _ => false,
    }
}

fn zero_or_never(e: &Expr) -> bool {
    e.ty == Type::Never || is_zero(e)
}

/// An expression that [`is_zero`] as a null pointer of type `to`.
pub(super) fn null(e: Expr, to: &Type) -> Expr {
    if e.ty == Type::Never {
        return e;
    }
    let kind = match e.kind {
        ExprKind::Sequence(mut all) => {
            if let Some(last) = all.pop() {
                all.push(null(last, to));
            }
            ExprKind::Sequence(all)
        }
        ExprKind::Let(bindings, last) => ExprKind::Let(bindings, Box::new(null(*last, to))),
        ExprKind::Outline(level, last) => ExprKind::Outline(level, Box::new(null(*last, to))),
        ExprKind::Conditional(condition, a, b) => {
            ExprKind::Conditional(condition, Box::new(null(*a, to)), Box::new(null(*b, to)))
        }
        _ => ExprKind::Null,
    };
    Expr::new(to.clone(), e.span, kind)
}
