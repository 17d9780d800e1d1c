//! C code inside a Prolac file: `{ ... }` in an expression and `%{ ... %}`.
//!
//! Both are read raw. Braces and `%}` in strings, character constants and comments do not count; line marks do.

use clickwork_source::Diagnostic;

use super::lexer::Lexer;
use super::token::TokenKind;

impl Lexer<'_> {
    /// `{ ... }` up to the balancing brace.
    pub(super) fn c_block(&mut self) -> TokenKind {
        let start = self.at;
        let mut open = Vec::new();
        while self.at < self.text.len() {
            match self.byte(0) {
                b'{' => open.push(self.at),
                b'}' => {
                    open.pop();
                }
                b':' if self.rest().starts_with(b"::=") => break,
                _ => {
                    self.skip_c_piece();
                    continue;
                }
            }
            self.at += 1;
            if open.is_empty() {
                return TokenKind::CBlock;
            }
        }
        self.unclosed_block(start, &open);
        TokenKind::CBlock
    }

    /// Says that a block has no end. C has no `::=`: where one stands, the block should have ended at the semicolon
    /// before.
    fn unclosed_block(&mut self, start: usize, open: &[usize]) {
        let definition = self.at;
        let place = open.last().copied().unwrap_or(start);
        let mut error = Diagnostic::error(self.span(place, place + 1), "this brace in C code is not closed");
        if place != start {
            error = error.label(self.span(start, start + 1), "the C code begins here");
        }
        if definition < self.text.len() {
            let what = "no C code: a definition of Prolac";
            error = error.label(self.span(definition, definition + 3), what);
            let code = &self.text[start + 1..definition];
            self.at = start + 1 + code.rfind(';').unwrap_or(code.len());
            self.out.marks.retain(|m| m.at as usize <= self.at);
        } else {
            self.out.cut_short = true;
        }
        self.report(error.hint("add `}`"));
    }

    /// `%{ ... %}`
    pub(super) fn support(&mut self) -> TokenKind {
        let start = self.at;
        self.at += 2;
        while self.at < self.text.len() {
            if self.rest().starts_with(b"%}") {
                self.at += 2;
                return TokenKind::Support;
            }
            self.skip_c_piece();
        }
        self.out.cut_short = true;
        let message = "this support code is not closed";
        self.report(Diagnostic::error(self.span(start, start + 2), message).hint("add `%}`"));
        TokenKind::Support
    }

    /// Moves over a string, a character constant, a comment, a line mark, or one character. What is unclosed in C is
    /// left to the C compiler.
    fn skip_c_piece(&mut self) {
        match self.byte(0) {
            b'"' | b'\'' => {
                self.skip_quoted();
            }
            b'/' if self.byte(1) == b'/' => self.take_while(|b| b != b'\n' && b != b'\r'),
            b'/' if self.byte(1) == b'*' => {
                self.skip_block_comment();
            }
            b'#' if self.at_line_start() && self.line_mark() => {}
            _ => self.at += self.text[self.at..].chars().next().map_or(1, char::len_utf8),
        }
    }
}
