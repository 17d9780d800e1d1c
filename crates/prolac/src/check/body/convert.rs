//! Conversions: which happen by themselves, which need a cast, and the type that two values have in common (section 6).
//!
//! Every conversion becomes an [`ExprKind::Convert`]; between equal types there is none. The literal `0` converts to any
//! pointer and is then [`ExprKind::Null`]. Objects convert to nothing, not even to an ancestor.

use clickwork_source::{Diagnostic, Span};

use super::zero::{is_zero, null};
use super::{BodyChecker, fits_all, is_wrong, wrong};
use crate::program::tree::{Expr, ExprKind};
use crate::program::{IntType, MethodId, MethodKind, Type};
use crate::syntax::ast;

impl<'a> BodyChecker<'_, 'a> {
    /// An expression of exactly the type `to`. `purpose` completes "... is needed", as in `for argument x of f`.
    pub(super) fn convert(&mut self, e: Expr, to: &Type, purpose: &str) -> Expr {
        match self.fit(e, to) {
            Ok(e) => {
                self.warn_cut_number(&e);
                e
            }
            Err(e) => {
                let message = self.mismatch(&e, to, purpose);
                self.error(message)
            }
        }
    }

    /// As [`Self::convert`]; a message also shows the declaration that demands the type.
    pub(super) fn convert_for(
        &mut self,
        e: Expr,
        to: &Type,
        purpose: &str,
        declared: (Span, String),
    ) -> Expr {
        match self.fit(e, to) {
            Ok(e) => {
                self.warn_cut_number(&e);
                e
            }
            Err(e) => {
                let message = self.mismatch(&e, to, purpose).label(declared.0, declared.1);
                self.error(message)
            }
        }
    }

    /// The value of a body as the method's value.
    pub(super) fn returned(&mut self, e: Expr, method: MethodId, returns: &Type) -> Expr {
        if *returns == Type::Void {
            self.warn_lost_result(method, &e);
        }
        let method = &self.check.program[method];
        let purpose = format!("as the value of `{}`", method.path.last().map_or("", |name| name.as_str()));
        let declared = (method.span, format!("returns {}", self.quoted(returns)));
        self.convert_for(e, returns, &purpose, declared)
    }

    /// Converts implicitly, or gives the expression back. Of equal types, the view of `to` counts from here on.
    pub(super) fn fit(&self, e: Expr, to: &Type) -> Result<Expr, Expr> {
        if fits_all(&e.ty) {
            return Ok(e);
        }
        if is_wrong(to) {
            return Ok(wrong(e.span));
        }
        if *to == Type::Void {
            return Ok(discard(e));
        }
        let e = decay(e);
        if matches!(to, Type::Pointer(_)) && is_zero(&e) {
            return Ok(null(e, to));
        }
        if e.ty == *to || self.converts(&e.ty, to) { Ok(as_type(e, to.clone())) } else { Err(e) }
    }

    /// Whether a value converts by itself to another type that is not void.
    fn converts(&self, from: &Type, to: &Type) -> bool {
        match (from, to) {
            (Type::Int(_) | Type::Pointer(_), Type::Bool) | (Type::Int(_), Type::Int(_)) => true,
            (Type::Pointer(a), Type::Pointer(b)) => match (&**a, &**b) {
                (Type::Void, _) | (_, Type::Void) => true,
                (Type::Module(a), Type::Module(b)) => self.check.program.is_derived(a.module, b.module),
                _ => false,
            },
            _ => false,
        }
    }

    /// `(T)e`: what converts by itself, bool to integer, and a pointer to a module to a pointer to any other.
    pub(super) fn cast_expr(&mut self, ty: &'a ast::Type, value: &'a ast::Expr, span: Span) -> Expr {
        let to = self.check.resolve_type(&self.scope, ty);
        let value = self.expr(value);
        match self.fit(value, &to) {
            Ok(e) => Expr { span, ..e },
            Err(e) if self.casts(&e.ty, &to) => Expr { span, ..as_type(e, to) },
            Err(e) => {
                let message = self.bad_cast(&e, &to, span);
                self.error(message)
            }
        }
    }

    fn casts(&self, from: &Type, to: &Type) -> bool {
        match (from, to) {
            (Type::Bool, Type::Int(_)) => true,
            (Type::Pointer(a), Type::Pointer(b)) => a.module().is_some() && b.module().is_some(),
            _ => false,
        }
    }

    fn bad_cast(&self, e: &Expr, to: &Type, span: Span) -> Diagnostic {
        let (from_name, to_name) = (self.quoted(&e.ty), self.quoted(to));
        let message = Diagnostic::error(span, format!("{from_name} cannot be cast to {to_name}"));
        match (&e.ty, to) {
            (Type::Pointer(_), Type::Pointer(_)) => {
                message.hint(format!("go through `*void`: `({})(*void)e`", self.check.program.type_name(to)))
            }
            (Type::Pointer(_), Type::Int(_)) | (Type::Int(_), Type::Pointer(_)) => {
                message.hint("pointers and numbers convert only in C: use a C block")
            }
            (Type::Module(_), Type::Module(_)) => {
                message.hint("objects convert to nothing; cast a pointer to the object: `(*T)&e`")
            }
            _ => message,
        }
    }

    /// `e :> T`: only what converts by itself, and then it does.
    pub(super) fn assert_expr(&mut self, value: &'a ast::Expr, ty: &'a ast::Type) -> Expr {
        let value = self.expr(value);
        let to = self.check.resolve_type(&self.scope, ty);
        self.convert_for(value, &to, "after `:>`", (ty.span, "asserted here".into()))
    }

    /// A condition: bool.
    pub(super) fn condition(&mut self, e: &'a ast::Expr) -> Expr {
        let value = self.expr(e);
        if matches!(e.kind, ast::ExprKind::Assign(None, ..)) && !is_wrong(&value.ty) {
            self.report(
                Diagnostic::warning(e.span, "`=` assigns; did you mean `==`?")
                    .hint("if not, write the comparison out: `(a = b) != 0`"),
            );
        }
        self.as_condition(value)
    }

    /// A value as a condition.
    pub(super) fn as_condition(&mut self, e: Expr) -> Expr {
        self.convert(e, &Type::Bool, "as a condition")
    }

    /// The type in which both values can be had: void if there is none.
    pub(super) fn common_type(&self, a: &Expr, b: &Expr) -> Type {
        let (at, bt) = (decayed(&a.ty), decayed(&b.ty));
        match (&at, &bt) {
            (Type::Error, _) | (_, Type::Error) => Type::Error,
            (Type::Never, _) => bt,
            (_, Type::Never) => at,
            _ if at == bt => at,
            (Type::Bool, Type::Int(_) | Type::Pointer(_)) | (Type::Int(_) | Type::Pointer(_), Type::Bool) => {
                Type::Bool
            }
            (Type::Int(x), Type::Int(y)) => Type::Int(x.common(*y)),
            (Type::Pointer(_), Type::Int(_)) if is_zero(b) => at,
            (Type::Int(_), Type::Pointer(_)) if is_zero(a) => bt,
            (Type::Pointer(x), Type::Pointer(y)) => self.common_pointer(x, y),
            _ => Type::Void,
        }
    }

    fn common_pointer(&self, a: &Type, b: &Type) -> Type {
        match (a, b) {
            (Type::Void, _) | (_, Type::Void) => Type::pointer(Type::Void),
            (Type::Module(x), Type::Module(y)) => {
                match self.check.program.common_ancestor(x.module, y.module) {
                    Some(m) if m == x.module => Type::pointer(a.clone()),
                    Some(m) if m == y.module => Type::pointer(b.clone()),
                    Some(module) => match self.check.names.default_view(module) {
                        Some(view) => Type::pointer(Type::Module(crate::program::ModuleRef { module, view })),
                        None => Type::Void,
                    },
                    None => Type::Void,
                }
            }
            _ => Type::Void,
        }
    }

    /// The message for a value of the wrong type.
    pub(super) fn mismatch(&self, e: &Expr, to: &Type, purpose: &str) -> Diagnostic {
        if e.ty == Type::Void {
            return self.no_value(e, to, purpose);
        }
        let (needed, got) = (self.quoted(to), self.quoted(&e.ty));
        let message = Diagnostic::error(e.span, format!("{needed} is needed {purpose}, but this is {got}"));
        if matches!(last_of(e).kind, ExprKind::Implies(..)) {
            return message
                .hint("`a ==> b` alone only says whether `a` holds; for a value add the other case: `a ==> b ||| c`");
        }
        match self.conversion_hint(&e.ty, to) {
            Some(hint) => message.hint(hint),
            None => message,
        }
    }

    fn conversion_hint(&self, from: &Type, to: &Type) -> Option<String> {
        let program = &self.check.program;
        Some(match (from, to) {
            (Type::Bool, Type::Int(int)) => {
                format!("a bool is no number by itself: cast it, `({})e`, to get 0 or 1", int.keyword())
            }
            (Type::Pointer(a), Type::Pointer(b)) if a.module().is_some() && b.module().is_some() => {
                format!("if you know what it points to, cast it: `({})e`", program.type_name(to))
            }
            (Type::Pointer(_), Type::Pointer(_)) => {
                format!("if you know what it points to, cast it: `({})(*void)e`", program.type_name(to))
            }
            (Type::Int(_), Type::Pointer(_)) => "of all numbers only the literal `0` is a pointer".into(),
            (Type::Module(_), Type::Pointer(_)) => "take the object's address: `&e`".into(),
            (Type::Pointer(a), b) if **a == *b => "take what it points to: `*e`".into(),
            (Type::Module(_), Type::Module(_)) => {
                "objects convert to nothing, not even to an ancestor; use pointers".into()
            }
            _ => return None,
        })
    }

    /// The message for a void expression that should have a value.
    fn no_value(&self, e: &Expr, to: &Type, purpose: &str) -> Diagnostic {
        let needed = self.quoted(to);
        match &e.kind {
            ExprKind::Call(call) => {
                let forwarded =
                    std::iter::successors(Some(call.method), |&m| Some(self.check.names.forward(m)?.method));
                let method = &self.check.program[forwarded.last().unwrap_or(call.method)];
                let name = method.path.last().map_or("", |name| name.as_str());
                let text = format!("`{name}` has no value, but {needed} is needed {purpose}");
                let message = Diagnostic::error(e.span, text);
                if method.kind != MethodKind::Plain {
                    return message;
                }
                let written =
                    self.check.names.method_ast(call.method).is_some_and(|ast| ast.returns.is_some());
                let label =
                    if written { "declared void here" } else { "declared without a return type here" };
                message
                    .label(method.span, label)
                    .hint(format!("give it a return type `:> {}`", self.check.program.type_name(to)))
            }
            ExprKind::Conditional(_, a, b) if a.ty == Type::Void && b.ty == Type::Void => {
                self.no_common_value(e.span, (a, b), &format!("{needed} is needed {purpose}"))
            }
            _ => Diagnostic::error(e.span, format!("this has no value, but {needed} is needed {purpose}")),
        }
    }

    /// A choice is void if its branches have nothing in common: the message shows them.
    fn no_common_value(&self, span: Span, branches: (&Expr, &Expr), need: &str) -> Diagnostic {
        let (a, b) = (before_discard(branches.0), before_discard(branches.1));
        let mut message = Diagnostic::error(span, format!("this choice has no value, but {need}"));
        for branch in [a, b] {
            let text = match branch.ty {
                Type::Void => "this branch has no value".to_string(),
                _ => format!("this branch is {}", self.quoted(&branch.ty)),
            };
            message = message.label(branch.span, text);
        }
        message
    }
}

/// What gives an expression its value.
fn last_of(e: &Expr) -> &Expr {
    match &e.kind {
        ExprKind::Sequence(all) => all.last().map_or(e, last_of),
        ExprKind::Let(_, last) | ExprKind::Outline(_, last) | ExprKind::Conditional(_, _, last) => {
            last_of(last)
        }
        _ => e,
    }
}

fn before_discard(e: &Expr) -> &Expr {
    match &e.kind {
        ExprKind::Convert(inner) if e.ty == Type::Void => inner,
        _ => e,
    }
}

/// The value is not wanted.
pub(super) fn discard(e: Expr) -> Expr {
    if e.ty == Type::Void || fits_all(&e.ty) { e } else { as_type(e, Type::Void) }
}

/// The same value as another type.
pub(super) fn as_type(e: Expr, ty: Type) -> Expr {
    if e.ty == ty {
        return Expr { ty, ..e };
    }
    let span = e.span;
    Expr::new(ty, span, ExprKind::Convert(Box::new(e)))
}

/// An array as the pointer to its first element.
pub(super) fn decay(e: Expr) -> Expr {
    let ty = decayed(&e.ty);
    as_type(e, ty)
}

fn decayed(ty: &Type) -> Type {
    match ty {
        Type::Array(of, _) => Type::Pointer(of.clone()),
        other => other.clone(),
    }
}

/// A value as `int`, unless its type is wider.
pub(super) fn promote(e: Expr) -> Expr {
    match e.ty {
        Type::Int(int) => as_type(e, Type::Int(int.promoted())),
        Type::Bool => as_type(e, Type::Int(IntType::Int)),
        _ => e,
    }
}
