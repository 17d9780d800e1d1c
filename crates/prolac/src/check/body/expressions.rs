//! Which form of expression is typed where.

use clickwork_source::{Diagnostic, Span};

use super::names::Meaning;
use super::{BodyChecker, wrong};
use crate::program::tree::{Expr, ExprKind};
use crate::program::{IntType, Type};
use crate::syntax::ast;

impl<'a> BodyChecker<'_, 'a> {
    /// The typed form of an expression that stands where a value can stand.
    pub(super) fn expr(&mut self, e: &'a ast::Expr) -> Expr {
        use ast::ExprKind::*;
        match &e.kind {
            Name { .. } | Member(..) | Arrow(..) | Module(_) | SelfRef | Super => {
                let meaning = self.meaning(e);
                self.value(meaning)
            }
            Call(callee, args) => self.call_expr(callee, args, e.span),
            Int { .. } | Str(_) | Bool(_) => literal(e),
            Index(array, index) => self.index(array, index, e.span),
            Cast(ty, value) => self.cast_expr(ty, value, e.span),
            Assert(value, ty) => self.assert_expr(value, ty),
            Unary(..) | Postfix(..) | Binary(..) | Chain(..) | Assign(..) | MinMax(..) => self.operator(e),
            Conditional(..) | Comma(..) | Implies(..) | CaseBar(..) | If { .. } | Catch { .. } => {
                self.control(e)
            }
            Let { bindings, body } => self.let_expr(bindings, body, e.span),
            Inline(level, value) => self.inline(level, value),
            Outline(level, value) => self.outline(level.as_deref(), value, e.span),
            CBlock(text) => self.c_block(*text, e.span),
            Error => wrong(e.span),
        }
    }

    /// Several expressions.
    pub(super) fn all(&mut self, list: &'a [ast::Expr]) -> Vec<Expr> {
        list.iter().map(|e| self.expr(e)).collect()
    }

    fn operator(&mut self, e: &'a ast::Expr) -> Expr {
        use ast::ExprKind::*;
        match &e.kind {
            Unary(op, value) => self.unary(*op, value, e.span),
            Postfix(op, place) => self.step(place, *op == ast::PostfixOp::Increment, true, e.span),
            Binary(op, a, b) => self.binary_expr(*op, a, b, e.span),
            Chain(first, rest) => self.chain(first, rest, e.span),
            Assign(op, place, value) => self.assign(*op, place, value, e.span),
            MinMax(which, a, b) => self.min_max(*which, a, b, e.span),
            _ => wrong(e.span),
        }
    }

    fn control(&mut self, e: &'a ast::Expr) -> Expr {
        use ast::ExprKind::*;
        match &e.kind {
            Conditional(condition, a, b) => self.conditional(condition, a, b, e.span),
            Comma(..) => self.comma(e),
            Implies(a, b) => self.implies(a, b, e.span),
            CaseBar(all) => self.case_bar(all, e.span),
            If { arms, otherwise } => self.if_expr(arms, otherwise.as_deref(), e.span),
            Catch { body, names } => self.catch(body, names, e.span),
            _ => wrong(e.span),
        }
    }

    /// The object of the method.
    pub(super) fn this(&mut self, span: Span) -> Expr {
        if self.is_static {
            let message = format!("{} has no `self`", self.place);
            return self.error(Diagnostic::error(span, message));
        }
        let module = self.module();
        let view = self.check.names.original_view(module);
        Expr::new(Type::Module(crate::program::ModuleRef { module, view }), span, ExprKind::This)
    }

    /// What an expression names; its value, if it names nothing.
    pub(super) fn meaning(&mut self, e: &'a ast::Expr) -> Meaning {
        use ast::ExprKind::*;
        match &e.kind {
            Name { global, name } => self.simple_name(*global, name, false),
            Member(base, name) => self.member_name(base, name, e.span),
            Arrow(base, name) => self.arrow_name(base, name, e.span),
            Module(module) => self.module_name(module),
            SelfRef => Meaning::Value(self.this(e.span)),
            Super => Meaning::Value(self.bare_super(e.span)),
            _ => Meaning::Value(self.expr(e)),
        }
    }

    fn bare_super(&mut self, span: Span) -> Expr {
        self.error(
            Diagnostic::error(span, "`super` is no value")
                .hint("write `super.f` to call the parent's method `f`"),
        )
    }
}

/// Numbers have the type the parser found; a string is a pointer to its first character.
fn literal(e: &ast::Expr) -> Expr {
    let (ty, kind) = match &e.kind {
        ast::ExprKind::Int { value, ty } => {
            let int = int_type(*ty).unwrap_or(IntType::Int);
            (Type::Int(int), ExprKind::Int(int.wrap(*value as i64)))
        }
        ast::ExprKind::Str(bytes) => (Type::pointer(Type::Int(IntType::Char)), ExprKind::Str(bytes.clone())),
        ast::ExprKind::Bool(value) => (Type::Bool, ExprKind::Int((*value).into())),
        _ => return wrong(e.span),
    };
    Expr::new(ty, e.span, kind)
}

fn int_type(ty: ast::Builtin) -> Option<IntType> {
    Some(match ty {
        ast::Builtin::Void | ast::Builtin::Bool => return None,
        ast::Builtin::Char => IntType::Char,
        ast::Builtin::Short => IntType::Short,
        ast::Builtin::Int => IntType::Int,
        ast::Builtin::Long => IntType::Long,
        ast::Builtin::Uchar => IntType::Uchar,
        ast::Builtin::Ushort => IntType::Ushort,
        ast::Builtin::Uint => IntType::Uint,
        ast::Builtin::Ulong => IntType::Ulong,
        ast::Builtin::Seqint => IntType::Seqint,
    })
}
