//! Arithmetic on integer values: what every operator gives, for all parts of the compiler.
//!
//! The checker's constants, the optimiser's folding and the interpreter use these functions, and the C that `emit` writes
//! gives the same results. Values are held as [`IntType::wrap`] leaves them, and results are too. A bool is 0 or 1; to
//! compare two of them, call them `int`.
//!
//! Integers wrap at their width, so that the least `int` divided by -1 is itself. A shift counts modulo the width of its
//! left operand, in two's complement (`x << -1` of an `int` shifts by 31). Seqints compare by the sign of their difference:
//! `a < b` if `(int)(a - b) < 0`; all else is done with them as with `uint`.

use super::tree::{BinaryOp, MinMax, UnaryOp, UpdateOp};
use super::{IntType, Type};

/// `op a` for an operand of type `ty`; `!a` gives a bool.
pub fn unary(op: UnaryOp, ty: IntType, a: i64) -> i64 {
    match op {
        UnaryOp::Negate => ty.wrap(a.wrapping_neg()),
        UnaryOp::BitNot => ty.wrap(!a),
        UnaryOp::Not => (a == 0).into(),
    }
}

/// `a op b` for a left operand of type `ty`; the right one has the same type, or any for a shift. A comparison gives a
/// bool. `None` if it divides by zero.
pub fn binary(op: BinaryOp, ty: IntType, a: i64, b: i64) -> Option<i64> {
    let value = match op {
        BinaryOp::Multiply => a.wrapping_mul(b),
        BinaryOp::Divide | BinaryOp::Remainder => divide(op, ty, a, b)?,
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Subtract => a.wrapping_sub(b),
        BinaryOp::ShiftLeft => a << shift_count(ty, b),
        BinaryOp::ShiftRight => shift_right(ty, a, shift_count(ty, b)),
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::BitOr => a | b,
        _ => return Some(compare(op, ty, a, b).into()),
    };
    Some(ty.wrap(value))
}

/// The lesser or greater of two values of one type. If neither of two seqints is less, because half the circle lies
/// between them, then the order counts: `min(a, b)` is `a < b ? a : b` and `max(a, b)` is `a < b ? b : a`.
pub fn min_max(which: MinMax, ty: IntType, a: i64, b: i64) -> i64 {
    let first = compare(BinaryOp::Less, ty, a, b) == (which == MinMax::Min);
    if first { a } else { b }
}

/// What an update computes, before it is converted back to the type of the place.
pub fn update(op: UpdateOp, ty: IntType, a: i64, b: i64) -> Option<i64> {
    match op {
        UpdateOp::Binary(op) => binary(op, ty, a, b),
        UpdateOp::MinMax(which) => Some(min_max(which, ty, a, b)),
    }
}

/// The value of an integer or bool as type `to`; `None` if that is neither an integer type nor bool.
pub fn convert(to: &Type, value: i64) -> Option<i64> {
    match to {
        Type::Bool => Some((value != 0).into()),
        Type::Int(int) => Some(int.wrap(value)),
        _ => None,
    }
}

/// How far a shift of a value of type `ty` goes.
pub fn shift_count(ty: IntType, count: i64) -> u32 {
    count as u32 & (ty.bits() - 1)
}

fn divide(op: BinaryOp, ty: IntType, a: i64, b: i64) -> Option<i64> {
    if b == 0 {
        return None;
    }
    Some(match (op == BinaryOp::Divide, ty.is_signed()) {
        (true, true) => a.wrapping_div(b),
        (true, false) => (a as u64 / b as u64) as i64,
        (false, true) => a.wrapping_rem(b),
        (false, false) => (a as u64 % b as u64) as i64,
    })
}

fn shift_right(ty: IntType, a: i64, count: u32) -> i64 {
    if ty.is_signed() { a >> count } else { (a as u64 >> count) as i64 }
}

/// Any operator that is no comparison holds never.
fn compare(op: BinaryOp, ty: IntType, a: i64, b: i64) -> bool {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let order = match ty {
        IntType::Seqint => IntType::Int.wrap(a.wrapping_sub(b)).cmp(&0),
        IntType::Ulong => (a as u64).cmp(&(b as u64)),
        _ => a.cmp(&b),
    };
    match op {
        BinaryOp::Less => order == Less,
        BinaryOp::Greater => order == Greater,
        BinaryOp::LessEqual => order != Greater,
        BinaryOp::GreaterEqual => order != Less,
        BinaryOp::Equal => order == Equal,
        BinaryOp::NotEqual => order != Equal,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::BinaryOp::*;
    use super::IntType::*;
    use super::*;

    #[test]
    fn results_wrap() {
        assert_eq!(binary(Add, Int, 0x7fff_ffff, 1), Some(-0x8000_0000));
        assert_eq!(binary(Subtract, Uint, 0, 1), Some(0xffff_ffff));
        assert_eq!(binary(Multiply, Seqint, 0x8000_0001, 2), Some(2));
        assert_eq!(binary(Multiply, Long, i64::MAX, 2), Some(-2));
        assert_eq!(unary(UnaryOp::Negate, Uint, 1), 0xffff_ffff);
        assert_eq!(unary(UnaryOp::BitNot, Uchar, 1), 0xfe);
    }

    #[test]
    fn division_follows_the_sign_and_never_fails_but_by_zero() {
        assert_eq!(binary(Divide, Int, -7, 2), Some(-3));
        assert_eq!(binary(Remainder, Int, -7, 2), Some(-1));
        assert_eq!(binary(Divide, Ulong, -1, 2), Some(i64::MAX));
        assert_eq!(binary(Divide, Int, -0x8000_0000, -1), Some(-0x8000_0000));
        assert_eq!(binary(Remainder, Long, i64::MIN, -1), Some(0));
        assert_eq!(binary(Divide, Int, 1, 0), None);
        assert_eq!(binary(Remainder, Seqint, 1, 0), None);
    }

    #[test]
    fn shifts_count_modulo_the_width() {
        assert_eq!(binary(ShiftLeft, Int, 1, 33), Some(2));
        assert_eq!(binary(ShiftLeft, Int, 1, -1), Some(-0x8000_0000));
        assert_eq!(binary(ShiftRight, Int, -8, 1), Some(-4));
        assert_eq!(binary(ShiftRight, Seqint, 0xffff_fff8, 1), Some(0x7fff_fffc));
        assert_eq!(binary(ShiftRight, Ulong, -8, 65), Some(0x7fff_ffff_ffff_fffc));
    }

    #[test]
    fn seqints_compare_on_the_circle() {
        assert_eq!(binary(Less, Seqint, 0xffff_fff0, 16), Some(1));
        assert_eq!(binary(Less, Uint, 0xffff_fff0, 16), Some(0));
        assert_eq!(binary(Greater, Seqint, 16, 0xffff_fff0), Some(1));
        assert_eq!(min_max(MinMax::Min, Seqint, 16, 0xffff_fff0), 0xffff_fff0);
        assert_eq!(min_max(MinMax::Max, Seqint, 16, 0xffff_fff0), 16);
        assert_eq!(binary(LessEqual, Ulong, -1, 1), Some(0));
    }

    #[test]
    fn opposite_seqints_are_taken_in_order() {
        let (a, b) = (5, 0x8000_0005);
        assert_eq!(binary(Less, Seqint, a, b), Some(1));
        assert_eq!(binary(Less, Seqint, b, a), Some(1));
        assert_eq!((min_max(MinMax::Min, Seqint, a, b), min_max(MinMax::Max, Seqint, a, b)), (a, b));
    }

    #[test]
    fn conversions_wrap_and_bools_are_one() {
        assert_eq!(convert(&Type::Int(Char), 255), Some(-1));
        assert_eq!(convert(&Type::Bool, 256), Some(1));
        assert_eq!(convert(&Type::Void, 1), None);
    }
}
