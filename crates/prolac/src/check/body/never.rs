//! Expressions that never have a value because an operand raises an exception: of `f(a, stop, b)` there remains that `a`
//! is computed and `stop` raised. So operands, arguments and initial values in typed trees always have values; only the
//! right side of `&&` and `||`, branches of choices and members of rows can be without.

use clickwork_source::Span;

use super::control::in_a_row;
use super::convert::{decay, discard};
use crate::program::Type;
use crate::program::tree::Expr;

/// Whether an expression never has a value.
pub(super) fn is_never(e: &Expr) -> bool {
    e.ty == Type::Never
}

/// What is left of something with these operands, in the order of evaluation, one of which [`is_never`].
pub(super) fn cut_short(operands: impl IntoIterator<Item = Expr>, span: Span) -> Expr {
    let mut all = Vec::new();
    for operand in operands {
        let last = is_never(&operand);
        all.push(discard(decay(operand)));
        if last {
            break;
        }
    }
    in_a_row(all, span)
}
