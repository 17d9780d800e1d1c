//! What Click's tool can be told in a file, or by a DevirtualizeInfo in the configuration: `noclass CLASS...` leaves
//! classes alone.

use std::collections::BTreeSet;

use clickwork_lang::config::{split_args, split_words};

use crate::Network;

/// Reads instructions, one a line, and adds what they leave alone to `left_out`.
///
/// # Errors
/// What is wrong with a line, with its number.
pub fn read_instructions(text: &str, left_out: &mut BTreeSet<String>) -> Result<(), String> {
    for (number, line) in text.lines().enumerate() {
        read(line, left_out).map_err(|e| format!("{}: {e}", number + 1))?;
    }
    Ok(())
}

/// Reads the instructions that the elements of class DevirtualizeInfo hold.
///
/// # Errors
/// What is wrong with one, with the name of the element.
pub fn in_configuration(network: &Network, left_out: &mut BTreeSet<String>) -> Result<(), String> {
    for (_, e) in network.elements().filter(|(_, e)| e.class == "DevirtualizeInfo") {
        for instruction in split_args(&e.config) {
            read(&instruction, left_out).map_err(|what| format!("{}: {what}", e.name))?;
        }
    }
    Ok(())
}

fn read(line: &str, left_out: &mut BTreeSet<String>) -> Result<(), String> {
    let words = split_words(line);
    let Some((first, rest)) = words.split_first().filter(|(first, _)| !first.starts_with('#')) else {
        return Ok(());
    };
    match (first.as_str(), rest) {
        ("noclass", []) => Err("'noclass' needs names of classes behind it".to_string()),
        ("noclass", names) => {
            left_out.extend(names.iter().cloned());
            Ok(())
        }
        // What Click's tool would do with it was never written.
        ("like", [_, _, ..]) => Ok(()),
        ("like", _) => Err("'like' needs two names behind it".to_string()),
        (other, _) => {
            Err(format!("unknown instruction '{other}' (there are 'noclass CLASS...' and comments with '#')"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_read_line_by_line() {
        let mut left_out = BTreeSet::new();
        read_instructions("# noclass X\n\nnoclass A B\n  noclass C\r\nlike a b\n", &mut left_out).unwrap();
        assert_eq!(left_out.iter().collect::<Vec<_>>(), ["A", "B", "C"]);
        let wrong = |text| read_instructions(text, &mut BTreeSet::new()).unwrap_err();
        assert_eq!(wrong("\nnoclass"), "2: 'noclass' needs names of classes behind it");
        assert_eq!(wrong("like a"), "1: 'like' needs two names behind it");
        assert!(wrong("noelement a").starts_with("1: unknown instruction 'noelement'"));
    }
}
