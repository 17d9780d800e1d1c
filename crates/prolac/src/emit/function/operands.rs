//! Which expressions C can say as expressions, and operands in their order.
//!
//! C evaluates operands in any order. Where the order can be told, the earlier operand goes to a variable first.

use super::Function;
use super::lower::writes_inside;
use crate::emit::effects::Effects;
use crate::emit::text::C;
use crate::program::tree::{Call, Dispatch, Expr, ExprKind, UpdateOp};
use crate::program::{IntType, Type};

impl<'a> Function<'a> {
    /// Whether `value` makes no statements for it.
    pub(super) fn is_simple(&mut self, e: &'a Expr) -> bool {
        let key: *const Expr = e;
        if let Some(&known) = self.simple.get(&key) {
            return known;
        }
        let answer = self.find_simple(e);
        self.simple.insert(key, answer);
        answer
    }

    fn find_simple(&mut self, e: &'a Expr) -> bool {
        match &e.kind {
            ExprKind::Int(_)
            | ExprKind::Null
            | ExprKind::Str(_)
            | ExprKind::Local(_)
            | ExprKind::This
            | ExprKind::StaticField(_) => true,
            ExprKind::Convert(inner) => !e.ty.is_void() && self.is_simple(inner),
            ExprKind::AddressOf(place) => place.is_place() && self.is_simple(place),
            ExprKind::Field(inner, _)
            | ExprKind::Deref(inner)
            | ExprKind::Unary(_, inner)
            | ExprKind::Outline(_, inner) => self.is_simple(inner),
            ExprKind::Binary(_, a, b) | ExprKind::MinMax(_, a, b) => self.are_simple(&[a, b]),
            ExprKind::And(a, b) | ExprKind::Or(a, b) => {
                e.ty == Type::Bool && self.is_simple(a) && self.is_simple(b)
            }
            ExprKind::Conditional(test, a, b) => {
                !e.ty.is_void()
                    && !matches!(e.ty, Type::Module(_))
                    && !a.ty.is_void()
                    && !b.ty.is_void()
                    && [test, a, b].into_iter().all(|part| self.is_simple(part))
            }
            ExprKind::Sequence(all) => matches!(&all[..], [only] if self.is_simple(only)),
            ExprKind::Call(call) => !e.ty.is_void() && self.is_simple_call(e, call),
            ExprKind::Assign(place, value) => {
                self.is_plain_assignment(place)
                    && self.is_simple(value)
                    && !self.place_conflicts(place, value)
                    && !(writes_inside(value) && self.scan.write(place).conflicts(self.effects(value)))
            }
            ExprKind::Update { op, place, value, compute } => {
                self.is_c_update(*op, place, value, compute)
                    && self.is_simple(value)
                    && !self.effects(place).conflicts(self.effects(value))
            }
            ExprKind::Step { place, postfix, .. } => {
                self.is_plain_assignment(place) && (!*postfix || !is_wide_signed(&place.ty))
            }
            _ => false,
        }
    }

    fn is_simple_call(&mut self, e: &'a Expr, call: &'a Call) -> bool {
        let direct = match (call.dispatch, &call.receiver) {
            (Dispatch::Dynamic, Some(receiver)) => {
                !self.unit.has_table(call) || self.is_repeatable_value(receiver)
            }
            _ => true,
        };
        direct
            && !self.tails.contains(&std::ptr::from_ref(e))
            && self.scan.call_throws(call).is_empty()
            && self.are_simple(&call.receiver.iter().chain(&call.args).collect::<Vec<_>>())
    }

    /// Whether C can say all of them at once, in any order.
    fn are_simple(&mut self, all: &[&'a Expr]) -> bool {
        all.iter().all(|e| self.is_simple(e)) && !self.saved(all).contains(&true)
    }

    /// A place that an assignment inside of an expression can name.
    pub(super) fn is_plain_assignment(&mut self, place: &'a Expr) -> bool {
        self.unit.spared_module(place).is_none() && self.is_simple(place)
    }

    pub(super) fn place_conflicts(&self, place: &Expr, value: &Expr) -> bool {
        self.scan.address(place).conflicts(self.effects(value))
    }

    /// Whether C's own operator does what the update does.
    pub(super) fn is_c_update(
        &mut self,
        op: UpdateOp,
        place: &'a Expr,
        value: &'a Expr,
        compute: &Type,
    ) -> bool {
        let UpdateOp::Binary(op) = op else { return false };
        self.is_plain_assignment(place) && super::assign::has_c_form(op, &place.ty, value, compute)
    }

    /// Whether a pointer can be written twice.
    pub(super) fn is_repeatable_value(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Local(_) | ExprKind::This | ExprKind::StaticField(_) => true,
            ExprKind::AddressOf(inner) | ExprKind::Field(inner, _) | ExprKind::Convert(inner) => {
                self.is_repeatable_value(inner)
            }
            ExprKind::Deref(inner) => self.is_repeatable_value(inner),
            _ => false,
        }
    }

    /// For each operand, whether it must be evaluated before the later ones are.
    fn saved(&self, all: &[&Expr]) -> Vec<bool> {
        let effects: Vec<Effects> = all.iter().map(|e| self.effects(e)).collect();
        let mut later = Effects::default();
        let mut saved = vec![false; all.len()];
        for i in (0..all.len()).rev() {
            saved[i] = effects[i].conflicts(later);
            later = later.and(effects[i]);
        }
        saved
    }

    /// The values of operands that are evaluated from left to right.
    pub(super) fn operands(&mut self, all: &[&'a Expr]) -> Vec<C> {
        let saved = self.saved(all);
        let mut values = Vec::with_capacity(all.len());
        for (e, saved) in all.iter().zip(saved) {
            let value = self.value(e);
            values.push(if saved { self.temporary(&self.wish_for(e), &e.ty, &value) } else { value });
        }
        values
    }
}

/// Whether C's `++` could overflow.
pub(super) fn is_wide_signed(ty: &Type) -> bool {
    matches!(ty, Type::Int(IntType::Int | IntType::Long))
}
