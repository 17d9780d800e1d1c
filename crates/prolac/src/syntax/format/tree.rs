//! The tokens of a definition as a tree: what stands between brackets, `let` and `end`, `if` and `end`, `?` and `:`.

use super::pieces::Piece;
use crate::syntax::token::{Keyword, Punct, TokenKind};

/// A token, given by its index, or a construct with a beginning and an end.
pub(super) enum Node {
    Token(usize),
    /// `( ... )` or `[ ... ]`
    Brackets {
        open: usize,
        inside: Vec<Node>,
        close: usize,
    },
    /// `? ... :`
    Choice {
        question: usize,
        inside: Vec<Node>,
        colon: usize,
    },
    /// `let ... in ... end` or `if ... then ... end`
    Block(Vec<Part>),
}

/// A keyword of a block and what follows it; nothing follows `end`.
pub(super) struct Part {
    pub(super) keyword: usize,
    pub(super) inside: Vec<Node>,
}

impl Node {
    /// Its first token.
    pub(super) fn first(&self) -> usize {
        match self {
            Node::Token(i) => *i,
            Node::Brackets { open, .. } => *open,
            Node::Choice { question, .. } => *question,
            Node::Block(parts) => parts[0].keyword,
        }
    }
}

/// Reads nodes out of `pieces[at..end]`. The text is known to be free of errors.
pub(super) struct Reader<'a> {
    pub(super) pieces: &'a [Piece],
    pub(super) at: usize,
    pub(super) end: usize,
}

impl Reader<'_> {
    /// The nodes up to a token that closes what is around them.
    pub(super) fn nodes(&mut self) -> Vec<Node> {
        let mut nodes = Vec::new();
        while self.at < self.end && !self.at_closing() {
            let node = self.node();
            nodes.push(node);
        }
        nodes
    }

    fn at_closing(&self) -> bool {
        use Keyword::{Else, Elseif, End, In, Then};
        match self.pieces[self.at].token.kind {
            TokenKind::Punct(p) => matches!(p, Punct::CloseParen | Punct::CloseBracket | Punct::Colon),
            TokenKind::Keyword(k) => matches!(k, Else | Elseif | End | In | Then),
            _ => false,
        }
    }

    fn take(&mut self) -> usize {
        self.at += 1;
        self.at - 1
    }

    fn node(&mut self) -> Node {
        let first = self.take();
        match self.pieces[first].token.kind {
            TokenKind::Punct(Punct::OpenParen | Punct::OpenBracket) => {
                let inside = self.nodes();
                Node::Brackets { open: first, inside, close: self.take() }
            }
            TokenKind::Punct(Punct::Question) => {
                let inside = self.nodes();
                Node::Choice { question: first, inside, colon: self.take() }
            }
            TokenKind::Keyword(Keyword::Let | Keyword::If) => self.block(first),
            _ => Node::Token(first),
        }
    }

    fn block(&mut self, first: usize) -> Node {
        let mut parts = Vec::new();
        let mut keyword = first;
        loop {
            let is_end = self.pieces[keyword].is_keyword(Keyword::End);
            let inside = if is_end { Vec::new() } else { self.nodes() };
            parts.push(Part { keyword, inside });
            if is_end {
                return Node::Block(parts);
            }
            keyword = self.take();
        }
    }
}
