//! Prolac types as C writes them.

use super::names::Names;
use crate::program::{IntType, ModuleId, Type};

/// The C name of an integer type.
pub(super) fn int(int: IntType) -> &'static str {
    match int {
        IntType::Char => "char",
        IntType::Short => "int16_t",
        IntType::Int => "int",
        IntType::Long => "int64_t",
        IntType::Uchar => "uint8_t",
        IntType::Ushort => "uint16_t",
        IntType::Uint => "uint32_t",
        IntType::Ulong => "uint64_t",
        IntType::Seqint => "seqint",
    }
}

/// The unsigned type of that width.
pub(super) fn unsigned(bits: u32) -> &'static str {
    match bits {
        8 => "uint8_t",
        16 => "uint16_t",
        32 => "uint32_t",
        _ => "uint64_t",
    }
}

/// A declaration of `name`: `int *name[3]`. With an empty name, the type alone.
pub(super) fn declare(names: &Names, ty: &Type, name: &str) -> String {
    match ty {
        Type::Pointer(to) => {
            let inner =
                if matches!(**to, Type::Array(..)) { format!("(*{name})") } else { format!("*{name}") };
            declare(names, to, &inner)
        }
        Type::Array(of, count) => declare(names, of, &format!("{name}[{count}]")),
        _ if name.is_empty() => base(names, ty).to_string(),
        _ => format!("{} {name}", base(names, ty)),
    }
}

fn base<'a>(names: &'a Names, ty: &Type) -> &'a str {
    match ty {
        Type::Bool => "int",
        Type::Int(i) => int(*i),
        Type::Module(m) => names.module(m.module),
        _ => "void",
    }
}

/// Whether two types are one in C. `structure` tells which module's structure a module uses.
pub(super) fn same(structure: &dyn Fn(ModuleId) -> ModuleId, a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Pointer(a), Type::Pointer(b)) => same(structure, a, b),
        (Type::Array(a, n), Type::Array(b, m)) => n == m && same(structure, a, b),
        (Type::Module(a), Type::Module(b)) => structure(a.module) == structure(b.module),
        (Type::Bool, Type::Int(IntType::Int)) | (Type::Int(IntType::Int), Type::Bool) => true,
        (Type::Int(a), Type::Int(b)) => int(*a) == int(*b) || is_word(*a) && is_word(*b),
        _ => a == b,
    }
}

fn is_word(int: IntType) -> bool {
    matches!(int, IntType::Uint | IntType::Seqint)
}
