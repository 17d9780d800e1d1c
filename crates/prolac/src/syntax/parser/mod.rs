//! Tokens to syntax tree, by recursive descent, with recovery.
//!
//! A rule that fails has given its message and returns [`Failed`]; the caller that knows a place to go on from, a
//! definition or the body of a module, skips to it, so that one mistake gives one message. `items`, `members`, `names`
//! and `types` hold definitions, `expr` the operators by level, `operand` what they stand between, and `mistakes` the
//! advice for what people write by habit.

mod cast;
mod expr;
mod header;
mod items;
mod members;
mod mistakes;
mod names;
mod operand;
mod types;

pub use mistakes::statement_hint;

use std::collections::HashSet;

use clickwork_source::{Diagnostic, Diagnostics, FileId, Sources, Span};

use super::ast;
use super::lexer::{Tokens, tokenize};
use super::token::{Keyword, Punct, Token, TokenKind};
use crate::Name;

/// How deeply a program may be nested: namespaces, types and expressions. A chain such as `a + b + c`, where each operator
/// has what stands before it as its operand, and cases `a ||| b ||| c` count as [`LONG_CHAIN`] levels at most, and a row
/// `a, b, c` as one, however long. Passes may therefore be recursive.
pub const MAX_DEPTH: u32 = 256;

/// So many operators are a chain that is held flat; shorter ones are nested.
pub const LONG_CHAIN: usize = 24;

/// A message has been given.
#[derive(Debug)]
struct Failed;

type Parsed<T> = Result<T, Failed>;

/// A piece of the tree with its height, which counts against [`MAX_DEPTH`].
struct Tall<T> {
    value: T,
    height: u32,
}

/// Parses one file. Line marks (`# 12 "file"`, `#line 12 "file"`, `# line 12 "file"`), also those inside C code, are
/// given to `sources`. Anything wrong is added to `diagnostics`; the tree then lacks what could not be understood.
pub fn parse(sources: &mut Sources, file: FileId, diagnostics: &mut Diagnostics) -> ast::Program {
    parse_with_casts(sources, file, diagnostics).0
}

/// [`parse`], with the offsets of the parentheses that begin casts.
pub(super) fn parse_with_casts(
    sources: &mut Sources,
    file: FileId,
    diagnostics: &mut Diagnostics,
) -> (ast::Program, HashSet<u32>) {
    let mut tokens = tokenize(sources, file);
    let mut name = sources.name(file).to_string();
    for mark in std::mem::take(&mut tokens.marks) {
        name = mark.file.unwrap_or(name);
        sources.line_mark(file, mark.at, name.clone(), mark.line);
    }
    let mut parser = Parser::new(sources.text(file), file, tokens);
    let program = parser.program();
    let mut found: Vec<Diagnostic> = parser.diagnostics.into_iter().collect();
    found.sort_by_key(|d| d.span().start);
    diagnostics.extend(found);
    (program, parser.casts)
}

struct Parser<'a> {
    text: &'a str,
    file: FileId,
    /// Without trivia; the last is `End`.
    tokens: Vec<Token>,
    /// For each bracket that has one, the index of its partner.
    partners: Vec<Option<usize>>,
    /// The index of the next token.
    at: usize,
    /// How deeply nested the rule being read is.
    depth: u32,
    /// Parameters and variables in scope.
    variables: Vec<Name>,
    /// The modules that can be named in the module being read.
    modules: Vec<Name>,
    /// Where casts begin.
    casts: HashSet<u32>,
    diagnostics: Diagnostics,
    /// The token at which the last message was given.
    last_failure: Option<usize>,
    /// Whether what is missing at the end is known already.
    cut_short: bool,
    /// Whether C code may have taken a brace that belongs to a module.
    last_block_doubtful: bool,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, file: FileId, tokens: Tokens) -> Self {
        let end = Token { kind: TokenKind::End, start: text.len() as u32, end: text.len() as u32 };
        let seen = tokens.list.into_iter().filter(|t| !t.kind.is_trivia());
        let tokens_seen: Vec<Token> = seen.chain([end]).collect();
        Parser {
            text,
            file,
            partners: partners(&tokens_seen),
            tokens: tokens_seen,
            at: 0,
            depth: 0,
            variables: Vec::new(),
            modules: Vec::new(),
            casts: HashSet::new(),
            diagnostics: tokens.diagnostics,
            last_failure: None,
            cut_short: tokens.cut_short,
            last_block_doubtful: false,
        }
    }

    // Looking at tokens

    fn token(&self) -> Token {
        self.nth(0)
    }

    /// The token `n` places ahead; `End` after the end.
    fn nth(&self, n: usize) -> Token {
        self.tokens[(self.at + n).min(self.tokens.len() - 1)]
    }

    fn kind(&self) -> TokenKind {
        self.token().kind
    }

    fn at(&self, punct: Punct) -> bool {
        self.kind() == TokenKind::Punct(punct)
    }

    fn at_keyword(&self, keyword: Keyword) -> bool {
        self.kind() == TokenKind::Keyword(keyword)
    }

    fn nth_is(&self, n: usize, punct: Punct) -> bool {
        self.nth(n).kind == TokenKind::Punct(punct)
    }

    /// The token before the next one.
    fn previous(&self) -> Option<Token> {
        self.at.checked_sub(1).map(|i| self.tokens[i])
    }

    fn text_of(&self, token: Token) -> &'a str {
        token.text(self.text)
    }

    /// Whether the next token is the first on its line.
    fn starts_line(&self) -> bool {
        let end = self.previous().map_or(0, |t| t.end as usize);
        self.text[end..self.token().start as usize].contains(['\n', '\r'])
    }

    /// Whether token `n` ahead touches the one after it.
    fn touches(&self, n: usize) -> bool {
        self.nth(n).end == self.nth(n + 1).start
    }

    // Places

    fn span_of(&self, token: Token) -> Span {
        Span::new(self.file, token.start, token.end)
    }

    fn here(&self) -> Span {
        self.span_of(self.token())
    }

    /// Where the next token starts.
    fn start(&self) -> u32 {
        self.token().start
    }

    /// From `start` to the end of the token before the next one.
    fn since(&self, start: u32) -> Span {
        Span::new(self.file, start, self.previous().map_or(start, |t| t.end))
    }

    // Taking tokens

    /// Takes the next token, whatever it is; the end stays.
    fn bump(&mut self) -> Token {
        let token = self.token();
        if token.kind != TokenKind::End {
            self.at += 1;
        }
        token
    }

    /// Takes the next token if it is this one.
    fn take(&mut self, punct: Punct) -> bool {
        let found = self.at(punct);
        if found {
            self.at += 1;
        }
        found
    }

    fn take_keyword(&mut self, keyword: Keyword) -> bool {
        let found = self.at_keyword(keyword);
        if found {
            self.at += 1;
        }
        found
    }

    fn expect(&mut self, punct: Punct) -> Parsed<()> {
        if self.take(punct) { Ok(()) } else { Err(self.expected(&format!("`{}`", punct.text()))) }
    }

    // Messages

    /// Gives a message about the next token, unless one was given about it already.
    fn fail(&mut self, diagnostic: Diagnostic) -> Failed {
        let open = self.is_open(self.token()) || self.previous().is_some_and(|token| self.is_open(token));
        let cut_short = self.kind() == TokenKind::End && self.cut_short;
        let known = open || cut_short || self.kind() == TokenKind::Unknown;
        if !known && self.last_failure != Some(self.at) {
            self.diagnostics.push(diagnostic);
        }
        self.last_failure = Some(self.at);
        Failed
    }

    /// Whether the token is a string or character that is not closed: it may have swallowed anything.
    fn is_open(&self, token: Token) -> bool {
        let quote = match token.kind {
            TokenKind::Str => '"',
            TokenKind::Char => '\'',
            _ => return false,
        };
        let text = self.text_of(token);
        text.len() == 1 || !text.ends_with(quote)
    }

    /// Gives a message that does not stop the rule.
    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn expected(&mut self, what: &str) -> Failed {
        let message = format!("expected {what}, found {}", self.describe(self.token()));
        self.fail(Diagnostic::error(self.here(), message))
    }

    fn describe(&self, token: Token) -> String {
        match token.kind {
            TokenKind::End => "the end of the file".into(),
            TokenKind::CBlock => "C code".into(),
            TokenKind::Support => "support code".into(),
            TokenKind::Str => "a string".into(),
            TokenKind::Keyword(k) => format!("the keyword `{}`", k.text()),
            _ => format!("`{}`", self.text_of(token)),
        }
    }

    // Depth

    /// Reads a rule one level deeper.
    fn nested<T>(&mut self, rule: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.check_height(self.depth + 1)?;
        self.depth += 1;
        let result = rule(self);
        self.depth -= 1;
        result
    }

    /// Fails if a part of the tree is too high.
    fn check_height(&mut self, height: u32) -> Parsed<()> {
        if height <= MAX_DEPTH {
            return Ok(());
        }
        let message = format!("this is nested more than {MAX_DEPTH} levels deep");
        let hint = "give parts of it names of their own";
        Err(self.fail(Diagnostic::error(self.here(), message).hint(hint)))
    }
}

/// Matches brackets; those that cross are not matched.
fn partners(tokens: &[Token]) -> Vec<Option<usize>> {
    use Punct::*;
    let mut partners = vec![None; tokens.len()];
    let mut open: Vec<(usize, Punct)> = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        let TokenKind::Punct(punct) = token.kind else { continue };
        let opening = match punct {
            OpenBrace | OpenParen | OpenBracket => {
                open.push((i, punct));
                continue;
            }
            CloseBrace => OpenBrace,
            CloseParen => OpenParen,
            CloseBracket => OpenBracket,
            _ => continue,
        };
        // An unmatched parenthesis does not hide the brace around it.
        if opening == OpenBrace {
            while open.last().is_some_and(|o| o.1 != OpenBrace) {
                open.pop();
            }
        }
        if let Some((partner, _)) = open.pop_if(|o| o.1 == opening) {
            partners[i] = Some(partner);
            partners[partner] = Some(i);
        }
    }
    partners
}
