//! Values, and how they lie in memory.

use crate::program::{ExceptionId, IntType, ModuleId, Target};

/// A value of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// None.
    Void,
    /// `true` or `false`.
    Bool(bool),
    /// An integer, as [`IntType::wrap`] leaves it.
    Int(IntType, i64),
    /// An address; 0 is the null pointer.
    Pointer(u64),
    /// An object of exactly this module: its bytes, hidden fields included.
    Object(ModuleId, Vec<u8>),
}

impl Value {
    /// The number that a bool, integer or pointer is.
    pub fn number(&self) -> Option<i64> {
        match self {
            Value::Bool(value) => Some((*value).into()),
            Value::Int(_, value) => Some(*value),
            Value::Pointer(address) => Some(*address as i64),
            Value::Void | Value::Object(..) => None,
        }
    }

    /// An integer of type `ty`; it wraps.
    pub fn int(ty: IntType, value: i64) -> Value {
        Value::Int(ty, ty.wrap(value))
    }
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// With this value.
    Value(Value),
    /// An exception left the method.
    Exception(ExceptionId),
}

/// The number that lies in up to eight bytes, zero-extended.
pub(super) fn decode(target: Target, bytes: &[u8]) -> u64 {
    let join = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
    if target.little_endian { bytes.iter().rev().fold(0, join) } else { bytes.iter().fold(0, join) }
}

/// Puts a number into up to eight bytes.
pub(super) fn encode(target: Target, number: u64, bytes: &mut [u8]) {
    let low_first = number.to_le_bytes();
    bytes.iter_mut().zip(low_first).for_each(|(byte, value)| *byte = value);
    if !target.little_endian {
        bytes.reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_lie_in_the_order_of_the_target() {
        let [little, big] = ["x86_64", "powerpc64"].map(|name| Target::named(name).unwrap());
        let mut bytes = [0; 2];
        encode(little, 0x1234, &mut bytes);
        assert_eq!((bytes, decode(little, &bytes)), ([0x34, 0x12], 0x1234));
        encode(big, 0x1234, &mut bytes);
        assert_eq!((bytes, decode(big, &bytes)), ([0x12, 0x34], 0x1234));
    }
}
