//! Source text as HTML: coloured, with links, and with the comments that describe definitions.

use clickwork_source::{FileId, Sources, Span};

use super::links::{Links, Meaning};
use super::{Input, escape};
use crate::syntax::token::{Punct, Token, TokenKind};
use crate::syntax::tokenize;

/// One file.
pub struct Source<'a> {
    sources: &'a Sources,
    links: &'a Links,
    file: FileId,
    text: &'a str,
    tokens: Vec<Token>,
}

impl<'a> Source<'a> {
    pub fn new(input: &Input<'a>, links: &'a Links, file: FileId) -> Self {
        let tokens = tokenize(input.sources, file).list;
        Source { sources: input.sources, links, file, text: input.sources.text(file), tokens }
    }

    pub fn holds(&self, span: Span) -> bool {
        span.file == self.file
    }

    /// The whole file with numbered lines.
    pub fn listing(&self) -> String {
        let name = escape(self.sources.name(self.file));
        let html = self.tokens.iter().map(|&token| self.token(token)).collect::<String>();
        let mut lines = String::new();
        let mut start = 0;
        for ((number, line), text) in html.lines().enumerate().zip(self.text.split_inclusive('\n')) {
            let shown = self.shown_number(start, text);
            start += text.len();
            let anchor = self.anchor(number + 1);
            lines.push_str(&format!("<span id=\"{anchor}\" data-n=\"{shown}\">{line}</span>\n"));
        }
        format!(
            "<details open>\n<summary>{name}</summary>\n<pre class=\"listing\">{lines}</pre>\n</details>\n"
        )
    }

    /// The number of the line that starts at an offset, by the line marks; nothing for a mark itself.
    fn shown_number(&self, start: usize, line: &str) -> String {
        if line.starts_with('#') && self.is_mark(start) {
            return String::new();
        }
        let at = Span::new(self.file, start as u32, start as u32);
        self.sources.marked_line(at).map_or(String::new(), |(_, number)| number.to_string())
    }

    fn is_mark(&self, start: usize) -> bool {
        let found = self.tokens.binary_search_by_key(&start, |t| t.start as usize);
        found.is_ok_and(|n| self.tokens[n].kind == TokenKind::LineMark)
    }

    /// The anchor of a line.
    fn anchor(&self, line: usize) -> String {
        let name: String =
            self.sources.name(self.file).chars().map(|c| if c.is_whitespace() { '-' } else { c }).collect();
        format!("{}-{line}", escape(&name))
    }

    /// A link to the line that a span starts on.
    pub fn place(&self, span: Span) -> String {
        let (line, _) = self.sources.line_col(span);
        format!(
            "<a class=\"place\" href=\"#{}\">{}</a>",
            self.anchor(line),
            escape(&self.sources.landmark(span))
        )
    }

    /// The definition whose name stands at `span`: its first and last token.
    fn definition(&self, span: Span) -> Option<(usize, usize)> {
        let name = self.tokens.binary_search_by_key(&span.start, |t| t.start).ok()?;
        let ends = |t: &Token| {
            matches!(
                t.kind,
                TokenKind::Punct(Punct::Semicolon | Punct::OpenBrace | Punct::CloseBrace)
                    | TokenKind::Support
                    | TokenKind::End
            )
        };
        let before = self.tokens[..name].iter().rposition(ends).map_or(0, |n| n + 1);
        let is_code = |t: &Token| !t.kind.is_trivia();
        let first = before + self.tokens[before..=name].iter().position(is_code)?;
        let last = self.tokens[name..].iter().position(ends).map_or(self.tokens.len(), |n| name + n);
        Some((first, last))
    }

    /// The source of a definition.
    pub fn code(&self, span: Span) -> String {
        let Some((first, last)) = self.definition(span) else { return String::new() };
        self.html(first, last)
    }

    /// What of a definition stands before `::=` or `{`.
    pub fn head(&self, span: Span) -> String {
        let Some((first, last)) = self.definition(span) else { return String::new() };
        let defines = |t: &Token| t.kind == TokenKind::Punct(Punct::Defines);
        let last = self.tokens[first..last].iter().position(defines).map_or(last, |n| first + n);
        self.html(first, last).trim_end().to_string()
    }

    fn html(&self, first: usize, last: usize) -> String {
        self.tokens[first..last].iter().map(|&token| self.token(token)).collect()
    }

    /// The comments directly above a definition, as text.
    pub fn comment(&self, span: Span) -> String {
        let Some((first, _)) = self.definition(span) else { return String::new() };
        let mut lines: Vec<String> = Vec::new();
        let mut at = first;
        while let Some(token) = at.checked_sub(1).map(|n| self.tokens[n]) {
            let text = token.text(self.text);
            match token.kind {
                TokenKind::Space if text.matches('\n').count() <= 1 => {}
                TokenKind::LineComment | TokenKind::BlockComment if self.starts_line(at - 1) => {
                    lines.push(bare(text));
                }
                _ => break,
            }
            at -= 1;
        }
        lines.reverse();
        lines.join("\n").trim().to_string()
    }

    /// Whether only white space stands before a token on its line, so that it belongs to what follows.
    fn starts_line(&self, token: usize) -> bool {
        let before = &self.text[..self.tokens[token].start as usize];
        before.rsplit('\n').next().is_none_or(|line| line.trim().is_empty())
    }

    /// A token; the name of a definition links to the part about its module.
    fn token(&self, token: Token) -> String {
        let text = escape(token.text(self.text));
        let class = match token.kind {
            TokenKind::Keyword(_) if self.links.at(self.file, token.start).is_none() => "k",
            TokenKind::Number | TokenKind::Char | TokenKind::Str => "s",
            TokenKind::LineComment | TokenKind::BlockComment | TokenKind::LineMark | TokenKind::Directive => {
                "c"
            }
            TokenKind::CBlock | TokenKind::Support => "b",
            _ => {
                return match self.links.at(self.file, token.start) {
                    Some(Meaning::Definition(name)) => {
                        format!("<a class=\"d\" href=\"#{}\">{text}</a>", escape(name))
                    }
                    Some(Meaning::Use(name)) => format!("<a href=\"#{}\">{text}</a>", escape(name)),
                    None => text,
                };
            }
        };
        // A span ends with its line, so that lines can be wrapped.
        let lines: Vec<String> = text
            .split('\n')
            .map(|line| {
                if line.is_empty() { String::new() } else { format!("<span class=\"{class}\">{line}</span>") }
            })
            .collect();
        lines.join("\n")
    }
}

/// A comment without its marks.
fn bare(comment: &str) -> String {
    let inner = comment.strip_prefix("//").or_else(|| comment.strip_prefix("/*")).unwrap_or(comment);
    let inner = inner.strip_suffix("*/").unwrap_or(inner);
    let line = |line: &str| line.trim().trim_start_matches(['*', '/']).trim().to_string();
    inner.lines().map(line).collect::<Vec<_>>().join("\n").trim().to_string()
}

#[cfg(test)]
mod tests {
    #[test]
    fn comments_lose_their_marks() {
        assert_eq!(super::bare("// a b"), "a b");
        assert_eq!(super::bare("/* a\n * b\n */"), "a\nb");
        assert_eq!(super::bare("/**/"), "");
    }
}
