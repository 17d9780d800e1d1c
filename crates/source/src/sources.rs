//! The texts of all files read so far, and where their lines begin.

use std::borrow::Cow;
use std::ops::Range;

use crate::{FileId, Span};

/// Every source file of one run. Files are only ever added, so a [`FileId`] stays good.
#[derive(Debug, Default)]
pub struct Sources {
    files: Vec<File>,
    /// What messages must not repeat.
    hidden: Vec<String>,
}

#[derive(Debug)]
struct File {
    name: String,
    text: String,
    /// Offset of the first byte of each line.
    lines: Vec<usize>,
    /// Line marks, in the order of their offsets.
    marks: Vec<LineMark>,
}

/// From `at` on, lines count from `line` in the file called `file`.
#[derive(Debug)]
struct LineMark {
    at: usize,
    file: String,
    line: u32,
}

impl Sources {
    /// An empty set of files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file; `name` is what messages call it.
    ///
    /// # Panics
    /// If the text is 4 GiB or longer: spans count bytes in 32 bits.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        let text = text.into();
        assert!(u32::try_from(text.len()).is_ok(), "a source file must be smaller than 4 GiB");
        let lines = line_starts(&text);
        self.files.push(File { name: name.into(), text, lines, marks: Vec::new() });
        FileId(self.files.len() as u32 - 1)
    }

    /// Has a part of the texts, such as a key, hidden in all messages and their excerpts. What is shorter than four bytes
    /// is not: it stands in other words.
    pub fn hide(&mut self, part: &str) {
        if part.len() >= 4 {
            self.hidden.push(part.to_owned());
            // The longest first, which may have others inside.
            self.hidden.sort_by_key(|part| std::cmp::Reverse(part.len()));
        }
    }

    /// A message without what is to be hidden.
    pub(crate) fn without_hidden(&self, message: String) -> String {
        self.hidden.iter().fold(message, |text, part| match text.contains(part.as_str()) {
            true => text.replace(part.as_str(), "\u{2022}\u{2022}\u{2022}"),
            false => text,
        })
    }

    /// A part of a text with asterisks in place of the bytes that are to be hidden, so that all others stay where they are.
    pub(crate) fn masked<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.hidden.iter().fold(Cow::Borrowed(text), |text, part| match text.contains(part.as_str()) {
            true => Cow::Owned(text.replace(part.as_str(), &"*".repeat(part.len()))),
            false => text,
        })
    }

    /// A range of a text made smaller so that it does not begin or end inside what is to be hidden.
    pub(crate) fn around_hidden(&self, text: &str, mut range: Range<usize>) -> Range<usize> {
        for part in &self.hidden {
            for (at, _) in text.match_indices(part.as_str()) {
                let inside = at + 1..at + part.len();
                if inside.contains(&range.start) {
                    range.start = inside.end;
                }
                if inside.contains(&range.end) {
                    range.end = at;
                }
            }
        }
        range.start..range.end.max(range.start)
    }

    /// The name a file was added under.
    pub fn name(&self, file: FileId) -> &str {
        self.file(file).map_or("", |f| &f.name)
    }

    /// The whole text of a file.
    pub fn text(&self, file: FileId) -> &str {
        self.file(file).map_or("", |f| &f.text)
    }

    /// The text a span covers; empty for [`Span::NONE`].
    pub fn slice(&self, span: Span) -> &str {
        self.text(span.file).get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Line and column of the start of a span in its own file, both counted from 1, columns in characters.
    /// Line marks do not count. `(0, 0)` for [`Span::NONE`].
    pub fn line_col(&self, span: Span) -> (usize, usize) {
        let Some(file) = self.file(span.file) else { return (0, 0) };
        let at = (span.start as usize).min(file.text.len());
        let line = file.line_of(at);
        let before = file.text.get(file.lines[line - 1]..at).unwrap_or("");
        (line, before.chars().count() + 1)
    }

    /// Declares that the text from offset `at` on came from line `line` of `file`: the `#line` directive.
    pub fn line_mark(&mut self, id: FileId, at: u32, file: String, line: u32) {
        if let Some(f) = self.files.get_mut(id.0 as usize) {
            let at = at as usize;
            let place = f.marks.partition_point(|m| m.at < at);
            let mark = LineMark { at, file, line };
            match f.marks.get_mut(place) {
                Some(old) if old.at == at => *old = mark,
                _ => f.marks.insert(place, mark),
            }
        }
    }

    /// Where a span starts as Click names it, `config.click:3`, line marks included. Empty for [`Span::NONE`].
    pub fn landmark(&self, span: Span) -> String {
        self.marked_line(span).map_or(String::new(), |(file, line)| format!("{file}:{line}"))
    }

    /// The file name and line number of the start of a span, line marks included.
    pub fn marked_line(&self, span: Span) -> Option<(&str, usize)> {
        let file = self.file(span.file)?;
        let at = (span.start as usize).min(file.text.len());
        let line = file.line_of(at);
        Some(match self.marks_before(span).checked_sub(1).map(|i| &file.marks[i]) {
            None => (&file.name, line),
            Some(mark) => (&mark.file, mark.line as usize + line - file.line_of(mark.at)),
        })
    }

    /// How many line marks stand before the start of a span: places with the same number are in one piece of one file.
    pub(crate) fn marks_before(&self, span: Span) -> usize {
        self.file(span.file).map_or(0, |f| f.marks.partition_point(|m| m.at <= span.start as usize))
    }

    fn file(&self, id: FileId) -> Option<&File> {
        self.files.get(id.0 as usize)
    }
}

impl File {
    /// The line, from 1, that holds offset `at`.
    fn line_of(&self, at: usize) -> usize {
        self.lines.partition_point(|&start| start <= at)
    }
}

/// Lines end at `\n`, `\r\n` or a lone `\r`, as in Click.
fn line_starts(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let ends_line = |i: usize| bytes[i] == b'\n' || (bytes[i] == b'\r' && bytes.get(i + 1) != Some(&b'\n'));
    std::iter::once(0).chain((0..bytes.len()).filter(|&i| ends_line(i)).map(|i| i + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one() {
        let mut sources = Sources::new();
        let f = sources.add("a.click", "ab\r\ncé d\re");
        let at = |start| Span::new(f, start, start);
        assert_eq!(sources.line_col(at(0)), (1, 1));
        assert_eq!(sources.line_col(at(4)), (2, 1));
        assert_eq!(sources.line_col(at(8)), (2, 4));
        assert_eq!(sources.line_col(at(10)), (3, 1));
        assert_eq!(sources.line_col(at(99)), (3, 2));
        assert_eq!(sources.line_col(Span::NONE), (0, 0));
    }

    #[test]
    fn landmarks_honour_line_marks() {
        let mut sources = Sources::new();
        let f = sources.add("a.click", "one\n#line 7 \"b\"\nseven\neight\n");
        sources.line_mark(f, 16, "b".into(), 7);
        assert_eq!(sources.landmark(Span::new(f, 0, 3)), "a.click:1");
        assert_eq!(sources.landmark(Span::new(f, 16, 17)), "b:7");
        assert_eq!(sources.landmark(Span::new(f, 23, 24)), "b:8");
        assert_eq!(sources.landmark(Span::NONE), "");
    }
}
