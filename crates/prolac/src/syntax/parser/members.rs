//! What stands inside a module: methods, fields, exceptions, namespaces, support code.

use clickwork_source::{Diagnostic, Span};

use super::{Failed, Parsed, Parser};
use crate::syntax::ast::{Expr, ExprKind, Field, Member, Method, Param, Path, TopItem, TypeKind};
use crate::syntax::token::{Keyword, Punct, TokenKind};

impl Parser<'_> {
    /// One member of a module. Modules that stand there by mistake go to `items`.
    pub(super) fn module_member(&mut self, members: &mut Vec<Member>, items: &mut Vec<TopItem>) {
        if matches!(self.kind(), TokenKind::Keyword(Keyword::Module | Keyword::Class))
            && !self.at_keyword_as_name()
        {
            if self.nested_module(items).is_err() {
                self.skip_definition();
            }
        } else {
            self.member(members);
        }
    }

    /// One member, or a failed one that is skipped.
    fn member(&mut self, members: &mut Vec<Member>) {
        let result = match self.kind() {
            TokenKind::Punct(Punct::Semicolon) => {
                self.bump();
                return;
            }
            TokenKind::Support => Ok(Member::Support(self.support(false))),
            TokenKind::Keyword(Keyword::Exception) => self.exception(),
            _ if self.at_namespace() => self.namespace(Self::member).map(Member::Namespace),
            _ if self.at_member() => self.field_or_method(),
            _ => Err(self.unexpected_member()),
        };
        match result {
            Ok(member) => members.push(member),
            Err(Failed) => self.skip_definition(),
        }
    }

    /// Whether a field, method or exception seems to begin here.
    pub(super) fn at_member(&self) -> bool {
        use Keyword::{Exception, Field, Static};
        matches!(self.kind(), TokenKind::Keyword(Exception | Field | Static)) || self.at_method_head()
    }

    /// Whether a method seems to begin here: its name and then `(`, `:>` or `::=`.
    pub(super) fn at_method_head(&self) -> bool {
        let parenthesised = self.at(Punct::OpenParen)
            && self.nth(1).kind == TokenKind::Ident
            && self.nth_is(2, Punct::CloseParen);
        let after = if parenthesised { Some(3) } else { self.after_path() };
        after.is_some_and(|n| {
            use Punct::{Colon, Defines, HasType, OpenParen};
            [OpenParen, HasType, Colon, Defines].iter().any(|p| self.nth_is(n, *p))
        })
    }

    /// A member outside of modules: read, refused, forgotten.
    pub(super) fn stray_member(&mut self) -> Parsed<()> {
        let error = Diagnostic::error(self.here(), "this can only stand inside a module");
        self.report(error.hint("methods, fields and exceptions are members of modules: `module M { ... }`"));
        let mut members = Vec::new();
        self.member(&mut members);
        Ok(())
    }

    /// `exception e;`
    fn exception(&mut self) -> Parsed<Member> {
        self.bump();
        let name = self.ident()?;
        if self.at(Punct::Comma) {
            return Err(self.one_at_a_time("exception"));
        }
        self.semicolon()?;
        Ok(Member::Exception(name))
    }

    fn field_or_method(&mut self) -> Parsed<Member> {
        let start = self.start();
        let is_static = self.take_keyword(Keyword::Static);
        if self.take_keyword(Keyword::Field) {
            self.field(start, is_static).map(Member::Field)
        } else {
            self.method(start, is_static).map(Member::Method)
        }
    }

    /// What follows `field`.
    fn field(&mut self, start: u32, is_static: bool) -> Parsed<Field> {
        if let Some(failed) = self.c_declaration() {
            return Err(failed);
        }
        let name = self.path()?;
        if self.at(Punct::Comma) {
            return Err(self.one_at_a_time("field"));
        }
        self.has_type()?;
        let ty = self.ty()?.value;
        let offset = if self.take(Punct::At) { Some(*self.expression()?.expr) } else { None };
        self.semicolon()?;
        Ok(Field { is_static, name, ty, offset, span: self.since(start) })
    }

    /// What follows `static`, if anything does.
    fn method(&mut self, start: u32, is_static: bool) -> Parsed<Method> {
        let name = self.defined_name()?;
        let params = if self.at(Punct::OpenParen) { self.params()? } else { Vec::new() };
        if self.at(Punct::Colon) && !self.touches_assign() {
            self.single_colon();
        }
        let returns = if self.take(Punct::HasType) { Some(self.ty()?.value) } else { None };
        self.defines(&name)?;
        let outside = self.variables.len();
        self.variables.extend(params.iter().filter_map(|p| Some(p.name.as_ref()?.name.clone())));
        let body = self.body();
        self.variables.truncate(outside);
        Ok(Method { is_static, name, params, returns, body, span: self.since(start) })
    }

    /// The name of a method, which may stand in parentheses so that no macro of that name fires.
    fn defined_name(&mut self) -> Parsed<Path> {
        if !self.take(Punct::OpenParen) {
            return self.path();
        }
        let name = self.path()?;
        self.expect(Punct::CloseParen)?;
        Ok(name)
    }

    /// `::=`, or what people write for it.
    fn defines(&mut self, name: &Path) -> Parsed<()> {
        if self.takes_definition() { Ok(()) } else { Err(self.no_definition(name)) }
    }

    /// Takes `::=`, or after a message what people write for it.
    pub(super) fn takes_definition(&mut self) -> bool {
        if self.at(Punct::Assign) || self.touches_assign() {
            self.single_equals();
        }
        self.take(Punct::Defines)
    }

    /// The expression of a method and its semicolon. If that fails, the body is an error, and the method stays.
    fn body(&mut self) -> Option<Expr> {
        if self.take(Punct::Semicolon) {
            return None;
        }
        let start = self.start();
        let body = self.expression().map(|e| *e.expr);
        let closed = body.is_ok() && self.semicolon().is_ok();
        if !closed {
            self.skip_definition();
        }
        let error = |_| Expr { kind: ExprKind::Error, span: self.since(start) };
        Some(body.unwrap_or_else(error))
    }

    /// `(p :> T, ...)`
    fn params(&mut self) -> Parsed<Vec<Param>> {
        self.bump();
        let mut params = Vec::new();
        if self.take(Punct::CloseParen) {
            return Ok(params);
        }
        loop {
            params.push(self.param()?);
            if !self.take(Punct::Comma) {
                break;
            }
        }
        self.expect(Punct::CloseParen)?;
        Ok(params)
    }

    /// `p :> T`, or a type alone.
    fn param(&mut self) -> Parsed<Param> {
        if let Some(failed) = self.c_declaration() {
            return Err(failed);
        }
        let named = self.nth_is(1, Punct::HasType) || self.nth_is(1, Punct::Colon);
        let name = if named { Some(self.ident()?) } else { None };
        if named {
            self.has_type()?;
        }
        let ty = self.ty()?.value;
        match (&name, &ty.kind) {
            (None, TypeKind::Module(_)) if self.kind() == TokenKind::Ident => Err(self.c_declared(ty.span)),
            _ => Ok(Param { name, ty }),
        }
    }

    /// `:>`; `:` is taken for it after a message.
    pub(super) fn has_type(&mut self) -> Parsed<()> {
        if self.at(Punct::Colon) {
            self.single_colon();
        }
        if self.take(Punct::HasType) { Ok(()) } else { Err(self.expected("`:>` and a type")) }
    }

    /// Text from `span` to the end of the next token.
    pub(super) fn through_next(&self, span: Span) -> Span {
        span.join(self.here())
    }
}
