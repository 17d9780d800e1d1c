//! Handlers that compute with numbers. Integers have 64 bits and wrap around; when one number is not an integer, all are
//! taken as floating-point numbers.

use super::words::{format_real, parse, shift_word, unquote};
use clickwork_router::args::{BadValue, FromArg, Names, unparse_bool};
use clickwork_router::{Router, Value};
use clickwork_source::text::encode;
use std::cmp::Ordering;

type Reply = Result<Value, String>;

/// What is done with a list of numbers, from left to right.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fold {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Quotient, with fraction.
    Div,
    /// Quotient, without fraction.
    Idiv,
    /// Least.
    Min,
    /// Greatest.
    Max,
}

#[derive(Clone, Copy)]
enum Number {
    Integer(i64),
    Real(f64),
}

impl Number {
    fn parse(text: &str) -> Option<Number> {
        parse(text).map(Number::Integer).or_else(|| parse(text).map(Number::Real))
    }

    fn real(self) -> f64 {
        match self {
            Number::Integer(n) => n as f64,
            Number::Real(x) => x,
        }
    }
}

impl From<Number> for Value {
    fn from(number: Number) -> Value {
        match number {
            Number::Integer(n) => n.into(),
            Number::Real(x) => format_real(x).into(),
        }
    }
}

impl Fold {
    /// The value of no numbers.
    fn neutral(self) -> Number {
        Number::Integer(i64::from(!matches!(self, Fold::Add | Fold::Sub)))
    }

    fn apply(self, a: Number, b: Number) -> Number {
        match (self, a, b) {
            (Fold::Add, Number::Integer(a), Number::Integer(b)) => Number::Integer(a.wrapping_add(b)),
            (Fold::Sub, Number::Integer(a), Number::Integer(b)) => Number::Integer(a.wrapping_sub(b)),
            (Fold::Mul, Number::Integer(a), Number::Integer(b)) => Number::Integer(a.wrapping_mul(b)),
            (Fold::Min, Number::Integer(a), Number::Integer(b)) => Number::Integer(a.min(b)),
            (Fold::Max, Number::Integer(a), Number::Integer(b)) => Number::Integer(a.max(b)),
            _ => Number::Real(self.apply_real(a.real(), b.real())),
        }
    }

    fn apply_real(self, a: f64, b: f64) -> f64 {
        match self {
            Fold::Add => a + b,
            Fold::Sub => a - b,
            Fold::Mul => a * b,
            Fold::Div | Fold::Idiv => a / b,
            Fold::Min => a.min(b),
            Fold::Max => a.max(b),
        }
    }
}

/// Folds a list of numbers.
pub fn fold(fold: Fold, mut text: &str) -> Reply {
    let mut result = None;
    let mut all_integers = true;
    loop {
        let (word, rest) = shift_word(text);
        if word.is_empty() {
            break;
        }
        let number = Number::parse(word).ok_or("expected list of numbers")?;
        all_integers &= matches!(number, Number::Integer(_));
        result = Some(result.map_or(number, |before| fold.apply(before, number)));
        text = rest;
    }
    let result = result.unwrap_or(fold.neutral());
    Ok(match fold {
        Fold::Idiv => Number::Integer(whole(result.real())),
        _ if all_integers => result,
        _ => Number::Real(result.real()),
    }
    .into())
}

/// The number without its fraction. What 64 bits cannot hold becomes the least of them, as in Click.
fn whole(x: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&x) { x as i64 } else { i64::MIN }
}

/// The two words of a text.
fn two(text: &str) -> Option<(&str, &str)> {
    let (a, rest) = shift_word(text);
    let (b, rest) = shift_word(rest);
    (!b.is_empty() && rest.is_empty()).then_some((a, b))
}

const TWO_NUMBERS: &str = "expected two numbers";

/// The remainder of a division, whose sign is that of the first number.
pub fn remainder(text: &str, may_be_real: bool) -> Reply {
    let (a, b) = two(text).ok_or(TWO_NUMBERS)?;
    match (Number::parse(a).ok_or(TWO_NUMBERS)?, Number::parse(b).ok_or(TWO_NUMBERS)?) {
        (Number::Integer(_), Number::Integer(0)) => Err("division by zero".to_string()),
        (Number::Integer(a), Number::Integer(b)) => Ok(a.wrapping_rem(b).into()),
        (a, b) if may_be_real => Ok(Number::Real(a.real() % b.real()).into()),
        _ => Err(TWO_NUMBERS.to_string()),
    }
}

/// The negative of a number.
pub fn negative(text: &str) -> Reply {
    match Number::parse(text.trim()).ok_or("expected one number")? {
        Number::Integer(n) => Ok(n.wrapping_neg().into()),
        Number::Real(x) => Ok(Number::Real(-x).into()),
    }
}

/// The absolute value of a number.
pub fn absolute(text: &str) -> Reply {
    match Number::parse(text.trim()).ok_or("expected one number")? {
        Number::Integer(n) => Ok(n.wrapping_abs().into()),
        Number::Real(x) => Ok(Number::Real(x.abs()).into()),
    }
}

/// Compares two numbers, or, if one of them is none, two strings.
pub fn compare(text: &str, holds: fn(Ordering) -> bool) -> Reply {
    let (a, b) = two(text).ok_or(TWO_NUMBERS)?;
    let order = match (Number::parse(a), Number::parse(b)) {
        (Some(Number::Integer(a)), Some(Number::Integer(b))) => a.cmp(&b),
        (Some(a), Some(b)) => a.real().partial_cmp(&b.real()).unwrap_or(Ordering::Greater),
        _ => encode(&unquote(a)).cmp(&encode(&unquote(b))),
    };
    Ok(unparse_bool(holds(order)).into())
}

/// A number of 32 bits with sign, or the nearest one to it that there is: Click does not refuse these.
fn nearest(text: &str) -> Result<i32, String> {
    match i32::from_arg(text.trim(), &Names::default()) {
        Ok(n) => Ok(n),
        Err(BadValue::Mismatch) => Err("syntax error".to_string()),
        Err(_) => Ok(if text.trim().starts_with('-') { i32::MIN } else { i32::MAX }),
    }
}

/// The low 16 bits of a number, their bytes in the other order if this machine's order is not the network's.
pub fn swap16(text: &str) -> Reply {
    Ok((nearest(text)? as u16).to_be().into())
}

/// The 32 bits of a number, likewise.
pub fn swap32(text: &str) -> Reply {
    Ok((nearest(text)? as u32).to_be().into())
}

/// A random number: of 31 bits, or below N, or from N1 to N2.
pub fn random(router: &mut Router, text: &str) -> Reply {
    let (first, rest) = shift_word(text);
    let number = |name, word| parse::<u32>(word).ok_or_else(|| format!("{name}: parse error"));
    let (low, high) = match (first, rest) {
        ("", _) => (0, i32::MAX as u32),
        (n, "") => (0, number("N1", n)?.checked_sub(1).ok_or("bad N")?),
        (low, high) => (number("N1", low)?, number("N2", high)?),
    };
    if high < low {
        return Err("bad N".to_string());
    }
    let span = u64::from(high - low) + 1;
    Ok((low + (u64::from(router.random()) % span) as u32).into())
}
