//! Folding: what is known before the program runs is done before the program runs.
//!
//! In: any body. Out: a body that does the same, in which
//! - operators on constants are constants, and so are calls of static methods whose body is a constant,
//! - nothing that has no effect is evaluated for its effect, and of a value that nobody uses only the effects are left
//!   (`a && b` for its effect is `if a then b`),
//! - choices on constants, and what follows a `raise`, are gone, and so are handlers of what cannot be raised,
//! - sequences are flat and stand outside of the first operand of other forms: `(a, b) == c` is `a, b == c`,
//! - `&*p` is `p` and `*&x` is `x`, and conversions that change nothing are gone.
//!
//! One walk, parts before wholes; linear. Places stay places. `values` has the rules for operators, `void` those for
//! effects without a value, `catch` those for handlers. Callees must be folded before callers for constant methods to be seen.

mod catch;
mod never;
mod values;
mod void;

use clickwork_source::Span;

use crate::program::tree::{Dispatch, Expr, ExprKind};
use crate::program::{IntType, Program, Type};

pub(super) use void::{discard, is_pure, sequence};

/// Folds a body. `program` has the bodies of other methods.
pub fn fold(program: &Program, root: &mut Expr) {
    Folder { program }.expr(root);
}

struct Folder<'a> {
    program: &'a Program,
}

impl Folder<'_> {
    fn expr(&self, expr: &mut Expr) {
        expr.for_each_child_mut(|part| self.expr(part));
        rewrite_with(expr, |e| self.rewrite(e));
    }

    /// One form whose parts are folded already.
    fn rewrite(&self, expr: Expr) -> Expr {
        let (prefix, expr) = hoist(never::cut_short(expr));
        if !prefix.is_empty() {
            return sequence(prefix, self.rewrite(expr));
        }
        match expr.kind {
            ExprKind::Call(_) => self.constant_call(expr),
            ExprKind::Unary(..) | ExprKind::Binary(..) | ExprKind::MinMax(..) => values::operator(expr),
            ExprKind::Convert(_) if expr.ty == Type::Void => void::discarded(expr),
            ExprKind::Convert(_) => values::convert(expr),
            ExprKind::Update { .. } => values::update(expr),
            ExprKind::Deref(_) | ExprKind::AddressOf(_) | ExprKind::Field(..) => place(self.program, expr),
            ExprKind::And(..) | ExprKind::Or(..) | ExprKind::Implies(..) => logic(expr),
            ExprKind::Conditional(..) => conditional(expr),
            ExprKind::Sequence(parts) => void::flat(parts, expr.ty, expr.span),
            ExprKind::Let(bindings, body) => void::narrow_let(bindings, *body, expr.span),
            ExprKind::Catch(body, these) => catch::catch(self.program, *body, these, expr.span),
            ExprKind::Outline(_, inner) if is_constant(&inner) || matches!(inner.kind, ExprKind::Nothing) => {
                *inner
            }
            _ => expr,
        }
    }

    /// A static method without parameters whose body is a constant is that constant.
    fn constant_call(&self, expr: Expr) -> Expr {
        let ExprKind::Call(call) = &expr.kind else { return expr };
        let method = &self.program[call.method];
        if call.dispatch == Dispatch::Dynamic || !method.is_static || method.params > 0 {
            return expr;
        }
        match &method.body.root {
            root if is_constant(root) && root.ty == expr.ty => {
                Expr::new(expr.ty, expr.span, root.kind.clone())
            }
            _ => expr,
        }
    }
}

/// Replaces an expression by what `f` makes of it.
pub(super) fn rewrite_with(expr: &mut Expr, f: impl FnOnce(Expr) -> Expr) {
    let span = expr.span;
    let old = std::mem::replace(expr, Expr::nothing(span));
    *expr = f(old);
}

/// Whether the value is written down.
pub(super) fn is_constant(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Int(_) | ExprKind::Null | ExprKind::Str(_))
}

/// The value of a constant integer or bool.
fn known(expr: &Expr) -> Option<i64> {
    match expr.kind {
        ExprKind::Int(value) => Some(value),
        _ => None,
    }
}

/// The operand that is evaluated before everything else in the expression, if that may move out of it.
fn first_operand(expr: &mut Expr) -> Option<&mut Expr> {
    match &mut expr.kind {
        ExprKind::Convert(first)
        | ExprKind::Unary(_, first)
        | ExprKind::Binary(_, first, _)
        | ExprKind::MinMax(_, first, _)
        | ExprKind::And(first, _)
        | ExprKind::Or(first, _)
        | ExprKind::Implies(first, _)
        | ExprKind::Conditional(first, ..) => Some(first),
        _ => None,
    }
}

/// Takes what is done before the value of the first operand out of an expression.
fn hoist(mut expr: Expr) -> (Vec<Expr>, Expr) {
    let Some(first) = first_operand(&mut expr) else { return (Vec::new(), expr) };
    let prefix = split(first);
    (prefix, expr)
}

/// Leaves the last part of a sequence in its place and gives the others.
fn split(expr: &mut Expr) -> Vec<Expr> {
    let ExprKind::Sequence(parts) = &mut expr.kind else { return Vec::new() };
    let mut parts = std::mem::take(parts);
    if let Some(last) = parts.pop() {
        *expr = last;
    }
    parts
}

/// `&*p`, `*&x`, and fields of ancestors reached through a conversion of the pointer.
fn place(program: &Program, expr: Expr) -> Expr {
    match expr.kind {
        ExprKind::Deref(pointer) => match pointer.kind {
            ExprKind::AddressOf(place) if place.ty == expr.ty => *place,
            kind => deref(Expr { kind, ..*pointer }, expr.ty, expr.span),
        },
        ExprKind::AddressOf(place) => match place.kind {
            ExprKind::Deref(pointer) if pointer.ty == expr.ty => *pointer,
            kind => {
                let place = Box::new(Expr { kind, ..*place });
                Expr::new(expr.ty, expr.span, ExprKind::AddressOf(place))
            }
        },
        ExprKind::Field(object, field) => {
            let object = Box::new(through_upcast(program, *object));
            Expr::new(expr.ty, expr.span, ExprKind::Field(object, field))
        }
        _ => expr,
    }
}

fn deref(pointer: Expr, ty: Type, span: Span) -> Expr {
    Expr::new(ty, span, ExprKind::Deref(Box::new(pointer)))
}

/// `*(*Ancestor)p` is `*p` for who only wants a field of it.
fn through_upcast(program: &Program, object: Expr) -> Expr {
    let Expr { ty, span, kind } = object;
    match kind {
        ExprKind::Deref(pointer) => match pointer.kind {
            ExprKind::Convert(from) if is_upcast(program, &from.ty, &ty) => behind(*from, span),
            kind => deref(Expr { kind, ..*pointer }, ty, span),
        },
        kind => Expr { ty, span, kind },
    }
}

fn is_upcast(program: &Program, from: &Type, to: &Type) -> bool {
    match (from.pointee().and_then(Type::module), to.module()) {
        (Some(from), Some(to)) => program.is_derived(from.module, to.module),
        _ => false,
    }
}

/// What a pointer to an object points to.
fn behind(pointer: Expr, span: Span) -> Expr {
    match pointer.kind {
        ExprKind::AddressOf(place) => *place,
        kind => {
            let ty = pointer.ty.pointee().cloned().unwrap_or(Type::Void);
            deref(Expr { kind, ..pointer }, ty, span)
        }
    }
}

/// `&&`, `||` and `==>`.
fn logic(expr: Expr) -> Expr {
    let (ty, span) = (expr.ty, expr.span);
    match expr.kind {
        ExprKind::And(a, b) => match (known(&a), known(&b)) {
            (Some(0), _) => *a,
            (Some(_), _) => *b,
            (None, Some(0)) => sequence(vec![discard(*a)], *b),
            (None, Some(_)) => *a,
            _ => Expr::new(ty, span, ExprKind::And(a, b)),
        },
        ExprKind::Or(a, b) => match (known(&a), known(&b)) {
            (Some(0), _) => *b,
            (Some(_), _) => *a,
            (None, Some(0)) => *a,
            (None, Some(_)) => sequence(vec![discard(*a)], *b),
            _ => Expr::new(ty, span, ExprKind::Or(a, b)),
        },
        ExprKind::Implies(a, b) => match (known(&a), &b.kind) {
            (Some(0), _) | (_, ExprKind::Nothing) => *a,
            (Some(_), _) => sequence(vec![*b], *a),
            _ => Expr::new(ty, span, ExprKind::Implies(a, b)),
        },
        _ => Expr::new(ty, span, expr.kind),
    }
}

/// `? :` on constants, of equal constants, and with an empty first branch.
fn conditional(expr: Expr) -> Expr {
    let (ty, span) = (expr.ty, expr.span);
    let ExprKind::Conditional(c, a, b) = expr.kind else { return Expr::new(ty, span, expr.kind) };
    if let Some(value) = known(&c) {
        return if value != 0 { *a } else { *b };
    }
    match (&a.kind, &b.kind) {
        (ExprKind::Nothing, ExprKind::Nothing) => discard(*c),
        (ExprKind::Nothing, _) => {
            let c = values::negated(*c);
            Expr::new(ty, span, ExprKind::Conditional(Box::new(c), b, a))
        }
        _ if ty == Type::Bool => match (known(&a), known(&b)) {
            (Some(1), Some(0)) => *c,
            (Some(0), Some(1)) => values::negated(*c),
            (Some(x), Some(_)) => sequence(vec![discard(*c)], Expr::bool(x != 0, span)),
            _ => Expr::new(ty, span, ExprKind::Conditional(c, a, b)),
        },
        _ => Expr::new(ty, span, ExprKind::Conditional(c, a, b)),
    }
}

/// An integer constant of a type that has them.
fn constant(ty: Type, span: Span, value: i64) -> Expr {
    Expr::new(ty, span, ExprKind::Int(value))
}

/// The integer type to compute in; bools are compared as ints.
fn compute_type(ty: &Type) -> Option<IntType> {
    match ty {
        Type::Bool => Some(IntType::Int),
        _ => ty.int(),
    }
}
