//! Values that handlers are written with, read as configuration arguments are.

use clickwork_router::Cx;
use clickwork_router::args::{FromArg, Names};

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
    T::from_arg(text.trim(), names).map_err(|_| format!("expected {expected}"))
}

/// Reads a value that takes the place of an argument; the error is that of a configuration.
///
/// # Errors
/// If the text is not of the type.
pub fn argument<T: FromArg>(argument: &str, text: &str, names: &Names) -> Result<T, String> {
    T::from_arg(text.trim(), names).map_err(|e| format!("{argument}: {e}"))
}

/// Reads the argument at `position` into `slot` anew and notes it in the configuration; for handlers that are written
/// as if the element were configured again.
///
/// # Errors
/// If the text is not of the type.
pub fn reconfigure<T: FromArg>(
    slot: &mut T,
    position: usize,
    name: &str,
    text: &str,
    cx: &mut Cx<'_>,
) -> Result<(), String> {
    *slot = argument(name, text, &cx.names())?;
    cx.set_argument(position, name, text.trim());
    Ok(())
}

/// As [`store`], where names may stand for values.
///
/// # Errors
/// If the text is not of the type.
pub fn store_named<T: FromArg>(slot: &mut T, text: &str, cx: &Cx<'_>, expected: &str) -> Result<(), String> {
    *slot = parse_with(text, &cx.names(), expected)?;
    Ok(())
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
        // So is a number out of range.
        let mut slot = 7u8;
        assert_eq!((store(&mut slot, "256", "uint8_t"), slot), (Err("expected uint8_t".to_string()), 7));
    }
}
