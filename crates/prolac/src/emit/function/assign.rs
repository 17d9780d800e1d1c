//! Assignments, updates and steps.

use super::lower::writes_inside;
use super::operands::is_wide_signed;
use super::value::constant;
use super::{Dest, Function, Target};
use crate::emit::helpers::Helper;
use crate::emit::ranges::{self, within};
use crate::emit::stmt::StmtKind;
use crate::emit::tables;
use crate::emit::text::{C, Kind, level};
use crate::emit::types;
use crate::program::tree::{BinaryOp, Expr, ExprKind, UpdateOp};
use crate::program::{IntType, Type};

/// Whether C's `op=` on a place of that type does what Prolac's does.
pub(super) fn has_c_form(op: BinaryOp, place: &Type, value: &Expr, compute: &Type) -> bool {
    match (place, compute) {
        (Type::Pointer(_), _) => true,
        (Type::Int(int), Type::Int(wide)) if wide.bits() < int.bits() => false,
        (Type::Int(int), Type::Int(_)) => match op {
            BinaryOp::Divide | BinaryOp::Remainder => false,
            BinaryOp::ShiftLeft => !int.is_signed() && int.bits() >= 32 && *place == *compute,
            BinaryOp::ShiftRight => {
                let narrow = int.bits() < 32 && *compute == Type::INT;
                *place == *compute || narrow && within(ranges::of(value), (0, i128::from(int.bits()) - 1))
            }
            BinaryOp::Multiply if int.bits() < 32 => false,
            _ => true,
        },
        (Type::Bool, Type::Int(_)) => false,
        _ => value.ty == Type::Bool && *place == Type::Bool,
    }
}

impl<'a> Function<'a> {
    /// `place = value;`
    pub(super) fn assign(&mut self, place: &'a Expr, value: &'a Expr) {
        if let (ExprKind::Local(to), ExprKind::Local(from)) = (&place.kind, &value.kind)
            && to == from
        {
            return;
        }
        let conflict = self.place_conflicts(place, value);
        let target = if conflict { self.fixed_place(place) } else { self.place(place) };
        let write = self.scan.write(place);
        let spared = self.unit.spared_module(place);
        let target = Target { text: target.text, ty: place.ty.clone(), fresh: false, write, spared };
        if target.spared.is_some() && value.is_place() && self.is_simple(value) {
            // The tables of the value do not count.
            let value = self.place(value);
            return self.store(&target, &value);
        }
        self.lower_to(value, &Dest::Store(target));
    }

    pub(super) fn store(&mut self, target: &Target, value: &C) {
        let text = self.assignable(value, &target.ty);
        match target.spared {
            Some(module) => {
                self.needs.assigned.insert(module);
                let function = tables::assign_name(self.unit, module);
                let address = match target.text.strip_prefix('*') {
                    Some(pointer) => pointer.to_string(),
                    None => format!("&{}", target.text),
                };
                self.push(StmtKind::Do(format!("{function}({address}, {text})")));
            }
            _ if text == target.text => {}
            _ => self.push(StmtKind::Store { place: target.text.clone(), value: text }),
        }
    }

    /// A place that can be written twice and does not change, through a pointer if need be.
    fn fixed_place(&mut self, place: &'a Expr) -> C {
        if let ExprKind::Local(_) | ExprKind::StaticField(_) = &place.kind {
            return self.place(place);
        }
        let ty = Type::pointer(place.ty.clone());
        let address = self.address(place, &ty);
        let pointer = self.temporary("place", &ty, &address);
        C::new(format!("*{}", pointer.text), level::UNARY, Kind::of(&place.ty))
    }

    /// A place that can be written twice.
    fn repeatable_place(&mut self, place: &'a Expr, value: Option<&'a Expr>) -> C {
        let safe = self.is_repeatable_value(place)
            && value.is_none_or(|value| !self.scan.address(place).conflicts(self.effects(value)));
        if safe { self.place(place) } else { self.fixed_place(place) }
    }

    /// `place = value` inside of an expression.
    pub(super) fn assign_value(&mut self, place: &'a Expr, value: &'a Expr) -> C {
        let target = self.place(place);
        let value = self.value(value);
        let text = self.assignable(&value, &place.ty);
        C::new(format!("{} = {text}", target.text), level::ASSIGN, Kind::of(&place.ty))
    }

    /// A simple update or step inside of an expression.
    pub(super) fn update_value(&mut self, e: &'a Expr) -> C {
        let text = match &e.kind {
            ExprKind::Step { place, up, postfix } => {
                let target = self.place(place);
                self.step_text(&target, &place.ty, *up, *postfix)
            }
            ExprKind::Update { op: UpdateOp::Binary(op), place, value, .. } => {
                let target = self.place(place);
                self.update_text(*op, &target, place, value)
            }
            _ => return self.by_statements(e),
        };
        C::new(text, level::ASSIGN, Kind::of(&e.ty))
    }

    fn step_text(&mut self, place: &C, ty: &Type, up: bool, postfix: bool) -> String {
        let op = if up { '+' } else { '-' };
        if is_wide_signed(ty) {
            let one = if *ty == Type::INT { "1u" } else { "1ull" };
            return format!("{} {op}= {one}", place.text);
        }
        if postfix {
            format!("{}{op}{op}", place.operand(level::POSTFIX, false))
        } else {
            format!("{op}{op}{}", place.operand(level::UNARY, true))
        }
    }

    /// `place op= value` where C's operator fits.
    fn update_text(&mut self, op: BinaryOp, target: &C, place: &'a Expr, value: &'a Expr) -> String {
        let right = match (&place.ty, ranges::of(value)) {
            (Type::Int(int), (low, high))
                if low == high
                    && !op.is_shift()
                    && !within((low, high), ranges::of_int(*int))
                    && !self.effects(value).has_effect() =>
            {
                // Only the low bits matter, and C compilers warn of the others.
                constant(int.wrap(low as i64), *int, false)
            }
            _ => self.value(value),
        };
        let right = match &place.ty {
            Type::Int(int) if op.is_shift() => self.shift_count(right, value, *int),
            Type::Int(int) => self.update_operand(op, *int, right, value),
            Type::Pointer(_) => self.exact_int(right, &value.ty),
            _ => right,
        };
        format!("{} {}= {}", target.text, op.symbol(), right.operand(level::ASSIGN, true))
    }

    fn shift_count(&mut self, count: C, value: &Expr, int: IntType) -> C {
        let width = i128::from(int.bits().max(32)) - 1;
        match ranges::of(value) {
            range if within(range, (0, width)) => count,
            (low, high) if low == high => {
                C::literal(low.rem_euclid(width + 1).to_string(), Kind::Int(32, true))
            }
            _ => C::truth(format!("{} & {width}", count.operand(level::BIT_AND, false)), level::BIT_AND),
        }
    }

    /// A right operand with which `op=` on an integer cannot overflow.
    fn update_operand(&mut self, op: BinaryOp, int: IntType, right: C, value: &Expr) -> C {
        let bitwise = matches!(op, BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor);
        let (bits, signed) = right.kind.promoted();
        let no_overflow = bitwise || !signed && bits >= int.bits() || !int.is_signed() && int.bits() >= bits;
        let narrow = int.bits() < 32 && right.exact && within(ranges::of(value), (-(1 << 30), 1 << 30));
        if no_overflow || narrow {
            return right;
        }
        if right.literal && int.bits() <= 32 && !right.text.starts_with(['-', '(', '\'']) {
            return C::literal(format!("{}u", right.text), Kind::Int(32, false));
        }
        let bits = int.bits().max(32);
        right.cast(types::unsigned(bits), Kind::Int(bits, false))
    }

    /// An update or step whose value nobody wants.
    pub(super) fn update_statement(&mut self, e: &'a Expr) {
        match &e.kind {
            ExprKind::Step { place, up, .. } => {
                let target = self.place(place);
                let text = self.step_text(&target, &place.ty, *up, true);
                self.push(StmtKind::Do(text));
            }
            ExprKind::Update { op: UpdateOp::Binary(op), place, value, compute }
                if has_c_form(*op, &place.ty, value, compute)
                    && !self.effects(place).conflicts(self.effects(value)) =>
            {
                let target = self.place(place);
                let text = self.update_text(*op, &target, place, value);
                let idle = [format!("{0} |= {0}", target.text), format!("{0} &= {0}", target.text)];
                if !idle.contains(&text) {
                    self.push(StmtKind::Do(text));
                }
            }
            ExprKind::Update { op, place, value, compute } => self.long_update(*op, place, value, compute),
            _ => {}
        }
    }

    /// `place = place op value;`, where the old value is read before the operand is evaluated.
    fn long_update(&mut self, op: UpdateOp, place: &'a Expr, value: &'a Expr, compute: &Type) {
        let target = self.repeatable_place(place, Some(value));
        let mut old = target.clone();
        if self.effects(place).conflicts(self.effects(value)) {
            old = self.temporary("old", &place.ty, &target);
        }
        let right = self.settled(place, value);
        let result = self.combine(op, (old, place), (right, value), compute);
        let text = self.back(result, compute, &place.ty);
        self.push(StmtKind::Store { place: target.text, value: text });
    }

    /// The result of an update in the type of its place.
    fn back(&self, result: C, compute: &Type, ty: &Type) -> String {
        let narrow = |t: &Type| t.int().map_or(0, IntType::bits);
        match ty {
            Type::Bool if compute.is_int() => {
                let exact = self.exact_int(result, compute);
                format!("{} != 0", exact.operand(level::EQUAL, false))
            }
            Type::Int(_) if narrow(compute) < narrow(ty) => {
                self.assignable(&self.exact_int(result, compute), ty)
            }
            _ => self.assignable(&result, ty),
        }
    }

    /// The right operand of an update, in a variable if it changes the place itself.
    fn settled(&mut self, place: &'a Expr, value: &'a Expr) -> C {
        let right = self.value(value);
        let changes = writes_inside(value) && self.scan.write(place).conflicts(self.effects(value));
        if changes { self.temporary("value", &value.ty, &right) } else { right }
    }

    fn combine(
        &mut self,
        op: UpdateOp,
        (old, place): (C, &Expr),
        (right, value): (C, &Expr),
        compute: &Type,
    ) -> C {
        let Type::Int(int) = *compute else { return right };
        // The old value in the type of the computation.
        let known = place.ty.int().is_none_or(|from| within(ranges::of_int(from), ranges::of_int(int)));
        let old = old.exact(known);
        let left = Expr::new(compute.clone(), place.span, ExprKind::This);
        let old = self.exact_int(old, compute);
        match op {
            UpdateOp::MinMax(which) => self.helper_call(Helper::min_max(which, int), &[old, right], compute),
            UpdateOp::Binary(op) if op.is_shift() => self.shift(op, int, (old, &left), (right, value)),
            UpdateOp::Binary(op @ (BinaryOp::Divide | BinaryOp::Remainder)) => {
                let trap = crate::emit::effects::can_trap(op, value);
                let plain = !trap && !self.can_be_minus_one(int, value);
                self.divide(op, int, (old, &left), (right, value), plain)
            }
            UpdateOp::Binary(op) => self.ring(op, int, (old, &left), (right, value)),
        }
    }

    /// The value of an assignment, update or step that is a statement of its own.
    pub(super) fn changed_place(&mut self, e: &'a Expr) -> C {
        let (place, value, postfix) = match &e.kind {
            ExprKind::Assign(place, value) => (place, Some(&**value), false),
            ExprKind::Update { place, value, .. } => (place, Some(&**value), false),
            ExprKind::Step { place, postfix, .. } => (place, None, *postfix),
            _ => return self.by_statements(e),
        };
        if postfix {
            return self.old_value(e, place);
        }
        if self.is_repeatable_value(place) && value.is_none_or(|v| !self.place_conflicts(place, v)) {
            self.lower_to(e, &Dest::Nowhere);
            return self.value(place);
        }
        let target = self.fixed_place(place);
        self.change_through(e, &target);
        target
    }

    /// `e++`: the value before.
    fn old_value(&mut self, e: &'a Expr, place: &'a Expr) -> C {
        let ExprKind::Step { up, .. } = &e.kind else { return self.by_statements(e) };
        let target = self.repeatable_place(place, None);
        let old = self.temporary("old", &place.ty, &target);
        let text = self.step_text(&target, &place.ty, *up, true);
        self.push(StmtKind::Do(text));
        old
    }

    /// Does what `e` does to a place whose address is known already.
    fn change_through(&mut self, e: &'a Expr, target: &C) {
        match &e.kind {
            ExprKind::Assign(place, value) => {
                let (text, write) = (target.text.clone(), self.scan.write(place));
                let spared = self.unit.spared_module(place);
                let target = Target { text, ty: place.ty.clone(), fresh: false, write, spared };
                self.lower_to(value, &Dest::Store(target));
            }
            ExprKind::Update { op, place, value, compute } => {
                let mut old = target.clone();
                if self.effects(place).conflicts(self.effects(value)) {
                    old = self.temporary("old", &place.ty, target);
                }
                let right = self.settled(place, value);
                let result = self.combine(*op, (old, place), (right, value), compute);
                let text = self.back(result, compute, &place.ty);
                self.push(StmtKind::Store { place: target.text.clone(), value: text });
            }
            ExprKind::Step { place, up, .. } => {
                let text = self.step_text(target, &place.ty, *up, false);
                self.push(StmtKind::Do(text));
            }
            _ => {}
        }
    }
}
