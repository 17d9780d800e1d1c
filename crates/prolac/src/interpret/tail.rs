//! Expressions in tail position: what comes last in a method and needs none of its room any more.
//!
//! The last of a sequence, the branches of a choice, the body of a `let`, the right side of `&&` and `||`, and, in a method
//! without a value, the right side of `==>` are in tail position. A call there ends the method before it happens. What
//! a handler surrounds is not.

use super::Value;
use super::machine::{Eval, Invocation, Machine};
use crate::program::Type;
use crate::program::tree::{Expr, ExprKind};

/// What a method does in the end.
pub(super) enum Step {
    Value(Value),
    Call(Invocation),
}

/// Whether the value of an expression in tail position is used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Value,
    Nothing,
}

impl<'p> Machine<'p> {
    /// Evaluates an expression in tail position up to a call that is left to do.
    pub(super) fn tail(&mut self, e: &'p Expr, wanted: Wanted) -> Eval<Step> {
        self.enter(e.span)?;
        let step = self.tail_form(e, wanted);
        self.leave();
        step
    }

    fn tail_form(&mut self, e: &'p Expr, wanted: Wanted) -> Eval<Step> {
        match &e.kind {
            ExprKind::Outline(_, inner) => self.tail(inner, wanted),
            ExprKind::Convert(inner) if keeps_tail(&e.ty, inner) => self.tail(inner, wanted),
            ExprKind::Sequence(all) => self.tail_sequence(e, all, wanted),
            ExprKind::Conditional(condition, a, b) => {
                let chosen = if self.condition(condition)? { a } else { b };
                self.tail(chosen, wanted)
            }
            ExprKind::Let(bindings, body) => {
                self.bind(bindings)?;
                self.tail(body, wanted)
            }
            ExprKind::And(a, b) => self.tail_if(a, true, b, wanted),
            ExprKind::Or(a, b) => self.tail_if(a, false, b, wanted),
            ExprKind::Implies(a, b) if wanted == Wanted::Nothing => self.tail_if(a, true, b, wanted),
            ExprKind::Call(call) => Ok(Step::Call(self.prepare(call, e.span)?)),
            _ => Ok(Step::Value(self.eval(e)?)),
        }
    }

    /// `b` if the value of `a` is `proceed`; otherwise that value.
    fn tail_if(&mut self, a: &'p Expr, proceed: bool, b: &'p Expr, wanted: Wanted) -> Eval<Step> {
        let value = self.condition(a)?;
        if value == proceed { self.tail(b, wanted) } else { Ok(Step::Value(Value::Bool(value))) }
    }

    fn tail_sequence(&mut self, e: &'p Expr, all: &'p [Expr], wanted: Wanted) -> Eval<Step> {
        let Some((last, others)) = all.split_last() else { return Ok(Step::Value(self.eval(e)?)) };
        for part in others {
            self.effect(part)?;
        }
        self.tail(last, wanted)
    }
}

/// Whether a conversion changes nothing that the caller of a method would notice.
fn keeps_tail(to: &Type, from: &Expr) -> bool {
    match (to, &from.ty) {
        (Type::Void, _) => !from.is_place(),
        (Type::Pointer(_), Type::Pointer(_)) => true,
        _ => false,
    }
}
