//! Lays statements out as lines, with `#line` marks where compilers would otherwise believe something wrong.

use std::fmt::Write;

use clickwork_source::{Sources, Span};

use super::stmt::{Stmt, StmtKind};

/// The text of a C file, as far as it is written.
pub(super) struct Writer<'a> {
    sources: &'a Sources,
    /// What the C file is called in marks; `None` for no marks.
    own: Option<&'a str>,
    text: String,
    /// Lines in `text`.
    lines: usize,
    /// Where C compilers believe the next line is from; `None` if that cannot be told.
    belief: Option<(String, usize)>,
}

impl<'a> Writer<'a> {
    /// An empty file. With a name, marks are written.
    pub fn new(sources: &'a Sources, own: Option<&'a str>) -> Self {
        let belief = own.map(|name| (name.to_string(), 1));
        Writer { sources, own, text: String::new(), lines: 0, belief }
    }

    /// The text.
    pub fn finish(mut self) -> String {
        self.text.truncate(self.text.trim_end().len());
        self.text + "\n"
    }

    /// Writes lines that the compiler made.
    pub fn made(&mut self, text: &str) {
        if let Some(own) = self.own {
            self.mark(own, |lines| lines + 2);
        }
        self.lines_as_they_are(text);
    }

    /// Writes lines whose place was told before.
    pub fn plain(&mut self, text: &str) {
        self.lines_as_they_are(text);
    }

    /// Writes text from a source file.
    pub fn copied(&mut self, span: Span, text: &str) {
        self.at(span);
        self.lines_as_they_are(text);
        if text.lines().any(is_mark) {
            self.belief = None;
        }
    }

    /// Makes compilers believe that the next line is where `span` starts.
    pub fn at(&mut self, span: Span) {
        if let (Some(_), Some((file, line))) = (self.own, self.sources.marked_line(span)) {
            self.mark(file, |_| line);
        }
    }

    fn mark(&mut self, file: &str, line: impl FnOnce(usize) -> usize) {
        let believed = self.belief.as_ref();
        let own = self.own == Some(file) && believed.is_some_and(|(f, l)| f == file && *l == self.lines + 1);
        let line = line(self.lines);
        if own || believed.is_some_and(|(f, l)| f == file && *l == line) {
            return;
        }
        let same_file = believed.is_some_and(|(f, _)| f == file);
        if same_file {
            let _ = writeln!(self.text, "#line {line}");
        } else {
            let _ =
                writeln!(self.text, "#line {line} \"{}\"", file.replace('\\', "\\\\").replace('"', "\\\""));
        }
        self.lines += 1;
        self.belief = Some((file.to_string(), line));
    }

    fn lines_as_they_are(&mut self, text: &str) {
        for line in text.lines() {
            self.line(line);
        }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
        self.lines += 1;
        if let Some((_, believed)) = &mut self.belief {
            *believed += 1;
        }
    }

    /// One line, as it is.
    fn whole(&mut self, depth: usize, line: &str) {
        self.line(&format!("{}{line}", "\t".repeat(depth)));
    }

    /// One line, or several if it is long.
    pub fn indented(&mut self, depth: usize, line: &str) {
        let (mut indent, mut rest) = (depth, line);
        while let Some(at) = break_at(rest, WIDTH.saturating_sub(8 * indent)) {
            self.whole(indent, rest[..at].trim_end());
            rest = &rest[at..];
            indent = depth + 2;
        }
        self.whole(indent, rest);
    }

    /// Writes statements, indented by `depth` tabs.
    pub fn statements(&mut self, all: &[Stmt], depth: usize) {
        for (i, statement) in all.iter().enumerate() {
            let next = all.get(i + 1).map(|s| &s.kind);
            self.statement(statement, depth, next);
        }
    }

    fn statement(&mut self, s: &Stmt, depth: usize, next: Option<&StmtKind>) {
        match &s.kind {
            StmtKind::Label(name) => {
                let bare = !matches!(next, None | Some(StmtKind::Declare { .. } | StmtKind::Label(_)));
                self.indented(depth - 1, &format!("{name}:{}", if bare { "" } else { ";" }));
                return;
            }
            StmtKind::Loop(body) => {
                self.indented(depth, "for (;;) {");
                self.statements(body, depth + 1);
                self.indented(depth, "}");
                return;
            }
            StmtKind::Block(body) => {
                self.indented(depth, "{");
                self.statements(body, depth + 1);
                self.indented(depth, "}");
                return;
            }
            StmtKind::Each { index, count, body } => {
                self.at(s.span);
                let head = format!("for (uint32_t {index} = 0; {index} < {count}; {index}++)");
                let braces = !is_single(body);
                self.indented(depth, &format!("{head}{}", if braces { " {" } else { "" }));
                self.statements(body, depth + 1);
                if braces {
                    self.indented(depth, "}");
                }
                return;
            }
            StmtKind::Code(lines) => {
                self.at(s.span);
                self.code(lines, depth);
                return;
            }
            _ => self.at(s.span),
        }
        match &s.kind {
            StmtKind::Do(text) | StmtKind::Jump(text) => self.indented(depth, &format!("{text};")),
            StmtKind::Line(text) => self.indented(depth, text),
            StmtKind::Store { place, value } => self.indented(depth, &format!("{place} = {value};")),
            StmtKind::Declare { name, declarator, value, unused } => {
                let value = value.as_ref().map_or(String::new(), |v| format!(" = {v}"));
                self.indented(depth, &format!("{declarator}{value};"));
                if *unused {
                    self.indented(depth, &format!("(void){name};"));
                }
            }
            StmtKind::If { test, then, otherwise } => {
                self.choice("", &test.text, then, otherwise, depth);
            }
            _ => {}
        }
    }

    /// C code from the source in braces. Its lines keep their order and number, so that marks stay right.
    fn code(&mut self, lines: &[String], depth: usize) {
        let odd = lines.iter().any(|line| line.ends_with('\\') || line.starts_with('#'));
        let rest = lines.iter().skip(1).filter(|line| !line.trim().is_empty());
        let margin = rest.map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
        let last = lines.len().saturating_sub(1);
        for (i, line) in lines.iter().enumerate() {
            let tail = match line.trim().is_empty() {
                _ if i != last => "",
                true => "}",
                false => " }",
            };
            let text = line.get(margin..).unwrap_or("");
            match i {
                0 => self.whole(depth, format!("{{ {}", line.trim()).trim_end()),
                _ if odd => self.line(&format!("{line}{tail}")),
                _ if text.is_empty() => self.whole(if tail.is_empty() { 0 } else { depth }, tail),
                _ => self.whole(depth + 1, &format!("{text}{tail}")),
            }
        }
        if lines.iter().any(|line| is_mark(line)) {
            self.belief = None;
        }
    }

    /// `if`, with `before` in front of it on its line.
    fn choice(&mut self, before: &str, test: &str, then: &[Stmt], otherwise: &[Stmt], depth: usize) {
        let braces =
            !is_single(then) || (!otherwise.is_empty() && !is_single(otherwise)) || !before.is_empty();
        let open = if braces { " {" } else { "" };
        self.indented(depth, &format!("{before}if ({test}){open}"));
        self.statements(then, depth + 1);
        match otherwise {
            [] if braces => self.indented(depth, "}"),
            [] => {}
            [Stmt { kind: StmtKind::If { test, then, otherwise }, .. }] if braces => {
                self.choice("} else ", &test.text, then, otherwise, depth);
            }
            _ => {
                self.indented(depth, if braces { "} else {" } else { "else" });
                self.statements(otherwise, depth + 1);
                if braces {
                    self.indented(depth, "}");
                }
            }
        }
    }
}

/// Lines are not longer than this, if they can be broken.
const WIDTH: usize = 100;

/// Where to break a line that is too wide: after a comma or before an operator, outside of strings and inside of as few
/// parentheses as can be.
fn break_at(text: &str, width: usize) -> Option<usize> {
    if text.len() <= width {
        return None;
    }
    let bytes = text.as_bytes();
    let (mut quote, mut depth, mut best) = (None, 0i32, (i32::MAX, 0));
    for at in 1..width.min(bytes.len()) {
        match (quote, bytes[at]) {
            (None, b'"' | b'\'') => quote = Some(bytes[at]),
            (Some(q), b) if q == b && bytes[at - 1] != b'\\' => quote = None,
            (None, b'(' | b'[') => depth += 1,
            (None, b')' | b']') => depth -= 1,
            (None, _) if at > 24 && bytes[at - 1] == b' ' && is_break(text, at) && depth <= best.0 => {
                best = (depth, at);
            }
            _ => {}
        }
    }
    Some(best.1).filter(|&at| at > 0)
}

/// Whether a line can be broken there, after a space.
fn is_break(text: &str, at: usize) -> bool {
    let operators = ["&& ", "|| ", "+ ", "- ", "| ", "? ", ": "];
    let Some((before, after)) = text.split_at_checked(at) else { return false };
    before.ends_with(", ") || operators.iter().any(|op| after.starts_with(op))
}

/// Whether a branch needs no braces.
fn is_single(branch: &[Stmt]) -> bool {
    matches!(branch, [Stmt { kind: StmtKind::Do(_) | StmtKind::Jump(_) | StmtKind::Store { .. }, .. }])
}

/// Whether a line is a line mark, so that what follows is counted in another way.
fn is_mark(line: &str) -> bool {
    let Some(rest) = line.trim_start().strip_prefix('#') else { return false };
    let rest = rest.trim_start();
    rest.starts_with(|c: char| c.is_ascii_digit()) || rest.starts_with("line")
}
