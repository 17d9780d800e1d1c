//! Decimal numbers, read and printed exactly: as a fixed-point number of so many bits or digits after the point.
//!
//! The form is that of C's `strtod` in base ten (`-1_000.5e-3`). Rounding is to the nearest, halves away from zero.
//! For the shortest decimal that names a binary fraction see Steele and White, "How to print floating-point numbers
//! accurately" (PLDI '90), §2, the fixed-point printout.

use super::{ArgParser, BadValue, FromArg, Names};

/// Non-negative numbers as `u32` with this many bits of fraction, at most 32: 0.5 with 16 bits is `0x8000`.
pub struct Real2(pub u32);

/// As [`Real2`], for numbers of either sign.
pub struct SignedReal2(pub u32);

/// Non-negative numbers as `u32` with this many decimal digits of fraction, at most 9: 0.5 with 3 digits is 500.
pub struct Real10(pub u32);

/// As [`Real10`], for numbers of either sign.
pub struct SignedReal10(pub u32);

/// More digits than this never change a result.
const KEPT_DIGITS: u32 = 28;

/// A decimal number: `mantissa` × 10^`exponent`.
#[derive(Clone, Copy)]
pub(super) struct Decimal {
    pub negative: bool,
    mantissa: u128,
    exponent: i64,
}

impl Decimal {
    /// Reads all of `text`.
    pub fn parse(text: &str) -> Option<Self> {
        let negative = text.starts_with('-');
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (digits, exponent) = match unsigned.split_once(['e', 'E']) {
            Some((digits, exponent)) => (digits, parse_exponent(exponent)?),
            None => (unsigned, 0),
        };
        let (mantissa, shift) = parse_mantissa(digits)?;
        Some(Self { negative, mantissa, exponent: exponent + shift })
    }

    /// The magnitude × `factor` × 10^`power`, rounded to an integer; none if it does not fit.
    /// `factor` has at most 33 bits.
    pub fn scaled(&self, factor: u64, power: i64) -> Option<u128> {
        let product = self.mantissa * u128::from(factor);
        let power = self.exponent + power;
        let ten_to = |power: i64| 10u128.checked_pow(u32::try_from(power).ok()?);
        if product == 0 {
            Some(0)
        } else if power >= 0 {
            product.checked_mul(ten_to(power)?)
        } else {
            // A divisor beyond 128 bits leaves less than a half.
            Some(
                ten_to(-power)
                    .map_or(0, |divisor| product / divisor + (product % divisor) / divisor.div_ceil(2)),
            )
        }
    }
}

fn parse_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // Anything beyond a million is as good as infinite.
    let magnitude = digits.parse().map_or(1_000_000, |value: i64| value.min(1_000_000));
    Some(if text.starts_with('-') { -magnitude } else { magnitude })
}

/// The digits as an integer and the power of ten to scale it by. `_` may follow a digit if another digit follows.
fn parse_mantissa(text: &str) -> Option<(u128, i64)> {
    let (mut mantissa, mut shift, mut kept) = (0u128, 0i64, 0);
    let (mut seen_point, mut previous) = (false, b'.');
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' if kept < KEPT_DIGITS => {
                mantissa = mantissa * 10 + u128::from(byte - b'0');
                kept += u32::from(mantissa > 0);
                shift -= i64::from(seen_point);
            }
            b'0'..=b'9' => shift += i64::from(!seen_point),
            b'_' if previous.is_ascii_digit() => {}
            b'.' if !seen_point && previous != b'_' => seen_point = true,
            _ => return None,
        }
        previous = byte;
    }
    let has_digits = text.bytes().any(|byte| byte.is_ascii_digit());
    (has_digits && previous != b'_').then_some((mantissa, shift))
}

impl ArgParser for Real2 {
    type Value = u32;

    fn parse(&self, text: &str, _: &Names) -> Result<u32, BadValue> {
        let decimal = Decimal::parse(text).filter(|_| !text.starts_with('-')).ok_or(BadValue::Mismatch)?;
        let value = decimal.scaled(1 << self.0.min(32), 0).and_then(|value| value.try_into().ok());
        value.ok_or_else(|| BadValue::out_of_range(format_real2(u32::MAX.into(), self.0)))
    }
}

impl ArgParser for SignedReal2 {
    type Value = i32;

    fn parse(&self, text: &str, _: &Names) -> Result<i32, BadValue> {
        let decimal = Decimal::parse(text).ok_or(BadValue::Mismatch)?;
        let magnitude = decimal.scaled(1 << self.0.min(32), 0);
        let bound = if decimal.negative { i32::MIN } else { i32::MAX };
        signed(decimal.negative, magnitude)
            .ok_or_else(|| BadValue::out_of_range(format_real2(bound.into(), self.0)))
    }
}

impl ArgParser for Real10 {
    type Value = u32;

    fn parse(&self, text: &str, _: &Names) -> Result<u32, BadValue> {
        let decimal = Decimal::parse(text).filter(|_| !text.starts_with('-')).ok_or(BadValue::Mismatch)?;
        let value = decimal.scaled(1, self.0.into()).and_then(|value| value.try_into().ok());
        value.ok_or_else(|| BadValue::out_of_range(format_real10(u32::MAX.into(), self.0)))
    }
}

impl ArgParser for SignedReal10 {
    type Value = i32;

    fn parse(&self, text: &str, _: &Names) -> Result<i32, BadValue> {
        let decimal = Decimal::parse(text).ok_or(BadValue::Mismatch)?;
        let bound = if decimal.negative { i32::MIN } else { i32::MAX };
        signed(decimal.negative, decimal.scaled(1, self.0.into()))
            .ok_or_else(|| BadValue::out_of_range(format_real10(bound.into(), self.0)))
    }
}

fn signed(negative: bool, magnitude: Option<u128>) -> Option<i32> {
    let magnitude = i64::try_from(magnitude?).ok()?;
    i32::try_from(if negative { -magnitude } else { magnitude }).ok()
}

impl FromArg for f64 {
    fn from_arg(text: &str, _: &Names) -> Result<Self, BadValue> {
        let value: f64 = text.parse().map_err(|_| BadValue::Mismatch)?;
        let names_a_number = text.bytes().any(|byte| byte.is_ascii_digit());
        if value.is_infinite() && names_a_number {
            return Err(BadValue::out_of_range(f64::MAX.copysign(value)));
        }
        Ok(value)
    }
}

/// A fixed-point number with `bits` of fraction (at most 32) as the shortest decimal that reads back as itself.
///
/// ```
/// # use clickwork_router::args::format_real2;
/// assert_eq!(format_real2(0x8000, 16), "0.5");
/// assert_eq!(format_real2(-0x199a, 16), "-0.1");
/// ```
pub fn format_real2(value: i64, bits: u32) -> String {
    let bits = bits.min(32);
    let one = 1u128 << (bits + 1);
    // In half units of the last bit, so that the rounding interval is an integer.
    let doubled = u128::from(value.unsigned_abs()) << 1;
    let (mut fraction, mut margin) = (doubled & (one - 1), 1u128);
    let mut whole = (doubled >> (bits + 1)).to_string();
    if fraction > 0 {
        whole.push('.');
    }
    while fraction > 0 {
        fraction *= 10;
        margin *= 10;
        let digit = fraction >> (bits + 1);
        fraction &= one - 1;
        let is_last = fraction < margin || fraction > one.saturating_sub(margin);
        // A 9 is never rounded up: the digit before it would already have been the last.
        let round_up = is_last && fraction * 2 >= one;
        whole.push(char::from(b'0' + digit as u8 + u8::from(round_up)));
        if is_last {
            break;
        }
    }
    if value < 0 { format!("-{whole}") } else { whole }
}

/// A number counted in units of 10^-`digits`, without trailing zeros.
///
/// ```
/// # use clickwork_router::args::format_real10;
/// assert_eq!(format_real10(1500, 3), "1.5");
/// assert_eq!(format_real10(2000, 3), "2");
/// ```
pub fn format_real10(value: i64, digits: u32) -> String {
    format_decimal(value < 0, value.unsigned_abs().into(), digits)
}

pub(super) fn format_decimal(negative: bool, magnitude: u128, digits: u32) -> String {
    let sign = if negative { "-" } else { "" };
    let unit = 10u128.pow(digits.min(38));
    let (whole, fraction) = (magnitude / unit, magnitude % unit);
    if fraction == 0 {
        return format!("{sign}{whole}");
    }
    let fraction = format!("{fraction:0width$}", width = digits as usize);
    format!("{sign}{whole}.{}", fraction.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse<P: ArgParser>(parser: P, text: &str) -> Result<P::Value, BadValue> {
        parser.parse(text, &Names::default())
    }

    #[test]
    fn decimal_fractions_are_exact_and_round_to_nearest() {
        for (text, digits, expected) in [
            ("1.5", 3, 1500),
            (".5", 1, 5),
            ("5.", 1, 50),
            ("+1e3", 0, 1000),
            ("0.000_000_01e10", 2, 10000),
            ("1.2345e-1", 3, 123),
            ("0.0005", 3, 1),
            ("0.00049", 3, 0),
            ("1_000.25", 2, 100025),
            ("4294967295", 0, u32::MAX),
            ("0.00000000000000000000000000000000000000001", 9, 0),
            ("0e99999999999999999999", 9, 0),
        ] {
            assert_eq!(parse(Real10(digits), text), Ok(expected), "{text}");
        }
        assert_eq!(parse(SignedReal10(2), "-1.255"), Ok(-126));
    }

    #[test]
    fn binary_fractions_round_to_nearest() {
        for (text, bits, expected) in
            [("0.5", 16, 0x8000), ("0.1", 16, 0x199a), ("1", 0, 1), ("0.75", 1, 2), ("0.25", 32, 1 << 30)]
        {
            assert_eq!(parse(Real2(bits), text), Ok(expected), "{text}");
        }
        assert_eq!(parse(SignedReal2(16), "-0.5"), Ok(-0x8000));
    }

    #[test]
    fn what_is_not_a_number_is_a_mismatch() {
        for text in
            ["", ".", "-", "e5", "1e", "1e+", "1.2.3", "_1", "1_", "1_.5", "1__0", "0x10", "1 ", "--1", "+-1"]
        {
            assert!(matches!(parse(Real10(3), text), Err(BadValue::Mismatch)), "{text}");
            assert!(matches!(parse(SignedReal2(3), text), Err(BadValue::Mismatch)), "{text}");
        }
        assert_eq!(parse(Real10(3), "-1"), Err(BadValue::Mismatch));
    }

    #[test]
    fn numbers_that_do_not_fit_name_the_bound() {
        assert_eq!(parse(Real10(3), "4294967.296"), Err(BadValue::out_of_range("4294967.295")));
        assert_eq!(parse(Real2(0), "1e30"), Err(BadValue::out_of_range("4294967295")));
        assert_eq!(parse(Real2(16), "1e999999"), Err(BadValue::out_of_range("65535.99998")));
        assert_eq!(parse(SignedReal10(0), "-2147483649"), Err(BadValue::out_of_range(i32::MIN)));
        assert_eq!(parse(SignedReal10(0), "-2147483648"), Ok(i32::MIN));
    }

    #[test]
    fn floating_numbers() {
        let read = |text: &str| f64::from_arg(text, &Names::default());
        assert_eq!(read("1.5e3"), Ok(1500.0));
        assert_eq!(read("-.5"), Ok(-0.5));
        for text in ["", " 1", "1x"] {
            assert_eq!(read(text), Err(BadValue::Mismatch), "{text}");
        }
        assert!(read("1e999").unwrap_err().to_string().starts_with("out of range"));
    }

    proptest! {
        #[test]
        fn printed_binary_fractions_are_read_back(value: i32, bits in 0u32..=31) {
            prop_assert_eq!(parse(SignedReal2(bits), &format_real2(value.into(), bits)), Ok(value));
        }

        #[test]
        fn printed_decimal_fractions_are_read_back(value: i32, digits in 0u32..=9) {
            prop_assert_eq!(parse(SignedReal10(digits), &format_real10(value.into(), digits)), Ok(value));
        }

        #[test]
        fn no_text_panics(text in any::<String>(), tricky in "[-+.eE_0-9]{0,60}") {
            let _ = (parse(Real2(32), &text), parse(SignedReal10(9), &tricky), parse(Real2(32), &tricky));
        }
    }
}
