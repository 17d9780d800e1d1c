//! Places: what can be assigned to, stepped and pointed to (section 11, "Lvalues").

use clickwork_source::{Diagnostic, Span};

use super::pointers::is_variable;
use super::{BodyChecker, is_wrong, wrong};
use crate::program::Type;
use crate::program::tree::{Expr, ExprKind};
use crate::syntax::ast;

impl<'a> BodyChecker<'_, 'a> {
    /// An expression that must denote memory, `purpose` being what is done with it: `be assigned to`.
    pub(super) fn place(&mut self, e: &'a ast::Expr, purpose: &str) -> Expr {
        let place = self.expr(e);
        if is_wrong(&place.ty) || (place.is_place() && !is_cast(e)) {
            return place;
        }
        if let ExprKind::Call(call) = &place.kind {
            let (name, declared) = (self.callee_name(call.method), self.check.program[call.method].span);
            let message = format!("`{name}` is a method: what it returns cannot {purpose}");
            return self.error(Diagnostic::error(e.span, message).label(declared, "declared here"));
        }
        let message =
            Diagnostic::error(e.span, format!("this is a value without a place: it cannot {purpose}"));
        self.error(
            message.hint(
                "fields, static fields, parameters, `let` variables, `*p`, `p->f` and `a[i]` are places",
            ),
        )
    }

    /// `++` and `--`.
    pub(super) fn step(&mut self, e: &'a ast::Expr, up: bool, postfix: bool, span: Span) -> Expr {
        let place = self.place(e, if up { "be incremented" } else { "be decremented" });
        match &place.ty {
            Type::Error => return wrong(span),
            Type::Int(_) => {}
            Type::Pointer(to) => {
                let to = (**to).clone();
                if to == Type::Void && is_variable(&place) {
                    return self.step_bytes(place, up, postfix, span);
                }
                if !self.sized(&to, span) {
                    return wrong(span);
                }
            }
            other => {
                let message =
                    format!("{} cannot be stepped: only integers and pointers can", self.quoted(other));
                return self.error(Diagnostic::error(span, message));
            }
        }
        let ty = place.ty.clone();
        Expr::new(ty, span, ExprKind::Step { place: Box::new(place), up, postfix })
    }

    /// `&e`
    pub(super) fn address_of(&mut self, e: &'a ast::Expr, span: Span) -> Expr {
        let place = self.place(e, "have an address");
        match &place.ty {
            Type::Error => wrong(span),
            Type::Array(..) => self.error(
                Diagnostic::error(span, "there are no pointers to arrays")
                    .hint("the array alone is already a pointer to its first element"),
            ),
            _ => Expr { span, ..pointer_to(place) },
        }
    }

    /// `*e`
    pub(super) fn dereference(&mut self, e: &'a ast::Expr, span: Span) -> Expr {
        let pointer = super::convert::decay(self.expr(e));
        let to = match &pointer.ty {
            Type::Error => return wrong(span),
            Type::Never => return pointer,
            Type::Pointer(to) if **to != Type::Void => (**to).clone(),
            Type::Pointer(_) => {
                return self.error(
                    Diagnostic::error(span, "nobody knows what a `*void` points to")
                        .hint("cast it first: `*(*T)p`"),
                );
            }
            other => {
                let message =
                    format!("only a pointer can be followed with `*`, and this is {}", self.quoted(other));
                return self.error(Diagnostic::error(e.span, message));
            }
        };
        pointed(pointer, to, span)
    }

    /// Whether a pointer to `to` can be moved: messages if not.
    pub(super) fn sized(&mut self, to: &Type, span: Span) -> bool {
        let known = *to != Type::Void;
        if !known {
            self.report(
                Diagnostic::error(
                    span,
                    "a `*void` cannot be moved: nobody knows how large is what it points to",
                )
                .hint("cast it first: `(*uchar)p + n` moves it by bytes"),
            );
        }
        known
    }
}

fn is_cast(e: &ast::Expr) -> bool {
    matches!(e.kind, ast::ExprKind::Cast(..) | ast::ExprKind::Assert(..))
}

/// What a pointer to `to` points to.
pub(super) fn pointed(pointer: Expr, to: Type, span: Span) -> Expr {
    match pointer.kind {
        ExprKind::AddressOf(place) => Expr { ty: to, span, ..*place },
        _ => Expr::new(to, span, ExprKind::Deref(Box::new(pointer))),
    }
}

/// The address of a place.
pub(super) fn pointer_to(place: Expr) -> Expr {
    let (ty, span) = (Type::pointer(place.ty.clone()), place.span);
    match place.kind {
        ExprKind::Deref(pointer) => Expr { ty, ..*pointer },
        _ => Expr::new(ty, span, ExprKind::AddressOf(Box::new(place))),
    }
}
