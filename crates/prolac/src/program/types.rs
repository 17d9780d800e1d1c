//! Types of values.

use std::rc::Rc;

use super::ModuleId;

/// A view of a module, in the tables of `names`. It decides what is visible, not what the type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ViewId(pub u32);

/// A module as the type of a value, with the view it is named through. Equality ignores the view.
#[derive(Clone, Copy, Debug)]
pub struct ModuleRef {
    /// The type.
    pub module: ModuleId,
    /// What is visible of it; only checking cares.
    pub view: ViewId,
}

impl PartialEq for ModuleRef {
    fn eq(&self, other: &Self) -> bool {
        self.module == other.module
    }
}

impl Eq for ModuleRef {}

/// An integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum IntType {
    Char,
    Short,
    Int,
    Long,
    Uchar,
    Ushort,
    Uint,
    Ulong,
    Seqint,
}

impl IntType {
    /// Its width: 8, 16, 32 or 64.
    pub fn bits(self) -> u32 {
        match self {
            IntType::Char | IntType::Uchar => 8,
            IntType::Short | IntType::Ushort => 16,
            IntType::Int | IntType::Uint | IntType::Seqint => 32,
            IntType::Long | IntType::Ulong => 64,
        }
    }

    /// Whether it has negative values.
    pub fn is_signed(self) -> bool {
        matches!(self, IntType::Char | IntType::Short | IntType::Int | IntType::Long)
    }

    /// The type that arithmetic uses for it: `int` for the narrow ones, itself for the others.
    pub fn promoted(self) -> IntType {
        if self.bits() < 32 { IntType::Int } else { self }
    }

    /// The type in which arithmetic on both happens: ulong > long > seqint > uint > int (section 6).
    pub fn common(self, other: IntType) -> IntType {
        let rank = |t: IntType| match t {
            IntType::Ulong => 4,
            IntType::Long => 3,
            IntType::Seqint => 2,
            IntType::Uint => 1,
            _ => 0,
        };
        let (a, b) = (self.promoted(), other.promoted());
        if rank(a) >= rank(b) { a } else { b }
    }

    /// The value of the low bits of `value` in this type, sign-extended or zero-extended to 64 bits: how values of this
    /// type are held everywhere in the compiler. Conversions wrap.
    pub fn wrap(self, value: i64) -> i64 {
        let unused = 64 - self.bits();
        if self.is_signed() { value << unused >> unused } else { ((value as u64) << unused >> unused) as i64 }
    }

    /// As it is written in Prolac.
    pub fn keyword(self) -> &'static str {
        match self {
            IntType::Char => "char",
            IntType::Short => "short",
            IntType::Int => "int",
            IntType::Long => "long",
            IntType::Uchar => "uchar",
            IntType::Ushort => "ushort",
            IntType::Uint => "uint",
            IntType::Ulong => "ulong",
            IntType::Seqint => "seqint",
        }
    }
}

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// Of an expression that never has a value because it raises an exception; fits everywhere.
    Never,
    /// Of an expression with an error in it, about which a message was given; fits everywhere. Not in a checked program.
    Error,
    /// No value.
    Void,
    /// `true` or `false`.
    Bool,
    /// An integer.
    Int(IntType),
    /// An object.
    Module(ModuleRef),
    /// The address of something; of anything if it points to void.
    Pointer(Rc<Type>),
    /// So many of the same in a row.
    Array(Rc<Type>, u64),
}

impl Type {
    /// `int`.
    pub const INT: Type = Type::Int(IntType::Int);

    /// A pointer to `to`.
    pub fn pointer(to: Type) -> Type {
        Type::Pointer(Rc::new(to))
    }

    /// What a pointer points to.
    pub fn pointee(&self) -> Option<&Type> {
        match self {
            Type::Pointer(to) => Some(to),
            _ => None,
        }
    }

    /// The module, if the type is one.
    pub fn module(&self) -> Option<ModuleRef> {
        match self {
            Type::Module(m) => Some(*m),
            _ => None,
        }
    }

    /// The module of the object, or of the objects in the array.
    pub fn object(&self) -> Option<ModuleId> {
        match self {
            Type::Module(m) => Some(m.module),
            Type::Array(of, _) => of.object(),
            _ => None,
        }
    }

    /// Whether arithmetic can be done with it. Bool is not arithmetic.
    pub fn is_int(&self) -> bool {
        matches!(self, Type::Int(_))
    }

    /// The integer type, if it is one.
    pub fn int(&self) -> Option<IntType> {
        match self {
            Type::Int(int) => Some(*int),
            _ => None,
        }
    }

    /// Whether an expression of this type has no value to use.
    pub fn is_void(&self) -> bool {
        matches!(self, Type::Void | Type::Never)
    }
}

#[cfg(test)]
mod tests {
    use super::IntType::*;

    #[test]
    fn values_wrap_at_their_width() {
        assert_eq!(Char.wrap(200), -56);
        assert_eq!(Uchar.wrap(-1), 255);
        assert_eq!(Seqint.wrap(-1), 0xffff_ffff);
        assert_eq!(Int.wrap(0x8000_0000), -0x8000_0000);
        assert_eq!(Ulong.wrap(-1), -1);
    }

    #[test]
    fn narrow_types_meet_in_int() {
        assert_eq!(Uchar.common(Short), Int);
        assert_eq!(Uint.common(Short), Uint);
        assert_eq!(Uint.common(Seqint), Seqint);
        assert_eq!(Seqint.common(Long), Long);
        assert_eq!(Ulong.common(Long), Ulong);
    }
}
