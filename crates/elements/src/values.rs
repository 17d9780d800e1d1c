//! Values that handlers are written with, read as configuration arguments are.

use clickwork_router::args::{BadValue, FromArg, Names};

/// Reads a value; the error says what was expected.
///
/// # Errors
/// If the text is not of the type.
pub fn parse<T: FromArg>(text: &str, expected: &str) -> Result<T, String> {
    T::from_arg(text.trim(), &Names::default()).map_err(|e| match e {
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
