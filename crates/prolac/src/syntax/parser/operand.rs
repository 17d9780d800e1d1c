//! Operands: names, constants, calls, members, `let`, `if`, `min`, `max`, C code.

use clickwork_source::{Diagnostic, Span};

use super::cast::begins_operand;
use super::expr::{ASSIGN, Node};
use super::{Parsed, Parser, Tall};
use crate::syntax::ast::{Binding, Builtin, Expr, ExprKind, MinMax, ModuleExpr, Path, PostfixOp};
use crate::syntax::literal;
use crate::syntax::token::{Keyword, Punct, Token, TokenKind};

impl Parser<'_> {
    /// Whether the next token begins an operand or a prefix operator.
    pub(super) fn at_operand(&self) -> bool {
        begins_operand(self.kind())
    }

    /// An operand with its postfix operators and, if it is a name, module operators.
    pub(super) fn operand(&mut self) -> Parsed<Node> {
        let mut node = self.primary()?;
        if !matches!(node.expr.kind, ExprKind::CBlock(_)) || node.grouped {
            while let TokenKind::Punct(punct) = self.kind() {
                node = match punct {
                    Punct::Dot | Punct::Arrow => self.member_of(node)?,
                    Punct::OpenParen => self.call(node)?,
                    Punct::OpenBracket => self.index(node)?,
                    Punct::Increment => self.postfix(node, PostfixOp::Increment)?,
                    Punct::Decrement => self.postfix(node, PostfixOp::Decrement)?,
                    _ => break,
                };
            }
        }
        if self.at_module_operator() { self.viewed(node) } else { Ok(node) }
    }

    /// A module with operators in an expression. What is no name stays as it is.
    fn viewed(&mut self, node: Node) -> Parsed<Node> {
        let path = if node.grouped { None } else { path_of(&node.expr) };
        let Some(name) = path else { return Ok(node) };
        let start = node.start;
        let Tall { value: operators, height } = self.module_operators()?;
        let module = ModuleExpr { previous: false, name, operators, span: self.since(start) };
        self.node(ExprKind::Module(module), start, height)
    }

    /// `left.f` or `left->f`
    fn member_of(&mut self, left: Node) -> Parsed<Node> {
        let dot = self.bump().kind == TokenKind::Punct(Punct::Dot);
        let name = self.part()?;
        let object = left.expr;
        let kind = if dot { ExprKind::Member(object, name) } else { ExprKind::Arrow(object, name) };
        self.node(kind, left.start, left.height)
    }

    fn call(&mut self, function: Node) -> Parsed<Node> {
        let Tall { value: args, height } = self.args()?;
        let height = height.max(function.height);
        self.node(ExprKind::Call(function.expr, args), function.start, height)
    }

    fn index(&mut self, array: Node) -> Parsed<Node> {
        let index = self.bracketed()?;
        let height = array.height.max(index.height);
        self.node(ExprKind::Index(array.expr, index.expr), array.start, height)
    }

    fn postfix(&mut self, operand: Node, op: PostfixOp) -> Parsed<Node> {
        self.bump();
        self.node(ExprKind::Postfix(op, operand.expr), operand.start, operand.height)
    }

    /// `(a, b)`
    fn args(&mut self) -> Parsed<Tall<Vec<Expr>>> {
        let open = self.at;
        self.bump();
        let mut args = Tall { value: Vec::new(), height: 0 };
        if self.take(Punct::CloseParen) {
            return Ok(args);
        }
        loop {
            let arg = self.infix(ASSIGN)?;
            args.height = args.height.max(arg.height);
            args.value.push(*arg.expr);
            if !self.take(Punct::Comma) {
                break;
            }
        }
        self.close_paren(open)?;
        Ok(args)
    }

    /// The `)` that belongs to the `(` at an index.
    fn close_paren(&mut self, open: usize) -> Parsed<()> {
        if self.take(Punct::CloseParen) {
            return Ok(());
        }
        if self.at(Punct::Semicolon) && self.partners[open].is_none() && self.statement_before().is_none() {
            self.forgive_paren(open);
            return Ok(());
        }
        Err(self.missing_paren(open))
    }

    fn primary(&mut self) -> Parsed<Node> {
        let start = self.start();
        match self.kind() {
            TokenKind::Ident | TokenKind::Keyword(Keyword::Constructor) => self.name(false),
            TokenKind::Punct(Punct::Dot) => {
                self.bump();
                self.name(true)
            }
            TokenKind::Number => self.number(),
            TokenKind::Char => self.character(),
            TokenKind::Str => self.string(),
            TokenKind::CBlock => self.c_code(),
            TokenKind::Punct(Punct::OpenParen) => self.group(),
            TokenKind::Keyword(Keyword::SelfWord) => self.word(ExprKind::SelfRef),
            TokenKind::Keyword(Keyword::True) => self.word(ExprKind::Bool(true)),
            TokenKind::Keyword(Keyword::False) => self.word(ExprKind::Bool(false)),
            TokenKind::Keyword(Keyword::Super) => self.super_word(),
            TokenKind::Keyword(Keyword::Let) => self.let_in(start),
            TokenKind::Keyword(Keyword::If) => self.if_then(start),
            TokenKind::Keyword(Keyword::Min) => self.min_max(MinMax::Min),
            TokenKind::Keyword(Keyword::Max) => self.min_max(MinMax::Max),
            _ => Err(self.no_operand()),
        }
    }

    fn name(&mut self, global: bool) -> Parsed<Node> {
        let start = if global { self.previous().map_or(0, |t| t.start) } else { self.start() };
        let name = self.part()?;
        self.node(ExprKind::Name { global, name }, start, 0)
    }

    /// A node of one token.
    fn word(&mut self, kind: ExprKind) -> Parsed<Node> {
        let start = self.bump().start;
        self.node(kind, start, 0)
    }

    fn super_word(&mut self) -> Parsed<Node> {
        if !self.nth_is(1, Punct::Dot) {
            let error = Diagnostic::error(self.here(), "`super` can only stand before a dot");
            return Err(self.fail(error.hint("`super.f` is the method `f` of the parent")));
        }
        self.word(ExprKind::Super)
    }

    fn number(&mut self) -> Parsed<Node> {
        match literal::integer(self.text_of(self.token())) {
            Ok((value, ty)) => self.word(ExprKind::Int { value, ty }),
            Err((message, hint)) => {
                let error = Diagnostic::error(self.here(), message).hint(hint);
                self.report(error);
                self.word(ExprKind::Error)
            }
        }
    }

    fn character(&mut self) -> Parsed<Node> {
        let value = literal::character(self.text_of(self.token()));
        let kind = self.literal(value, |c| ExprKind::Int { value: u64::from(c), ty: Builtin::Char });
        self.word(kind)
    }

    /// One string, or several beside each other, which are one.
    fn string(&mut self) -> Parsed<Node> {
        let start = self.start();
        let mut bytes = Some(Vec::new());
        while self.kind() == TokenKind::Str {
            let piece = literal::string(self.text_of(self.token()));
            match (self.literal(piece, ExprKind::Str), &mut bytes) {
                (ExprKind::Str(piece), Some(bytes)) => bytes.extend(piece),
                _ => bytes = None,
            }
            self.bump();
        }
        self.node(bytes.map_or(ExprKind::Error, ExprKind::Str), start, 0)
    }

    /// The node for a constant, or an error. What is not closed has had its message.
    fn literal<T>(&mut self, value: Result<T, String>, kind: impl FnOnce(T) -> ExprKind) -> ExprKind {
        let text = self.text_of(self.token());
        let closed = text.len() > 1 && text.ends_with(['"', '\'']);
        match value {
            Ok(value) => kind(value),
            Err(_) if !closed => ExprKind::Error,
            Err(message) => {
                let error = Diagnostic::error(self.here(), message);
                self.report(error);
                ExprKind::Error
            }
        }
    }

    fn c_code(&mut self) -> Parsed<Node> {
        let Token { start, end, .. } = self.token();
        let closed = end - start > 1 && self.text_of(self.token()).ends_with('}');
        let code = Span::new(self.file, start + 1, end - u32::from(closed));
        self.word(ExprKind::CBlock(code))
    }

    /// `(e)`
    fn group(&mut self) -> Parsed<Node> {
        let open = self.at;
        let start = self.bump().start;
        let inside = self.expression()?;
        self.close_paren(open)?;
        Ok(Node { start, grouped: true, ..inside })
    }

    fn min_max(&mut self, which: MinMax) -> Parsed<Node> {
        let word = self.bump();
        let start = word.start;
        self.expect(Punct::OpenParen)?;
        let a = self.infix(ASSIGN)?;
        if !self.take(Punct::Comma) {
            return Err(self.not_two(word));
        }
        let b = self.infix(ASSIGN)?;
        if !self.take(Punct::CloseParen) {
            return Err(self.not_two(word));
        }
        let height = a.height.max(b.height);
        self.node(ExprKind::MinMax(which, a.expr, b.expr), start, height)
    }

    /// `if a then b elseif c then d else e end`
    fn if_then(&mut self, start: u32) -> Parsed<Node> {
        let opening = self.here();
        let mut arms = Vec::new();
        let mut height = self.arm(opening, &mut arms)?;
        while self.at_keyword(Keyword::Elseif) {
            height = height.max(self.arm(opening, &mut arms)?);
        }
        let otherwise = if self.take_keyword(Keyword::Else) { Some(self.expression()?) } else { None };
        height = height.max(otherwise.as_ref().map_or(0, |e| e.height));
        self.expect_word(Keyword::End, opening)?;
        self.node(ExprKind::If { arms, otherwise: otherwise.map(|e| e.expr) }, start, height)
    }

    /// `if a then b` or `elseif a then b`; returns the height.
    fn arm(&mut self, opening: Span, arms: &mut Vec<(Expr, Expr)>) -> Parsed<u32> {
        self.bump();
        let condition = self.expression()?;
        self.expect_word(Keyword::Then, opening)?;
        let value = self.expression()?;
        arms.push((*condition.expr, *value.expr));
        Ok(condition.height.max(value.height))
    }

    /// `let v :> T = e in ... end`
    fn let_in(&mut self, start: u32) -> Parsed<Node> {
        let opening = self.here();
        self.bump();
        let mut bindings = Vec::new();
        let mut height = self.binding(&mut bindings)?;
        while self.take(Punct::Comma) {
            height = height.max(self.binding(&mut bindings)?);
        }
        self.expect_word(Keyword::In, opening)?;
        let outside = self.variables.len();
        self.variables.extend(bindings.iter().map(|b| b.name.name.clone()));
        let body = self.expression();
        self.variables.truncate(outside);
        let body = body?;
        self.expect_word(Keyword::End, opening)?;
        self.node(ExprKind::Let { bindings, body: body.expr }, start, height.max(body.height))
    }

    /// `v :> T(args) = e`; returns the height.
    fn binding(&mut self, bindings: &mut Vec<Binding>) -> Parsed<u32> {
        if let Some(failed) = self.c_declaration() {
            return Err(failed);
        }
        let name = self.ident()?;
        bindings.push(Binding { name, ty: None, args: None, value: None });
        let Some(binding) = bindings.last_mut() else { return Ok(0) };
        if self.at(Punct::Colon) && !self.touches_assign() {
            self.single_colon();
        }
        let height = if self.take(Punct::HasType) { self.binding_type(binding)? } else { 0 };
        Ok(height.max(self.binding_value(binding)?))
    }

    /// `T(args)`
    fn binding_type(&mut self, binding: &mut Binding) -> Parsed<u32> {
        let Tall { value, height } = self.ty()?;
        binding.ty = Some(value);
        if !self.at(Punct::OpenParen) {
            return Ok(height);
        }
        let args = self.args()?;
        binding.args = Some(args.value);
        Ok(height.max(args.height))
    }

    /// `= e`, if it is there.
    fn binding_value(&mut self, binding: &mut Binding) -> Parsed<u32> {
        if self.touches_assign() {
            return Err(self.colon_equals());
        }
        if !self.take(Punct::Assign) {
            return Ok(0);
        }
        let value = self.infix(ASSIGN)?;
        binding.value = Some(*value.expr);
        Ok(value.height)
    }

    /// A keyword that continues what began at `opening`.
    fn expect_word(&mut self, word: Keyword, opening: Span) -> Parsed<()> {
        if self.take_keyword(word) { Ok(()) } else { Err(self.missing_word(word, opening)) }
    }
}

/// The qualified name that an expression is.
fn path_of(expr: &Expr) -> Option<Path> {
    match &expr.kind {
        ExprKind::Name { global, name } => {
            Some(Path { global: *global, parts: vec![name.clone()], span: expr.span })
        }
        ExprKind::Member(left, name) => {
            let mut path = path_of(left)?;
            path.parts.push(name.clone());
            path.span = expr.span;
            Some(path)
        }
        _ => None,
    }
}
