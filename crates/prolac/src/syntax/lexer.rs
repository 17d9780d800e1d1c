//! Text to tokens.
//!
//! Every byte of the text is in exactly one token, comments and white space included, so that the formatter can give
//! all of it back. C code is one token: `%{ ... %}` anywhere, and `{ ... }` in an expression, that is from `::=` to the
//! `;` that ends the method. The equation `module N ::= M` has no expression. Read first: [`tokenize`]; for the inside
//! of C code, `raw`.

use clickwork_source::{Diagnostic, Diagnostics, FileId, Sources, Span};

use super::token::{Keyword, Punct, Token, TokenKind};

/// `# 12 "file"`: the text from `at` on came from line `line` of `file`, or of the file before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineMark {
    /// Where the next line starts.
    pub at: u32,
    /// Its number.
    pub line: u32,
    /// Its file, if the mark names one.
    pub file: Option<String>,
}

/// What [`tokenize`] found.
#[derive(Clone, Debug, Default)]
pub struct Tokens {
    /// All of the text, in order.
    pub list: Vec<Token>,
    /// The line marks, also those inside C code.
    pub marks: Vec<LineMark>,
    /// What is wrong with single tokens.
    pub diagnostics: Diagnostics,
    /// Whether something unclosed runs to the end of the text, so that what is missing there is known already.
    pub cut_short: bool,
}

/// Splits a file into tokens.
pub fn tokenize(sources: &Sources, file: FileId) -> Tokens {
    let mut lexer = Lexer::new(sources.text(file), file);
    while lexer.at < lexer.text.len() {
        lexer.token();
    }
    lexer.out
}

pub(super) struct Lexer<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) out: Tokens,
    file: FileId,
    /// Whether `{` opens a C block.
    in_expression: bool,
    /// Whether the header of a module or an equation is being read.
    in_header: bool,
}

impl<'a> Lexer<'a> {
    fn new(text: &'a str, file: FileId) -> Self {
        Lexer { text, at: 0, out: Tokens::default(), file, in_expression: false, in_header: false }
    }

    /// The byte `n` places ahead; 0 after the end.
    pub(super) fn byte(&self, n: usize) -> u8 {
        self.text.as_bytes().get(self.at + n).copied().unwrap_or(0)
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        &self.text.as_bytes()[self.at..]
    }

    pub(super) fn take_while(&mut self, wanted: impl Fn(u8) -> bool) {
        while self.at < self.text.len() && wanted(self.byte(0)) {
            self.at += 1;
        }
    }

    pub(super) fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start as u32, end as u32)
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.out.diagnostics.push(diagnostic);
    }

    /// Moves to the end of the line, not over it.
    fn skip_line(&mut self) {
        self.take_while(|b| b != b'\n' && b != b'\r');
    }

    fn token(&mut self) {
        let start = self.at;
        let kind = self.kind();
        self.follow(kind);
        self.out.list.push(Token { kind, start: start as u32, end: self.at as u32 });
    }

    /// Reads one token.
    fn kind(&mut self) -> TokenKind {
        match self.byte(0) {
            b if is_space(b) => self.space(),
            b'/' if self.byte(1) == b'/' => {
                self.skip_line();
                TokenKind::LineComment
            }
            b'/' if self.byte(1) == b'*' => self.block_comment(),
            b'#' if self.at_line_start() => self.directive(),
            b'"' => self.quoted(TokenKind::Str),
            b'\'' => self.quoted(TokenKind::Char),
            b if is_letter(b) => self.word(),
            b if b.is_ascii_digit() || (b == b'.' && self.byte(1).is_ascii_digit()) => self.number(),
            b'{' if self.in_expression => self.c_block(),
            b'%' if self.byte(1) == b'{' => self.support(),
            _ => self.symbol(),
        }
    }

    /// Keeps track of whether an expression is being read. Words that cannot stand in one end it, so that a forgotten
    /// semicolon does not turn the rest into C.
    fn follow(&mut self, kind: TokenKind) {
        use Keyword::{Class, Exception, Export, Field, Module, Static};
        match kind {
            TokenKind::Punct(Punct::Defines) => self.in_expression = !self.in_header,
            TokenKind::Punct(Punct::Semicolon | Punct::OpenBrace | Punct::CloseBrace) => {
                (self.in_expression, self.in_header) = (false, false);
            }
            TokenKind::Keyword(k @ (Class | Module | Exception | Export | Field | Static)) => {
                (self.in_expression, self.in_header) = (false, matches!(k, Class | Module));
            }
            _ => {}
        }
    }

    fn space(&mut self) -> TokenKind {
        self.take_while(is_space);
        TokenKind::Space
    }

    fn block_comment(&mut self) -> TokenKind {
        let start = self.at;
        if !self.skip_block_comment() {
            self.out.cut_short = true;
            let opening = self.span(start, start + 2);
            self.report(Diagnostic::error(opening, "this comment is not closed").hint("add `*/`"));
        }
        TokenKind::BlockComment
    }

    /// Moves over `/* ... */`; says whether it has an end.
    pub(super) fn skip_block_comment(&mut self) -> bool {
        let end = self.text[self.at + 2..].find("*/");
        self.at = end.map_or(self.text.len(), |n| self.at + n + 4);
        end.is_some()
    }

    /// A character constant or a string; unclosed ones end with the line.
    fn quoted(&mut self, kind: TokenKind) -> TokenKind {
        let start = self.at;
        if !self.skip_quoted() {
            let (what, quote) = if kind == TokenKind::Str { ("string", '"') } else { ("character", '\'') };
            let message = format!("this {what} is not closed");
            let hint = format!("add `{quote}` before the end of the line");
            self.report(Diagnostic::error(self.span(start, self.at), message).hint(hint));
        }
        kind
    }

    /// Moves over a string or character constant; says whether it is closed in its line.
    pub(super) fn skip_quoted(&mut self) -> bool {
        let quote = self.byte(0);
        self.at += 1;
        while self.at < self.text.len() {
            match self.byte(0) {
                b'\n' | b'\r' => return false,
                b'\\' if self.byte(1) == b'\r' && self.byte(2) == b'\n' => self.at += 3,
                b'\\' if self.at + 1 < self.text.len() => self.at += 2,
                b if b == quote => {
                    self.at += 1;
                    return true;
                }
                _ => self.at += 1,
            }
        }
        self.at = self.text.len();
        false
    }

    /// An identifier or keyword; `min=` and `max=` are operators.
    fn word(&mut self) -> TokenKind {
        let start = self.at;
        while is_letter(self.byte(0))
            || self.byte(0).is_ascii_digit()
            || (self.byte(0) == b'-' && (is_letter(self.byte(1)) || self.byte(1).is_ascii_digit()))
        {
            self.at += 1;
        }
        let word = &self.text[start..self.at];
        match Keyword::find(word) {
            Some(Keyword::Min | Keyword::Max) if self.byte(0) == b'=' => {
                self.at += 1;
                TokenKind::Punct(if word == "min" { Punct::MinAssign } else { Punct::MaxAssign })
            }
            Some(keyword) => TokenKind::Keyword(keyword),
            None => self.identifier(start),
        }
    }

    fn identifier(&mut self, start: usize) -> TokenKind {
        let word = &self.text[start..self.at];
        if word.as_bytes().windows(2).any(|pair| pair.iter().all(|b| matches!(b, b'-' | b'_'))) {
            let message = format!("`{word}` has a double underscore, which is reserved for the compiler");
            let hint = "`-` and `_` are the same letter; use one of them at a time";
            self.report(Diagnostic::error(self.span(start, self.at), message).hint(hint));
        }
        TokenKind::Ident
    }

    /// Anything that begins like a number, up to where no number could go on.
    fn number(&mut self) -> TokenKind {
        let hexadecimal = self.byte(0) == b'0' && matches!(self.byte(1), b'x' | b'X');
        loop {
            let exponent = !hexadecimal && matches!(self.byte(0), b'e' | b'E');
            self.at += match self.byte(0) {
                b'e' | b'E'
                    if exponent && matches!(self.byte(1), b'+' | b'-') && self.byte(2).is_ascii_digit() =>
                {
                    2
                }
                b if is_letter(b) || b.is_ascii_digit() || b == b'.' => 1,
                _ => return TokenKind::Number,
            }
        }
    }

    fn symbol(&mut self) -> TokenKind {
        match Punct::find(self.rest()) {
            Some(symbol) => {
                self.at += symbol.text().len();
                TokenKind::Punct(symbol)
            }
            None => self.unknown(),
        }
    }

    /// Characters that begin no token, as many as there are.
    fn unknown(&mut self) -> TokenKind {
        let start = self.at;
        let known = |c: char| {
            c.is_ascii_alphanumeric() || c.is_ascii_whitespace() || "\"'#".contains(c) || {
                c.is_ascii() && Punct::find(&[c as u8]).is_some()
            }
        };
        let first = self.text[start..].chars().next().unwrap_or('\0');
        self.at += first.len_utf8();
        self.at += self.text[self.at..].find(known).unwrap_or(self.text.len() - self.at);
        if start > 0 || first != '\u{feff}' {
            let message = format!("{} means nothing in Prolac", describe(first));
            self.report(Diagnostic::error(self.span(start, self.at), message));
            return TokenKind::Unknown;
        }
        TokenKind::Space
    }

    pub(super) fn at_line_start(&self) -> bool {
        let before = self.text[..self.at].trim_end_matches([' ', '\t']);
        before.is_empty() || before.ends_with(['\n', '\r'])
    }

    /// A line that begins with `#`.
    fn directive(&mut self) -> TokenKind {
        let start = self.at;
        if self.line_mark() {
            return TokenKind::LineMark;
        }
        self.skip_line();
        while self.text[..self.at].ends_with('\\') && self.at < self.text.len() {
            self.at += 1;
            self.skip_line();
        }
        let message = "a preprocessor directive is left in the text";
        let hint = "directives must be preprocessed: let prolacc run the C preprocessor, or remove the line";
        self.report(Diagnostic::error(self.span(start, self.at), message).hint(hint));
        TokenKind::Directive
    }

    /// Takes the line if it is a line mark: `# 12 "file"`, `#line 12 "file"`, `# line 12`.
    pub(super) fn line_mark(&mut self) -> bool {
        let start = self.at;
        self.skip_line();
        let line = self.text[start + 1..self.at].trim();
        let line = line.strip_prefix("line").unwrap_or(line).trim_start();
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        let Ok(number) = line[..digits].parse() else {
            self.at = start;
            return false;
        };
        let file = file_name(line[digits..].trim_start());
        let newline = if self.rest().starts_with(b"\r\n") { 2 } else { 1 };
        let at = (self.at + newline).min(self.text.len()) as u32;
        self.out.marks.push(LineMark { at, line: number, file });
        true
    }
}

/// The file in a line mark, its escapes resolved.
fn file_name(text: &str) -> Option<String> {
    let mut name = String::new();
    let mut letters = text.strip_prefix('"')?.chars();
    loop {
        match letters.next()? {
            '"' => return Some(name),
            '\\' => name.push(letters.next()?),
            c => name.push(c),
        }
    }
}

fn describe(c: char) -> String {
    if c == '`' {
        return "a backquote".into();
    }
    if c.is_control() { format!("the character U+{:04X}", c as u32) } else { format!("`{c}`") }
}

fn is_space(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

fn is_letter(b: u8) -> bool {
    b.is_ascii_alphabetic() || b == b'_'
}
