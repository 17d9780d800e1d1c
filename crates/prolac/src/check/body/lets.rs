//! `let`: new variables.
//!
//! The initial values see none of the variables. A variable of module type without an initial value is constructed
//! without arguments, and so is every element of an array of modules; all others begin with any value at all.

use std::collections::HashMap;

use clickwork_source::{Diagnostic, Severity, Span};

use super::control::in_a_row;
use super::convert::{decay, discard};
use super::never::{cut_short, is_never};
use super::{BodyChecker, is_wrong};
use crate::Name;
use crate::program::tree::{Expr, ExprKind, LocalId};
use crate::program::{ModuleRef, Type};
use crate::syntax::ast;

impl<'a> BodyChecker<'_, 'a> {
    pub(super) fn let_expr(&mut self, bindings: &'a [ast::Binding], body: &'a ast::Expr, span: Span) -> Expr {
        let messages = self.check.diagnostics.len();
        let outer_names = self.beginning.len();
        self.beginning.extend(bindings.iter().map(|b| b.name.name.clone()));
        let bound: Vec<(LocalId, Option<Expr>)> = bindings.iter().map(|b| self.binding(b)).collect();
        self.beginning.truncate(outer_names);
        self.bindings_differ(bindings);
        bound.iter().for_each(|(id, _)| self.show(*id));
        let arrays = self.construct_arrays(&bound);
        let value = decay(self.expr(body));
        bound.iter().rev().for_each(|(id, _)| self.end(*id));
        if !self.check.diagnostics.iter().skip(messages).any(|d| d.severity == Severity::Error) {
            self.warn_unused(&bound);
        }
        let value = if arrays.is_empty() {
            value
        } else {
            let span = value.span;
            in_a_row(arrays.into_iter().chain([value]).collect(), span)
        };
        if bound.iter().any(|(_, value)| value.as_ref().is_some_and(is_never)) {
            return cut_short(bound.into_iter().filter_map(|(_, value)| value), span);
        }
        let ty = value.ty.clone();
        Expr::new(ty, span, ExprKind::Let(bound, Box::new(value)))
    }

    fn binding(&mut self, binding: &'a ast::Binding) -> (LocalId, Option<Expr>) {
        let name = &binding.name;
        let (ty, value) = match &binding.ty {
            Some(ty) => self.typed_binding(binding, ty),
            None => self.untyped_binding(binding),
        };
        (self.declare(name.name.clone(), ty, name.span), value)
    }

    fn typed_binding(&mut self, binding: &'a ast::Binding, written: &'a ast::Type) -> (Type, Option<Expr>) {
        let ty = self.check.resolve_type(&self.scope, written);
        if ty == Type::Void {
            self.report(void_variable(&binding.name));
            return (Type::Error, None);
        }
        if let (Some(args), Some(value)) = (&binding.args, &binding.value) {
            let span = args.iter().fold(value.span, |span, arg| span.join(arg.span));
            let message = "a variable has either constructor arguments or an initial value, not both";
            self.report(Diagnostic::error(span, message));
            return (ty, None);
        }
        let value = match (&binding.args, &binding.value) {
            (Some(args), _) => self.constructed(&ty, args, written.span),
            (None, Some(value)) => Some(self.initial(binding, value, &ty)),
            (None, None) => ty.module().map(|module| self.construct(module, Vec::new(), binding.name.span)),
        };
        (ty, value)
    }

    fn initial(&mut self, binding: &'a ast::Binding, value: &'a ast::Expr, ty: &Type) -> Expr {
        let typed = self.expr(value);
        if matches!(ty, Type::Array(..)) && !is_wrong(&typed.ty) {
            let message = "an array cannot have an initial value";
            return self.error(Diagnostic::error(value.span, message).hint("assign its elements one by one"));
        }
        let purpose = format!("for `{}`", binding.name.name);
        self.convert_for(typed, ty, &purpose, (binding.name.span, "declared here".into()))
    }

    /// `v :> T(args)`
    fn constructed(&mut self, ty: &Type, args: &'a [ast::Expr], span: Span) -> Option<Expr> {
        match ty {
            Type::Module(module) => {
                let args = self.all(args);
                Some(self.construct(*module, args, span))
            }
            Type::Error => None,
            _ => {
                let message = format!("{} has no constructor: only modules have", self.quoted(ty));
                Some(self.error(Diagnostic::error(span, message).hint("write `= value`")))
            }
        }
    }

    /// The type is that of the initial value.
    fn untyped_binding(&mut self, binding: &'a ast::Binding) -> (Type, Option<Expr>) {
        let Some(value) = &binding.value else {
            let message = format!("`{}` needs a type or an initial value", binding.name.name);
            self.report(
                Diagnostic::error(binding.name.span, message)
                    .hint(format!("write `{0} :> int` or `{0} = 0`", binding.name.name)),
            );
            return (Type::Error, None);
        };
        let value = decay(self.expr(value));
        if value.ty == Type::Void || value.ty == Type::Never {
            let message = void_variable(&binding.name).label(value.span, "this has no value");
            return (Type::Error, Some(self.error(message)));
        }
        (value.ty.clone(), Some(value))
    }

    fn construct_arrays(&mut self, bound: &[(LocalId, Option<Expr>)]) -> Vec<Expr> {
        let mut all = Vec::new();
        for (id, value) in bound {
            let local = self.locals[id.0 as usize].clone();
            if let (None, Some(module)) = (value, array_of_modules(&local.ty)) {
                let place = self.local_expr(*id, local.span);
                all.push(discard(self.construct_at(place, module, Vec::new(), local.span)));
            }
        }
        all
    }

    fn bindings_differ(&mut self, bindings: &'a [ast::Binding]) {
        let mut seen: HashMap<&Name, Span> = HashMap::new();
        for ast::Binding { name, .. } in bindings {
            let first = *seen.entry(&name.name).or_insert(name.span);
            if first != name.span {
                self.report(
                    Diagnostic::error(name.span, format!("`{}` is declared twice", name.name))
                        .label(first, "first declared here"),
                );
            }
        }
    }
}

fn void_variable(name: &ast::Ident) -> Diagnostic {
    Diagnostic::error(name.span, format!("variable `{}` cannot be void", name.name))
}

/// The module, if the type is an array of modules or an array of such arrays.
pub(super) fn array_of_modules(ty: &Type) -> Option<ModuleRef> {
    match ty {
        Type::Array(of, _) => of.module().or_else(|| array_of_modules(of)),
        _ => None,
    }
}
