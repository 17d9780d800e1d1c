//! Where the lines of a definition may be broken.
//!
//! The loosest operator decides: lines break before `|||`, `catch` and infix operators, after `,`, `==>` and
//! assignments, and inside brackets, `let` and `if`.

use super::doc::Doc;
use super::pieces::Piece;
use super::tree::{Node, Part, Reader};
use crate::syntax::token::{Keyword, Punct, TokenKind};

const CATCH: u8 = 1;
const CASE_BAR: u8 = 2;
const IMPLIES: u8 = 3;
const COMMA: u8 = 4;
const ASSIGN: u8 = 6;
const CHOICE: u8 = 7;

pub(super) struct Layout<'a> {
    pub(super) text: &'a str,
    pub(super) pieces: &'a [Piece],
}

impl Layout<'_> {
    /// A definition: the tokens `start..end`.
    pub(super) fn definition(&self, start: usize, end: usize) -> Vec<Doc> {
        let nodes = Reader { pieces: self.pieces, at: start, end }.nodes();
        let module = [Keyword::Module, Keyword::Class].iter().any(|k| self.pieces[start].is_keyword(*k));
        let mut docs = Vec::new();
        match nodes.iter().position(|n| self.is(n, Punct::Defines)) {
            Some(defines) if !module => self.method(&nodes, defines, &mut docs),
            _ => self.clauses(&nodes, module, &mut docs),
        }
        docs
    }

    /// `head ::= body;`
    fn method(&self, nodes: &[Node], defines: usize, docs: &mut Vec<Doc>) {
        let mut head = Vec::new();
        self.run(&nodes[..=defines], &mut head);
        docs.push(Doc::group(head));
        let (body, semicolon) = match &nodes[defines + 1..] {
            [body @ .., last] if self.is(last, Punct::Semicolon) => (body, Some(last)),
            body => (body, None),
        };
        match body {
            [] => {}
            [Node::Token(code)] if self.kind(*code) == TokenKind::CBlock => {
                docs.push(Doc::Space);
                self.token(*code, docs);
            }
            _ => docs.push(Doc::group(vec![Doc::indent(vec![Doc::Line, self.expression(body)])])),
        }
        semicolon.into_iter().for_each(|node| self.node(node, docs));
    }

    /// Anything else: a header of a module breaks before `:>` and `has`, lists break after commas.
    fn clauses(&self, nodes: &[Node], module: bool, docs: &mut Vec<Doc>) {
        let (nodes, brace) = match nodes {
            [nodes @ .., last] if self.is(last, Punct::OpenBrace) => (nodes, Some(last)),
            nodes => (nodes, None),
        };
        let starts = |n: &Node| {
            self.is(n, Punct::HasType)
                || matches!(n, Node::Token(i) if self.pieces[*i].is_keyword(Keyword::Has))
        };
        let clauses = split_before(nodes, |n| module && starts(n));
        let mut rest = Vec::new();
        let mut group = Vec::new();
        for (i, clause) in clauses.into_iter().enumerate() {
            let mut list = Vec::new();
            self.list(clause, &mut list);
            if i == 0 {
                group.push(Doc::group(list));
            } else {
                rest.extend([self.separator(clause[0].first()), Doc::group(list)]);
            }
        }
        group.push(Doc::indent(vec![Doc::indent(rest)]));
        docs.push(Doc::group(group));
        if let Some(brace) = brace {
            docs.push(Doc::Space);
            self.node(brace, docs);
        }
    }

    /// Items with commas between them, the lines after the first indented.
    fn list(&self, nodes: &[Node], docs: &mut Vec<Doc>) {
        let mut parts = split_after(nodes, |n| self.is(n, Punct::Comma)).into_iter();
        self.run(parts.next().unwrap_or(&[]), docs);
        let mut rest = Vec::new();
        for part in parts {
            rest.push(Doc::Line);
            self.run(part, &mut rest);
        }
        docs.push(Doc::indent(rest));
    }

    /// An expression as a group.
    fn expression(&self, nodes: &[Node]) -> Doc {
        let mut docs = Vec::new();
        match self.loosest(nodes) {
            Some(COMMA) => self.sequence(nodes, &mut docs),
            Some(level @ (IMPLIES | ASSIGN)) => self.right(nodes, level, &mut docs),
            Some(CHOICE) => self.choice(nodes, &mut docs),
            Some(level) => self.infix(nodes, level, &mut docs),
            None => self.run(nodes, &mut docs),
        }
        Doc::group(docs)
    }

    /// Operands with operators before which lines break; those of `|||` are not indented.
    fn infix(&self, nodes: &[Node], level: u8, docs: &mut Vec<Doc>) {
        let mut parts = split_before(nodes, |n| self.level(n) == Some(level)).into_iter();
        docs.push(self.expression(parts.next().unwrap_or(&[])));
        let mut rest = Vec::new();
        for part in parts {
            let (operator, operand) = part.split_at(1);
            rest.push(self.separator(operator[0].first()));
            self.node(&operator[0], &mut rest);
            rest.extend([Doc::Space, Doc::indent(vec![self.expression(operand)])]);
        }
        if level == CASE_BAR { docs.extend(rest) } else { docs.push(Doc::indent(rest)) }
    }

    /// `a ==> b` or `a = b`
    fn right(&self, nodes: &[Node], level: u8, docs: &mut Vec<Doc>) {
        let place = nodes.iter().position(|n| self.level(n) == Some(level)).unwrap_or(0);
        docs.extend([self.expression(&nodes[..place]), Doc::Space]);
        self.node(&nodes[place], docs);
        let right = &nodes[place + 1..];
        if let [Node::Token(code)] = right
            && self.kind(*code) == TokenKind::CBlock
        {
            docs.push(Doc::Space);
            self.token(*code, docs);
        } else {
            docs.push(Doc::indent(vec![Doc::Line, self.expression(right)]));
        }
    }

    /// `a ? b : c`
    fn choice(&self, nodes: &[Node], docs: &mut Vec<Doc>) {
        let place = nodes.iter().position(|n| matches!(n, Node::Choice { .. })).unwrap_or(0);
        docs.push(self.expression(&nodes[..place]));
        let Node::Choice { question, inside, colon } = &nodes[place] else { return };
        let mut rest = vec![Doc::Line];
        self.token(*question, &mut rest);
        rest.extend([Doc::Space, Doc::indent(vec![self.expression(inside)]), Doc::Line]);
        self.token(*colon, &mut rest);
        rest.extend([Doc::Space, Doc::indent(vec![self.expression(&nodes[place + 1..])])]);
        docs.push(Doc::indent(rest));
    }

    /// Expressions with commas, written or implied, between them.
    fn sequence(&self, nodes: &[Node], docs: &mut Vec<Doc>) {
        let mut start = 0;
        for i in 0..nodes.len() {
            let comma = self.is(&nodes[i], Punct::Comma);
            let implied = nodes.get(i + 1).is_some_and(|next| self.implied_comma(&nodes[i], next));
            if !comma && !implied {
                continue;
            }
            docs.push(self.expression(&nodes[start..=i - usize::from(comma)]));
            if comma {
                self.node(&nodes[i], docs);
            }
            start = i + 1;
            if start < nodes.len() {
                docs.push(Doc::Line);
            }
        }
        docs.push(self.expression(&nodes[start..]));
    }

    /// Whether two nodes have a comma between them that is not written, because one of them is C code.
    fn implied_comma(&self, left: &Node, right: &Node) -> bool {
        let code = |n: &Node| matches!(n, Node::Token(i) if self.kind(*i) == TokenKind::CBlock);
        let infix = |n: &Node| self.level(n).is_some();
        if code(left) {
            return !infix(right) && !self.is(right, Punct::HasType);
        }
        code(right) && !infix(left) && !self.begins_operand(left)
    }

    /// Whether an operand must follow a node, because it is a prefix operator or a cast.
    fn begins_operand(&self, node: &Node) -> bool {
        use Keyword::{Defaultinline, Inline, Noinline, Outline, Pathinline};
        let last = match node {
            Node::Token(i) => *i,
            Node::Brackets { close, .. } => *close,
            Node::Choice { .. } => return true,
            Node::Block(_) => return false,
        };
        let piece = &self.pieces[last];
        match piece.token.kind {
            TokenKind::Keyword(k) => matches!(k, Defaultinline | Inline | Noinline | Outline | Pathinline),
            TokenKind::Punct(_) => piece.prefix || !piece.ends_operand,
            _ => false,
        }
    }

    /// The level of the operator that is applied last, if there is one. What `outline` covers does not count.
    fn loosest(&self, nodes: &[Node]) -> Option<u8> {
        let outline = |n: &Node| matches!(n, Node::Token(i) if self.pieces[*i].is_keyword(Keyword::Outline));
        let covered = nodes.iter().position(outline).unwrap_or(nodes.len());
        let levels = nodes.iter().enumerate().filter_map(|(i, node)| {
            let level = self.level(node);
            level.filter(|level| *level <= COMMA || i < covered)
        });
        let implied = nodes.windows(2).any(|pair| self.implied_comma(&pair[0], &pair[1]));
        levels.chain(implied.then_some(COMMA)).min()
    }

    /// Nodes one after the other. After `outline` an expression begins.
    fn run(&self, nodes: &[Node], docs: &mut Vec<Doc>) {
        for (i, node) in nodes.iter().enumerate() {
            if i > 0 && self.pieces[node.first()].space {
                docs.push(Doc::Space);
            }
            self.node(node, docs);
            if matches!(node, Node::Token(n) if self.pieces[*n].is_keyword(Keyword::Outline)) {
                return self.outlined(&nodes[i + 1..], docs);
            }
        }
    }

    /// What follows `outline`.
    fn outlined(&self, mut nodes: &[Node], docs: &mut Vec<Doc>) {
        if let [level @ Node::Brackets { open, .. }, rest @ ..] = nodes
            && self.pieces[*open].is(Punct::OpenBracket)
        {
            self.node(level, docs);
            nodes = rest;
        }
        docs.extend([Doc::Space, Doc::indent(vec![self.expression(nodes)])]);
    }

    fn node(&self, node: &Node, docs: &mut Vec<Doc>) {
        match node {
            Node::Token(i) => self.token(*i, docs),
            Node::Brackets { open, inside, close } => {
                let mut group = Vec::new();
                self.token(*open, &mut group);
                group.push(Doc::indent(vec![Doc::Soft, self.expression(inside)]));
                group.push(Doc::Soft);
                self.token(*close, &mut group);
                docs.push(Doc::group(group));
            }
            Node::Choice { question, inside, colon } => {
                self.token(*question, docs);
                docs.extend([Doc::Space, self.expression(inside), Doc::Space]);
                self.token(*colon, docs);
            }
            Node::Block(parts) => docs.push(self.block(parts)),
        }
    }

    /// `let` and `if`: what follows `in`, `then` and `else` has lines of its own, unless all fits in one.
    fn block(&self, parts: &[Part]) -> Doc {
        let mut docs = Vec::new();
        for (i, part) in parts.iter().enumerate() {
            use Keyword::{Else, In, Then};
            let joins = [In, Then].iter().any(|k| self.pieces[part.keyword].is_keyword(*k));
            if i > 0 {
                docs.push(if joins { Doc::Space } else { Doc::Line });
            }
            self.token(part.keyword, &mut docs);
            if part.inside.is_empty() {
                continue;
            }
            let inside = self.expression(&part.inside);
            let below = joins || self.pieces[part.keyword].is_keyword(Else);
            docs.push(Doc::indent(vec![if below { Doc::Line } else { Doc::Space }, inside]));
        }
        Doc::group(docs)
    }

    /// A space or nothing, where the line may break.
    fn separator(&self, token: usize) -> Doc {
        if self.pieces[token].space { Doc::Line } else { Doc::Soft }
    }

    /// A token with the comments before and after it. Those that begin their line stand before the next token.
    fn token(&self, i: usize, docs: &mut Vec<Doc>) {
        if i > 0 && !self.pieces[i - 1].last {
            for comment in self.pieces[i].own_lines() {
                if comment.at_margin() {
                    docs.push(Doc::Margin(comment.text.clone()));
                } else {
                    docs.extend([Doc::Hard, Doc::Text(comment.text.clone()), Doc::Hard]);
                }
            }
        }
        docs.push(Doc::Text(self.pieces[i].token.text(self.text).to_string()));
        if self.pieces[i].last {
            return;
        }
        for comment in self.pieces[i + 1].beside() {
            docs.extend([Doc::Space, Doc::Text(comment.text.clone())]);
            if comment.ends_line() {
                docs.push(Doc::Hard);
            }
        }
    }

    fn kind(&self, token: usize) -> TokenKind {
        self.pieces[token].token.kind
    }

    fn is(&self, node: &Node, punct: Punct) -> bool {
        matches!(node, Node::Token(i) if self.pieces[*i].is(punct))
    }

    /// The level of the infix operator that a node is.
    fn level(&self, node: &Node) -> Option<u8> {
        match node {
            Node::Choice { .. } => Some(CHOICE),
            Node::Token(i) if self.pieces[*i].is_keyword(Keyword::Catch) => Some(CATCH),
            Node::Token(i) if !self.pieces[*i].prefix => match self.kind(*i) {
                TokenKind::Punct(punct) => level_of(punct),
                _ => None,
            },
            _ => None,
        }
    }
}

fn level_of(punct: Punct) -> Option<u8> {
    use Punct::*;
    Some(match punct {
        CaseBar => CASE_BAR,
        Implies => IMPLIES,
        Comma => COMMA,
        Assign | MinAssign | MaxAssign | AddAssign | SubtractAssign | MultiplyAssign | DivideAssign => ASSIGN,
        RemainderAssign | AndAssign | XorAssign | OrAssign | ShiftLeftAssign | ShiftRightAssign => ASSIGN,
        Or => 8,
        And => 9,
        Bar => 10,
        Caret => 11,
        Ampersand => 12,
        Equal | NotEqual => 13,
        Less | Greater | LessEqual | GreaterEqual => 14,
        ShiftLeft | ShiftRight => 15,
        Plus | Minus => 16,
        Star | Slash | Percent => 17,
        _ => return None,
    })
}

/// Pieces of a list that begin where `starts` says; the first may be empty.
fn split_before(nodes: &[Node], starts: impl Fn(&Node) -> bool) -> Vec<&[Node]> {
    let mut cuts: Vec<usize> = (0..nodes.len()).filter(|i| starts(&nodes[*i])).collect();
    cuts.push(nodes.len());
    let starts = std::iter::once(0).chain(cuts.iter().copied());
    starts.zip(&cuts).map(|(start, end)| &nodes[start..*end]).collect()
}

/// Pieces of a list that end where `ends` says.
fn split_after(nodes: &[Node], ends: impl Fn(&Node) -> bool) -> Vec<&[Node]> {
    nodes.split_inclusive(ends).collect()
}
