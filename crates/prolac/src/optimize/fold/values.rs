//! The rules for operators and conversions whose operands are folded.

use super::{compute_type, constant, discard, is_pure, known, sequence};
use crate::program::tree::{BinaryOp, Expr, ExprKind, UnaryOp, UpdateOp};
use crate::program::{Type, arith};

/// `Unary`, `Binary` and `MinMax`.
pub fn operator(expr: Expr) -> Expr {
    if let Some(value) = evaluate(&expr) {
        return constant(expr.ty, expr.span, value);
    }
    match expr.kind {
        ExprKind::Unary(UnaryOp::Not, of) => negated(*of),
        ExprKind::Binary(op, a, b) => binary(op, *a, *b, expr.ty, expr.span),
        kind => Expr { kind, ..expr },
    }
}

fn evaluate(expr: &Expr) -> Option<i64> {
    match &expr.kind {
        ExprKind::Unary(op, a) => Some(arith::unary(*op, compute_type(&a.ty)?, known(a)?)),
        ExprKind::Binary(op, a, b) => arith::binary(*op, compute_type(&a.ty)?, known(a)?, known(b)?),
        ExprKind::MinMax(which, a, b) => Some(arith::min_max(*which, a.ty.int()?, known(a)?, known(b)?)),
        _ => None,
    }
}

/// `!e` of a bool.
pub fn negated(expr: Expr) -> Expr {
    let (ty, span) = (expr.ty, expr.span);
    match expr.kind {
        ExprKind::Int(value) => Expr::bool(value == 0, span),
        ExprKind::Unary(UnaryOp::Not, of) => *of,
        ExprKind::Binary(op, a, b) if inverse(op).is_some() => {
            let op = inverse(op).unwrap_or(op);
            Expr::new(ty, span, ExprKind::Binary(op, a, b))
        }
        _ if ty == Type::Never => Expr { ty, span, kind: expr.kind },
        kind => {
            let of = Box::new(Expr { ty, span, kind });
            Expr::new(Type::Bool, span, ExprKind::Unary(UnaryOp::Not, of))
        }
    }
}

/// The comparison that holds exactly where this one does not; for seqints too, because all look at one difference.
fn inverse(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Less => BinaryOp::GreaterEqual,
        BinaryOp::Greater => BinaryOp::LessEqual,
        BinaryOp::LessEqual => BinaryOp::Greater,
        BinaryOp::GreaterEqual => BinaryOp::Less,
        BinaryOp::Equal => BinaryOp::NotEqual,
        BinaryOp::NotEqual => BinaryOp::Equal,
        _ => return None,
    })
}

fn binary(op: BinaryOp, a: Expr, b: Expr, ty: Type, span: clickwork_source::Span) -> Expr {
    let right = known(&b);
    let bool_value = (op == BinaryOp::Equal || op == BinaryOp::NotEqual).then(|| as_bool(&a)).flatten();
    match right {
        Some(value @ (0 | 1)) if bool_value.is_some() => {
            let same = (op == BinaryOp::Equal) == (value == 1);
            let a = bool_value.cloned().unwrap_or(a);
            return if same { a } else { negated(a) };
        }
        Some(value) if is_identity(op, value) && a.ty == ty => return a,
        Some(0) if is_zero(op) && a.ty == ty => return sequence(vec![discard(a)], constant(ty, span, 0)),
        _ => {}
    }
    match (op, known(&a)) {
        (BinaryOp::Add | BinaryOp::BitOr | BinaryOp::BitXor, Some(0)) if b.ty == ty => b,
        (BinaryOp::Multiply, Some(1)) if b.ty == ty => b,
        _ => Expr::new(ty, span, ExprKind::Binary(op, Box::new(a), Box::new(b))),
    }
}

/// `place op= value` that changes nothing is the place.
pub fn update(expr: Expr) -> Expr {
    let Expr { ty, span, kind } = expr;
    match kind {
        ExprKind::Update { op: UpdateOp::Binary(op), place, value, compute }
            if known(&value).is_some_and(|value| is_identity(op, value)) && keeps(&compute, &place.ty) =>
        {
            *place
        }
        kind => Expr { ty, span, kind },
    }
}

/// Whether a value of type `of` survives a conversion to `through` and back.
fn keeps(through: &Type, of: &Type) -> bool {
    match (through, of) {
        (Type::Int(through), Type::Int(of)) => through.bits() >= of.bits(),
        _ => through == of,
    }
}

/// The bool that an operand of a comparison is.
fn as_bool(expr: &Expr) -> Option<&Expr> {
    match &expr.kind {
        _ if expr.ty == Type::Bool => Some(expr),
        ExprKind::Convert(from) if from.ty == Type::Bool && expr.ty.is_int() => Some(from),
        _ => None,
    }
}

/// Whether `x op value` is `x`.
fn is_identity(op: BinaryOp, value: i64) -> bool {
    match op {
        BinaryOp::Add | BinaryOp::Subtract | BinaryOp::BitOr | BinaryOp::BitXor => value == 0,
        BinaryOp::ShiftLeft | BinaryOp::ShiftRight => value == 0,
        BinaryOp::Multiply | BinaryOp::Divide => value == 1,
        _ => false,
    }
}

/// Whether `x op 0` is 0.
fn is_zero(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Multiply | BinaryOp::BitAnd)
}

/// A conversion to anything but void.
pub fn convert(expr: Expr) -> Expr {
    let ExprKind::Convert(from) = expr.kind else { return expr };
    if from.ty == expr.ty || from.ty == Type::Never {
        return *from;
    }
    if let Some(value) = converted(&expr.ty, &from) {
        return constant(expr.ty, expr.span, value);
    }
    match from.kind {
        ExprKind::Null if expr.ty.pointee().is_some() => Expr { ty: expr.ty, ..*from },
        ExprKind::Convert(inner) if changes_nothing(&expr.ty, &from.ty, &inner.ty) => {
            convert(Expr { kind: ExprKind::Convert(inner), ..expr })
        }
        kind => Expr { kind: ExprKind::Convert(Box::new(Expr { kind, ..*from })), ..expr },
    }
}

fn converted(to: &Type, from: &Expr) -> Option<i64> {
    match &from.kind {
        ExprKind::Int(value) => arith::convert(to, *value),
        ExprKind::Null if *to == Type::Bool => Some(0),
        ExprKind::Str(_) if *to == Type::Bool => Some(1),
        ExprKind::AddressOf(place) if *to == Type::Bool && is_object(place) && is_pure(from) => Some(1),
        _ => None,
    }
}

/// Whether a place is a variable or a part of one, not something behind a pointer.
fn is_object(place: &Expr) -> bool {
    match &place.kind {
        ExprKind::Local(_) | ExprKind::This | ExprKind::StaticField(_) => true,
        ExprKind::Field(object, _) => is_object(object),
        _ => false,
    }
}

/// Whether `(to)(middle)x` is `(to)x` for an `x` of type `from`.
fn changes_nothing(to: &Type, middle: &Type, from: &Type) -> bool {
    match (to, middle, from) {
        (Type::Pointer(_) | Type::Bool, Type::Pointer(_), Type::Pointer(_)) => true,
        (Type::Bool | Type::Int(_), Type::Int(_), Type::Bool) => true,
        // A wider type in the middle keeps every value; the low bits decide if the result is narrower.
        (Type::Int(to), Type::Int(middle), Type::Int(from)) => {
            to.bits() <= middle.bits()
                || (middle.bits() > from.bits() && (middle.is_signed() || !from.is_signed()))
                || (middle.bits() == from.bits() && middle.is_signed() == from.is_signed())
        }
        (Type::Bool, Type::Int(middle), Type::Int(from)) => middle.bits() >= from.bits(),
        _ => false,
    }
}
