//! Chains of any length: `a + b - c ...`, `a && b && c ...`, `a ==> b ||| c ==> d ||| e ...` and `elseif`.
//!
//! What is typed must not be high, so that passes may be recursive. Short chains are nested as they are written. Long ones
//! are cut in pieces. Of arithmetic and of conditions a variable keeps what is known so far. Of many cases, first the
//! number of the right one is found, then it is chosen by halves, so that each case is still the last thing done.

use clickwork_source::Span;

use super::control::in_a_row;
use super::convert::discard;
use super::never::is_never;
use super::operators::{infix, not};
use super::{BodyChecker, is_wrong, wrong};
use crate::Name;
use crate::program::Type;
use crate::program::tree::{BinaryOp, Expr, ExprKind, LocalId};
use crate::syntax::{LONG_CHAIN, ast};

/// One case.
pub(super) struct Arm {
    pub condition: Expr,
    /// Where the condition stands; nowhere, if something is done before it.
    pub asked: Span,
    pub then: Expr,
    /// The case and all that follow.
    pub span: Span,
}

impl<'a> BodyChecker<'_, 'a> {
    /// A long chain of operators of one level.
    pub(super) fn chain(
        &mut self,
        first: &'a ast::Expr,
        rest: &'a [(ast::BinaryOp, ast::Expr)],
        span: Span,
    ) -> Expr {
        match rest[0].0 {
            ast::BinaryOp::And => {
                let operands = std::iter::once(first).chain(rest.iter().map(|(_, e)| e));
                let all = operands.map(|e| self.condition(e)).collect();
                self.all_of(all, span)
            }
            ast::BinaryOp::Or => {
                let rest: Vec<&ast::Expr> = rest.iter().map(|(_, e)| e).collect();
                let first = self.expr(first);
                self.any_of(first, &rest, span)
            }
            _ => self.arithmetic(first, rest, span),
        }
    }

    fn arithmetic(
        &mut self,
        first: &'a ast::Expr,
        rest: &'a [(ast::BinaryOp, ast::Expr)],
        span: Span,
    ) -> Expr {
        let mut value = self.expr(first);
        let (mut pieces, mut variables): (Vec<Expr>, Vec<LocalId>) = (Vec::new(), Vec::new());
        for (index, (op, e)) in rest.iter().enumerate() {
            let operand = self.expr(e);
            let Some(op) = infix(*op) else { continue };
            value = self.binary(op, value, operand, first.span.join(e.span));
            if index % LONG_CHAIN == LONG_CHAIN - 1 && !is_never(&value) && !is_wrong(&value.ty) {
                value = self.kept(value, &mut pieces, &mut variables);
            }
        }
        if is_wrong(&value.ty) {
            return wrong(span);
        }
        pieces.push(value);
        let body = in_a_row(pieces, span);
        let variables = variables.into_iter().map(|id| (id, None)).collect();
        Expr::new(body.ty.clone(), span, ExprKind::Let(variables, Box::new(body)))
    }

    /// A value that a variable keeps from now on: the variable.
    fn kept(&mut self, value: Expr, pieces: &mut Vec<Expr>, variables: &mut Vec<LocalId>) -> Expr {
        let (ty, span) = (value.ty.clone(), value.span);
        let known = variables.iter().copied().find(|id| self.locals[id.0 as usize].ty == ty);
        let id = known.unwrap_or_else(|| {
            let id = self.declare(Name::new("so_far"), ty.clone(), span);
            variables.push(id);
            id
        });
        pieces.push(self.set(id, value));
        self.local_expr(id, span)
    }

    /// `first || rest[0] || rest[1] ...`; only the last may be void.
    fn any_of(&mut self, first: Expr, rest: &[&'a ast::Expr], span: Span) -> Expr {
        let Some((last, middle)) = rest.split_last() else { return first };
        let mut all = vec![self.as_condition(first)];
        for e in middle {
            let value = self.expr(e);
            all.push(self.as_condition(value));
        }
        let last = self.expr(last);
        let before = all.last().map_or(span, |last| all[0].span.join(last.span));
        if all.len() < LONG_CHAIN {
            let mut all = all.into_iter();
            let Some(first) = all.next() else { return last };
            let value = all.fold(first, |a, b| {
                let span = a.span.join(b.span);
                self.either(a, b, span)
            });
            return self.either(value, last, span);
        }
        let value = self.joined(all, false, before);
        self.either(value, last, span)
    }

    /// Whether all of these conditions hold.
    pub(super) fn all_of(&mut self, mut all: Vec<Expr>, span: Span) -> Expr {
        if let Some(end) = all.iter().position(is_never) {
            all.truncate(end + 1);
        }
        let Some(last) = all.pop() else { return wrong(span) };
        if all.is_empty() {
            return last;
        }
        let before = self.joined(all, true, span);
        Expr { span, ..joint(before, last, true) }
    }

    /// Conditions joined by `&&`, if all are to hold, or by `||`.
    fn joined(&mut self, conditions: Vec<Expr>, all: bool, span: Span) -> Expr {
        let join = |conditions: Vec<Expr>| {
            conditions.into_iter().reduce(|a, b| joint(a, b, all)).unwrap_or_else(|| wrong(span))
        };
        if conditions.len() < LONG_CHAIN {
            return join(conditions);
        }
        let holds = self.declare(Name::new("holds"), Type::Bool, span);
        let value = self.local_expr(holds, span);
        let open = if all { value.clone() } else { not(value.clone(), span) };
        let asked = in_turn(conditions, &open, &mut |conditions| self.set(holds, join(conditions)));
        let body = in_a_row(vec![asked, value], span);
        Expr::new(Type::Bool, span, ExprKind::Let(vec![(holds, None)], Box::new(body)))
    }

    /// `a ||| b ||| c ...`, rewritten as long as the next one is a `==>`, a choice or a row. Parentheses do not stop the
    /// rewriting; `if`, `let`, `catch` and `outline` do. What is left over is `||`.
    pub(super) fn case_bar(&mut self, all: &'a [ast::Expr], span: Span) -> Expr {
        let end = all.last().map_or(span, |last| last.span);
        let mut waiting: Vec<&'a ast::Expr> = all.iter().rev().collect();
        let (mut arms, mut before, mut lead): (Vec<Arm>, Vec<Expr>, Vec<Expr>) = Default::default();
        let mut whole = span;
        while let Some(next) = waiting.pop() {
            match &next.kind {
                ast::ExprKind::CaseBar(all) => {
                    waiting.extend(all.iter().rev());
                    continue;
                }
                _ if waiting.is_empty() => {
                    let otherwise = self.expr(next);
                    let value = self.choose(arms, in_a_row_after(before, otherwise), span);
                    return in_a_row_after(lead, value);
                }
                ast::ExprKind::Implies(a, b) => {
                    arms.push(self.arm(&mut before, a, b, whole));
                }
                ast::ExprKind::Conditional(a, b, c) => {
                    arms.push(self.arm(&mut before, a, b, whole));
                    waiting.push(c);
                }
                ast::ExprKind::Comma(..) => {
                    let list = self.comma_list(next);
                    let Some((last, first)) = list.split_last() else { return wrong(span) };
                    let first = first.iter().map(|item| self.dropped(item)).collect::<Vec<_>>();
                    if arms.is_empty() {
                        lead.extend(first)
                    } else {
                        before.extend(first)
                    }
                    waiting.push(last);
                }
                _ => {
                    let first = self.expr(next);
                    let rest: Vec<&ast::Expr> = waiting.into_iter().rev().collect();
                    let otherwise = self.any_of(first, &rest, next.span.join(end));
                    let value = self.choose(arms, in_a_row_after(before, otherwise), span);
                    return in_a_row_after(lead, value);
                }
            }
            whole = waiting.last().map_or(whole, |next| next.span.join(end));
        }
        wrong(span)
    }

    fn arm(&mut self, before: &mut Vec<Expr>, a: &'a ast::Expr, b: &'a ast::Expr, span: Span) -> Arm {
        let condition = self.condition(a);
        let asked = if before.is_empty() { a.span } else { Span::NONE };
        let condition = in_a_row_after(std::mem::take(before), condition);
        Arm { condition, asked, then: self.expr(b), span }
    }

    /// The value of the first case whose condition holds.
    pub(super) fn choose(&mut self, mut arms: Vec<Arm>, mut otherwise: Expr, span: Span) -> Expr {
        self.warn_repeated(&arms);
        if let Some(end) = arms.iter().position(|arm| is_never(&arm.condition)) {
            otherwise = arms.drain(end..).next().map_or(otherwise, |arm| arm.condition);
        }
        if arms.len() < LONG_CHAIN {
            return arms
                .into_iter()
                .rev()
                .fold(otherwise, |rest, arm| self.choice(arm.condition, arm.then, rest, arm.span));
        }
        let number = self.declare(Name::new("case"), Type::INT, span);
        let none = arms.len() as i64;
        let (mut conditions, mut values) = (Vec::new(), Vec::new());
        for (index, arm) in arms.into_iter().enumerate() {
            let found = self.set(number, int(index as i64, arm.span));
            conditions.push((arm.condition, found));
            values.push(arm.then);
        }
        values.push(otherwise);
        let open = self.local_expr(number, span);
        let open = compare(BinaryOp::Equal, open, int(none, span));
        let found = in_turn(conditions, &open, &mut |conditions| {
            conditions.into_iter().rev().fold(Expr::nothing(span), |rest, (condition, found)| {
                let parts = ExprKind::Conditional(Box::new(condition), Box::new(found), Box::new(rest));
                Expr::new(Type::Void, span, parts)
            })
        });
        let value = self.by_halves(number, values, 0, span);
        let body = in_a_row(vec![self.set(number, int(none, span)), found, value], span);
        Expr::new(body.ty.clone(), span, ExprKind::Let(vec![(number, None)], Box::new(body)))
    }

    /// Stores a value in a variable.
    fn set(&self, id: LocalId, value: Expr) -> Expr {
        let (ty, span) = (value.ty.clone(), value.span);
        let place = Box::new(self.local_expr(id, span));
        discard(Expr::new(ty, span, ExprKind::Assign(place, Box::new(value))))
    }

    /// The value whose number a variable holds; the first has the number `first`.
    fn by_halves(&mut self, number: LocalId, mut values: Vec<Expr>, first: usize, span: Span) -> Expr {
        if values.len() <= 1 {
            return values.pop().unwrap_or_else(|| wrong(span));
        }
        let half = values.len() / 2;
        let upper = values.split_off(half);
        let number_read = self.local_expr(number, span);
        let condition = compare(BinaryOp::Less, number_read, int((first + half) as i64, span));
        let lower = self.by_halves(number, values, first, span);
        let upper = self.by_halves(number, upper, first + half, span);
        self.choice(condition, lower, upper, span)
    }
}

/// Pieces of a long list one after the other, each after the first only while `open` holds.
fn in_turn<T>(mut all: Vec<T>, open: &Expr, make: &mut dyn FnMut(Vec<T>) -> Expr) -> Expr {
    if all.len() < LONG_CHAIN {
        return make(all);
    }
    let second = all.split_off(all.len() / 2);
    let (first, second) = (in_turn(all, open, make), in_turn(second, open, make));
    let span = first.span.join(second.span);
    let more = ExprKind::Implies(Box::new(open.clone()), Box::new(second));
    let more = discard(Expr::new(Type::Bool, span, more));
    in_a_row(vec![first, more], span)
}

fn compare(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    let span = a.span;
    Expr::new(Type::Bool, span, ExprKind::Binary(op, Box::new(a), Box::new(b)))
}

/// `a && b`, or `a || b`.
fn joint(a: Expr, b: Expr, all: bool) -> Expr {
    let span = a.span.join(b.span);
    let (a, b) = (Box::new(a), Box::new(b));
    Expr::new(Type::Bool, span, if all { ExprKind::And(a, b) } else { ExprKind::Or(a, b) })
}

fn in_a_row_after(mut before: Vec<Expr>, last: Expr) -> Expr {
    if before.is_empty() {
        return last;
    }
    let span = before[0].span.join(last.span);
    before.push(last);
    in_a_row(before, span)
}

fn int(value: i64, span: Span) -> Expr {
    Expr::new(Type::INT, span, ExprKind::Int(value))
}
