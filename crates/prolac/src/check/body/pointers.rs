//! Arithmetic of pointers, as in C: `p + n`, `n + p`, `p - n`, `p - q`, `p[n]`, `p += n`.

use clickwork_source::{Diagnostic, Span};

use super::convert::{as_type, decay, promote};
use super::never::{cut_short, is_never};
use super::zero::{is_zero, null};
use super::{BodyChecker, is_wrong, wrong};
use crate::Name;
use crate::program::tree::{BinaryOp, Expr, ExprKind, UpdateOp};
use crate::program::{IntType, Type};
use crate::syntax::ast;

impl<'a> BodyChecker<'_, 'a> {
    /// `+` or `-` with a pointer among its operands.
    pub(super) fn pointer_arithmetic(&mut self, op: BinaryOp, a: Expr, b: Expr, span: Span) -> Expr {
        let (a, b) = (decay(a), decay(b));
        match (&a.ty, &b.ty, op) {
            (Type::Pointer(_), Type::Int(_), _) => self.moved(op, a, b, span),
            (Type::Int(_), Type::Pointer(_), BinaryOp::Add) => self.moved_from_right(a, b, span),
            (Type::Pointer(to), Type::Pointer(other), BinaryOp::Subtract) if to == other => {
                let (a, b) = match **to {
                    Type::Void => {
                        self.warn_bytes(span, "counts");
                        (as_bytes(a), as_bytes(b))
                    }
                    _ => (a, b),
                };
                Expr::new(Type::Int(IntType::Long), span, ExprKind::Binary(op, Box::new(a), Box::new(b)))
            }
            _ => self.bad_operands(op.symbol(), &a, &b, span),
        }
    }

    fn moved(&mut self, op: BinaryOp, pointer: Expr, count: Expr, span: Span) -> Expr {
        let ty = pointer.ty.clone();
        let bytes = ty.pointee() == Some(&Type::Void);
        if bytes {
            self.warn_bytes(span, "moves");
        }
        let pointer = if bytes { as_bytes(pointer) } else { pointer };
        let through = pointer.ty.clone();
        let moved = ExprKind::Binary(op, Box::new(pointer), Box::new(promote(count)));
        as_type(Expr::new(through, span, moved), ty)
    }

    /// A `*void` moves by bytes, as in old programs.
    fn warn_bytes(&mut self, span: Span, does: &str) {
        self.report(
            Diagnostic::warning(span, format!("a `*void` has no size: this {does} by bytes"))
                .hint("say so: cast it first, `(*uchar)p + n`"),
        );
    }

    /// The count on the left is computed first, so it gets a variable unless it is a constant.
    fn moved_from_right(&mut self, count: Expr, pointer: Expr, span: Span) -> Expr {
        if matches!(count.kind, ExprKind::Int(_)) {
            return self.moved(BinaryOp::Add, pointer, count, span);
        }
        let local = self.declare(Name::new("count"), count.ty.clone(), count.span);
        let again = self.local_expr(local, count.span);
        let sum = self.moved(BinaryOp::Add, pointer, again, span);
        Expr::new(sum.ty.clone(), span, ExprKind::Let(vec![(local, Some(count))], Box::new(sum)))
    }

    /// `++` and `--` of a `*void` variable.
    pub(super) fn step_bytes(&mut self, place: Expr, up: bool, postfix: bool, span: Span) -> Expr {
        let (there, back) = match up {
            true => (BinaryOp::Add, BinaryOp::Subtract),
            false => (BinaryOp::Subtract, BinaryOp::Add),
        };
        let ty = place.ty.clone();
        let one = || Box::new(Expr::new(Type::INT, span, ExprKind::Int(1)));
        let moved = self.moved(there, place.clone(), *one(), span);
        let moved = Expr::new(ty.clone(), span, ExprKind::Assign(Box::new(place), Box::new(moved)));
        if !postfix {
            return moved;
        }
        let moved = as_bytes(moved);
        as_type(Expr::new(moved.ty.clone(), span, ExprKind::Binary(back, Box::new(moved), one())), ty)
    }

    /// `e[i]`
    pub(super) fn index(&mut self, array: &'a ast::Expr, index: &'a ast::Expr, span: Span) -> Expr {
        let (pointer, count) = (decay(self.expr(array)), self.expr(index));
        if is_wrong(&pointer.ty) || is_wrong(&count.ty) {
            return wrong(span);
        }
        if is_never(&pointer) || is_never(&count) {
            return cut_short([pointer, count], span);
        }
        let Some(to) = pointer.ty.pointee().cloned() else {
            let message =
                format!("only arrays and pointers have elements, and this is {}", self.quoted(&pointer.ty));
            return self.error(Diagnostic::error(array.span, message));
        };
        if !count.ty.is_int() {
            let message = format!("an index must be an integer, and this is {}", self.quoted(&count.ty));
            return self.error(Diagnostic::error(index.span, message));
        }
        if !self.sized(&to, span) {
            return wrong(span);
        }
        let element = self.moved(BinaryOp::Add, pointer, count, span);
        if is_wrong(&element.ty) { element } else { Expr::new(to, span, ExprKind::Deref(Box::new(element))) }
    }

    /// `p += n` and `p -= n`.
    pub(super) fn pointer_update(&mut self, op: BinaryOp, place: Expr, value: Expr, span: Span) -> Expr {
        let to = place.ty.pointee().cloned().unwrap_or(Type::Error);
        if !value.ty.is_int() || !matches!(op, BinaryOp::Add | BinaryOp::Subtract) {
            return self.bad_operands(&format!("{}=", op.symbol()), &place, &value, span);
        }
        if to == Type::Void && is_variable(&place) {
            let moved = self.moved(op, place.clone(), value, span);
            return Expr::new(place.ty.clone(), span, ExprKind::Assign(Box::new(place), Box::new(moved)));
        }
        if !self.sized(&to, span) {
            return wrong(span);
        }
        let (ty, compute) = (place.ty.clone(), place.ty.clone());
        let (place, value) = (Box::new(place), Box::new(promote(value)));
        Expr::new(ty, span, ExprKind::Update { op: UpdateOp::Binary(op), place, value, compute })
    }

    /// Both operands of a comparison of pointers as one type.
    pub(super) fn same_pointers(&self, a: Expr, b: Expr, common: &Type) -> (Expr, Expr) {
        let convert = |e: Expr| {
            let e = decay(e);
            if is_zero(&e) { null(e, common) } else { as_type(e, common.clone()) }
        };
        (convert(a), convert(b))
    }
}

/// A pointer to bytes.
fn as_bytes(pointer: Expr) -> Expr {
    as_type(pointer, Type::pointer(Type::Int(IntType::Uchar)))
}

/// Whether it does not matter how often a place is found.
pub(super) fn is_variable(place: &Expr) -> bool {
    match &place.kind {
        ExprKind::Local(_) | ExprKind::StaticField(_) | ExprKind::This => true,
        ExprKind::Field(object, _) => is_variable(object),
        _ => false,
    }
}
