//! Integers: decimal, `0x` hexadecimal, `0` octal or `0b` binary, with `_` allowed between digits.

use std::ops::RangeInclusive;

use super::{ArgParser, BadValue, FromArg, Names};

/// Integers within a range, both ends allowed.
///
/// ```
/// # use clickwork_router::args::{ArgParser, Bounded, Names};
/// let error = Bounded(0u8..=63).parse("64", &Names::default()).unwrap_err();
/// assert_eq!(error.to_string(), "out of range, bound 63");
/// ```
pub struct Bounded<T>(pub RangeInclusive<T>);

/// Integers in base `.0` (2 to 36) without a prefix, except that `0x` may precede base 16.
pub struct IntBase(pub u32);

/// An integer's magnitude, too-large ones being `u64::MAX` with `overflow`, and its sign.
struct Integer {
    negative: bool,
    magnitude: u64,
    overflow: bool,
}

impl Integer {
    fn parse(text: &str, base: Option<u32>, signed: bool) -> Result<Self, BadValue> {
        let negative = signed && text.starts_with('-');
        let digits = text.strip_prefix('+').unwrap_or(text);
        let digits = if negative { &text[1..] } else { digits };
        let (digits, base) = split_base(digits, base);
        let (magnitude, overflow) = parse_digits(digits, base).ok_or(BadValue::Mismatch)?;
        Ok(Self { negative, magnitude, overflow })
    }

    /// The value if it lies between the bounds, else the bound it is beyond.
    fn within(&self, min: i128, max: i128) -> Result<i128, BadValue> {
        let magnitude = i128::from(self.magnitude);
        let value = if self.negative { -magnitude } else { magnitude };
        if value < min || (self.overflow && self.negative) {
            Err(BadValue::out_of_range(min))
        } else if value > max || self.overflow {
            Err(BadValue::out_of_range(max))
        } else {
            Ok(value)
        }
    }
}

fn split_base(digits: &str, base: Option<u32>) -> (&str, u32) {
    let without = |prefixes: [char; 2]| {
        let rest = digits.strip_prefix('0')?.strip_prefix(prefixes)?;
        (!rest.is_empty()).then_some(rest)
    };
    match base {
        None | Some(16) if without(['x', 'X']).is_some() => (&digits[2..], 16),
        None if without(['b', 'B']).is_some() => (&digits[2..], 2),
        None if digits.starts_with('0') => (digits, 8),
        base => (digits, base.unwrap_or(10)),
    }
}

/// The value of all of `digits`, with whether it exceeds 64 bits; none if they are not digits of `base`.
fn parse_digits(digits: &str, base: u32) -> Option<(u64, bool)> {
    let is_well_placed = !digits.is_empty() && !digits.starts_with('_') && !digits.ends_with('_');
    if !is_well_placed || digits.contains("__") || !(2..=36).contains(&base) {
        return None;
    }
    let mut value = Some(0u64);
    for digit in digits.chars().filter(|digit| *digit != '_') {
        let digit = u64::from(digit.to_digit(base)?);
        value = value.and_then(|value| value.checked_mul(base.into())?.checked_add(digit));
    }
    Some(value.map_or((u64::MAX, true), |value| (value, false)))
}

impl ArgParser for IntBase {
    type Value = u64;

    fn parse(&self, text: &str, _: &Names) -> Result<u64, BadValue> {
        let value = Integer::parse(text, Some(self.0), false)?.within(0, u64::MAX.into())?;
        Ok(value as u64)
    }
}

macro_rules! integers {
    ($($ty:ty)*) => {$(
        impl FromArg for $ty {
            fn from_arg(text: &str, names: &Names) -> Result<Self, BadValue> {
                Bounded(<$ty>::MIN..=<$ty>::MAX).parse(text, names)
            }
        }

        impl ArgParser for Bounded<$ty> {
            type Value = $ty;

            fn parse(&self, text: &str, _: &Names) -> Result<$ty, BadValue> {
                let is_signed = <$ty>::MIN != 0;
                let integer = Integer::parse(text, None, is_signed)?;
                // The bounds are values of the type, so what lies between them is one too.
                Ok(integer.within(*self.0.start() as i128, *self.0.end() as i128)? as $ty)
            }
        }
    )*};
}

integers! { u8 u16 u32 u64 usize i8 i16 i32 i64 }

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read<T: FromArg>(text: &str) -> Result<T, BadValue> {
        T::from_arg(text, &Names::default())
    }

    fn bound<T>(value: impl std::fmt::Display) -> Result<T, BadValue> {
        Err(BadValue::out_of_range(value))
    }

    #[test]
    fn every_base_is_read() {
        for (text, expected) in [
            ("0", 0),
            ("10", 10),
            ("+7", 7),
            ("0x1F", 31),
            ("0X1f", 31),
            ("017", 15),
            ("0b101", 5),
            ("1_000_000", 1_000_000),
        ] {
            assert_eq!(read(text), Ok(expected as u32), "{text}");
            assert_eq!(read(text), Ok(i64::from(expected)), "{text}");
        }
        assert_eq!(IntBase(16).parse("ff", &Names::default()), Ok(255));
        assert_eq!(IntBase(16).parse("0xff", &Names::default()), Ok(255));
        assert_eq!(IntBase(10).parse("010", &Names::default()), Ok(10));
    }

    #[test]
    fn what_is_not_an_integer_is_a_mismatch() {
        for text in [
            "", "-", "+", "x", "1x", "09", "0x", "0xg", "0b", "0b2", "1.5", "_1", "1_", "1__0", " 1", "1 ",
            "+-1", "--1",
        ] {
            assert_eq!(read::<u32>(text), Err(BadValue::Mismatch), "{text}");
            assert_eq!(read::<i32>(text), Err(BadValue::Mismatch), "{text}");
        }
        assert_eq!(read::<u32>("-1"), Err(BadValue::Mismatch));
    }

    #[test]
    fn bounds_are_allowed_and_named_when_passed() {
        assert_eq!(read("255"), Ok(255u8));
        assert_eq!(read::<u8>("256"), bound(255));
        assert_eq!(read("4294967295"), Ok(u32::MAX));
        assert_eq!(read::<u32>("4294967296"), bound(u32::MAX));
        assert_eq!(read("0xffffffffffffffff"), Ok(u64::MAX));
        assert_eq!(read::<u64>("18446744073709551616"), bound(u64::MAX));
        assert_eq!(read("-2147483648"), Ok(i32::MIN));
        assert_eq!(read::<i32>("-2147483649"), bound(i32::MIN));
        assert_eq!(read::<i64>("-99999999999999999999"), bound(i64::MIN));
        assert_eq!(Bounded(1..=9u16).parse("0", &Names::default()), bound(1));
        assert_eq!(Bounded(-3..=9).parse("-4", &Names::default()), bound(-3));
    }

    proptest! {
        #[test]
        fn printed_integers_are_read_back(value: i64, positive: u64) {
            prop_assert_eq!(read(&value.to_string()), Ok(value));
            prop_assert_eq!(read(&format!("{positive:#x}")), Ok(positive));
        }

        #[test]
        fn no_text_panics(text in any::<String>(), tricky in "[-+0-9xXbB_]{0,30}") {
            let _ = (read::<u8>(&text), read::<i64>(&text), read::<i8>(&tricky), read::<u64>(&tricky));
        }
    }
}
