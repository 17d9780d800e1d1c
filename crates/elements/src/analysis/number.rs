//! Floating-point numbers as handlers print them: C's `%.12g`.

/// Significant digits.
const DIGITS: i32 = 12;

/// The number with up to twelve significant digits, in the shorter of the two notations.
pub fn general(value: f64) -> String {
    if value.is_nan() {
        // What a division of zero by zero gives on the machines that Click runs on.
        return "-nan".to_owned();
    }
    if value.is_infinite() {
        return if value < 0.0 { "-inf" } else { "inf" }.to_owned();
    }
    let scientific = format!("{value:.*e}", DIGITS as usize - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..DIGITS).contains(&exponent) {
        let decimals = (DIGITS - 1 - exponent).max(0) as usize;
        return trimmed(&format!("{value:.decimals$}")).to_owned();
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(mantissa), exponent.abs())
}

fn trimmed(decimal: &str) -> &str {
    match decimal.contains('.') {
        true => decimal.trim_end_matches('0').trim_end_matches('.'),
        false => decimal,
    }
}

#[cfg(test)]
mod tests {
    use super::general;

    /// The texts are those of C's printf.
    #[test]
    fn prints_as_c_does() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (0.1, "0.1"),
            (1.0 / 3.0, "0.333333333333"),
            (2.0 / 3.0, "0.666666666667"),
            (123_456_789_012.0, "123456789012"),
            (1_234_567_890_123.0, "1.23456789012e+12"),
            (999_999_999_999.9, "1e+12"),
            (0.000_1, "0.0001"),
            (0.000_012_5, "1.25e-05"),
            (-2.5, "-2.5"),
            (1e100, "1e+100"),
        ];
        for (value, text) in cases {
            assert_eq!(general(value), text);
        }
    }
}
