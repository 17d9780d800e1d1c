//! Expressions as C expressions. What C cannot say there is done by statements before.

use super::{Function, arith};
use crate::emit::effects::can_trap;
use crate::emit::helpers::Helper;
use crate::emit::tables;
use crate::emit::text::{C, Kind, level};
use crate::program::tree::{BinaryOp, Expr, ExprKind, MinMax, UnaryOp};
use crate::program::{IntType, Type};

impl<'a> Function<'a> {
    /// The value of `e`. Converting it to the type of `e` gives it exactly; see [`C`].
    pub(super) fn value(&mut self, e: &'a Expr) -> C {
        let outer = self.span;
        if !e.span.is_none() && !self.is_simple(e) {
            self.span = e.span;
        }
        let value = self.value_here(e);
        self.span = outer;
        value
    }

    fn value_here(&mut self, e: &'a Expr) -> C {
        match &e.kind {
            ExprKind::Int(value) => self.constant(*value, e),
            ExprKind::Null => C::literal("NULL".into(), Kind::Pointer(e.ty.clone())),
            ExprKind::Str(bytes) => C::literal(string(bytes), Kind::Pointer(e.ty.clone())),
            ExprKind::Local(_) | ExprKind::This | ExprKind::StaticField(_) | ExprKind::Deref(_) => {
                self.load(e)
            }
            ExprKind::Field(object, _) if object.is_place() => self.load(e),
            ExprKind::Field(..) => self.place(e),
            ExprKind::AddressOf(place) if place.is_place() => self.address(place, &e.ty),
            ExprKind::AddressOf(object) => {
                let object = self.by_statements(object);
                C::new(format!("&{}", object.text), level::UNARY, Kind::of(&e.ty))
            }
            ExprKind::Convert(inner) => self.convert(inner, &e.ty),
            ExprKind::Unary(op, inner) => self.unary(*op, inner, &e.ty),
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, &e.ty),
            ExprKind::MinMax(which, a, b) => self.min_max(*which, a, b, &e.ty),
            ExprKind::Outline(_, inner) => self.value(inner),
            ExprKind::Sequence(all) => self.sequence_value(all, e),
            ExprKind::Let(bindings, body) => {
                self.bind(bindings);
                self.value(body)
            }
            ExprKind::Assign(place, value) if self.embedded > 0 => self.assign_value(place, value),
            ExprKind::Update { .. } | ExprKind::Step { .. } if self.embedded > 0 => self.update_value(e),
            ExprKind::Assign(..) | ExprKind::Update { .. } | ExprKind::Step { .. } => self.changed_place(e),
            ExprKind::And(a, b) if self.is_simple(e) => self.logical(a, b, "&&", level::AND),
            ExprKind::Or(a, b) if self.is_simple(e) => self.logical(a, b, "||", level::OR),
            ExprKind::Conditional(test, a, b) if self.is_simple(e) => self.choice(test, a, b, &e.ty),
            ExprKind::Call(call) if self.scan.call_throws(call).is_empty() && !e.ty.is_void() => {
                self.call_value(call)
            }
            _ => self.by_statements(e),
        }
    }

    fn sequence_value(&mut self, all: &'a [Expr], e: &'a Expr) -> C {
        let Some((last, before)) = all.split_last() else { return self.by_statements(e) };
        before.iter().for_each(|e| self.lower_to(e, &super::Dest::Nowhere));
        self.value(last)
    }

    /// The value of a place.
    fn load(&mut self, e: &'a Expr) -> C {
        let place = self.place(e);
        match self.unit.copied_module(e) {
            Some(module) => {
                self.needs.copied.insert(module);
                let address = match place.text.strip_prefix('*') {
                    Some(pointer) => pointer.to_string(),
                    None => format!("&{}", place.operand(level::UNARY, true)),
                };
                let text = format!("{}({address})", tables::copy_name(self.unit, module));
                C::new(text, level::POSTFIX, Kind::Object)
            }
            None => place,
        }
    }

    fn constant(&mut self, value: i64, e: &Expr) -> C {
        let Type::Int(int) = e.ty else {
            return C::literal(value.to_string(), Kind::Int(32, true));
        };
        let hex = self.unit.sources.slice(e.span).starts_with("0x");
        constant(value, int, hex)
    }

    /// What `make` makes, without statements.
    pub(super) fn embed<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        self.embedded += 1;
        let made = make(self);
        self.embedded -= 1;
        made
    }

    fn logical(&mut self, a: &'a Expr, b: &'a Expr, op: &str, own: u8) -> C {
        let expect = if own == level::AND { Helper::Unlikely } else { Helper::Likely };
        let left = self.condition(a, false);
        let left = if is_cold(b) { self.expect(expect, left) } else { left };
        let right = self.embed(|f| f.condition(b, false));
        C::truth(format!("{} {op} {}", left.operand(own, false), right.operand(own, true)), own)
    }

    pub(super) fn expect(&mut self, helper: Helper, c: C) -> C {
        self.needs.helpers.insert(helper);
        C::truth(format!("{}({})", helper.name(), c.text), level::POSTFIX)
    }

    /// A simple bool expression, or its opposite, where only zero or not counts.
    pub(super) fn condition(&mut self, e: &'a Expr, negated: bool) -> C {
        match &e.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => self.condition(inner, !negated),
            ExprKind::Outline(_, inner) => self.condition(inner, negated),
            ExprKind::Convert(inner) if matches!(inner.kind, ExprKind::Int(_)) => known(inner, negated),
            ExprKind::Convert(inner) if inner.ty.is_int() => {
                let value = self.value(inner);
                is_not_zero(negated, &self.exact_int(value, &inner.ty))
            }
            ExprKind::Convert(inner) if e.ty == Type::Bool => {
                let value = self.value(inner);
                not_if(negated, value)
            }
            ExprKind::Binary(op, a, b) if negated && op.is_comparison() => {
                self.binary(opposite(*op), a, b, &e.ty)
            }
            _ => not_if(negated, self.value(e)),
        }
    }

    fn choice(&mut self, test: &'a Expr, a: &'a Expr, b: &'a Expr, ty: &Type) -> C {
        let test = self.condition(test, false);
        let (a, b) = self.embed(|f| (f.value(a), f.value(b)));
        let (a, b) = match ty {
            Type::Int(_) if a.kind.promoted() != b.kind.promoted() || !a.exact || !b.exact => {
                (self.cast_int(a, ty), self.cast_int(b, ty))
            }
            Type::Pointer(_) => (self.exact_pointer(a, ty), self.exact_pointer(b, ty)),
            _ => (a, b),
        };
        let text = format!(
            "{} ? {} : {}",
            test.operand(level::TERNARY, false),
            a.operand(level::TERNARY, false),
            b.operand(level::TERNARY, true)
        );
        let constant = a.constant || b.constant;
        C { constant, ..C::new(text, level::TERNARY, if ty.is_int() { a.kind } else { Kind::of(ty) }) }
    }

    fn min_max(&mut self, which: MinMax, a: &'a Expr, b: &'a Expr, ty: &Type) -> C {
        let values = self.operands(&[a, b]);
        let int = ty.int().unwrap_or(IntType::Int);
        self.helper_call(Helper::min_max(which, int), &values, ty)
    }

    /// A call of a small function of two integers.
    pub(super) fn helper_call(&mut self, helper: Helper, values: &[C], ty: &Type) -> C {
        self.needs.helpers.insert(helper);
        let args: Vec<String> = values.iter().map(|v| self.assignable(v, ty)).collect();
        C::new(format!("{}({})", helper.name(), args.join(", ")), level::POSTFIX, Kind::of(ty))
    }

    fn binary(&mut self, op: BinaryOp, a: &'a Expr, b: &'a Expr, ty: &Type) -> C {
        if let Some(known) = arith::known_comparison(op, a, b)
            && !self.effects(a).and(self.effects(b)).has_effect()
        {
            return C::literal(u8::from(known).to_string(), Kind::Int(32, true));
        }
        let values = self.operands(&[a, b]);
        let [left, right] = <[C; 2]>::try_from(values).unwrap_or_else(|_| [zero(), zero()]);
        match &a.ty {
            Type::Pointer(_) => self.pointer_binary(op, (left, a), (right, b), ty),
            _ if op.is_comparison() => self.compare(op, (left, a), (right, b)),
            Type::Int(int) if op.is_shift() => self.shift(op, *int, (left, a), (right, b)),
            Type::Int(int) if matches!(op, BinaryOp::Divide | BinaryOp::Remainder) => {
                let plain = !can_trap(op, b) && !self.can_be_minus_one(*int, b);
                self.divide(op, *int, (left, a), (right, b), plain)
            }
            Type::Int(int) => self.ring(op, *int, (left, a), (right, b)),
            _ => self.bitwise_of_bools(op, &left, &right),
        }
    }

    fn bitwise_of_bools(&self, op: BinaryOp, a: &C, b: &C) -> C {
        let own = arith::level_of(op);
        C::truth(format!("{} {} {}", a.operand(own, false), op.symbol(), b.operand(own, true)), own)
    }
}

/// `e` or `!e`.
fn not_if(negated: bool, c: C) -> C {
    if !negated {
        return c;
    }
    C::truth(format!("!{}", c.operand(level::UNARY, true)), level::UNARY)
}

/// Whether an integer is not zero, or zero if `negated`. Compilers doubt that arithmetic is meant as a truth value.
pub(super) fn is_not_zero(negated: bool, c: &C) -> C {
    if c.level >= level::POSTFIX || c.level == level::BIT_AND {
        return not_if(negated, c.clone());
    }
    let op = if negated { "==" } else { "!=" };
    C::truth(format!("{} {op} 0", c.operand(level::EQUAL, false)), level::EQUAL)
}

/// Whether a constant is not zero, or zero if `negated`.
pub(super) fn known(constant: &Expr, negated: bool) -> C {
    let holds = !matches!(constant.kind, ExprKind::Int(0)) != negated;
    C::literal(u8::from(holds).to_string(), Kind::Int(32, true))
}

fn zero() -> C {
    C::literal("0".into(), Kind::Int(32, true))
}

/// Whether the source says that the branch is seldom taken.
pub(super) fn is_cold(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Outline(level, _) => *level >= 5,
        ExprKind::Convert(inner) => is_cold(inner),
        ExprKind::Sequence(all) => all.first().is_some_and(is_cold),
        _ => false,
    }
}

fn opposite(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Less => BinaryOp::GreaterEqual,
        BinaryOp::GreaterEqual => BinaryOp::Less,
        BinaryOp::Greater => BinaryOp::LessEqual,
        BinaryOp::LessEqual => BinaryOp::Greater,
        BinaryOp::Equal => BinaryOp::NotEqual,
        _ => BinaryOp::Equal,
    }
}

/// An integer literal.
pub(super) fn constant(value: i64, int: IntType, hex: bool) -> C {
    let small = i64::from(i32::MIN) < value && value <= i64::from(i32::MAX);
    if int == IntType::Char && (32..127).contains(&value) && value != 39 && value != 92 {
        return C::literal(format!("'{}'", value as u8 as char), Kind::Int(32, true));
    }
    if small && int != IntType::Ulong || (0..=i64::from(i32::MAX)).contains(&value) {
        let text = if hex && value >= 0 { format!("{value:#x}") } else { value.to_string() };
        return C::literal(text, Kind::Int(32, true));
    }
    match int {
        IntType::Uint | IntType::Seqint => C::literal(format!("{value:#x}u"), Kind::Int(32, false)),
        IntType::Ulong => C::literal(format!("{value:#x}ull"), Kind::Int(64, false)),
        _ if value == i64::MIN => C::literal("(-0x7fffffffffffffffll - 1)".into(), Kind::Int(64, true)),
        _ if value == i64::from(i32::MIN) && int == IntType::Int => {
            C::literal("(-0x7fffffff - 1)".into(), Kind::Int(32, true))
        }
        _ => C::literal(format!("{value}ll"), Kind::Int(64, true)),
    }
}

fn string(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => text.extend(['\\', byte as char]),
            b'\n' => text.push_str("\\n"),
            b'\t' => text.push_str("\\t"),
            b'?' => text.push_str("\\?"),
            32..127 => text.push(byte as char),
            _ => text.push_str(&format!("\\{byte:03o}")),
        }
    }
    text.push('"');
    text
}
