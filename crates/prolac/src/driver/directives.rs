//! Finds preprocessor directives and support blocks in text that is not yet preprocessed.
//!
//! It knows just enough of Prolac's tokens not to be misled by strings, comments and C blocks; `syntax` reads the
//! language. After `::=` and until `;` a brace opens a C block, anywhere else the body of a module or namespace.

use std::ops::Range;

/// What was found in one file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Directives outside of C blocks and support blocks, line marks not counted.
    pub directives: Vec<Directive>,
    /// Support blocks with their `%{` and `%}`.
    pub supports: Vec<Range<usize>>,
}

/// A line that begins with `#`.
#[derive(Debug, PartialEq, Eq)]
pub struct Directive {
    /// From `#` to the end of the line, continued lines included.
    pub range: Range<usize>,
    /// What it includes, if it is `#include "file"` or `#include <file>`.
    pub include: Option<Include>,
}

/// The operand of an `#include`.
#[derive(Debug, PartialEq, Eq)]
pub struct Include {
    /// The name with its quotes or brackets.
    pub range: Range<usize>,
    /// The name.
    pub name: String,
    /// Whether it stands in `< >`, so that the directory of the file is not searched.
    pub angled: bool,
}

/// Looks through a file.
pub fn find(text: &str) -> Found {
    let mut scan = Scan { text, at: 0, found: Found::default() };
    scan.run();
    scan.found
}

struct Scan<'a> {
    text: &'a str,
    at: usize,
    found: Found,
}

impl Scan<'_> {
    fn run(&mut self) {
        let mut in_expression = false;
        let mut line_is_blank = true;
        while let Some(byte) = self.byte(0) {
            let starts_line = std::mem::replace(&mut line_is_blank, false);
            match byte {
                b'\n' | b'\r' => {
                    line_is_blank = true;
                    self.at += 1;
                }
                b' ' | b'\t' | b'\x0c' => {
                    line_is_blank = starts_line;
                    self.at += 1;
                }
                b'#' if starts_line => self.directive(),
                b'%' if self.byte(1) == Some(b'{') => self.support(),
                b'{' if in_expression => self.c_block(),
                _ => {
                    match byte {
                        b':' if self.text.as_bytes()[self.at..].starts_with(b"::=") => in_expression = true,
                        b';' => in_expression = false,
                        _ => {}
                    }
                    self.token();
                }
            }
        }
    }

    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    /// A comment, a string, a character, or any other byte.
    fn token(&mut self) {
        match (self.byte(0), self.byte(1)) {
            (Some(b'/'), Some(b'/')) => self.at = self.line_end(),
            (Some(b'/'), Some(b'*')) => {
                let rest = &self.text[self.at + 2..];
                self.at = rest.find("*/").map_or(self.text.len(), |n| self.at + 2 + n + 2);
            }
            (Some(quote @ (b'"' | b'\'')), _) => self.quoted(quote),
            _ => self.at += 1,
        }
    }

    /// A string or character; it ends with its line if it has no end.
    fn quoted(&mut self, quote: u8) {
        self.at += 1;
        while let Some(byte) = self.byte(0) {
            match byte {
                b'\n' => return,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
            if byte == quote {
                return;
            }
        }
    }

    fn c_block(&mut self) {
        let mut depth = 0;
        while let Some(byte) = self.byte(0) {
            match byte {
                b'{' => depth += 1,
                b'}' => depth -= 1,
                _ => {}
            }
            self.token();
            if depth == 0 {
                return;
            }
        }
    }

    fn support(&mut self) {
        let start = self.at;
        self.at += 2;
        while self.byte(0).is_some() && !(self.byte(0) == Some(b'%') && self.byte(1) == Some(b'}')) {
            self.token();
        }
        self.at = (self.at + 2).min(self.text.len());
        self.found.supports.push(start..self.at);
    }

    fn directive(&mut self) {
        let start = self.at;
        self.at = self.line_end();
        while self.text[..self.at].trim_end_matches('\r').ends_with('\\') && self.at < self.text.len() {
            self.at += 1;
            self.at = self.line_end();
        }
        let line = &self.text[start..self.at];
        if !is_line_mark(line) {
            let include = include(line, start);
            self.found.directives.push(Directive { range: start..self.at, include });
        }
    }

    /// Where the line ends that `at` is in.
    fn line_end(&self) -> usize {
        self.text[self.at.min(self.text.len())..].find('\n').map_or(self.text.len(), |n| self.at + n)
    }
}

/// Whether a directive only says where the next line is from: `# 12 "file"`, `#line 12`.
fn is_line_mark(line: &str) -> bool {
    let rest = line.trim_start_matches('#').trim_start();
    let number = rest.strip_prefix("line").unwrap_or(rest).trim_start();
    number.starts_with(|c: char| c.is_ascii_digit())
}

/// The operand, if the line is an `#include` that names its file. `start` is where the line stands.
fn include(line: &str, start: usize) -> Option<Include> {
    let rest = line.strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
    let from = line.len() - rest.len();
    let angled = rest.starts_with('<');
    let close = if angled { '>' } else { '"' };
    let name = rest.strip_prefix(['<', '"'])?;
    let length = name.find(close)?;
    let range = start + from..start + from + length + 2;
    Some(Include { range, name: name[..length].to_string(), angled })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<&str> {
        find(text).directives.into_iter().map(|d| &text[d.range]).collect()
    }

    #[test]
    fn directives_in_modules_count_and_those_in_c_do_not() {
        let text = "#define A \\\n 1\nmodule M {\n  #ifdef A\n f ::= { a();\n#if 0\n };\n  #endif\n}\n%{\n#include <x>\n%}\n";
        assert_eq!(lines(text), ["#define A \\\n 1", "#ifdef A", "#endif"]);
    }

    #[test]
    fn line_marks_comments_and_strings_are_no_directives() {
        assert!(lines("# 12 \"a\"\n#line 3\n/*\n#if\n*/ // \\\nf ::= \"\\\"{\"; x { #no\n").is_empty());
    }

    #[test]
    fn supports_end_at_their_mark() {
        let text = "%{ \"%}\" /* %} */ %} %{";
        assert_eq!(find(text).supports, [0..19, 20..22]);
    }

    #[test]
    fn includes_name_their_file() {
        let text = "x\n# include <a b.pc>\n#include \"c\" // d\n#include E\n";
        let found: Vec<_> = find(text).directives.into_iter().map(|d| d.include).collect();
        let a = Include { range: 12..20, name: "a b.pc".into(), angled: true };
        assert_eq!(&text[12..20], "<a b.pc>");
        assert_eq!(found[0], Some(a));
        assert!(found[1].as_ref().is_some_and(|i| i.name == "c" && !i.angled));
        assert_eq!(found[2], None);
    }

    #[test]
    fn any_text_is_looked_through() {
        for text in
            ["\\", "\"\\", "'\\é", "f ::= {", "%{ \\", "#\\", "#\\\n", "é#é\n#é", "/*/", "f ::= { '\\"]
        {
            find(text);
        }
    }
}
