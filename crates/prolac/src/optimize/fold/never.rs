//! Expressions that never have a value because folding found that an operand raises an exception: of `f(a, stop, b)` there
//! remains that `a` is computed and `stop` raised, as the rules of trees demand.

use super::{discard, sequence};
use crate::program::Type;
use crate::program::tree::{Expr, ExprKind};

/// The expression, or what comes before the first operand without a value, and that operand.
pub fn cut_short(mut expr: Expr) -> Expr {
    let Some(stop) = operands(&mut expr).iter().position(|operand| operand.ty == Type::Never) else {
        return expr;
    };
    let span = expr.span;
    let kept = operands(&mut expr).into_iter().take(stop + 1);
    let mut kept: Vec<Expr> = kept.map(|operand| std::mem::replace(operand, Expr::nothing(span))).collect();
    let last = kept.pop().unwrap_or_else(|| Expr::nothing(span));
    sequence(kept.into_iter().map(discard).collect(), last)
}

/// The parts that are always evaluated and must have values, in the order of evaluation.
fn operands(expr: &mut Expr) -> Vec<&mut Expr> {
    use ExprKind::*;
    match &mut expr.kind {
        Field(a, _) | Deref(a) | AddressOf(a) | Convert(a) | Unary(_, a) | Step { place: a, .. } => vec![a],
        And(a, _) | Or(a, _) | Implies(a, _) | Conditional(a, ..) => vec![a],
        Binary(_, a, b) | MinMax(_, a, b) | Assign(a, b) | Update { place: a, value: b, .. } => vec![a, b],
        Let(bindings, _) => bindings.iter_mut().filter_map(|(_, value)| value.as_mut()).collect(),
        Call(call) => call.receiver.iter_mut().chain(&mut call.args).collect(),
        Construct { args, .. } => args.iter_mut().collect(),
        ConstructAt { place, args, .. } => std::iter::once(&mut **place).chain(args).collect(),
        _ => Vec::new(),
    }
}
