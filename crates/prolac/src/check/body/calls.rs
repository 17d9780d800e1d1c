//! Calls of methods: the receiver, which definition, the level (sections 7 and 11).
//!
//! A receiver is the address of an object of the receiver's own static type, also if the method comes from an ancestor. A
//! receiver that is a place by value (a variable, a field, an element of an array) has exactly its static type, so that
//! the definition is known; through a pointer and `self` it is found at run time, unless `super` names it. A receiver
//! that is no place gets a variable.
//!
//! The level is that of the innermost `inline` operator around the call; without one, that of the view in which the
//! method was named.

use clickwork_source::{Diagnostic, Span};

use super::names::{Found, Meaning, Through};
use super::never::{cut_short, is_never};
use super::places::pointer_to;
use super::{BodyChecker, wrong};
use crate::Name;
use crate::names::Feature;
use crate::program::tree::{BinaryOp, Call, Dispatch, Expr, ExprKind};
use crate::program::{MethodId, ModuleRef, Type};
use crate::syntax::ast;

impl<'a> BodyChecker<'_, 'a> {
    /// `callee(args)`: a method, a new object, or a constructor in the memory of an object.
    pub(super) fn call_expr(&mut self, callee: &'a ast::Expr, args: &'a [ast::Expr], span: Span) -> Expr {
        let meaning = match &callee.kind {
            ast::ExprKind::Name { global, name } => self.simple_name(*global, name, true),
            _ => self.meaning(callee),
        };
        let args = self.all(args);
        self.apply(meaning, args, span, callee.span)
    }

    fn apply(&mut self, callee: Meaning, args: Vec<Expr>, span: Span, at: Span) -> Expr {
        let found = match callee {
            Meaning::Value(value) if is_never(&value) => return value,
            Meaning::Value(value) => return self.not_callable(&value.ty, span, at),
            Meaning::Module(module, _) => return self.construct(module, args, span),
            Meaning::Found(found) => *found,
        };
        match self.callable(found) {
            Ok(found) => self.call_feature(Found { span, ..found }, args, at),
            Err(wrong) => wrong,
        }
    }

    fn call_feature(&mut self, found: Found, args: Vec<Expr>, callee: Span) -> Expr {
        match found.entry.feature {
            Feature::Method(method) => self.call(found, method, args),
            Feature::Constructor(_) => self.constructor_call(found, args),
            Feature::Field(field) => {
                let ty = self.check.field_type(field);
                self.not_callable(&ty, found.span, callee)
            }
            Feature::Exception(exception) if args.is_empty() => {
                Expr::new(Type::Never, found.span, ExprKind::Raise(exception))
            }
            Feature::Exception(_) => {
                let message = format!("`{}` is an exception: it takes no arguments", found.name);
                self.error(Diagnostic::error(found.span, message).label(found.entry.span, "declared here"))
            }
            Feature::Space(..) | Feature::Module(_) | Feature::Implicit(_) => wrong(found.span),
        }
    }

    fn not_callable(&mut self, ty: &Type, span: Span, callee: Span) -> Expr {
        if matches!(ty, Type::Error) {
            return wrong(span);
        }
        let message = format!("only methods and modules can be called, and this is {}", self.quoted(ty));
        self.error(Diagnostic::error(callee, message))
    }

    /// The call of a method that a name stands for.
    pub(super) fn call(&mut self, found: Found, method: MethodId, args: Vec<Expr>) -> Expr {
        let (span, level) =
            (found.span, self.level.or(found.entry.level.map(|id| self.check.names.level(id))));
        if self.check.program[method].is_static {
            if let Err(wrong) = self.needs_no_object(&found) {
                return wrong;
            }
            return self.finish_call(method, None, args, (Dispatch::Exact, level), span);
        }
        let by_super = matches!(found.through, Through::Super);
        let object = match self.object_of(found) {
            Ok(object) => object,
            Err(wrong) => return wrong,
        };
        if by_super {
            // The parent's own definition, which is another one if the name is an ancestor's.
            let parent = self.check.program[self.module()].parent;
            let method = parent.map_or(method, |parent| self.check.program.definition_in(parent, method));
            return self.finish_call(method, Some(pointer_to(object)), args, (Dispatch::Exact, level), span);
        }
        // The static type's own definition, which is another one if an ancestor's name led here.
        let module = object.ty.module().map_or(self.module(), |m| m.module);
        let method = self.check.program.definition_in(module, method);
        if object.is_place() {
            let dispatch = if is_exact(&object) { Dispatch::Exact } else { Dispatch::Dynamic };
            return self.finish_call(method, Some(pointer_to(object)), args, (dispatch, level), span);
        }
        self.call_on_value(method, object, args, level, span)
    }

    fn call_on_value(
        &mut self,
        method: MethodId,
        object: Expr,
        args: Vec<Expr>,
        level: Option<u8>,
        span: Span,
    ) -> Expr {
        let local = self.declare(Name::new("object"), object.ty.clone(), object.span);
        let receiver = pointer_to(self.local_expr(local, object.span));
        let call = self.finish_call(method, Some(receiver), args, (Dispatch::Exact, level), span);
        Expr::new(call.ty.clone(), span, ExprKind::Let(vec![(local, Some(object))], Box::new(call)))
    }

    fn finish_call(
        &mut self,
        method: MethodId,
        receiver: Option<Expr>,
        args: Vec<Expr>,
        (dispatch, level): (Dispatch, Option<u8>),
        span: Span,
    ) -> Expr {
        let returns = self.check.signature(method).returns;
        match self.arguments(method, args, span) {
            Some(args) if args.iter().any(is_never) => cut_short(receiver.into_iter().chain(args), span),
            Some(args) => {
                let call = Call { method, receiver, args, dispatch, level };
                Expr::new(returns, span, ExprKind::Call(Box::new(call)))
            }
            None => wrong(span),
        }
    }

    /// The message for a dynamic feature without an object. `module` is what it was named through.
    pub(super) fn no_object_for(
        &mut self,
        entry: &crate::names::Entry,
        name: &Name,
        module: Option<ModuleRef>,
        span: Span,
    ) -> Expr {
        let what = match entry.feature {
            Feature::Field(_) => "field",
            _ => "method",
        };
        let message = match module {
            Some(module) => {
                let module = self.check.program.module_name(module.module);
                Diagnostic::error(
                    span,
                    format!("`{name}` is a dynamic {what}: it needs an object of `{module}`"),
                )
                .hint(format!("name it through an object, `object.{name}`, or declare it `static`"))
            }
            None => Diagnostic::error(
                span,
                format!("{} has no `self`, and `{name}` is a dynamic {what}", self.place),
            )
            .hint(match self.place {
                "a constant" => "declare it `static`",
                _ => "declare it `static`, or make this method dynamic",
            }),
        };
        self.error(message.label(entry.span, format!("the {what} is declared here")))
    }
}

/// Whether the run-time type of an object is certainly its static one.
fn is_exact(object: &Expr) -> bool {
    match &object.kind {
        ExprKind::Local(_) | ExprKind::Field(..) | ExprKind::StaticField(_) => true,
        ExprKind::Deref(pointer) => is_element(pointer),
        _ => false,
    }
}

/// Whether a pointer leads into an array place.
fn is_element(pointer: &Expr) -> bool {
    match &pointer.kind {
        ExprKind::Binary(BinaryOp::Add, array, _) => is_element(array),
        ExprKind::Convert(array) => matches!(array.ty, Type::Array(..)),
        _ => false,
    }
}

/// `1 argument`, `2 arguments`.
pub(super) fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
