//! Bytes as text, in hexadecimal or as characters.

use clickwork_router::args::{Args, FromArg, Word};
use std::fmt::Write;

/// How contents are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Contents {
    /// Not at all.
    #[default]
    None,
    /// In hexadecimal.
    Hex,
    /// As characters; a dot for what cannot be printed.
    Ascii,
}

impl Contents {
    /// Reads argument `name`: NONE, HEX or ASCII in any case, or a truth value for HEX or not.
    pub fn read(args: &mut Args, name: &str, default: Contents) -> Contents {
        let Some(Word(text)) = args.get(name) else { return default };
        if let Ok(shown) = bool::from_arg(&text, args.names()) {
            return if shown { Contents::Hex } else { Contents::None };
        }
        match text.to_ascii_uppercase().as_str() {
            "NONE" | "NO" | "FALSE" => Contents::None,
            "HEX" | "YES" | "TRUE" => Contents::Hex,
            "ASCII" => Contents::Ascii,
            _ => {
                let (what, text) = (name.to_ascii_lowercase(), text.to_ascii_uppercase());
                let forms = match name {
                    "PAYLOAD" => "'false', 'hex', or 'ascii'",
                    _ => "'NONE', 'HEX', or 'ASCII'",
                };
                args.error(format!("bad {what} value '{text}'; should be {forms}"));
                default
            }
        }
    }
}

/// The first `limit` bytes; a negative limit stands for all.
pub fn first(bytes: &[u8], limit: i32) -> &[u8] {
    usize::try_from(limit).ok().and_then(|limit| bytes.get(..limit)).unwrap_or(bytes)
}

/// One byte in hexadecimal.
pub fn hex(out: &mut String, byte: u8) {
    // A String takes any text.
    let _ = write!(out, "{byte:02x}");
}

/// One byte as a character.
pub fn ascii(out: &mut String, byte: u8) {
    out.push(if (b' '..=b'~').contains(&byte) { byte as char } else { '.' });
}

/// Bytes in indented rows, each begun with a line break: 24 bytes in hexadecimal, or 48 characters.
pub fn rows(out: &mut String, bytes: &[u8], contents: Contents) {
    let (row, group, print): (usize, usize, fn(&mut String, u8)) = match contents {
        Contents::None => return,
        Contents::Hex => (24, 4, hex),
        Contents::Ascii => (48, 8, ascii),
    };
    for (i, &byte) in bytes.iter().enumerate() {
        if i % row == 0 {
            out.push_str("\n  ");
        } else if i % group == 0 {
            out.push(' ');
        }
        print(out, byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_broken_and_grouped() {
        let mut text = String::new();
        rows(&mut text, &[7; 29], Contents::Hex);
        assert_eq!(text, format!("\n  {}\n  07070707 07", ["07070707"; 6].join(" ")));
        text.clear();
        rows(&mut text, &[&b"ab\n\x7f"[..], &[b'x'; 46]].concat(), Contents::Ascii);
        assert_eq!(text, format!("\n  ab..xxxx {}\n  xx", ["xxxxxxxx"; 5].join(" ")));
    }

    #[test]
    fn a_limit_below_zero_is_none() {
        assert_eq!(
            [first(b"abc", 2), first(b"abc", 9), first(b"abc", -1), first(b"abc", 0)],
            [&b"ab"[..], b"abc", b"abc", b""]
        );
    }
}
