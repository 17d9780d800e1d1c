//! Values that handlers are written with, read as configuration arguments are.

use clickwork_router::args::{BadValue, FromArg, Names};

/// Reads a value; the error says what was expected.
///
/// # Errors
/// If the text is not of the type.
pub fn parse<T: FromArg>(text: &str, expected: &str) -> Result<T, String> {
    parse_with(text, &Names::default(), expected)
}

/// The same, where names may stand for values.
///
/// # Errors
/// If the text is not of the type.
pub fn parse_with<T: FromArg>(text: &str, names: &Names, expected: &str) -> Result<T, String> {
    T::from_arg(text.trim(), names).map_err(|e| match e {
        BadValue::Mismatch => format!("'{}' is wrong, expected {expected}", text.trim()),
        BadValue::Because(reason) => reason,
    })
}

/// Reads a value into `slot`; for handlers that set a field.
///
/// # Errors
/// If the text is not of the type.
pub fn store<T: FromArg>(slot: &mut T, text: &str, expected: &str) -> Result<(), String> {
    *slot = parse(text, expected)?;
    Ok(())
}
