//! Casts: `(T)e` told from `(e)`.

use super::expr::Node;
use super::types::builtin_of;
use super::{Parsed, Parser};
use crate::syntax::ast::ExprKind;
use crate::syntax::token::{Keyword, Punct, TokenKind};

/// What stands in parentheses, if it reads as a type.
struct Shape {
    /// Index of the closing parenthesis.
    close: usize,
    /// Whether a keyword such as `int` is in it.
    builtin: bool,
    /// Index of the last part of the module's name.
    module: usize,
}

impl Parser<'_> {
    pub(super) fn cast_or_operand(&mut self) -> Parsed<Node> {
        if self.at_cast() { self.cast() } else { self.operand() }
    }

    fn cast(&mut self) -> Parsed<Node> {
        let start = self.bump().start;
        self.casts.insert(start);
        let ty = self.ty()?;
        self.expect(Punct::CloseParen)?;
        let prefixed =
            self.unary_operator().is_some() || self.at_inline() || self.at_keyword(Keyword::Outline);
        let operand = self.nested(|p| if prefixed { p.prefix() } else { p.cast_or_operand() })?;
        let height = ty.height.max(operand.height);
        self.node(ExprKind::Cast(ty.value, operand.expr), start, height)
    }

    /// Whether a cast begins here. Only the written form decides, with one exception:
    ///
    /// - `(T)` with a keyword for a type in it is a cast.
    /// - `(*M)` is a cast if an operand follows that cannot go on an expression, as in `(*M)p` or `(*M)(p)`: nothing of
    ///   pointer type can be called.
    /// - `(*M)` before one of `* & + - ++ --` is a cast if `M` is a module here, that is the module itself, or a parent
    ///   or an import by its last name, and no parameter or variable of that name is in scope.
    /// - Anything else is an expression. So `(M)(x)` constructs an `M`: module values convert to nothing.
    fn at_cast(&self) -> bool {
        let Some(shape) = self.type_in_parentheses() else { return false };
        if shape.builtin {
            return true;
        }
        use Punct::{Ampersand, Decrement, Increment, Minus, Not, OpenParen, Plus, Star, Tilde};
        match self.tokens[shape.close + 1].kind {
            TokenKind::Punct(OpenParen | Not | Tilde) => true,
            TokenKind::Punct(Star | Ampersand | Plus | Minus | Increment | Decrement) => {
                self.is_module(shape.module)
            }
            TokenKind::Punct(_) | TokenKind::CBlock => false,
            kind => begins_operand(kind),
        }
    }

    /// Whether the identifier at an index is the name of a module here.
    pub(super) fn is_module(&self, index: usize) -> bool {
        let name = self.ident_of(self.tokens[index]).name;
        self.modules.contains(&name) && !self.variables.contains(&name)
    }

    /// Looks for a pointer or a builtin type in parentheses, without taking anything.
    fn type_in_parentheses(&self) -> Option<Shape> {
        if !self.at(Punct::OpenParen) {
            return None;
        }
        let close = self.partners[self.at]?;
        let mut n = 1;
        let mut pointer = false;
        while self.nth_is(n, Punct::Star) || self.nth_is(n, Punct::OpenParen) {
            pointer |= self.nth_is(n, Punct::Star);
            n += 1;
        }
        let builtin = builtin_of(self.nth(n).kind).is_some();
        let module = if builtin { self.at + n } else { self.end_of_name(self.at + n)? };
        let end = if builtin { module + 1 } else { self.end_of_operators(module + 1) };
        let end = self.end_of_suffixes(end, close);
        (end == close && (builtin || pointer)).then_some(Shape { close, builtin, module })
    }

    /// The index of the last part of the name at `i`.
    fn end_of_name(&self, i: usize) -> Option<usize> {
        let kind = |i: usize| self.tokens[i.min(self.tokens.len() - 1)].kind;
        let mut i = if kind(i) == TokenKind::Punct(Punct::Dot) { i + 1 } else { i };
        loop {
            if kind(i) != TokenKind::Ident {
                return None;
            }
            if kind(i + 1) != TokenKind::Punct(Punct::Dot) {
                return Some(i);
            }
            i += 2;
        }
    }

    /// The index after the module operators at `i`.
    fn end_of_operators(&self, mut i: usize) -> usize {
        use Keyword::{Defaultinline, Hide, Inline, Noinline, Notusing, Pathinline, Rename, Show, Using};
        while let TokenKind::Keyword(
            Defaultinline | Hide | Inline | Noinline | Notusing | Pathinline | Rename | Show | Using,
        ) = self.tokens[i].kind
        {
            i += 1;
            while self.tokens[i].kind == TokenKind::Punct(Punct::OpenBracket) {
                i = self.partners[i].unwrap_or(i) + 1;
            }
            i = match self.tokens[i].kind {
                TokenKind::Punct(Punct::OpenParen) => self.partners[i].unwrap_or(i) + 1,
                TokenKind::Keyword(_) => i + 1,
                _ => self.end_of_name(i).unwrap_or(i) + 1,
            };
            i = i.min(self.tokens.len() - 1);
        }
        i
    }

    /// The index after closing parentheses and `[k]`, at most `close`.
    fn end_of_suffixes(&self, mut i: usize, close: usize) -> usize {
        while i < close {
            i = match self.tokens[i].kind {
                TokenKind::Punct(Punct::CloseParen) => i + 1,
                TokenKind::Punct(Punct::OpenBracket) => self.partners[i].unwrap_or(i) + 1,
                _ => return i,
            };
        }
        i
    }
}

/// Whether a token begins an operand; prefix operators do, too.
pub(super) fn begins_operand(kind: TokenKind) -> bool {
    match kind {
        TokenKind::Keyword(keyword) => keyword_begins_operand(keyword),
        TokenKind::Punct(punct) => {
            use Punct::{Ampersand, Decrement, Dot, Increment, Minus, Not, OpenParen, Plus, Star, Tilde};
            matches!(
                punct,
                Ampersand | Decrement | Dot | Increment | Minus | Not | OpenParen | Plus | Star | Tilde
            )
        }
        TokenKind::Ident | TokenKind::Number | TokenKind::Char | TokenKind::Str => true,
        kind => kind == TokenKind::CBlock,
    }
}

fn keyword_begins_operand(keyword: Keyword) -> bool {
    use Keyword::{Constructor, Defaultinline, Inline, Noinline, Outline, Pathinline};
    use Keyword::{False, If, Let, Max, Min, SelfWord, Super, True};
    matches!(keyword, Constructor | Defaultinline | Inline | Noinline | Outline | Pathinline)
        || matches!(keyword, False | If | Let | Max | Min | SelfWord | Super | True)
}
