//! The tokens of a file with the comments between them, and whether a space stands before each.

use std::collections::HashSet;

use super::Marked;
use crate::syntax::token::{Keyword, Punct, Token, TokenKind};

/// A comment, a line mark or a directive.
pub(super) struct Comment {
    pub(super) kind: TokenKind,
    pub(super) text: String,
    pub(super) place: Place,
}

/// What stands before something.
#[derive(Clone, Copy, Default)]
pub(super) struct Place {
    /// The end of a line.
    pub(super) newline: bool,
    /// An empty line.
    pub(super) blank: bool,
}

/// A token that counts, and what is known about it.
pub(super) struct Piece {
    pub(super) token: Token,
    /// Between the token before and this one.
    pub(super) comments: Vec<Comment>,
    /// Between the last comment, or the token before, and this one.
    pub(super) place: Place,
    /// Whether a space belongs before it.
    pub(super) space: bool,
    /// Whether an expression can end with it, so that an operator after it is an infix or postfix one.
    pub(super) ends_operand: bool,
    /// Whether it is an operator that stands before its operand.
    pub(super) prefix: bool,
    /// Whether it ends a definition, or what comes between definitions.
    pub(super) last: bool,
}

impl Comment {
    /// Whether it needs a line of its own that is not indented.
    pub(super) fn at_margin(&self) -> bool {
        matches!(self.kind, TokenKind::LineMark | TokenKind::Directive)
    }

    /// Whether nothing may follow on its line.
    pub(super) fn ends_line(&self) -> bool {
        self.kind == TokenKind::LineComment || self.at_margin()
    }
}

impl Piece {
    pub(super) fn is(&self, punct: Punct) -> bool {
        self.token.kind == TokenKind::Punct(punct)
    }

    pub(super) fn is_keyword(&self, keyword: Keyword) -> bool {
        self.token.kind == TokenKind::Keyword(keyword)
    }
}

/// Makes the pieces of a file; the last is the end of the text. Semicolons between definitions are dropped.
pub(super) fn pieces(text: &str, tokens: &[Token], marked: &Marked) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut comments = Vec::new();
    let mut place = Place { newline: true, blank: false };
    let end = text.len() as u32;
    for token in tokens.iter().copied().chain([Token { kind: TokenKind::End, start: end, end }]) {
        if token.kind == TokenKind::Space {
            let lines = token.text(text).matches('\n').count();
            place = Place { newline: place.newline || lines > 0, blank: place.blank || lines > 1 };
        } else if token.kind.is_trivia() {
            let place = std::mem::take(&mut place);
            comments.push(Comment { kind: token.kind, text: token.text(text).trim_end().into(), place });
        } else if token.kind == TokenKind::Punct(Punct::Semicolon) && pieces.last().is_none_or(|p| p.last) {
            continue;
        } else {
            let comments = std::mem::take(&mut comments);
            let place = std::mem::take(&mut place);
            let last = ends_definition(token, marked);
            let ends_operand = token_ends_operand(token.kind);
            pieces.push(Piece { token, comments, place, space: false, ends_operand, prefix: false, last });
        }
    }
    bracket_ends(&mut pieces, marked);
    set_spaces(&mut pieces);
    pieces
}

fn ends_definition(token: Token, marked: &Marked) -> bool {
    let braces = [Punct::Semicolon, Punct::OpenBrace].map(TokenKind::Punct);
    braces.contains(&token.kind) || marked.ends.contains(&token.end)
}

/// Whether an operand ends with a token of this kind; with brackets it depends.
fn token_ends_operand(kind: TokenKind) -> bool {
    match kind {
        TokenKind::Ident | TokenKind::Number | TokenKind::Char | TokenKind::Str => true,
        TokenKind::Keyword(keyword) => keyword_ends_operand(keyword),
        _ => false,
    }
}

fn keyword_ends_operand(keyword: Keyword) -> bool {
    use Keyword::{All, Allstatic, Constructor, End, False, Max, Min, SelfWord, Super, True};
    use Keyword::{Bool, Char, Int, Long, Seqint, Short, Uchar, Uint, Ulong, Ushort, Void};
    matches!(keyword, All | Allstatic | Constructor | End | False | Max | Min | SelfWord | Super | True)
        || matches!(keyword, Bool | Char | Int | Long | Seqint | Short)
        || matches!(keyword, Uchar | Uint | Ulong | Ushort | Void)
}

/// Finds out which brackets and operators an operand ends with, and which operators stand before theirs.
fn bracket_ends(pieces: &mut [Piece], marked: &Marked) {
    let mut open: Vec<bool> = Vec::new();
    for i in 0..pieces.len() {
        let TokenKind::Punct(punct) = pieces[i].token.kind else { continue };
        let after_operand = i > 0 && pieces[i - 1].ends_operand;
        match punct {
            Punct::OpenParen => open.push(!is_cast(&pieces[i], &marked.casts)),
            Punct::OpenBracket => open.push(after_operand),
            Punct::CloseParen | Punct::CloseBracket => pieces[i].ends_operand = open.pop().unwrap_or(true),
            Punct::Increment | Punct::Decrement => {
                pieces[i].ends_operand = after_operand;
                pieces[i].prefix = !after_operand;
            }
            Punct::Star | Punct::Ampersand | Punct::Plus | Punct::Minus => pieces[i].prefix = !after_operand,
            Punct::Not | Punct::Tilde => pieces[i].prefix = true,
            _ => {}
        }
    }
}

fn is_cast(piece: &Piece, casts: &HashSet<u32>) -> bool {
    casts.contains(&piece.token.start)
}

fn set_spaces(pieces: &mut [Piece]) {
    for i in 1..pieces.len() {
        let (before, after) = (&pieces[i - 1], &pieces[i]);
        let closing = [Punct::Comma, Punct::Semicolon, Punct::CloseParen, Punct::CloseBracket, Punct::Dot];
        let commented = !after.comments.is_empty() && !closing.iter().any(|p| after.is(*p));
        pieces[i].space = commented || belongs_apart(before, after) || joins(before, after);
    }
}

/// Whether a space stands between two tokens by the rules of style.
fn belongs_apart(before: &Piece, after: &Piece) -> bool {
    use Punct::{Arrow, CloseBracket, CloseParen, Comma, Decrement, Dot, Increment, OpenBracket, OpenParen};
    let closes_cast = before.is(CloseParen) && !before.ends_operand;
    match (before.token.kind, after.token.kind) {
        (TokenKind::Punct(OpenParen | OpenBracket | Dot | Arrow), _) => false,
        (_, TokenKind::Punct(Comma | Punct::Semicolon | Arrow | CloseParen | CloseBracket)) => false,
        _ if before.prefix || closes_cast => false,
        (TokenKind::Keyword(k), TokenKind::Punct(OpenBracket)) if has_level(k) => false,
        (_, TokenKind::Punct(Dot | OpenParen | OpenBracket)) => !before.ends_operand,
        (_, TokenKind::Punct(Increment | Decrement)) => after.prefix,
        _ => true,
    }
}

/// Whether the keyword may be followed by a level in brackets.
fn has_level(keyword: Keyword) -> bool {
    matches!(keyword, Keyword::Inline | Keyword::Outline)
}

/// Whether two tokens would be read as another one if they touched.
fn joins(before: &Piece, after: &Piece) -> bool {
    let (TokenKind::Punct(first), TokenKind::Punct(second)) = (before.token.kind, after.token.kind) else {
        return false;
    };
    let joined = format!("{}{}", first.text(), second.text());
    Punct::find(joined.as_bytes()).is_some_and(|p| p != first)
}
