//! Runs a program as it is, without C: the language's executable definition.
//!
//! A [`Machine`] has a memory of bytes in which objects lie as they would in C, hidden fields for their run-time types
//! included, and walks the typed trees of method bodies by the rules at the head of [`crate::program::tree`]. It is not
//! fast and optimises nothing except that calls in tail position need no room. What the C of a program does is right if
//! the machine does the same.
//!
//! Read first: [`Machine`], then `expr.rs` for what each form of expression does.

mod expr;
mod machine;
mod memory;
mod objects;
mod operate;
mod place;
mod tail;
mod value;

#[cfg(test)]
mod tests;

use std::fmt;

use clickwork_source::Span;

use crate::program::LayoutError;
pub use machine::{CCode, Limits, Machine, Operand};
pub use memory::Memory;
pub use value::{Outcome, Value};

/// Why a program cannot go on, and where it stood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap {
    /// Why.
    pub kind: TrapKind,
    /// The expression; [`Span::NONE`] if the fault is not in one.
    pub span: Span,
}

/// Why a program cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TrapKind {
    /// Memory was used through a null pointer, or a method called on one.
    NullPointer,
    /// Memory was used at an address where nothing lies, or beyond the end of what lies there.
    WildPointer(u64),
    /// The characters of a string were written to.
    ReadOnly(u64),
    /// The hidden type field of the object at this address holds no type that the object could have.
    NoObject(u64),
    /// An integer was divided by zero.
    DivisionByZero,
    /// A method without a body was called.
    MissingBody,
    /// C code was reached and nobody knew what to do with it.
    CBlock,
    /// More steps were taken than the limits allow.
    OutOfSteps,
    /// Calls and expressions are nested deeper than the limits allow.
    OutOfStack,
    /// More memory is in use than the limits allow.
    OutOfMemory,
    /// The arguments of a call from outside do not fit the method.
    WrongArguments,
    /// A module has no layout.
    Layout(LayoutError),
    /// The tree breaks its rules, which is an error of the compiler.
    BrokenTree,
}

impl fmt::Display for TrapKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrapKind::NullPointer => f.write_str("a null pointer is used"),
            TrapKind::WildPointer(address) => write!(f, "nothing lies at the address {address:#x}"),
            TrapKind::ReadOnly(address) => write!(f, "the string at {address:#x} cannot be changed"),
            TrapKind::NoObject(address) => write!(f, "no object of this type lies at {address:#x}"),
            TrapKind::DivisionByZero => f.write_str("division by zero"),
            TrapKind::MissingBody => f.write_str("the method that is called has no body"),
            TrapKind::CBlock => f.write_str("C code cannot be interpreted"),
            TrapKind::OutOfSteps => f.write_str("the program takes too many steps"),
            TrapKind::OutOfStack => f.write_str("calls are nested too deeply"),
            TrapKind::OutOfMemory => f.write_str("the program uses too much memory"),
            TrapKind::WrongArguments => f.write_str("the arguments do not fit the method"),
            TrapKind::Layout(_) => f.write_str("a module has no layout"),
            TrapKind::BrokenTree => {
                f.write_str("the typed tree breaks its rules; this is an error of the compiler")
            }
        }
    }
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

impl std::error::Error for Trap {}
