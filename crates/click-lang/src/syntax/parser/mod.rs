//! Tokens to tree, with recovery.
//!
//! Statements end where Click ends them, `;` or not, so that every configuration it reads we read alike. After an error
//! parsing goes on at the next token that can mean something; what was skipped goes into an
//! [`Error`](SyntaxKind::Error) node. Nesting deeper than [`MAX_DEPTH`] is refused, so no input exhausts the stack.
//! The meaning of what is read is no matter here: see `elaborate`.

mod compound;
mod connection;

use clickwork_source::{Diagnostic, Diagnostics, FileId, Span};
use rowan::{Checkpoint, GreenNode, GreenNodeBuilder};

use super::lexer::{Lexer, Token};
use super::{ClickLanguage, SyntaxKind};

/// How deep compound elements and groups may nest.
pub(crate) const MAX_DEPTH: usize = 50;

/// What ends a statement, and is not skipped with what is wrong before it.
const STATEMENT_ENDS: [SyntaxKind; 5] = {
    use SyntaxKind::*;
    [Semicolon, Eof, RightBrace, RightParen, BarBar]
};

pub(super) fn parse(file: FileId, text: &str) -> (GreenNode, Diagnostics) {
    let mut parser = Parser::new(file, text);
    parser.open(SyntaxKind::SourceFile);
    parser.statements(Inside::File);
    parser.skip_trivia();
    parser.builder.finish_node();
    (parser.builder.finish(), parser.diagnostics)
}

/// What the statements being read stand in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    File,
    Group,
    Compound,
}

struct Parser<'a> {
    file: FileId,
    text: &'a str,
    lexer: Lexer<'a>,
    builder: GreenNodeBuilder<'static>,
    /// Comments and white space read but not yet in the tree.
    trivia: Vec<Token>,
    /// The token after them.
    current: Token,
    depth: usize,
    diagnostics: Diagnostics,
}

// Tokens and nodes.
impl<'a> Parser<'a> {
    fn new(file: FileId, text: &'a str) -> Self {
        let nowhere = Token { kind: SyntaxKind::Eof, start: 0, end: 0 };
        let mut parser = Parser {
            file,
            text,
            lexer: Lexer::new(text),
            builder: GreenNodeBuilder::new(),
            trivia: Vec::new(),
            current: nowhere,
            depth: 0,
            diagnostics: Diagnostics::new(),
        };
        parser.read();
        parser
    }

    /// Reads the next token that is no trivia.
    fn read(&mut self) {
        loop {
            let token = self.lexer.next();
            if !token.kind.is_trivia() {
                self.current = token;
                return;
            }
            self.check_comment(token);
            self.trivia.push(token);
        }
    }

    fn check_comment(&mut self, token: Token) {
        let text = &self.text[token.start..token.end];
        if text.starts_with("/*") && (text.len() < 4 || !text.ends_with("*/")) {
            let span = Span::new(self.file, token.start as u32, token.start as u32 + 2);
            self.diagnostics
                .push(Diagnostic::warning(span, "comment is never closed").hint("end it with '*/'"));
        }
    }

    fn kind(&self) -> SyntaxKind {
        self.current.kind
    }

    fn at(&self, kind: SyntaxKind) -> bool {
        self.kind() == kind
    }

    fn at_any(&self, kinds: &[SyntaxKind]) -> bool {
        kinds.contains(&self.kind())
    }

    /// The kind of the token after the current one.
    fn peek(&mut self) -> SyntaxKind {
        let mut lexer = Lexer::starting_at(self.text, self.current.end);
        loop {
            let token = lexer.next();
            if !token.kind.is_trivia() {
                return token.kind;
            }
        }
    }

    fn span(&self) -> Span {
        Span::new(self.file, self.current.start as u32, self.current.end as u32)
    }

    fn error(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Puts the trivia before the current token into the tree.
    fn skip_trivia(&mut self) {
        for token in std::mem::take(&mut self.trivia) {
            self.add(token);
        }
    }

    fn add(&mut self, token: Token) {
        let kind = <ClickLanguage as rowan::Language>::kind_to_raw(token.kind);
        self.builder.token(kind, &self.text[token.start..token.end]);
    }

    /// Puts the current token into the tree and reads the next.
    fn bump(&mut self) {
        self.skip_trivia();
        if !self.at(SyntaxKind::Eof) {
            self.add(self.current);
        }
        self.read();
    }

    fn eat(&mut self, kind: SyntaxKind) -> bool {
        let there = self.at(kind);
        if there {
            self.bump();
        }
        there
    }

    fn open(&mut self, kind: SyntaxKind) {
        // The root takes leading comments in, every other node leaves them outside.
        if kind != SyntaxKind::SourceFile {
            self.skip_trivia();
        }
        self.builder.start_node(<ClickLanguage as rowan::Language>::kind_to_raw(kind));
    }

    fn open_at(&mut self, checkpoint: Checkpoint, kind: SyntaxKind) {
        self.builder.start_node_at(checkpoint, <ClickLanguage as rowan::Language>::kind_to_raw(kind));
    }

    fn close(&mut self) {
        self.builder.finish_node();
    }

    fn checkpoint(&mut self) -> Checkpoint {
        self.skip_trivia();
        self.builder.checkpoint()
    }

    /// Complains about the current token and skips it.
    fn unexpected(&mut self) {
        self.complain(None);
        self.skip_one();
    }

    /// Complains about the current token.
    fn complain(&mut self, hint: Option<&str>) {
        let token = match self.kind() {
            SyntaxKind::Eof => "end of file",
            _ => &self.text[self.current.start..self.current.end],
        };
        let diagnostic = Diagnostic::error(self.span(), format!("syntax error near '{token}'"));
        self.error(match hint {
            Some(hint) => diagnostic.hint(hint),
            None => diagnostic,
        });
    }

    /// Skips the rest of a statement that cannot be understood, but not beyond its line.
    fn skip_line(&mut self) {
        if self.at_line_end() {
            return;
        }
        self.open(SyntaxKind::Error);
        loop {
            self.bump();
            if self.at_line_end() {
                break;
            }
        }
        self.close();
    }

    /// Whether the current token ends a statement or begins another line.
    fn at_line_end(&self) -> bool {
        self.at_any(&STATEMENT_ENDS) || self.trivia.iter().any(|t| self.text[t.start..t.end].contains('\n'))
    }

    fn skip_one(&mut self) {
        if !self.at(SyntaxKind::Eof) {
            self.open(SyntaxKind::Error);
            self.bump();
            self.close();
        }
    }
}

// Statements.
impl Parser<'_> {
    fn statements(&mut self, inside: Inside) {
        while !self.at_end_of(inside) {
            self.statement(inside);
        }
    }

    fn at_end_of(&self, inside: Inside) -> bool {
        use SyntaxKind::*;
        match inside {
            Inside::File => self.at(Eof),
            // A brace that closes the compound around a group that was left open ends the group too.
            Inside::Group => self.at_any(&[Eof, RightParen, RightBrace, BarBar]),
            Inside::Compound => self.at_any(&[Eof, RightBrace, BarBar]),
        }
    }

    fn statement(&mut self, inside: Inside) {
        use SyntaxKind::*;
        match self.kind() {
            Ident | LeftBracket | LeftBrace | LeftParen | Arrow | DoubleArrow => self.connection(inside),
            ElementclassKw => self.elementclass(),
            RequireKw => self.keyword_config(Require),
            ProvideKw => self.keyword_config(Provide),
            DefineKw => self.keyword_config(Define),
            Semicolon => self.bump(),
            _ => self.unexpected(),
        }
    }

    fn elementclass(&mut self) {
        self.open(SyntaxKind::Elementclass);
        self.bump();
        let place = self.span();
        let named = self.eat(SyntaxKind::Ident);
        match self.kind() {
            SyntaxKind::LeftBrace => self.compound(),
            SyntaxKind::Ident => self.bump(),
            _ if named => {
                self.complain(Some("expected '{' or the name of an element class"));
                self.skip_line();
            }
            _ => {}
        }
        if !named {
            let hint = "write 'elementclass Name { ... }' or 'elementclass Name OtherName'";
            self.error(Diagnostic::error(place, "expected element type name").hint(hint));
            self.skip_line();
        }
        self.eat(SyntaxKind::Semicolon);
        self.close();
    }

    /// `define(...)` and its like.
    fn keyword_config(&mut self, node: SyntaxKind) {
        self.open(node);
        self.bump();
        if self.at(SyntaxKind::LeftParen) {
            self.config();
        } else {
            self.error(Diagnostic::error(self.span(), "expected '('"));
            self.skip_line();
        }
        self.eat(SyntaxKind::Semicolon);
        self.close();
    }

    /// A configuration string with its parentheses.
    fn config(&mut self) {
        self.open(SyntaxKind::Config);
        let opened = self.span();
        self.add(self.current);
        let mut depth = 1;
        while let Some(piece) = self.lexer.next_config(&mut depth) {
            self.add(piece);
        }
        self.read();
        if !self.eat(SyntaxKind::RightParen) {
            let error = Diagnostic::error(self.span(), "expected ')'")
                .aside(opened, "the configuration string starts here")
                .hint("a quote or a parenthesis in it may be left open");
            self.error(error);
        }
        self.close();
    }
}
