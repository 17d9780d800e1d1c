//! Configurations that follow the changes that handlers make.

use super::matching::keyword_length;
use super::split_args;

/// A configuration in which an argument has a new value: the argument at `position` is replaced, unless the argument is
/// given by its keyword or not at all; then it is added by its keyword at the end.
pub(crate) fn with_argument(config: &str, position: usize, keyword: &str, value: &str) -> String {
    let mut args = split_args(config);
    let given = args.len();
    args.retain(|arg| arg[..keyword_length(arg)] != *keyword);
    let by_position = args.len() == given && args.get(position).is_some_and(|arg| keyword_length(arg) == 0);
    if by_position {
        args[position] = value.to_string();
    } else {
        args.push(format!("{keyword} {value}"));
    }
    args.join(", ")
}

#[cfg(test)]
mod tests {
    use super::with_argument;

    #[test]
    fn an_argument_is_replaced_where_it_was_given_by_position() {
        let with = |config| with_argument(config, 0, "RATE", "7");
        assert_eq!(with("5, BURST 3"), "7, BURST 3");
        assert_eq!(with("BURST 3, RATE 5"), "BURST 3, RATE 7");
        assert_eq!(with("BURST 3"), "BURST 3, RATE 7");
        assert_eq!(with(""), "RATE 7");
    }
}
