//! The typing of expressions: what a method's body does, with every name resolved and every conversion visible.
//!
//! A [`BodyChecker`] reads one body of the syntax tree and builds the typed tree whose rules
//! [`tree`](crate::program::tree) gives. An expression with an error in it gets [`Type::Error`], which fits everywhere, so
//! that one mistake gives one message. What a body can name is decided in [`crate::names`]; which exceptions escape is
//! found out later, over the whole program.
//!
//! Read first: sections 6, 7 and 11 of the language summary. Then [`expressions`] (which form is typed where), [`convert`]
//! (implicit conversions) and [`names`] (what a name stands for).

mod calls;
mod cblock;
mod chains;
mod constants;
mod constructors;
mod control;
mod convert;
pub(crate) mod ctext;
mod decided;
mod expressions;
mod lets;
mod missing;
mod names;
mod never;
mod objects;
mod operators;
mod places;
mod pointers;
mod warnings;
mod zero;

use std::collections::HashMap;

use clickwork_source::{Diagnostic, Span};

pub use constants::Constants;

use super::{Checker, Signature};
use crate::Name;
use crate::names::Scope;
use crate::program::tree::{Body, Expr, ExprKind, Local, LocalId};
use crate::program::{MethodId, ModuleId, Type};
use crate::syntax::ast;

/// One body at work.
struct BodyChecker<'c, 'a> {
    check: &'c mut Checker<'a>,
    /// Where its names are looked up.
    scope: Scope,
    /// Whether there is no `self`.
    is_static: bool,
    /// What that is called in messages: `a static method`.
    place: &'static str,
    locals: Vec<Local>,
    /// The variables that can be named here, by name, innermost last.
    visible: HashMap<Name, Vec<LocalId>>,
    /// For each local, whether anything names it.
    used: Vec<bool>,
    /// The variables of `let` whose initial values are being typed.
    beginning: Vec<Name>,
    /// The inline level that the expression around asks for.
    level: Option<u8>,
    /// Calls of constructors of parts, which are no part of the ordinary body.
    parts: Vec<&'a ast::Expr>,
}

impl<'a> Checker<'a> {
    /// The typed body of a method or constructor that was written in the source, with messages about it.
    pub fn body(&mut self, method: MethodId) -> Body {
        let signature = self.signature(method);
        BodyChecker::of_method(self, method).method(method, &signature)
    }
}

impl<'c, 'a> BodyChecker<'c, 'a> {
    fn new(check: &'c mut Checker<'a>, scope: Scope, place: &'static str) -> Self {
        BodyChecker {
            check,
            scope,
            is_static: true,
            place,
            locals: Vec::new(),
            visible: HashMap::new(),
            used: Vec::new(),
            beginning: Vec::new(),
            level: None,
            parts: Vec::new(),
        }
    }

    fn of_method(check: &'c mut Checker<'a>, method: MethodId) -> Self {
        let scope = check.names.method_scope(&check.program, method);
        let is_static = check.program[method].is_static;
        BodyChecker { is_static, ..Self::new(check, scope, "a static method") }
    }

    fn method(mut self, method: MethodId, signature: &Signature) -> Body {
        let span = self.check.program[method].span;
        let Some(ast) = self.check.names.method_ast(method) else {
            return Body { locals: Vec::new(), root: Expr::nothing(span) };
        };
        self.parameters(ast, signature);
        let root = if self.check.program[method].kind.is_constructor() {
            self.constructor(ast)
        } else if let Some(body) = &ast.body {
            let value = self.expr(body);
            self.returned(value, method, &signature.returns)
        } else {
            Expr::new(signature.returns.clone(), span, ExprKind::Missing)
        };
        Body { locals: self.locals, root }
    }

    /// A parameter without a name is a local that nothing can refer to.
    fn parameters(&mut self, ast: &'a ast::Method, signature: &Signature) {
        for (param, (name, ty, span)) in ast.params.iter().zip(signature.params.iter()) {
            let id = self.declare(name.clone(), ty.clone(), *span);
            if param.name.is_some() {
                self.show(id);
            }
        }
    }

    /// A new local, which cannot be named yet.
    fn declare(&mut self, name: Name, ty: Type, span: Span) -> LocalId {
        let id = LocalId(self.locals.len() as u32);
        self.locals.push(Local { name, ty, span });
        self.used.push(false);
        id
    }

    /// The innermost variable of that name.
    fn local(&self, name: &Name) -> Option<LocalId> {
        self.visible.get(name)?.last().copied()
    }

    /// From here on a variable can be named.
    fn show(&mut self, id: LocalId) {
        let name = self.locals[id.0 as usize].name.clone();
        self.visible.entry(name).or_default().push(id);
    }

    /// The innermost variable of its name goes.
    fn end(&mut self, id: LocalId) {
        let name = &self.locals[id.0 as usize].name;
        if let Some(all) = self.visible.get_mut(name) {
            all.pop();
            if all.is_empty() {
                self.visible.remove(name);
            }
        }
    }

    fn local_expr(&self, id: LocalId, span: Span) -> Expr {
        Expr::new(self.locals[id.0 as usize].ty.clone(), span, ExprKind::Local(id))
    }

    fn module(&self) -> ModuleId {
        self.scope.module
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.check.diagnostics.push(diagnostic);
    }

    /// Reports an error; the expression that stands for what could not be typed.
    fn error(&mut self, diagnostic: Diagnostic) -> Expr {
        let span = diagnostic.span();
        self.report(diagnostic);
        wrong(span)
    }

    /// A type between backquotes.
    fn quoted(&self, ty: &Type) -> String {
        format!("`{}`", self.check.program.type_name(ty))
    }
}

/// An expression about which a message was given.
fn wrong(span: Span) -> Expr {
    Expr::new(Type::Error, span, ExprKind::Nothing)
}

/// Whether no message about `ty` makes sense any more.
fn is_wrong(ty: &Type) -> bool {
    matches!(ty, Type::Error)
}

/// Whether an expression of this type has no value because it never ends, or none that is known.
fn fits_all(ty: &Type) -> bool {
    matches!(ty, Type::Error | Type::Never)
}
