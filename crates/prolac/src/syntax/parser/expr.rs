//! Operators, from the loosest, `catch`, to prefix operators and `:>` (language summary, section 11.2).
//!
//! Infix operators are read by precedence climbing: [`Parser::infix`] takes those of its level and above. A prefix
//! operator may follow any operator and takes everything down to its own level, so `p && outline q || r` is
//! `p && (outline (q || r))`. After `catch` and its names the loop goes on with the whole as left operand, so that
//! handlers chain: `a catch x ==> b, c catch y ==> d` is `(((a catch x) ==> (b, c)) catch y) ==> d`.

use super::{LONG_CHAIN, Parsed, Parser};
use crate::syntax::ast::{AssignOp, BinaryOp, Expr, ExprKind, MinMax, Path, UnaryOp};
use crate::syntax::token::{Keyword, Punct, TokenKind};

/// An expression being read.
pub(super) struct Node {
    /// Boxed, so that the stack frames of the parser are small.
    pub(super) expr: Box<Expr>,
    pub(super) height: u32,
    /// Where it starts, parentheses around it included.
    pub(super) start: u32,
    /// Whether it stands in parentheses.
    pub(super) grouped: bool,
}

/// An operator between or after operands.
#[derive(Clone, Copy)]
enum Infix {
    Catch,
    CaseBar,
    Implies,
    Comma,
    /// The comma that need not be written beside C code.
    ImpliedComma,
    Assign(Option<AssignOp>),
    Conditional,
    Binary(BinaryOp),
}

const CATCH: u8 = 1;
const COMMA: u8 = 4;
const OUTLINE: u8 = 5;
/// The loosest operator in an argument.
pub(super) const ASSIGN: u8 = 6;

impl Infix {
    fn level(self) -> u8 {
        match self {
            Infix::Catch => CATCH,
            Infix::CaseBar => 2,
            Infix::Implies => 3,
            Infix::Comma | Infix::ImpliedComma => COMMA,
            Infix::Assign(_) => ASSIGN,
            Infix::Conditional => 7,
            Infix::Binary(op) => binary_level(op),
        }
    }

    /// The loosest operator that the right operand may have.
    fn right_level(self) -> u8 {
        match self {
            Infix::Implies | Infix::Assign(_) | Infix::Conditional => self.level(),
            _ => self.level() + 1,
        }
    }
}

fn binary_level(op: BinaryOp) -> u8 {
    use BinaryOp::*;
    match op {
        Or => 8,
        And => 9,
        BitOr => 10,
        BitXor => 11,
        BitAnd => 12,
        Equal | NotEqual => 13,
        Less | Greater | LessEqual | GreaterEqual => 14,
        ShiftLeft | ShiftRight => 15,
        Add | Subtract => 16,
        Multiply | Divide | Remainder => 17,
    }
}

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Parsed<Node> {
        self.infix(CATCH)
    }

    /// An expression with operators of level `min` and tighter.
    pub(super) fn infix(&mut self, min: u8) -> Parsed<Node> {
        self.nested(|p| {
            let mut left = p.prefix()?;
            while let Some(op) = p.infix_operator().filter(|op| op.level() >= min) {
                left = p.extend(left, op)?;
            }
            Ok(left)
        })
    }

    /// The operator that comes next.
    fn infix_operator(&self) -> Option<Infix> {
        let after_c = self.previous().is_some_and(|t| t.kind == TokenKind::CBlock);
        match self.kind() {
            TokenKind::CBlock => Some(Infix::ImpliedComma),
            _ if after_c && self.at_operand() => Some(Infix::ImpliedComma),
            TokenKind::Keyword(Keyword::Catch) => Some(Infix::Catch),
            TokenKind::Punct(punct) => infix_of(punct),
            _ => None,
        }
    }

    /// `left` with the operator and what follows it.
    fn extend(&mut self, left: Node, op: Infix) -> Parsed<Node> {
        match op {
            Infix::Catch => self.catch(left),
            Infix::Conditional => self.conditional(left),
            Infix::ImpliedComma => self.binary(left, op),
            Infix::Assign(_) => {
                self.check_arrow_slip()?;
                self.bump();
                self.binary(left, op)
            }
            Infix::Comma => {
                self.bump();
                if self.at_end_of_sequence() { Ok(left) } else { self.binary(left, op) }
            }
            _ => {
                self.bump();
                self.binary(left, op)
            }
        }
    }

    fn binary(&mut self, left: Node, op: Infix) -> Parsed<Node> {
        let right = self.infix(op.right_level())?;
        match op {
            Infix::CaseBar => self.cases(left, right),
            Infix::Implies => self.pair(left, right, ExprKind::Implies),
            Infix::Assign(op) => self.pair(left, right, |a, b| ExprKind::Assign(op, a, b)),
            Infix::Binary(op) => self.chain(left, op, right),
            _ => self.row(left, right),
        }
    }

    /// `left op right`, and all that follows with operators of the same level.
    fn chain(&mut self, left: Node, op: BinaryOp, right: Node) -> Parsed<Node> {
        let (start, level) = (left.start, binary_level(op));
        let mut height = left.height.max(right.height);
        let mut rest = vec![(op, *right.expr, self.since(start))];
        while let Some(Infix::Binary(op)) = self.infix_operator().filter(|op| op.level() == level) {
            self.bump();
            let right = self.infix(level + 1)?;
            height = height.max(right.height);
            rest.push((op, *right.expr, self.since(start)));
        }
        let operators = rest.len().min(LONG_CHAIN) as u32;
        self.check_height(height + operators)?;
        let expr = match rest.len() < LONG_CHAIN {
            true => rest.into_iter().fold(left.expr, |left, (op, right, span)| {
                Box::new(Expr { kind: ExprKind::Binary(op, left, Box::new(right)), span })
            }),
            false => {
                let rest = rest.into_iter().map(|(op, right, _)| (op, right)).collect();
                Box::new(Expr { kind: ExprKind::Chain(left.expr, rest), span: self.since(start) })
            }
        };
        Ok(Node { expr, height: height + operators, start, grouped: false })
    }

    /// `left ||| right`, and all cases that follow.
    fn cases(&mut self, left: Node, right: Node) -> Parsed<Node> {
        let mut height = left.height.max(right.height);
        let mut all = vec![*left.expr, *right.expr];
        while let Some(Infix::CaseBar) = self.infix_operator() {
            self.bump();
            let next = self.infix(Infix::CaseBar.right_level())?;
            height = height.max(next.height);
            all.push(*next.expr);
        }
        let operators = (all.len() - 1).min(LONG_CHAIN) as u32;
        self.node(ExprKind::CaseBar(all), left.start, height + operators - 1)
    }

    fn pair(
        &mut self,
        left: Node,
        right: Node,
        make: impl FnOnce(Box<Expr>, Box<Expr>) -> ExprKind,
    ) -> Parsed<Node> {
        let height = left.height.max(right.height);
        self.node(make(left.expr, right.expr), left.start, height)
    }

    /// `left, right`: one more member of the row, if `left` is one without parentheses. Rows are as long as you like.
    fn row(&mut self, left: Node, right: Node) -> Parsed<Node> {
        let start = left.start;
        let mut height = left.height;
        let mut members = match (left.grouped, left.expr.kind) {
            (false, ExprKind::Comma(members)) => members,
            (_, kind) => {
                height += 1;
                vec![Expr { kind, span: left.expr.span }]
            }
        };
        members.push(*right.expr);
        self.node(ExprKind::Comma(members), start, height.max(right.height + 1) - 1)
    }

    /// Makes a node over parts of height `height`; it ends with the last token taken.
    pub(super) fn node(&mut self, kind: ExprKind, start: u32, height: u32) -> Parsed<Node> {
        self.check_height(height + 1)?;
        let expr = Box::new(Expr { kind, span: self.since(start) });
        Ok(Node { expr, height: height + 1, start, grouped: false })
    }

    /// Whether a comma just taken ends its list of expressions and is to be ignored.
    fn at_end_of_sequence(&self) -> bool {
        use Punct::{CaseBar, CloseBrace, CloseBracket, CloseParen, Colon, Implies, Semicolon};
        match self.kind() {
            TokenKind::Punct(p) => {
                matches!(p, CaseBar | CloseBrace | CloseBracket | CloseParen | Colon | Implies | Semicolon)
            }
            TokenKind::Keyword(k) => {
                use Keyword::{Catch, Else, Elseif, End, Then};
                matches!(k, Catch | Else | Elseif | End | Then)
            }
            kind => kind == TokenKind::End,
        }
    }

    /// `left catch (X, Y)`
    fn catch(&mut self, left: Node) -> Parsed<Node> {
        self.bump();
        let names = self.caught()?;
        self.node(ExprKind::Catch { body: left.expr, names }, left.start, left.height)
    }

    fn caught(&mut self) -> Parsed<Vec<Path>> {
        if !self.take(Punct::OpenParen) {
            return Ok(vec![self.path()?]);
        }
        let mut names = vec![self.path()?];
        while self.take(Punct::Comma) {
            names.push(self.path()?);
        }
        self.expect(Punct::CloseParen)?;
        Ok(names)
    }

    /// `condition ? a : b`
    fn conditional(&mut self, condition: Node) -> Parsed<Node> {
        let question = self.bump();
        let yes = self.expression()?;
        if !self.take(Punct::Colon) {
            return Err(self.missing_colon(question, matches!(yes.expr.kind, ExprKind::Assert(..))));
        }
        let no = self.infix(Infix::Conditional.right_level())?;
        let height = condition.height.max(yes.height).max(no.height);
        let kind = ExprKind::Conditional(condition.expr, yes.expr, no.expr);
        self.node(kind, condition.start, height)
    }

    /// An operand with its prefix operators.
    pub(super) fn prefix(&mut self) -> Parsed<Node> {
        let start = self.start();
        if self.at_inline() {
            return self.inlined();
        }
        if self.at_keyword(Keyword::Outline) {
            return self.outline();
        }
        let Some(op) = self.unary_operator() else { return self.assertion() };
        self.bump();
        let operand = self.nested(Self::prefix)?;
        self.node(ExprKind::Unary(op, operand.expr), start, operand.height)
    }

    /// `inline[k] e` and its relatives.
    fn inlined(&mut self) -> Parsed<Node> {
        let start = self.start();
        let level = self.inline_level()?;
        let operand = self.nested(Self::prefix)?;
        let height = level.height.max(operand.height);
        self.node(ExprKind::Inline(level.value, operand.expr), start, height)
    }

    /// `outline[k] e`, which reaches to the next comma.
    fn outline(&mut self) -> Parsed<Node> {
        let start = self.bump().start;
        let level = if self.at(Punct::OpenBracket) { Some(self.bracketed()?) } else { None };
        let operand = self.infix(OUTLINE)?;
        let height = level.as_ref().map_or(0, |k| k.height).max(operand.height);
        let level = level.map(|k| k.expr);
        self.node(ExprKind::Outline(level, operand.expr), start, height)
    }

    /// The prefix operator that comes next.
    pub(super) fn unary_operator(&self) -> Option<UnaryOp> {
        let TokenKind::Punct(punct) = self.kind() else { return None };
        Some(match punct {
            Punct::Star => UnaryOp::Deref,
            Punct::Ampersand => UnaryOp::AddressOf,
            Punct::Plus => UnaryOp::Plus,
            Punct::Minus => UnaryOp::Negate,
            Punct::Tilde => UnaryOp::BitNot,
            Punct::Not => UnaryOp::Not,
            Punct::Increment => UnaryOp::Increment,
            Punct::Decrement => UnaryOp::Decrement,
            _ => return None,
        })
    }

    /// `e :> T`, as often as there are types.
    fn assertion(&mut self) -> Parsed<Node> {
        let mut node = self.cast_or_operand()?;
        while self.take(Punct::HasType) {
            node = self.asserted(node)?;
        }
        Ok(node)
    }

    fn asserted(&mut self, node: Node) -> Parsed<Node> {
        let ty = self.ty()?;
        let height = node.height.max(ty.height);
        self.node(ExprKind::Assert(node.expr, ty.value), node.start, height)
    }

    /// `[ e ]`
    pub(super) fn bracketed(&mut self) -> Parsed<Node> {
        self.expect(Punct::OpenBracket)?;
        let inside = self.expression()?;
        self.expect(Punct::CloseBracket)?;
        Ok(inside)
    }
}

/// The operator that stands between operands.
fn infix_of(punct: Punct) -> Option<Infix> {
    let binary = |op| Some(Infix::Binary(op));
    match punct {
        Punct::CaseBar => Some(Infix::CaseBar),
        Punct::Implies => Some(Infix::Implies),
        Punct::Comma => Some(Infix::Comma),
        Punct::Question => Some(Infix::Conditional),
        Punct::Or => binary(BinaryOp::Or),
        Punct::And => binary(BinaryOp::And),
        Punct::Bar => binary(BinaryOp::BitOr),
        Punct::Caret => binary(BinaryOp::BitXor),
        Punct::Ampersand => binary(BinaryOp::BitAnd),
        Punct::Equal => binary(BinaryOp::Equal),
        Punct::NotEqual => binary(BinaryOp::NotEqual),
        Punct::Less => binary(BinaryOp::Less),
        Punct::Greater => binary(BinaryOp::Greater),
        Punct::LessEqual => binary(BinaryOp::LessEqual),
        Punct::GreaterEqual => binary(BinaryOp::GreaterEqual),
        Punct::ShiftLeft => binary(BinaryOp::ShiftLeft),
        Punct::ShiftRight => binary(BinaryOp::ShiftRight),
        Punct::Plus => binary(BinaryOp::Add),
        Punct::Minus => binary(BinaryOp::Subtract),
        Punct::Star => binary(BinaryOp::Multiply),
        Punct::Slash => binary(BinaryOp::Divide),
        Punct::Percent => binary(BinaryOp::Remainder),
        _ => assignment_of(punct).map(Infix::Assign),
    }
}

/// What stands before the `=` of an assignment operator.
fn assignment_of(punct: Punct) -> Option<Option<AssignOp>> {
    let binary = |op| Some(Some(AssignOp::Binary(op)));
    match punct {
        Punct::Assign => Some(None),
        Punct::MinAssign => Some(Some(AssignOp::MinMax(MinMax::Min))),
        Punct::MaxAssign => Some(Some(AssignOp::MinMax(MinMax::Max))),
        Punct::AddAssign => binary(BinaryOp::Add),
        Punct::SubtractAssign => binary(BinaryOp::Subtract),
        Punct::MultiplyAssign => binary(BinaryOp::Multiply),
        Punct::DivideAssign => binary(BinaryOp::Divide),
        Punct::RemainderAssign => binary(BinaryOp::Remainder),
        Punct::ShiftLeftAssign => binary(BinaryOp::ShiftLeft),
        Punct::ShiftRightAssign => binary(BinaryOp::ShiftRight),
        Punct::AndAssign => binary(BinaryOp::BitAnd),
        Punct::XorAssign => binary(BinaryOp::BitXor),
        Punct::OrAssign => binary(BinaryOp::BitOr),
        _ => None,
    }
}
