//! Integer arithmetic in C without undefined behaviour and with few casts.
//!
//! Signed arithmetic that could overflow happens in unsigned types. The result then stays unsigned until something
//! needs its sign: [`C::exact`] is false, and assignments convert it back for nothing.

use super::Function;
use crate::emit::helpers::Helper;
use crate::emit::ranges::{self, within};
use crate::emit::text::{C, Kind, common, level};
use crate::emit::types;
use crate::program::tree::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::program::{IntType, Type};

/// An operand and the expression that it came from.
pub(super) type Operand<'e> = (C, &'e Expr);

/// How tightly an operator binds.
pub(super) fn level_of(op: BinaryOp) -> u8 {
    match op {
        BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder => level::MULTIPLY,
        BinaryOp::Add | BinaryOp::Subtract => level::ADD,
        BinaryOp::ShiftLeft | BinaryOp::ShiftRight => level::SHIFT,
        BinaryOp::BitAnd => level::BIT_AND,
        BinaryOp::BitXor => level::BIT_XOR,
        BinaryOp::BitOr => level::BIT_OR,
        BinaryOp::Equal | BinaryOp::NotEqual => level::EQUAL,
        _ => level::ORDER,
    }
}

impl<'a> Function<'a> {
    /// The same as another type.
    pub(super) fn convert(&mut self, inner: &'a Expr, ty: &Type) -> C {
        if matches!(inner.ty, Type::Array(..)) {
            let place = self.place(inner);
            return C::new(place.text, place.level, Kind::of(ty));
        }
        let value = self.value(inner);
        match (&inner.ty, ty) {
            (Type::Int(from), Type::Int(to)) => self.convert_int(value, inner, *from, *to),
            (Type::Int(_), Type::Bool) if matches!(inner.kind, ExprKind::Int(_)) => {
                super::value::known(inner, false)
            }
            (Type::Int(_), Type::Bool) => {
                let value = self.exact_int(value, &inner.ty);
                C::truth(format!("{} != 0", value.operand(level::EQUAL, false)), level::EQUAL)
            }
            (Type::Pointer(_), Type::Bool) => {
                C::truth(format!("{} != NULL", value.operand(level::EQUAL, false)), level::EQUAL)
            }
            (Type::Pointer(_), Type::Int(to)) => {
                let (address, kind) = ("uintptr_t", Kind::Int(64, false));
                let narrow = to.bits() < 64;
                value.cast(address, kind).exact(!narrow)
            }
            _ => value,
        }
    }

    fn convert_int(&mut self, value: C, inner: &Expr, from: IntType, to: IntType) -> C {
        let value = if to.bits() > from.bits() { self.exact_int(value, &inner.ty) } else { value };
        let exact = value.exact && within(ranges::of(inner), ranges::of_int(to));
        value.exact(exact)
    }

    /// With a cast if its value is not yet that of its type.
    pub(super) fn exact_int(&self, c: C, ty: &Type) -> C {
        if c.exact { c } else { self.cast_int(c, ty) }
    }

    /// With a cast if C does not think that it is of type `ty`.
    pub(super) fn cast_int(&self, c: C, ty: &Type) -> C {
        if c.exact && c.kind == Kind::of(ty) {
            return c;
        }
        // gcc doubts comparisons of `(uint8_t)~x`.
        if let (Kind::Int(bits @ (8 | 16), false), true) = (Kind::of(ty), c.text.starts_with('~')) {
            return C::truth(format!("{} & {:#x}", c.text, (1 << bits) - 1), level::BIT_AND);
        }
        c.cast(&self.unit.c_type(ty), Kind::of(ty))
    }

    pub(super) fn unary(&mut self, op: UnaryOp, inner: &'a Expr, ty: &Type) -> C {
        if op == UnaryOp::Not {
            return match not_of(inner) {
                Some(twice) => self.value(twice),
                None => self.condition(inner, true),
            };
        }
        let value = self.value(inner);
        let Type::Int(int) = *ty else { return value };
        let (low, high) = ranges::of(inner);
        let (bits, signed) = value.kind.promoted();
        let fits = value.exact && signed && within((-high, -low), ranges::of_int(int));
        let value = match op {
            UnaryOp::Negate if !fits => self.to_unsigned(value, int),
            _ if !value.exact && signed || !signed && bits < int.bits() => self.cast_int(value, ty),
            _ => value,
        };
        let (bits, signed) = value.kind.promoted();
        let symbol = if op == UnaryOp::Negate { '-' } else { '~' };
        let operand = value.operand(level::UNARY, true);
        if symbol == '~' && value.is_test() {
            // Compilers take `~(a == b)` for a mistake.
            let text = format!("{} ^ -1", value.operand(level::BIT_XOR, false));
            return C::truth(text, level::BIT_XOR).exact(int.is_signed());
        }
        let gap = operand.starts_with('-');
        let text = if gap { format!("{symbol}({operand})") } else { format!("{symbol}{operand}") };
        let own = bits == int.bits() && signed == int.is_signed();
        let exact = own || (signed && value.exact && int.is_signed());
        let c = C::new(text, level::UNARY, Kind::Int(bits, signed)).exact(exact);
        C { constant: value.constant, ..c }
    }

    /// In an unsigned type that is at least as wide as `int`.
    fn to_unsigned(&self, c: C, int: IntType) -> C {
        let (bits, signed) = c.kind.promoted();
        if !signed && bits >= int.bits() {
            return c;
        }
        let bits = int.bits().max(32);
        if c.literal && !c.text.starts_with(['-', '(', '\'']) && bits == 32 {
            return C::literal(format!("{}u", c.text), Kind::Int(32, false));
        }
        c.cast(types::unsigned(bits), Kind::Int(bits, false))
    }

    /// `+ - *` and the bitwise operations: the low bits of the result need only the low bits of the operands.
    pub(super) fn ring(&mut self, op: BinaryOp, int: IntType, (a, x): Operand<'_>, (b, y): Operand<'_>) -> C {
        let (bits, signed) = common(&a.kind, &b.kind);
        let bitwise = matches!(op, BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor);
        let exact = a.exact && b.exact;
        let result = ranges::unlimited(op, x, y);
        let in_int = ranges::of_int(if bits == 32 { IntType::Int } else { IntType::Long });
        let fits = |range| {
            result.is_some_and(|r| within(r, range))
                && within(ranges::of(x), range)
                && within(ranges::of(y), range)
        };
        if exact && signed && (bitwise || fits(in_int)) {
            let known = (int.is_signed() && bits <= int.bits()) || fits(ranges::of_int(int));
            return infix(op, &a, &b, Kind::Int(bits, true)).exact(known);
        }
        if bitwise && signed && bits >= int.bits() {
            return infix(op, &a, &b, Kind::Int(bits, true)).exact(false);
        }
        let (a, b) = self.both_unsigned(a, b, int);
        let (bits, signed) = common(&a.kind, &b.kind);
        let known = bits == int.bits() && signed == int.is_signed();
        infix(op, &a, &b, Kind::Int(bits, signed)).exact(known)
    }

    /// Makes C compute in an unsigned type that is wide enough, with as few casts as that takes.
    fn both_unsigned(&self, a: C, b: C, int: IntType) -> (C, C) {
        let wide = |a: &C, b: &C| {
            let (bits, signed) = common(&a.kind, &b.kind);
            !signed && bits >= int.bits()
        };
        if wide(&a, &b) {
            return (a, b);
        }
        if b.literal {
            let literal = self.to_unsigned(b.clone(), int);
            if literal.literal && wide(&a, &literal) {
                return (a, literal);
            }
        }
        let a = self.to_unsigned(a, int);
        if wide(&a, &b) { (a, b) } else { (a, self.to_unsigned(b, int)) }
    }

    pub(super) fn shift(
        &mut self,
        op: BinaryOp,
        int: IntType,
        (a, x): Operand<'_>,
        (n, y): Operand<'_>,
    ) -> C {
        let width = i128::from(int.bits());
        let range = ranges::of(y);
        let count = match range {
            (low, high) if low == high && !(0..width).contains(&low) => {
                C::literal(low.rem_euclid(width).to_string(), Kind::Int(32, true))
            }
            _ if within(range, (0, width - 1)) => self.exact_int(n, &y.ty),
            _ => C::truth(format!("{} & {}", n.operand(level::BIT_AND, false), width - 1), level::BIT_AND),
        };
        if op == BinaryOp::ShiftRight {
            let a = self.exact_int(a, &x.ty);
            let a = if a.kind.promoted().0 < int.bits() { self.cast_int(a, &x.ty) } else { a };
            let (bits, signed) = a.kind.promoted();
            return infix(op, &a, &count, Kind::Int(bits, signed));
        }
        let (bits, signed) = a.kind.promoted();
        let result = ranges::unlimited(op, x, y).filter(|r| r.0 >= 0);
        let fits = a.exact && signed && result.is_some_and(|r| within(r, ranges::of_int(IntType::Int)));
        if fits && within(result.unwrap_or_default(), ranges::of_int(int)) {
            return infix(op, &a, &count, Kind::Int(bits, true));
        }
        let a = self.to_unsigned(a, int);
        let (bits, _) = a.kind.promoted();
        infix(op, &a, &count, Kind::Int(bits, false)).exact(bits == int.bits() && !int.is_signed())
    }

    pub(super) fn can_be_minus_one(&self, int: IntType, divisor: &Expr) -> bool {
        let (low, high) = ranges::of(divisor);
        int.is_signed() && int.bits() >= 32 && low <= -1 && -1 <= high
    }

    pub(super) fn divide(
        &mut self,
        op: BinaryOp,
        int: IntType,
        (a, x): Operand<'_>,
        (b, y): Operand<'_>,
        plain: bool,
    ) -> C {
        let (a, b) = (self.exact_int(a, &x.ty), self.exact_int(b, &y.ty));
        if !plain {
            return self.helper_call(Helper::division(op, int), &[a, b], &Type::Int(int));
        }
        let (a, b) = self.same_sign(int, (a, x), (b, y));
        let (bits, signed) = common(&a.kind, &b.kind);
        let overflows = int.is_signed() && within((-1, -1), ranges::of(y));
        infix(op, &a, &b, Kind::Int(bits, signed)).exact(!overflows)
    }

    pub(super) fn compare(&mut self, op: BinaryOp, (a, x): Operand<'_>, (b, y): Operand<'_>) -> C {
        if a.text == b.text && !a.text.contains('(') && !a.literal {
            let equal = matches!(op, BinaryOp::Equal | BinaryOp::LessEqual | BinaryOp::GreaterEqual);
            return C::literal(u8::from(equal).to_string(), Kind::Int(32, true));
        }
        if let Some(known) = known_comparison(op, x, y) {
            let text = format!("((void)({}), (void)({}), {})", a.text, b.text, u8::from(known));
            return C::truth(text, level::PRIMARY);
        }
        let Type::Int(int) = x.ty else { return infix(op, &a, &b, Kind::Int(32, true)) };
        if int == IntType::Seqint && !matches!(op, BinaryOp::Equal | BinaryOp::NotEqual) {
            let is_zero = within(ranges::of(y), (0, 0));
            let difference = if is_zero { a } else { self.ring(BinaryOp::Subtract, int, (a, x), (b, y)) };
            let cast = difference.cast("int", Kind::Int(32, true));
            return C::truth(format!("{} {} 0", cast.text, op.symbol()), level::ORDER);
        }
        let (a, b) = (self.exact_int(a, &x.ty), self.exact_int(b, &y.ty));
        let (a, b) = self.same_sign(int, (a, x), (b, y));
        infix(op, &a, &b, Kind::Int(32, true))
    }

    /// Two exact operands that C treats as values of one sign.
    fn same_sign(&self, int: IntType, (a, _): Operand<'_>, (b, _): Operand<'_>) -> (C, C) {
        let differ = a.kind.promoted().1 != b.kind.promoted().1;
        let odd = |c: &C| {
            differ && c.kind.promoted().1 != int.is_signed() && (!c.literal || c.text.starts_with(['-', '(']))
        };
        let ty = Type::Int(int);
        let a = if odd(&a) { self.cast_int(a, &ty) } else { a };
        let b = if odd(&b) { self.cast_int(b, &ty) } else { b };
        (a, b)
    }

    pub(super) fn pointer_binary(
        &mut self,
        op: BinaryOp,
        (a, x): Operand<'_>,
        (b, y): Operand<'_>,
        ty: &Type,
    ) -> C {
        let a = if op.is_comparison() && self.unit.converts_either(&a, &b) {
            a
        } else {
            self.exact_pointer(a, &x.ty)
        };
        let b = match &y.ty {
            Type::Pointer(_) if op.is_comparison() && self.unit.converts_either(&a, &b) => b,
            Type::Pointer(_) => self.exact_pointer(b, &y.ty),
            _ => self.exact_int(b, &y.ty),
        };
        let kind = match ty {
            Type::Pointer(_) => Kind::Pointer(x.ty.clone()),
            Type::Bool => Kind::Int(32, true),
            _ => Kind::Int(self.unit.program.target.pointer as u32 * 8, true),
        };
        match op.is_comparison() {
            true => infix(op, &first_element(a, x), &first_element(b, y), kind),
            false => infix(op, &a, &b, kind),
        }
    }
}

/// `&a[0]` for an array, which C compilers do not like to see compared by its name.
fn first_element(c: C, e: &Expr) -> C {
    match &e.kind {
        ExprKind::Convert(inner) if matches!(inner.ty, Type::Array(..)) => {
            C::new(format!("&{}[0]", c.operand(level::POSTFIX, false)), level::UNARY, c.kind)
        }
        _ => c,
    }
}

/// `x` if the expression is `!x`.
fn not_of(e: &Expr) -> Option<&Expr> {
    match &e.kind {
        ExprKind::Unary(UnaryOp::Not, inner) => Some(inner),
        ExprKind::Outline(_, inner) => not_of(inner),
        _ => None,
    }
}

/// The result of a comparison that the types of the operands decide; compilers warn of such.
pub(super) fn known_comparison(op: BinaryOp, x: &Expr, y: &Expr) -> Option<bool> {
    if !x.ty.is_int() || x.ty == Type::Int(IntType::Seqint) {
        return None;
    }
    let (a, b) = (ranges::of(x), ranges::of(y));
    let (less, less_equal) = (a.1 < b.0, a.1 <= b.0);
    let (greater, greater_equal) = (a.0 > b.1, a.0 >= b.1);
    match op {
        BinaryOp::Less if less || greater_equal => Some(less),
        BinaryOp::LessEqual if less_equal || greater => Some(less_equal),
        BinaryOp::Greater if greater || less_equal => Some(greater),
        BinaryOp::GreaterEqual if greater_equal || less => Some(greater_equal),
        BinaryOp::Equal if less || greater => Some(false),
        BinaryOp::NotEqual if less || greater => Some(true),
        _ => None,
    }
}

fn infix(op: BinaryOp, a: &C, b: &C, kind: Kind) -> C {
    let own = level_of(op);
    // `2 ^ 3` looks like a power, and compilers say so.
    let power = op == BinaryOp::BitXor
        && a.literal
        && b.literal
        && a.text.bytes().all(|b| b.is_ascii_digit())
        && a.text.len() == 1;
    let left = if power { format!("0x{}", a.text) } else { a.operand(own, false) };
    let text = format!("{left} {} {}", op.symbol(), b.operand(own, true));
    // Compilers work out what they can of `x | 0xffff`.
    let bitwise = matches!(op, BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor);
    let constant = a.constant && b.constant || bitwise && (a.constant || b.constant);
    C { constant, ..C::new(text, own, kind) }
}
