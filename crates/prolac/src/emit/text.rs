//! C expressions as text, with what is needed to put them into larger ones: how tightly they bind and what C thinks
//! of their type.
//!
//! Conversions of integers are *lazy*: [`C::kind`] is the type that C gives to the text, and converting the text to the
//! Prolac type gives the value. Only where C would not convert by itself does a cast appear. [`C::exact`] says that the
//! text has the very value already.

use crate::program::{IntType, Type};

/// How tightly an operator binds; greater is tighter.
pub(super) mod level {
    pub const ASSIGN: u8 = 1;
    pub const TERNARY: u8 = 2;
    pub const OR: u8 = 3;
    pub const AND: u8 = 4;
    pub const BIT_OR: u8 = 5;
    pub const BIT_XOR: u8 = 6;
    pub const BIT_AND: u8 = 7;
    pub const EQUAL: u8 = 8;
    pub const ORDER: u8 = 9;
    pub const SHIFT: u8 = 10;
    pub const ADD: u8 = 11;
    pub const MULTIPLY: u8 = 12;
    pub const UNARY: u8 = 13;
    pub const POSTFIX: u8 = 14;
    pub const PRIMARY: u8 = 15;
}

/// What C thinks of a text's type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// An integer of that width; whether it has negative values. Bool is a signed one of 32 bits.
    Int(u32, bool),
    /// A pointer; the Prolac type that has the same C type.
    Pointer(Type),
    /// A structure.
    Object,
}

impl Kind {
    /// The kind of an integer type.
    pub fn of_int(int: IntType) -> Kind {
        Kind::Int(int.bits(), int.is_signed())
    }

    /// The kind of a variable of that type.
    pub fn of(ty: &Type) -> Kind {
        match ty {
            Type::Bool => Kind::Int(32, true),
            Type::Int(int) => Kind::of_int(*int),
            Type::Pointer(_) => Kind::Pointer(ty.clone()),
            Type::Array(of, _) => Kind::Pointer(Type::Pointer(of.clone())),
            _ => Kind::Object,
        }
    }

    /// What C makes of it in arithmetic: width and sign.
    pub fn promoted(&self) -> (u32, bool) {
        match self {
            Kind::Int(bits, _) if *bits < 32 => (32, true),
            Kind::Int(bits, signed) => (*bits, *signed),
            _ => (32, true),
        }
    }
}

/// The type in which C does arithmetic on both.
pub(super) fn common(a: &Kind, b: &Kind) -> (u32, bool) {
    let ((bits_a, signed_a), (bits_b, signed_b)) = (a.promoted(), b.promoted());
    match bits_a.cmp(&bits_b) {
        std::cmp::Ordering::Greater => (bits_a, signed_a),
        std::cmp::Ordering::Less => (bits_b, signed_b),
        std::cmp::Ordering::Equal => (bits_a, signed_a && signed_b),
    }
}

/// A C expression.
#[derive(Clone, Debug)]
pub(super) struct C {
    /// The text.
    pub text: String,
    /// How tightly it binds.
    pub level: u8,
    /// What C thinks of it.
    pub kind: Kind,
    /// Whether its value is the very value of the Prolac expression; otherwise a conversion to the Prolac type is due.
    pub exact: bool,
    /// Whether it is a literal.
    pub literal: bool,
    /// Whether it has only literals in it, so that C compilers know its value.
    pub constant: bool,
}

impl C {
    /// An expression that has the type it seems to have.
    pub fn new(text: impl Into<String>, level: u8, kind: Kind) -> C {
        C { text: text.into(), level, kind, exact: true, literal: false, constant: false }
    }

    /// A name or something as tight.
    pub fn primary(text: impl Into<String>, ty: &Type) -> C {
        C::new(text, level::PRIMARY, Kind::of(ty))
    }

    /// A truth value.
    pub fn truth(text: impl Into<String>, level: u8) -> C {
        C::new(text, level, Kind::Int(32, true))
    }

    /// A literal.
    pub fn literal(text: String, kind: Kind) -> C {
        let level = if text.starts_with('-') { level::UNARY } else { level::PRIMARY };
        C { literal: true, constant: true, ..C::new(text, level, kind) }
    }

    /// The same with another opinion on whether it is exact.
    pub fn exact(self, exact: bool) -> C {
        C { exact, ..self }
    }

    /// The text as an operand of an operator of level `parent`, on its right side if `right`.
    pub fn operand(&self, parent: u8, right: bool) -> String {
        if self.fits(parent, right) { self.text.clone() } else { format!("({})", self.text) }
    }

    /// Whether it needs no parentheses there: neither for C nor for a reader, nor for the warnings of compilers.
    fn fits(&self, parent: u8, right: bool) -> bool {
        use level::*;
        let child = self.level;
        // Compilers wonder what `!a & b` and `!a == b` mean.
        if self.text.starts_with('!') && (BIT_OR..=SHIFT).contains(&parent) && child < POSTFIX {
            return false;
        }
        match parent {
            ASSIGN => child >= if right { ASSIGN } else { UNARY },
            TERNARY => child > TERNARY,
            OR => child == OR || child == EQUAL || child == ORDER || child >= ADD,
            AND => child == AND || child == EQUAL || child == ORDER || child >= ADD,
            BIT_OR | BIT_XOR | BIT_AND => child >= UNARY || (child == parent && !right),
            EQUAL | ORDER => child >= ADD,
            SHIFT => child >= UNARY,
            ADD => child > ADD || (child == ADD && !right),
            MULTIPLY => child >= UNARY || (child == MULTIPLY && !right),
            _ => child >= parent,
        }
    }

    /// Whether it is a comparison or another test.
    pub fn is_test(&self) -> bool {
        matches!(self.level, level::OR | level::AND | level::EQUAL | level::ORDER)
            || self.text.starts_with('!')
    }

    /// `(to)text`
    pub fn cast(&self, to: &str, kind: Kind) -> C {
        C {
            constant: self.constant,
            ..C::new(format!("({to}){}", self.operand(level::UNARY, true)), level::UNARY, kind)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(level: u8) -> C {
        C::truth("e", level)
    }

    #[test]
    fn parentheses_follow_c_and_the_warnings() {
        assert_eq!(at(level::MULTIPLY).operand(level::ADD, true), "e");
        assert_eq!(at(level::ADD).operand(level::ADD, false), "e");
        assert_eq!(at(level::ADD).operand(level::ADD, true), "(e)");
        assert_eq!(at(level::AND).operand(level::OR, false), "(e)");
        assert_eq!(at(level::ORDER).operand(level::AND, false), "e");
        assert_eq!(at(level::ORDER).operand(level::BIT_AND, false), "(e)");
        assert_eq!(at(level::ADD).operand(level::SHIFT, false), "(e)");
        assert_eq!(at(level::UNARY).operand(level::POSTFIX, false), "(e)");
    }

    #[test]
    fn narrow_integers_meet_in_int() {
        assert_eq!(common(&Kind::Int(8, false), &Kind::Int(16, false)), (32, true));
        assert_eq!(common(&Kind::Int(32, false), &Kind::Int(32, true)), (32, false));
        assert_eq!(common(&Kind::Int(64, true), &Kind::Int(32, false)), (64, true));
    }
}
