//! Arithmetic, comparison and assignment.
//!
//! Integers are computed in their common type, narrow ones as `int`; a seqint stays a seqint, also as a difference, and
//! two of them compare on the circle. Integers wrap. A bool is no integer: of the arithmetic operators only `& | ^` take
//! bools, and then give one.

use clickwork_source::{Diagnostic, Span};

use super::convert::{as_type, decay, promote};
use super::never::{cut_short, is_never};
use super::places::pointer_to;
use super::{BodyChecker, fits_all, is_wrong, wrong};
use crate::program::Type;
use crate::program::tree::{BinaryOp, Expr, ExprKind, MinMax, UnaryOp, UpdateOp};
use crate::syntax::ast;

impl<'a> BodyChecker<'_, 'a> {
    pub(super) fn unary(&mut self, op: ast::UnaryOp, e: &'a ast::Expr, span: Span) -> Expr {
        match op {
            ast::UnaryOp::Deref => self.dereference(e, span),
            ast::UnaryOp::AddressOf => self.address_of(e, span),
            ast::UnaryOp::Plus => self.signed(None, e, span),
            ast::UnaryOp::Negate => self.signed(Some(UnaryOp::Negate), e, span),
            ast::UnaryOp::BitNot => self.signed(Some(UnaryOp::BitNot), e, span),
            ast::UnaryOp::Not => {
                let value = self.condition(e);
                if is_never(&value) { value } else { not(value, span) }
            }
            ast::UnaryOp::Increment => self.step(e, true, false, span),
            ast::UnaryOp::Decrement => self.step(e, false, false, span),
        }
    }

    /// `+e`, `-e` and `~e`.
    fn signed(&mut self, op: Option<UnaryOp>, e: &'a ast::Expr, span: Span) -> Expr {
        let value = self.expr(e);
        if fits_all(&value.ty) {
            return value;
        }
        if !value.ty.is_int() {
            let sign = match op {
                None => "+",
                Some(UnaryOp::BitNot) => "~",
                _ => "-",
            };
            let message = format!("`{sign}` needs an integer, but this is {}", self.quoted(&value.ty));
            return self.error(Diagnostic::error(e.span, message));
        }
        let value = promote(value);
        match op {
            None => Expr { span, ..value },
            Some(op) => Expr::new(value.ty.clone(), span, ExprKind::Unary(op, Box::new(value))),
        }
    }

    pub(super) fn binary_expr(
        &mut self,
        op: ast::BinaryOp,
        a: &'a ast::Expr,
        b: &'a ast::Expr,
        span: Span,
    ) -> Expr {
        match infix(op) {
            Some(op) => {
                let (a, b) = (self.expr(a), self.expr(b));
                self.binary(op, a, b, span)
            }
            None if op == ast::BinaryOp::And => {
                let (a, b) = (self.condition(a), self.condition(b));
                self.all_of(vec![a, b], span)
            }
            None => self.or(a, b, span),
        }
    }

    pub(super) fn binary(&mut self, op: BinaryOp, a: Expr, b: Expr, span: Span) -> Expr {
        if is_wrong(&a.ty) || is_wrong(&b.ty) {
            return wrong(span);
        }
        if is_never(&a) || is_never(&b) {
            return cut_short([a, b], span);
        }
        if op.is_comparison() {
            return self.comparison(op, a, b, span);
        }
        if matches!(op, BinaryOp::Add | BinaryOp::Subtract) && (is_pointer(&a.ty) || is_pointer(&b.ty)) {
            return self.pointer_arithmetic(op, a, b, span);
        }
        match self.operand_type(op, &a, &b) {
            Some(Type::Bool) => {
                let int = |e: Expr| Box::new(promote(as_type(e, Type::Bool)));
                as_type(Expr::new(Type::INT, span, ExprKind::Binary(op, int(a), int(b))), Type::Bool)
            }
            Some(ty) => {
                let a = as_operand(a, &ty);
                let b = if op.is_shift() { promote(b) } else { as_operand(b, &ty) };
                Expr::new(ty, span, ExprKind::Binary(op, Box::new(a), Box::new(b)))
            }
            None => self.bad_operands(op.symbol(), &a, &b, span),
        }
    }

    /// The type in which an operator that is no comparison computes.
    fn operand_type(&self, op: BinaryOp, a: &Expr, b: &Expr) -> Option<Type> {
        let bits = matches!(op, BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor);
        match (&a.ty, &b.ty) {
            (Type::Int(x), Type::Int(_)) if op.is_shift() => Some(Type::Int(x.promoted())),
            (Type::Int(x), Type::Int(y)) => Some(Type::Int(x.common(*y))),
            (Type::Bool, Type::Bool | Type::Int(_)) | (Type::Int(_), Type::Bool) if bits => Some(Type::Bool),
            _ => None,
        }
    }

    fn comparison(&mut self, op: BinaryOp, a: Expr, b: Expr, span: Span) -> Expr {
        let ty = self.common_type(&a, &b);
        let ordered = !matches!(op, BinaryOp::Equal | BinaryOp::NotEqual);
        let (a, b) = match &ty {
            Type::Int(int) => {
                self.warn_decided(op, &a, &b, *int, span);
                (as_operand(a, &ty), as_operand(b, &ty))
            }
            Type::Bool if !ordered => (as_bool(a), as_bool(b)),
            Type::Pointer(_) => self.same_pointers(a, b, &ty),
            _ => return self.bad_comparison(op, &a, &b, span),
        };
        Expr::new(Type::Bool, span, ExprKind::Binary(op, Box::new(a), Box::new(b)))
    }

    fn bad_comparison(&mut self, op: BinaryOp, a: &Expr, b: &Expr, span: Span) -> Expr {
        if let Some(none) = [a, b].into_iter().find(|e| e.ty == Type::Void) {
            return self.void_operand(op.symbol(), none);
        }
        let text = format!(
            "{} and {} cannot be compared with `{}`",
            self.quoted(&a.ty),
            self.quoted(&b.ty),
            op.symbol()
        );
        let message = Diagnostic::error(span, text);
        self.error(match (&a.ty, &b.ty) {
            (Type::Bool, _) | (_, Type::Bool) => message.hint(
                "a bool has no order: `a < b < c` compares the bool `a < b` with `c`; write `a < b && b < c`",
            ),
            (Type::Module(_), _) | (_, Type::Module(_)) => {
                message.hint("objects cannot be compared; compare their fields or their addresses")
            }
            _ => message,
        })
    }

    /// The message for operands that an operator does not take.
    pub(super) fn bad_operands(&mut self, op: &str, a: &Expr, b: &Expr, span: Span) -> Expr {
        if is_wrong(&a.ty) || is_wrong(&b.ty) {
            return wrong(span);
        }
        if let Some(none) = [a, b].into_iter().find(|e| e.ty == Type::Void) {
            return self.void_operand(op, none);
        }
        let text = format!("`{op}` cannot be applied to {} and {}", self.quoted(&a.ty), self.quoted(&b.ty));
        let mut message = Diagnostic::error(span, text);
        for e in [a, b] {
            if !e.ty.is_int() {
                message = message.label(e.span, format!("this is {}", self.quoted(&e.ty)));
            }
        }
        if a.ty == Type::Bool || b.ty == Type::Bool {
            message = message.hint("a bool is no number by itself: cast it, `(int)e`, to get 0 or 1");
        }
        self.error(message)
    }

    fn void_operand(&mut self, op: &str, e: &Expr) -> Expr {
        let message = self.mismatch(e, &Type::INT, &format!("for `{op}`"));
        self.error(message)
    }

    pub(super) fn min_max(&mut self, which: MinMax, a: &'a ast::Expr, b: &'a ast::Expr, span: Span) -> Expr {
        let (a, b) = (self.expr(a), self.expr(b));
        let ty = match self.common_type(&a, &b) {
            Type::Error => return wrong(span),
            _ if is_never(&a) || is_never(&b) => return cut_short([a, b], span),
            ty if ty.is_int() => ty,
            _ => return self.bad_operands(name_of(which), &a, &b, span),
        };
        let (a, b) = (as_operand(a, &ty), as_operand(b, &ty));
        Expr::new(ty, span, ExprKind::MinMax(which, Box::new(a), Box::new(b)))
    }

    pub(super) fn assign(
        &mut self,
        op: Option<ast::AssignOp>,
        place: &'a ast::Expr,
        value: &'a ast::Expr,
        span: Span,
    ) -> Expr {
        let place = self.place(place, "be assigned to");
        let value = self.expr(value);
        if is_never(&value) && !is_wrong(&place.ty) {
            return cut_short([pointer_to(place), value], span);
        }
        match op {
            None => self.store(place, value, span),
            Some(op) => self.update(op, place, value, span),
        }
    }

    fn store(&mut self, place: Expr, value: Expr, span: Span) -> Expr {
        if is_wrong(&place.ty) || is_wrong(&value.ty) {
            return wrong(span);
        }
        if matches!(place.ty, Type::Array(..)) {
            let message = "a whole array cannot be assigned to";
            return self.error(Diagnostic::error(span, message).hint("assign its elements one by one"));
        }
        let value = self.convert_for(value, &place.ty, "for the assignment", (place.span, "to this".into()));
        if is_wrong(&value.ty) {
            return value;
        }
        let ty = place.ty.clone();
        Expr::new(ty, span, ExprKind::Assign(Box::new(place), Box::new(value)))
    }

    /// `place op= value`.
    fn update(&mut self, op: ast::AssignOp, place: Expr, value: Expr, span: Span) -> Expr {
        if is_wrong(&place.ty) || is_wrong(&value.ty) {
            return wrong(span);
        }
        let compute = match op {
            ast::AssignOp::MinMax(_) => Some(self.common_type(&place, &value)).filter(Type::is_int),
            ast::AssignOp::Binary(op) => match infix(op) {
                Some(op) if matches!(place.ty, Type::Pointer(_)) => {
                    return self.pointer_update(op, place, value, span);
                }
                Some(op) => {
                    self.operand_type(op, &place, &value).filter(|ty| *ty != Type::Bool || place.ty == *ty)
                }
                None => None,
            },
        };
        match (compute, update_op(op)) {
            (Some(compute), Some(op)) => build_update(op, place, value, compute, span),
            _ => self.bad_operands(&assign_symbol(op), &place, &value, span),
        }
    }
}

/// A bool is updated as an int and converted back.
fn build_update(op: UpdateOp, place: Expr, value: Expr, compute: Type, span: Span) -> Expr {
    let shift = matches!(op, UpdateOp::Binary(op) if op.is_shift());
    let (value, compute) = match compute {
        Type::Bool => (promote(as_bool(value)), Type::INT),
        _ if shift => (promote(value), compute),
        _ => (as_operand(value, &compute), compute),
    };
    let ty = place.ty.clone();
    Expr::new(ty, span, ExprKind::Update { op, place: Box::new(place), value: Box::new(value), compute })
}

/// `!e` of a bool.
pub(super) fn not(e: Expr, span: Span) -> Expr {
    Expr::new(Type::Bool, span, ExprKind::Unary(UnaryOp::Not, Box::new(e)))
}

fn as_operand(e: Expr, ty: &Type) -> Expr {
    as_type(e, ty.clone())
}

fn as_bool(e: Expr) -> Expr {
    as_operand(decay(e), &Type::Bool)
}

fn is_pointer(ty: &Type) -> bool {
    matches!(ty, Type::Pointer(_) | Type::Array(..))
}

fn name_of(which: MinMax) -> &'static str {
    match which {
        MinMax::Min => "min",
        MinMax::Max => "max",
    }
}

fn assign_symbol(op: ast::AssignOp) -> String {
    match op {
        ast::AssignOp::Binary(op) => format!("{}=", infix(op).map_or("", BinaryOp::symbol)),
        ast::AssignOp::MinMax(which) => format!("{}=", name_of(which)),
    }
}

fn update_op(op: ast::AssignOp) -> Option<UpdateOp> {
    match op {
        ast::AssignOp::Binary(op) => infix(op).map(UpdateOp::Binary),
        ast::AssignOp::MinMax(which) => Some(UpdateOp::MinMax(which)),
    }
}

/// The operator of the typed tree; none for `&&` and `||`.
pub(super) fn infix(op: ast::BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        ast::BinaryOp::Multiply => BinaryOp::Multiply,
        ast::BinaryOp::Divide => BinaryOp::Divide,
        ast::BinaryOp::Remainder => BinaryOp::Remainder,
        ast::BinaryOp::Add => BinaryOp::Add,
        ast::BinaryOp::Subtract => BinaryOp::Subtract,
        ast::BinaryOp::ShiftLeft => BinaryOp::ShiftLeft,
        ast::BinaryOp::ShiftRight => BinaryOp::ShiftRight,
        ast::BinaryOp::Less => BinaryOp::Less,
        ast::BinaryOp::Greater => BinaryOp::Greater,
        ast::BinaryOp::LessEqual => BinaryOp::LessEqual,
        ast::BinaryOp::GreaterEqual => BinaryOp::GreaterEqual,
        ast::BinaryOp::Equal => BinaryOp::Equal,
        ast::BinaryOp::NotEqual => BinaryOp::NotEqual,
        ast::BinaryOp::BitAnd => BinaryOp::BitAnd,
        ast::BinaryOp::BitXor => BinaryOp::BitXor,
        ast::BinaryOp::BitOr => BinaryOp::BitOr,
        ast::BinaryOp::And | ast::BinaryOp::Or => return None,
    })
}
