//! Reads what the preprocessor wrote back into Prolac.
//!
//! Line marks are reduced to those that are needed, support blocks come back, and a line that the preprocessor only
//! spaced differently gets its spaces back, so that columns in messages are right.

use std::collections::HashMap;

use super::copies::{Copies, WORD, quoted};

/// Prolac text with line marks.
pub fn restore(output: &str, copies: &Copies<'_>) -> String {
    let lines = copies.copies.iter().map(|c| (copies.sources.name(c.id), c.text.lines().collect()));
    let mut writer = Writer { copies, lines: lines.collect(), out: String::new(), next: None, place: None };
    for line in output.lines() {
        match mark(line) {
            Some(place) => writer.place = Some(place),
            None => writer.line(line),
        }
    }
    writer.out
}

struct Writer<'a> {
    copies: &'a Copies<'a>,
    /// The lines of all files by their names.
    lines: HashMap<&'a str, Vec<&'a str>>,
    out: String,
    /// Where a reader of the output so far thinks the next line is from.
    next: Option<(String, usize)>,
    /// Where the next line is from.
    place: Option<(String, usize)>,
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        let Some((file, number)) = self.place.take() else { return };
        if let Some(originals) = self.lines.get(file.as_str()) {
            let original = number.checked_sub(1).and_then(|n| originals.get(n)).copied();
            let line = original.filter(|original| same(original, line)).unwrap_or(line);
            self.write(&file, number, line);
        } else if !line.trim().is_empty() {
            // From a file that only the preprocessor found.
            self.write(&file, number, line);
        }
        self.place = Some((file, number + 1));
    }

    fn write(&mut self, file: &str, number: usize, line: &str) {
        if self.next.as_ref().is_none_or(|(f, n)| (f.as_str(), *n) != (file, number)) {
            self.out.push_str(&format!("# {number} {}\n", quoted(file)));
        }
        let restored = self.with_supports(line, file, number);
        self.out.push_str(&restored);
        self.out.push('\n');
        self.next = Some((file.to_string(), number + 1));
    }

    /// A line with its support blocks. After one of several lines, the count of lines goes on from where it began.
    fn with_supports(&self, line: &str, file: &str, number: usize) -> String {
        let mut out = String::new();
        let mut rest = line;
        while let Some(at) = rest.find(WORD) {
            let Some((block, length)) = self.support(&rest[at + WORD.len()..]) else { break };
            out.push_str(rest[..at].strip_suffix(' ').unwrap_or(&rest[..at]));
            out.push_str(block);
            rest = &rest[at + WORD.len() + length..];
            rest = rest.strip_prefix(' ').unwrap_or(rest);
            if block.contains('\n') {
                // The rest of this line is empty: the ends of lines of the block stand after its word.
                out.push_str(&format!("\n# {} {}", number + 1, quoted(file)));
                return out;
            }
        }
        out + rest
    }

    /// The block of a word whose beginning was cut off, and the length of the word's rest.
    fn support(&self, rest: &str) -> Option<(&str, usize)> {
        let (numbers, _) = rest.split_once("__")?;
        let (file, block) = numbers.split_once('_')?;
        let block = self.copies.support(file.parse().ok()?, block.parse().ok()?)?;
        Some((block, numbers.len() + 2))
    }
}

/// Whether two lines have the same letters.
fn same(a: &str, b: &str) -> bool {
    let letters = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    letters(a) == letters(b)
}

/// The line and file of a mark `# 12 "file" flags`.
fn mark(line: &str) -> Option<(String, usize)> {
    let rest = line.strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("line").unwrap_or(rest).trim_start();
    let (number, rest) = rest.split_once(' ')?;
    let number = number.parse().ok()?;
    Some((unquoted(rest.trim_start().strip_prefix('"')?), number))
}

/// A C string up to its quote.
fn unquoted(text: &str) -> String {
    let mut out = Vec::new();
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => break,
            b'\\' => match bytes.next() {
                Some(digit @ b'0'..=b'7') => {
                    let mut value = u32::from(digit - b'0');
                    while let Some(digit @ b'0'..=b'7') = bytes.peek() {
                        value = value * 8 + u32::from(digit - b'0');
                        bytes.next();
                    }
                    out.push(value as u8);
                }
                Some(other) => out.push(other),
                None => break,
            },
            other => out.push(other),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
