//! Which values an integer expression can have, as far as its form tells: enough to see that `byte + 1` cannot overflow.

use crate::program::tree::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::program::{IntType, Type};

/// The least and the greatest value.
pub(super) type Range = (i128, i128);

/// How deep an expression is looked into.
const DEPTH: u32 = 4;

/// The values that a type has.
pub(super) fn of_int(int: IntType) -> Range {
    let bits = int.bits();
    if int.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// Whether all of `inner` lies in `outer`.
pub(super) fn within(inner: Range, outer: Range) -> bool {
    outer.0 <= inner.0 && inner.1 <= outer.1
}

/// The values of an integer or bool expression.
pub(super) fn of(e: &Expr) -> Range {
    find(e, DEPTH)
}

/// What `a op b` would give if there were no limits; `None` for operations that are not followed.
pub(super) fn unlimited(op: BinaryOp, a: &Expr, b: &Expr) -> Option<Range> {
    combine(op, of(a), of(b))
}

fn of_type(ty: &Type) -> Range {
    match ty {
        Type::Bool => (0, 1),
        Type::Int(int) => of_int(*int),
        _ => (i128::from(i64::MIN), i128::from(u64::MAX)),
    }
}

fn find(e: &Expr, depth: u32) -> Range {
    let all = of_type(&e.ty);
    if depth == 0 {
        return all;
    }
    let found = match &e.kind {
        ExprKind::Int(value) if e.ty.int() == Some(IntType::Ulong) => {
            Some((i128::from(*value as u64), i128::from(*value as u64)))
        }
        ExprKind::Int(value) => Some((i128::from(*value), i128::from(*value))),
        ExprKind::Convert(inner) if inner.ty.is_int() || inner.ty == Type::Bool => {
            Some(find(inner, depth - 1))
        }
        ExprKind::Outline(_, inner) => Some(find(inner, depth - 1)),
        ExprKind::Unary(UnaryOp::Negate, inner) => Some(negated(find(inner, depth - 1))),
        ExprKind::Binary(op, a, b) if a.ty.is_int() => combine(*op, find(a, depth - 1), find(b, depth - 1)),
        ExprKind::Conditional(_, a, b) => Some(union(find(a, depth - 1), find(b, depth - 1))),
        _ => None,
    };
    found.filter(|&range| within(range, all)).unwrap_or(all)
}

fn negated((low, high): Range) -> Range {
    (-high, -low)
}

fn union(a: Range, b: Range) -> Range {
    (a.0.min(b.0), a.1.max(b.1))
}

fn combine(op: BinaryOp, a: Range, b: Range) -> Option<Range> {
    match op {
        BinaryOp::Add => Some((a.0 + b.0, a.1 + b.1)),
        BinaryOp::Subtract => Some((a.0 - b.1, a.1 - b.0)),
        BinaryOp::Multiply => product(a, b),
        BinaryOp::BitAnd if a.0 >= 0 && b.0 >= 0 => Some((0, a.1.min(b.1))),
        BinaryOp::BitAnd if a.0 >= 0 => Some((0, a.1)),
        BinaryOp::BitAnd if b.0 >= 0 => Some((0, b.1)),
        BinaryOp::BitOr | BinaryOp::BitXor if a.0 >= 0 && b.0 >= 0 => Some((0, mask(a.1 | b.1))),
        BinaryOp::ShiftLeft if b.0 == b.1 && (0..32).contains(&b.0) => product(a, (1 << b.0, 1 << b.0)),
        BinaryOp::ShiftRight if b.0 == b.1 && (0..64).contains(&b.0) => Some((a.0 >> b.0, a.1 >> b.0)),
        BinaryOp::Remainder if a.0 >= 0 && b.0 > 0 => Some((0, a.1.min(b.1 - 1))),
        BinaryOp::Divide if a.0 >= 0 && b.0 > 0 => Some((a.0 / b.1, a.1 / b.0)),
        _ => None,
    }
}

fn product(a: Range, b: Range) -> Option<Range> {
    let corners =
        [a.0.checked_mul(b.0)?, a.0.checked_mul(b.1)?, a.1.checked_mul(b.0)?, a.1.checked_mul(b.1)?];
    Some((corners.into_iter().min()?, corners.into_iter().max()?))
}

/// The least number of the form `111..1` that is not below.
fn mask(value: i128) -> i128 {
    (1 << (128 - value.leading_zeros())) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use clickwork_source::Span;

    fn byte() -> Expr {
        let this = Expr::new(Type::Int(IntType::Uchar), Span::NONE, ExprKind::This);
        Expr::new(Type::INT, Span::NONE, ExprKind::Convert(Box::new(this)))
    }

    fn int(value: i64) -> Expr {
        Expr::new(Type::INT, Span::NONE, ExprKind::Int(value))
    }

    #[test]
    fn bytes_stay_small() {
        assert_eq!(unlimited(BinaryOp::Add, &byte(), &int(1)), Some((1, 256)));
        assert_eq!(unlimited(BinaryOp::Multiply, &byte(), &int(-2)), Some((-510, 0)));
        assert_eq!(unlimited(BinaryOp::BitOr, &byte(), &int(256)), Some((0, 511)));
        assert_eq!(unlimited(BinaryOp::ShiftLeft, &byte(), &int(8)), Some((0, 65280)));
    }

    #[test]
    fn what_could_wrap_has_the_range_of_its_type() {
        let all = Expr::new(Type::INT, Span::NONE, ExprKind::This);
        let sum = ExprKind::Binary(BinaryOp::Add, Box::new(all), Box::new(int(1)));
        assert_eq!(of(&Expr::new(Type::INT, Span::NONE, sum)), of_int(IntType::Int));
    }
}
