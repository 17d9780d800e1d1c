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
        BadValue::Mismatch => format!("expected {expected}"),
        BadValue::Because(reason) => reason,
    })
}

/// Reads a value that takes the place of an argument; the error is that of a configuration.
///
/// # Errors
/// If the text is not of the type.
pub fn argument<T: FromArg>(argument: &str, text: &str, names: &Names) -> Result<T, String> {
    T::from_arg(text.trim(), names).map_err(|e| format!("{argument}: {e}"))
}

/// Reads a value into `slot`; for handlers that set a field.
///
/// # Errors
/// If the text is not of the type.
pub fn store<T: FromArg>(slot: &mut T, text: &str, expected: &str) -> Result<(), String> {
    *slot = parse(text, expected)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clickwork_packet::addr::Ipv4Address;

    #[test]
    fn a_wrong_value_is_refused_in_clicks_words_and_changes_nothing() {
        let mut slot = Ipv4Address::new(1, 2, 3, 4);
        assert_eq!(store(&mut slot, "x", "IP address"), Err("expected IP address".to_string()));
        assert_eq!(store(&mut slot, " 4.3.2.1\n", "IP address"), Ok(()));
        assert_eq!(slot, Ipv4Address::new(4, 3, 2, 1));
    }
}
