//! Small C functions that generated code calls, each written only if it is used.
//!
//! Their names end in a Prolac keyword, so no method can have them.

use std::fmt::Write;

use super::types;
use crate::program::IntType;
use crate::program::tree::{BinaryOp, MinMax};

/// A function that generated code can call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Helper {
    /// The condition seldom holds.
    Unlikely,
    /// The condition mostly holds.
    Likely,
    /// A method without body was called.
    Missing,
    /// The lesser value.
    Min(IntType),
    /// The greater value.
    Max(IntType),
    /// A quotient whose divisor can be anything.
    Divide(IntType),
    /// A remainder whose divisor can be anything.
    Remainder(IntType),
}

impl Helper {
    /// The lesser or greater of two values.
    pub fn min_max(which: MinMax, int: IntType) -> Helper {
        match which {
            MinMax::Min => Helper::Min(int),
            MinMax::Max => Helper::Max(int),
        }
    }

    /// Division.
    pub fn division(op: BinaryOp, int: IntType) -> Helper {
        if op == BinaryOp::Divide { Helper::Divide(int) } else { Helper::Remainder(int) }
    }

    /// Its name.
    pub fn name(self) -> String {
        match self {
            Helper::Unlikely => "unlikely".into(),
            Helper::Likely => "likely".into(),
            Helper::Missing => "missing__self".into(),
            Helper::Min(int) => format!("min__{}", int.keyword()),
            Helper::Max(int) => format!("max__{}", int.keyword()),
            Helper::Divide(int) => format!("divide__{}", int.keyword()),
            Helper::Remainder(int) => format!("remainder__{}", int.keyword()),
        }
    }

    /// Its definition in C.
    pub fn definition(self) -> String {
        match self {
            Helper::Unlikely => macro_definition("unlikely", 0),
            Helper::Likely => macro_definition("likely", 1),
            Helper::Missing => MISSING.to_string(),
            Helper::Min(int) => self.choice(int, "<"),
            Helper::Max(int) => self.choice(int, ">"),
            Helper::Divide(int) => self.quotient(int, "/"),
            Helper::Remainder(int) => self.quotient(int, "%"),
        }
    }

    fn choice(self, int: IntType, op: &str) -> String {
        let test = match int {
            IntType::Seqint => format!("(int)(a - b) {op} 0"),
            _ => format!("a {op} b"),
        };
        self.function(int, &format!("\treturn {test} ? a : b;\n"))
    }

    fn quotient(self, int: IntType, op: &str) -> String {
        let mut body = "\tif (b == 0)\n\t\t__builtin_trap();\n".to_string();
        if int.is_signed() && int.bits() >= 32 {
            let result = match self {
                Helper::Divide(_) => format!("({})-({})a", types::int(int), types::unsigned(int.bits())),
                _ => "0".into(),
            };
            let _ = write!(body, "\tif (b == -1)\n\t\treturn {result};\n");
        }
        self.function(int, &format!("{body}\treturn a {op} b;\n"))
    }

    fn function(self, int: IntType, body: &str) -> String {
        let (ty, name) = (types::int(int), self.name());
        format!("static inline {ty} {name}({ty} a, {ty} b)\n{{\n{body}}}\n")
    }
}

fn macro_definition(name: &str, expected: u8) -> String {
    format!("#ifndef {name}\n#define {name}(x) __builtin_expect(!!(x), {expected})\n#endif\n")
}

const MISSING: &str = "#include <stdio.h>\n#include <stdlib.h>\n\n\
    static _Noreturn void missing__self(const char *method)\n{\n\
    \tfprintf(stderr, \"%s has no body\\n\", method);\n\tabort();\n}\n";
