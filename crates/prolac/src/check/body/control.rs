//! What happens in which case: `,` `==>` `|||` `||` `?:` `if` `catch` `inline` `outline` (section 11).

use clickwork_source::{Diagnostic, Span};

use super::BodyChecker;
use super::chains::Arm;
use super::convert::{decay, discard};
use super::never::is_never;
use super::operators::not;
use crate::program::Type;
use crate::program::tree::{Expr, ExprKind};
use crate::syntax::ast;

impl<'a> BodyChecker<'_, 'a> {
    /// `a, b, c`: the value is the last one's.
    pub(super) fn comma(&mut self, e: &'a ast::Expr) -> Expr {
        let list = self.comma_list(e);
        let Some((last, first)) = list.split_last() else { return Expr::nothing(e.span) };
        let mut all: Vec<Expr> = first.iter().map(|item| self.dropped(item)).collect();
        all.push(decay(self.expr(last)));
        in_a_row(all, e.span)
    }

    /// The members of a row, without the constructor calls for parts.
    pub(super) fn comma_list(&self, e: &'a ast::Expr) -> Vec<&'a ast::Expr> {
        let mut list = members(e);
        list.retain(|item| !self.parts.iter().any(|part| std::ptr::eq(*part, *item)));
        list
    }

    /// `a ==> b`: the value is that of `a` as a bool.
    pub(super) fn implies(&mut self, a: &'a ast::Expr, b: &'a ast::Expr, span: Span) -> Expr {
        let condition = self.condition(a);
        let then = discard(self.expr(b));
        if is_never(&condition) {
            return condition;
        }
        Expr::new(Type::Bool, span, ExprKind::Implies(Box::new(condition), Box::new(then)))
    }

    /// `a || b`; if `b` is void, `b` unless `a`, and void.
    pub(super) fn or(&mut self, a: &'a ast::Expr, b: &'a ast::Expr, span: Span) -> Expr {
        let (a, b) = (self.condition(a), self.expr(b));
        self.either(a, b, span)
    }

    pub(super) fn either(&mut self, a: Expr, b: Expr, span: Span) -> Expr {
        if is_never(&a) {
            return a;
        }
        if b.ty == Type::Void {
            let unless = not(a, span);
            return discard(Expr::new(Type::Bool, span, ExprKind::Implies(Box::new(unless), Box::new(b))));
        }
        let b = self.as_condition(b);
        Expr::new(Type::Bool, span, ExprKind::Or(Box::new(a), Box::new(b)))
    }

    pub(super) fn conditional(
        &mut self,
        condition: &'a ast::Expr,
        a: &'a ast::Expr,
        b: &'a ast::Expr,
        span: Span,
    ) -> Expr {
        let condition = self.condition(condition);
        let (a, b) = (self.expr(a), self.expr(b));
        self.choice(condition, a, b, span)
    }

    /// A choice has the common type of its branches: void if there is none.
    pub(super) fn choice(&mut self, condition: Expr, a: Expr, b: Expr, span: Span) -> Expr {
        if is_never(&condition) {
            return condition;
        }
        let ty = self.common_type(&a, &b);
        let (a, b) = (self.branch(a, &ty), self.branch(b, &ty));
        Expr::new(ty, span, ExprKind::Conditional(Box::new(condition), Box::new(a), Box::new(b)))
    }

    fn branch(&self, e: Expr, ty: &Type) -> Expr {
        match self.fit(e, ty) {
            Ok(e) | Err(e) => e,
        }
    }

    /// `if a then b elseif c then d else e end`; void without `else`.
    pub(super) fn if_expr(
        &mut self,
        arms: &'a [(ast::Expr, ast::Expr)],
        otherwise: Option<&'a ast::Expr>,
        span: Span,
    ) -> Expr {
        let mut typed = Vec::new();
        for (condition, then) in arms {
            let asked = condition.span;
            let condition = self.condition(condition);
            typed.push(Arm { condition, asked, then: self.expr(then), span });
        }
        let otherwise = match otherwise {
            Some(e) => self.expr(e),
            None => Expr::nothing(span),
        };
        self.choose(typed, otherwise, span)
    }

    /// `e catch (X, Y)`: whether one of them was caught.
    pub(super) fn catch(&mut self, body: &'a ast::Expr, names: &'a [ast::Path], span: Span) -> Expr {
        let body = self.protected(body);
        let mut caught = Some(Vec::new());
        for path in names {
            if is_all(path) {
                caught = None;
            } else if let (Some(exception), Some(list)) = (self.exception(path), &mut caught)
                && !list.contains(&exception)
            {
                list.push(exception);
            }
        }
        Expr::new(Type::Bool, span, ExprKind::Catch(Box::new(body), caught))
    }

    /// `inline[k] e`: what it asks for counts for all calls in `e`.
    pub(super) fn inline(&mut self, level: &'a ast::InlineLevel, e: &'a ast::Expr) -> Expr {
        let level = match level {
            ast::InlineLevel::Fixed(level) => Some(*level),
            ast::InlineLevel::Computed(k) => self.level_in(k, "inline", 3),
        };
        let outer = self.level;
        self.level = level.or(outer);
        let value = self.expr(e);
        self.level = outer;
        value
    }

    /// `outline[k] e`; without `k` it is 5.
    pub(super) fn outline(&mut self, level: Option<&'a ast::Expr>, e: &'a ast::Expr, span: Span) -> Expr {
        let level = level.map_or(Some(5), |k| self.level_in(k, "outline", 10));
        let value = decay(self.expr(e));
        let ty = value.ty.clone();
        Expr::new(ty, span, ExprKind::Outline(level.unwrap_or(5), Box::new(value)))
    }

    /// A level from 0 to `most`; `None` after a message.
    fn level_in(&mut self, k: &'a ast::Expr, what: &str, most: u8) -> Option<u8> {
        let scope = self.scope.clone();
        let value = self.check.constant_expr(&scope, k, &format!("the level of `{what}`"))?;
        let level = u8::try_from(value).ok().filter(|&level| level <= most);
        if level.is_none() {
            let message = format!("the level of `{what}` must be from 0 to {most}, and this is {value}");
            self.report(Diagnostic::error(k.span, message));
        }
        level
    }
}

/// The members of a row, those of a row in parentheses at its beginning too; of anything else, itself.
pub(super) fn members(e: &ast::Expr) -> Vec<&ast::Expr> {
    match &e.kind {
        ast::ExprKind::Comma(all) => all[..1].iter().flat_map(members).chain(&all[1..]).collect(),
        _ => vec![e],
    }
}

/// Several in a row, the last one with the value.
pub(super) fn in_a_row(mut all: Vec<Expr>, span: Span) -> Expr {
    match all.len() {
        0 => Expr::nothing(span),
        1 => all.remove(0),
        _ => {
            let ty = all.last().map_or(Type::Void, |last| last.ty.clone());
            Expr::new(ty, span, ExprKind::Sequence(all))
        }
    }
}

fn is_all(path: &ast::Path) -> bool {
    !path.global && path.parts.len() == 1 && path.parts[0].name == "all"
}
