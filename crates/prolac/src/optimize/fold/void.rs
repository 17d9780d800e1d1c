//! What is left of an expression of which only the effect is wanted, and sequences of such.

use clickwork_source::Span;

use super::{conditional, is_constant, values};
use crate::program::tree::{BinaryOp, Expr, ExprKind, MinMax, UpdateOp};
use crate::program::{IntType, LocalId, Type};

/// Whether nobody can tell if the expression was evaluated. Reading through a bad pointer counts for nothing.
pub fn is_pure(expr: &Expr) -> bool {
    let own = match &expr.kind {
        ExprKind::Assign(..)
        | ExprKind::Update { .. }
        | ExprKind::Step { .. }
        | ExprKind::Call(_)
        | ExprKind::Construct { .. }
        | ExprKind::ConstructAt { .. }
        | ExprKind::CBlock(_)
        | ExprKind::Raise(_)
        | ExprKind::Missing => false,
        ExprKind::Binary(op, _, divisor) => !may_fail(*op, divisor),
        _ => true,
    };
    let mut pure = own;
    expr.for_each_child(|part| pure = pure && is_pure(part));
    pure
}

/// Whether the operator can end the program.
fn may_fail(op: BinaryOp, divisor: &Expr) -> bool {
    matches!(op, BinaryOp::Divide | BinaryOp::Remainder)
        && !matches!(divisor.kind, ExprKind::Int(value) if value != 0)
}

/// The expression `(void)e`, whose part is folded.
pub fn discarded(expr: Expr) -> Expr {
    match expr.kind {
        ExprKind::Convert(from) => discard(*from),
        kind => Expr { kind, ..expr },
    }
}

/// The effects of an expression, of type void (or never).
pub fn discard(expr: Expr) -> Expr {
    let Expr { ty, span, kind } = expr;
    if ty.is_void() {
        return Expr { ty, span, kind };
    }
    match kind {
        ExprKind::Convert(e) | ExprKind::Unary(_, e) | ExprKind::Field(e, _) => discard(*e),
        ExprKind::Deref(e) | ExprKind::AddressOf(e) => discard(*e),
        ExprKind::Binary(op, a, b) if may_fail(op, &b) => kept(ty, span, ExprKind::Binary(op, a, b)),
        ExprKind::Binary(_, a, b) | ExprKind::MinMax(_, a, b) => sequence(vec![discard(*a)], discard(*b)),
        ExprKind::And(a, b) => choice(span, *a, discard(*b)),
        ExprKind::Or(a, b) => choice(span, values::negated(*a), discard(*b)),
        ExprKind::Implies(a, b) => choice(span, *a, *b),
        ExprKind::Conditional(c, a, b) => {
            let branches = [discard(*a), discard(*b)].map(Box::new);
            let [a, b] = branches;
            conditional(Expr::new(Type::Void, span, ExprKind::Conditional(c, a, b)))
        }
        ExprKind::Sequence(mut parts) => {
            let last = parts.pop().map_or_else(|| Expr::nothing(span), discard);
            sequence(parts, last)
        }
        ExprKind::Let(bindings, body) => {
            let body = discard(*body);
            Expr::new(body.ty.clone(), span, ExprKind::Let(bindings, Box::new(body)))
        }
        ExprKind::Outline(level, e) => match discard(*e) {
            e if matches!(e.kind, ExprKind::Nothing) => e,
            e => Expr::new(e.ty.clone(), span, ExprKind::Outline(level, Box::new(e))),
        },
        ExprKind::Update { op: UpdateOp::MinMax(which), place, value, compute }
            if is_twice(&place, &value) =>
        {
            limit(span, which, *place, *value, compute)
        }
        ExprKind::Int(_) | ExprKind::Null | ExprKind::Str(_) => Expr::nothing(span),
        ExprKind::Local(_) | ExprKind::This | ExprKind::StaticField(_) => Expr::nothing(span),
        kind => kept(ty, span, kind),
    }
}

/// Whether a place and a value can as well be evaluated twice.
fn is_twice(place: &Expr, value: &Expr) -> bool {
    let simple = is_short_place(value, 3) || is_constant(value);
    simple && place.ty == value.ty && is_short_place(place, 3)
}

fn is_short_place(place: &Expr, depth: u32) -> bool {
    match &place.kind {
        _ if depth == 0 => false,
        ExprKind::Local(_) | ExprKind::This | ExprKind::StaticField(_) => true,
        ExprKind::Field(part, _) | ExprKind::Deref(part) => is_short_place(part, depth - 1),
        _ => false,
    }
}

/// `place min= value` is `if place >= value then place = value`, which stores only if it must; `max=` likewise.
fn limit(span: Span, which: MinMax, place: Expr, value: Expr, compute: Type) -> Expr {
    let circular = compute == Type::Int(IntType::Seqint);
    let op = match which {
        MinMax::Max => BinaryOp::Less,
        // Where neither of two seqints is less, the right one is taken.
        MinMax::Min if circular => BinaryOp::GreaterEqual,
        MinMax::Min => BinaryOp::Greater,
    };
    let operands = (Box::new(place.clone()), Box::new(value.clone()));
    let condition = Expr::new(Type::Bool, span, ExprKind::Binary(op, operands.0, operands.1));
    let ty = place.ty.clone();
    let store = kept(ty, span, ExprKind::Assign(Box::new(place), Box::new(value)));
    choice(span, condition, store)
}

fn kept(ty: Type, span: Span, kind: ExprKind) -> Expr {
    Expr::new(Type::Void, span, ExprKind::Convert(Box::new(Expr { ty, span, kind })))
}

/// `if c then e`.
fn choice(span: Span, c: Expr, e: Expr) -> Expr {
    let branches = (Box::new(e), Box::new(Expr::nothing(span)));
    conditional(Expr::new(Type::Void, span, ExprKind::Conditional(Box::new(c), branches.0, branches.1)))
}

/// Variables and what uses them, if that is nothing or ends with a constant: the variables need not be around it.
pub fn narrow_let(bindings: Vec<(LocalId, Option<Expr>)>, body: Expr, span: Span) -> Expr {
    match body.kind {
        ExprKind::Nothing | ExprKind::Int(_) | ExprKind::Null | ExprKind::Str(_) => {
            sequence(bindings.into_iter().filter_map(|(_, value)| value).map(discard).collect(), body)
        }
        ExprKind::Sequence(mut parts) if parts.last().is_some_and(is_constant) => {
            let last = parts.pop().unwrap_or_else(|| Expr::nothing(span));
            let inner = flat(parts, Type::Void, body.span);
            let around = Expr::new(inner.ty.clone(), span, ExprKind::Let(bindings, Box::new(inner)));
            sequence(vec![around], last)
        }
        kind => {
            let body = Box::new(Expr { kind, ..body });
            Expr::new(body.ty.clone(), span, ExprKind::Let(bindings, body))
        }
    }
}

/// Some void parts, then a last one.
pub fn sequence(mut parts: Vec<Expr>, last: Expr) -> Expr {
    let (ty, span) = (last.ty.clone(), last.span);
    parts.push(last);
    flat(parts, ty, span)
}

/// A sequence without sequences in it, without parts that do nothing, and without any after one that never ends.
pub fn flat(parts: Vec<Expr>, ty: Type, span: Span) -> Expr {
    let count = parts.len();
    let mut all: Vec<Expr> = Vec::with_capacity(count);
    for (i, part) in parts.into_iter().enumerate() {
        add(&mut all, part, i + 1 == count);
        if all.last().is_some_and(|last| last.ty == Type::Never) {
            break;
        }
    }
    if all.len() > 1 && all.last().is_some_and(|last| matches!(last.kind, ExprKind::Nothing)) {
        all.pop();
    }
    let ty = all.last().map_or(ty, |last| last.ty.clone());
    match all.len() {
        0 => Expr::nothing(span),
        1 => all.remove(0),
        _ => Expr::new(ty, span, ExprKind::Sequence(all)),
    }
}

fn add(all: &mut Vec<Expr>, part: Expr, is_last: bool) {
    match part.kind {
        ExprKind::Sequence(inner) => {
            let count = inner.len();
            for (i, part) in inner.into_iter().enumerate() {
                add(all, part, is_last && i + 1 == count);
            }
        }
        ExprKind::Nothing if !is_last => {}
        kind => all.push(Expr { kind, ..part }),
    }
}
