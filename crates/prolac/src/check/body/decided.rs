//! Comparisons that the types decide: `uchar > 300` is never true.

use clickwork_source::{Diagnostic, Span};

use super::BodyChecker;
use crate::program::tree::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::program::{IntType, Type};

impl BodyChecker<'_, '_> {
    /// Warns if the type of one operand decides how it compares with a number. `common` is the type of the comparison.
    pub(super) fn warn_decided(&mut self, op: BinaryOp, a: &Expr, b: &Expr, common: IntType, span: Span) {
        let (op, value, number) = match (number(a), number(b)) {
            (None, Some(number)) => (op, a, number),
            (Some(number), None) => (turned(op), b, number),
            _ => return,
        };
        let ordered = !matches!(op, BinaryOp::Equal | BinaryOp::NotEqual);
        let Type::Int(int) = value.ty else { return };
        if common == IntType::Seqint && ordered {
            return;
        }
        let (least, most) = if holds(common, int) { range(int) } else { range(common) };
        let Some(result) = decided(op, (least, most), exact(common, number)) else { return };
        let name = int.keyword();
        let message =
            format!("this is always {result}: {} `{name}` is from {least} to {most} here", article(name));
        let hint = match () {
            () if least == 0 && number <= 0 => "an unsigned number is never negative",
            () => "compare it with a number that it can be, or give it a wider type",
        };
        self.report(Diagnostic::warning(span, message).hint(hint));
    }
}

/// The value of a written number.
fn number(e: &Expr) -> Option<i64> {
    match &e.kind {
        ExprKind::Int(value) if e.ty.is_int() => Some(*value),
        ExprKind::Unary(UnaryOp::Negate, inner) => number(inner).map(i64::wrapping_neg),
        _ => None,
    }
}

/// What a number of this type stands for.
fn exact(int: IntType, value: i64) -> i128 {
    let value = int.wrap(value);
    if int == IntType::Ulong { i128::from(value as u64) } else { i128::from(value) }
}

fn range(int: IntType) -> (i128, i128) {
    let bits = int.bits();
    if int.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// Whether all numbers of one type stay what they are in another.
fn holds(outer: IntType, inner: IntType) -> bool {
    let ((a, b), (c, d)) = (range(outer), range(inner));
    a <= c && d <= b
}

/// `a op b` as `b op a`.
fn turned(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Less => BinaryOp::Greater,
        BinaryOp::Greater => BinaryOp::Less,
        BinaryOp::LessEqual => BinaryOp::GreaterEqual,
        BinaryOp::GreaterEqual => BinaryOp::LessEqual,
        other => other,
    }
}

/// The result for all numbers of a range, if it is one.
fn decided(op: BinaryOp, (least, most): (i128, i128), number: i128) -> Option<bool> {
    let outside = number < least || number > most;
    let (always, never) = match op {
        BinaryOp::Less => (most < number, least >= number),
        BinaryOp::LessEqual => (most <= number, least > number),
        BinaryOp::Greater => (least > number, most <= number),
        BinaryOp::GreaterEqual => (least >= number, most < number),
        BinaryOp::Equal => (false, outside),
        BinaryOp::NotEqual => (outside, false),
        _ => (false, false),
    };
    always.then_some(true).or_else(|| never.then_some(false))
}

fn article(name: &str) -> &'static str {
    if name.starts_with('i') { "an" } else { "a" }
}
