//! Constants: what folds to an integer or bool while types are still being found (section 7, "Symbolic constants").
//!
//! A static method without parameters is a constant if its body folds. Offsets, sizes of arrays and levels need constants,
//! and types need sizes of arrays, so this works on demand; a constant that needs itself is an error.

use std::collections::HashMap;

use clickwork_source::{Diagnostic, Span};

use super::BodyChecker;
use crate::check::Checker;
use crate::check::signatures::Progress;
use crate::names::Scope;
use crate::program::tree::{Call, Expr, ExprKind, LocalId, UnaryOp};
use crate::program::{MethodId, MethodKind, Type, arith};
use crate::syntax::ast;

/// Constants that need one another more deeply than this are not found.
const MOST_DEEP: usize = 256;

/// What is known of methods as constants.
#[derive(Debug, Default)]
pub struct Constants {
    values: HashMap<MethodId, Result<i64, Why>>,
    /// The methods whose values are being found, outermost first.
    open: Vec<MethodId>,
    /// What the variables that the checker made for long chains hold.
    variables: HashMap<LocalId, i64>,
}

/// Why something is no constant.
#[derive(Clone, Debug)]
enum Why {
    /// A message is given elsewhere.
    Known,
    /// This part does not fold.
    Part(Span, &'static str),
    /// The methods that need one another, the first one last again.
    Circle(Vec<MethodId>),
    /// Through too many methods.
    Deep(Span),
}

impl<'a> Checker<'a> {
    /// The value of a static method without parameters whose body folds; no messages.
    pub fn constant(&mut self, method: MethodId) -> Option<i64> {
        self.fold_method(method, self.program[method].span).ok()
    }

    /// The value of an expression that must be constant; a message if it is not. `what` begins the message: `the size of
    /// an array`.
    pub fn constant_expr(&mut self, scope: &Scope, expr: &'a ast::Expr, what: &str) -> Option<i64> {
        let mut body = BodyChecker::new(self, scope.clone(), "a constant");
        let value = body.expr(expr);
        if !matches!(value.ty, Type::Int(_) | Type::Bool | Type::Error | Type::Never) {
            let ty = self.program.type_name(&value.ty);
            self.error(expr.span, format!("{what} must be an integer, and this is `{ty}`"));
            return None;
        }
        match self.fold(&value) {
            Ok(value) => Some(value),
            Err(why) => {
                self.report_no_constant(expr.span, what, why);
                None
            }
        }
    }

    fn report_no_constant(&mut self, span: Span, what: &str, why: Why) {
        let message = Diagnostic::error(span, format!("{what} must be a constant"));
        let message = match why {
            Why::Known => return,
            Why::Part(part, why) => message.label(part, why),
            Why::Deep(part) => message.label(part, "too many methods lead one to the other here"),
            Why::Circle(methods) => self.circle(span, what, &methods),
        };
        self.report(
            message
                .hint("constants are numbers and static methods without parameters that compute with them"),
        );
    }

    fn circle(&self, span: Span, what: &str, methods: &[MethodId]) -> Diagnostic {
        let names: Vec<String> =
            methods.iter().map(|&m| format!("`{}`", self.program.method_name(m))).collect();
        let text =
            format!("{what} must be a constant, but this goes round in a circle: {}", names.join(" -> "));
        let mut message = Diagnostic::error(span, text);
        for &method in methods.iter().skip(1) {
            message = message.label(self.program[method].span, "part of the circle");
        }
        message
    }

    fn fold_method(&mut self, method: MethodId, at: Span) -> Result<i64, Why> {
        if let Some(known) = self.constants.values.get(&method) {
            return known.clone();
        }
        if let Some(start) = self.constants.open.iter().position(|&open| open == method) {
            let mut circle = self.constants.open[start..].to_vec();
            circle.push(method);
            return Err(Why::Circle(circle));
        }
        if self.constants.open.len() >= MOST_DEEP {
            return Err(Why::Deep(at));
        }
        self.constants.open.push(method);
        let variables = std::mem::take(&mut self.constants.variables);
        let value = self.find_value(method, at);
        self.constants.variables = variables;
        self.constants.open.pop();
        // What was found inside a circle or too deep is not the whole truth about the methods on the way.
        let partial = matches!(value, Err(Why::Circle(_) | Why::Deep(_))) && !self.constants.open.is_empty();
        if !partial {
            self.constants.values.insert(method, value.clone());
        }
        value
    }

    fn find_value(&mut self, method: MethodId, at: Span) -> Result<i64, Why> {
        if let Some(forward) = self.names.forward(method) {
            return self.fold_method(forward.method, at);
        }
        let returns = self.signature(method).returns;
        let plain = self.program[method].kind == MethodKind::Plain && self.program[method].is_static;
        let Some(ast) = self.names.method_ast(method).filter(|ast| plain && ast.params.is_empty()) else {
            return Err(Why::Part(at, "a call of this method is not constant"));
        };
        if !matches!(returns, Type::Int(_) | Type::Bool)
            || ast.body.as_ref().is_none_or(|body| !may_fold(body))
        {
            return Err(Why::Part(ast.name.span, "the value of this method is not constant"));
        }
        // Its mistakes are reported when it is checked as a method.
        let heard = std::mem::take(&mut self.diagnostics);
        let body = self.body(method);
        self.diagnostics = heard;
        match self.fold(&body.root) {
            // While a type is open, the mistake can be that it is needed here; then nobody else reports it.
            Err(Why::Known) if self.types_are_open() => {
                Err(Why::Part(ast.name.span, "this method needs the very type that is being found"))
            }
            value => value,
        }
    }

    fn types_are_open(&self) -> bool {
        self.signatures.iter().any(|known| matches!(known, Progress::Working))
            || self.field_types.iter().any(|known| matches!(known, Progress::Working))
    }

    fn fold(&mut self, e: &Expr) -> Result<i64, Why> {
        match &e.kind {
            _ if matches!(e.ty, Type::Error) => Err(Why::Known),
            ExprKind::Int(value) => Ok(*value),
            ExprKind::Convert(inner) => {
                let value = self.fold(inner)?;
                if e.ty == Type::Void {
                    return Ok(value);
                }
                arith::convert(&e.ty, value).ok_or(Why::Part(e.span, "this is not constant"))
            }
            ExprKind::Unary(op, inner) => {
                let value = self.fold(inner)?;
                match (op, e.ty.int()) {
                    (UnaryOp::Not, _) => Ok((value == 0).into()),
                    (op, Some(int)) => Ok(arith::unary(*op, int, value)),
                    _ => Err(Why::Part(e.span, "this is not constant")),
                }
            }
            ExprKind::Binary(..) | ExprKind::MinMax(..) => self.fold_binary(e),
            ExprKind::And(a, b) => Ok((self.fold(a)? != 0 && self.fold(b)? != 0).into()),
            ExprKind::Or(a, b) => Ok((self.fold(a)? != 0 || self.fold(b)? != 0).into()),
            ExprKind::Conditional(condition, a, b) => {
                let branch = if self.fold(condition)? != 0 { a } else { b };
                self.fold(branch)
            }
            ExprKind::Nothing => Ok(0),
            ExprKind::Implies(a, b) => {
                let holds = self.fold(a)?;
                if holds != 0 {
                    self.fold(b)?;
                }
                Ok(holds)
            }
            ExprKind::Outline(_, inner) => self.fold(inner),
            ExprKind::Let(bindings, _) if bindings.iter().any(|(_, value)| value.is_some()) => {
                Err(Why::Part(e.span, "this is not constant"))
            }
            ExprKind::Let(_, body) => self.fold(body),
            ExprKind::Sequence(all) => all.iter().try_fold(0, |_, e| self.fold(e)),
            ExprKind::Assign(place, value) => match place.kind {
                ExprKind::Local(local) => {
                    let value = self.fold(value)?;
                    self.constants.variables.insert(local, value);
                    Ok(value)
                }
                _ => Err(Why::Part(e.span, "this is not constant")),
            },
            ExprKind::Local(local) if self.constants.variables.contains_key(local) => {
                Ok(self.constants.variables[local])
            }
            ExprKind::Call(call) => self.fold_call(call, e.span),
            _ => Err(Why::Part(e.span, "this is not constant")),
        }
    }

    fn fold_binary(&mut self, e: &Expr) -> Result<i64, Why> {
        let (ExprKind::Binary(_, a, b) | ExprKind::MinMax(_, a, b)) = &e.kind else { return Err(Why::Known) };
        let (x, y) = (self.fold(a)?, self.fold(b)?);
        let int = match &a.ty {
            Type::Bool => crate::program::IntType::Int,
            ty => ty.int().ok_or(Why::Part(e.span, "this is not constant"))?,
        };
        match &e.kind {
            ExprKind::Binary(op, ..) => {
                arith::binary(*op, int, x, y).ok_or(Why::Part(e.span, "this divides by zero"))
            }
            ExprKind::MinMax(which, ..) => Ok(arith::min_max(*which, int, x, y)),
            _ => Err(Why::Known),
        }
    }

    fn fold_call(&mut self, call: &Call, span: Span) -> Result<i64, Why> {
        if call.receiver.is_some() || !call.args.is_empty() {
            return Err(Why::Part(span, "a call is constant only of a static method without parameters"));
        }
        self.fold_method(call.method, span)
    }
}

/// Whether an expression can fold at all, so that most methods need not be typed to find out that they are no constants.
fn may_fold(e: &ast::Expr) -> bool {
    use ast::ExprKind::*;
    match &e.kind {
        Name { .. } | Int { .. } | Bool(_) => true,
        Member(base, _) => may_fold(base) || matches!(base.kind, Super),
        Cast(_, e) | Assert(e, _) | Inline(_, e) | Outline(_, e) => may_fold(e),
        Call(callee, args) => args.is_empty() && may_fold(callee),
        Unary(op, e) => {
            !matches!(
                op,
                ast::UnaryOp::Deref
                    | ast::UnaryOp::AddressOf
                    | ast::UnaryOp::Increment
                    | ast::UnaryOp::Decrement
            ) && may_fold(e)
        }
        Binary(_, a, b) | MinMax(_, a, b) | Implies(a, b) => may_fold(a) && may_fold(b),
        CaseBar(all) => all.iter().all(may_fold),
        Chain(first, rest) => may_fold(first) && rest.iter().all(|(_, e)| may_fold(e)),
        Conditional(a, b, c) => may_fold(a) && may_fold(b) && may_fold(c),
        If { arms, otherwise } => {
            arms.iter().all(|(a, b)| may_fold(a) && may_fold(b))
                && otherwise.as_ref().is_some_and(|e| may_fold(e))
        }
        _ => false,
    }
}
