//! Words of script text, and the number formats of Click's strings.

use clickwork_lang::config;
use clickwork_router::args::{FromArg, Names};

/// Splits off the first word, still quoted; the rest begins at the next word.
pub fn shift_word(text: &str) -> (&str, &str) {
    config::split_word(text)
}

/// The text without a layer of quotes.
pub fn unquote(text: &str) -> String {
    clickwork_router::args::unquote(text)
}

/// Reads a value as configuration arguments are read.
pub fn parse<T: FromArg>(text: &str) -> Option<T> {
    T::from_arg(text, &Names::default()).ok()
}

/// A floating-point number as C's `%.12g` prints it.
pub fn format_real(x: f64) -> String {
    const DIGITS: i32 = 12;
    if x.is_nan() {
        return if x.is_sign_negative() { "-nan" } else { "nan" }.to_string();
    }
    if x.is_infinite() {
        return x.to_string();
    }
    let scientific = format!("{x:.*e}", DIGITS as usize - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..DIGITS).contains(&exponent) {
        return trim_fraction(&format!("{x:.*}", (DIGITS - 1 - exponent) as usize)).to_string();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trim_fraction(mantissa), exponent.abs())
}

fn trim_fraction(number: &str) -> &str {
    match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_numbers_print_as_in_c() {
        for (x, text) in [
            (3.5, "3.5"),
            (3.0, "3"),
            (0.1 + 0.2, "0.3"),
            (1.0 / 3.0, "0.333333333333"),
            (1e12, "1e+12"),
            (123_456_789_012.0, "123456789012"),
            (0.0001, "0.0001"),
            (0.00001234, "1.234e-05"),
            (-2.5e100, "-2.5e+100"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN.copysign(1.0), "nan"),
            (f64::NAN.copysign(-1.0), "-nan"),
            (0.0, "0"),
            (999_999_999_999.9, "1e+12"),
        ] {
            assert_eq!(format_real(x), text);
        }
    }
}
