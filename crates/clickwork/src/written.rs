//! The line that a person wrote, where a message is about what tools have made of it.
//!
//! Tools mark which line of which file everything came from, but what they hand on is not that line: compound elements are gone,
//! names are long. If the file is still there, its line says more.

use clickwork_source::text::{decode_file, to_path};
use clickwork_source::{Diagnostic, Sources};
use std::collections::HashMap;
use std::fs;

/// Larger files are not read for this.
const LARGEST: u64 = 4 << 20;

/// Files that messages name, read when needed.
#[derive(Default)]
pub struct Written {
    files: HashMap<String, Option<String>>,
}

impl Written {
    /// The message with a hint that has the line, if it came from elsewhere and looks different there.
    pub fn add(&mut self, sources: &Sources, message: &Diagnostic) -> Diagnostic {
        match self.line(sources, message) {
            Some(hint) => message.clone().hint(hint),
            None => message.clone(),
        }
    }

    fn line(&mut self, sources: &Sources, message: &Diagnostic) -> Option<String> {
        let span = message.span();
        let (file, number) = sources.marked_line(span)?;
        if file == sources.name(span.file) {
            return None;
        }
        let text = self.files.entry(file.to_string()).or_insert_with(|| read(file)).as_deref()?;
        let line = text.lines().nth(number.checked_sub(1)?)?.trim();
        let (shown, _) = sources.line_col(span);
        let shown = sources.text(span.file).lines().nth(shown.checked_sub(1)?)?.trim();
        (!line.is_empty() && line != shown).then(|| format!("line {number} of {file} is: {line}"))
    }
}

/// The text of a file of moderate size.
fn read(file: &str) -> Option<String> {
    let file = to_path(file);
    let about = fs::metadata(&file).ok().filter(|m| m.is_file() && m.len() <= LARGEST);
    about.and_then(|_| fs::read(file).ok()).map(decode_file)
}
