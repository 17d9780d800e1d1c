//! Variables that need not be: copies, constants, values used once, values never used.
//!
//! In: any body. Out: a body that does the same, in which a `let` variable that keeps its first value is gone if
//! - that value is a constant, another such variable, or an address made of such: it takes the variable's place,
//! - it is used once, and its value can as well be computed there: nothing between disturbs it ([`Effects::disturbs`]),
//! - it is not used: what its value does is left.
//!
//! Two walks and for each variable a look at no more than [`HORIZON`] expressions: linear.

use super::fold::{discard, is_pure, rewrite_with, sequence};
use super::instantiate::is_lasting;
use crate::analyze::effects::{Effects, Usage, effects, own};
use crate::program::LocalId;
use crate::program::tree::{Body, Expr, ExprKind};

/// How far to look for the one use of a variable.
const HORIZON: u32 = 200;

/// Removes variables. Whether there was one to remove.
pub fn propagate(body: &mut Body) -> bool {
    let usage = Usage::new(body);
    let values = vec![None; body.locals.len()];
    let mut pass = Propagate { usage, values, changed: false };
    pass.expr(&mut body.root);
    pass.changed
}

struct Propagate {
    usage: Usage,
    /// What takes the place of variables.
    values: Vec<Option<Expr>>,
    changed: bool,
}

type Bindings = Vec<(LocalId, Option<Expr>)>;

impl Propagate {
    fn expr(&mut self, expr: &mut Expr) {
        match &mut expr.kind {
            ExprKind::Local(local) => {
                if let Some(value) = &self.values[local.0 as usize] {
                    recount(&mut self.usage, value, |n| n + 1);
                    *expr = Expr { span: expr.span, ..value.clone() };
                }
            }
            ExprKind::Let(bindings, body) => {
                bindings.iter_mut().filter_map(|(_, value)| value.as_mut()).for_each(|v| self.expr(v));
                self.take_lasting(bindings);
                self.expr(body);
                rewrite_with(expr, |e| self.shrink(e));
            }
            _ => expr.for_each_child_mut(|part| self.expr(part)),
        }
    }

    /// Notes the values that take the place of their variables and removes the bindings, and those of no use.
    fn take_lasting(&mut self, bindings: &mut Bindings) {
        let count = bindings.len();
        bindings.retain_mut(|(local, value)| {
            let at = local.0 as usize;
            let Some(initial) = value.as_ref().filter(|_| self.usage.is_stable(*local)) else {
                return self.usage.uses[at] > 0;
            };
            let unused = self.usage.uses[at] == 0 && is_pure(initial);
            if !unused && !is_lasting(initial, &self.usage) {
                return true;
            }
            recount(&mut self.usage, initial, |n| n - 1);
            self.values[at] = value.take();
            false
        });
        self.changed |= bindings.len() != count;
    }

    /// Removes bindings from the end while they are used once or not at all.
    fn shrink(&mut self, expr: Expr) -> Expr {
        let span = expr.span;
        let ExprKind::Let(mut bindings, mut body) = expr.kind else { return expr };
        while let Some((local, value)) = bindings.pop_if(|(_, value)| value.is_some()) {
            let Some(value) = value else { break };
            match self.usage.is_stable(local).then_some(self.usage.uses[local.0 as usize]) {
                Some(0) => {
                    let effect = discard(value);
                    // Folding may name a variable twice.
                    recount(&mut self.usage, &effect, |n| n + 1);
                    rewrite_with(&mut body, |body| sequence(vec![effect], body));
                }
                Some(1) => {
                    if let Some(value) = self.move_in(local, value, &mut body) {
                        bindings.push((local, Some(value)));
                        break;
                    }
                }
                _ => {
                    bindings.push((local, Some(value)));
                    break;
                }
            }
            self.changed = true;
        }
        let ty = body.ty.clone();
        if bindings.is_empty() { *body } else { Expr::new(ty, span, ExprKind::Let(bindings, body)) }
    }

    /// Puts a value to the place of the one use of its variable; gives it back if that cannot be done.
    fn move_in(&self, local: LocalId, value: Expr, body: &mut Expr) -> Option<Expr> {
        let effects = effects(&value, &self.usage);
        let mut mover = Mover { usage: &self.usage, local, effects, value: Some(value), left: HORIZON };
        mover.search(body, true);
        mover.value
    }
}

/// Counts the variables of an expression that comes or goes. Counts may be too high, never too low.
fn recount(usage: &mut Usage, expr: &Expr, change: impl Fn(u32) -> u32) {
    expr.walk(&mut |e| {
        if let ExprKind::Local(local) = e.kind {
            let uses = &mut usage.uses[local.0 as usize];
            *uses = change(*uses);
        }
    });
}

/// Follows the order of evaluation from the initialisation of a variable to its use.
struct Mover<'a> {
    usage: &'a Usage,
    local: LocalId,
    effects: Effects,
    value: Option<Expr>,
    left: u32,
}

/// How a search goes on.
#[derive(PartialEq, Eq)]
enum Search {
    /// The use is not here, and nothing here is in the way.
    Further,
    /// It was found, or it cannot be reached.
    Over,
}

impl Mover<'_> {
    /// `certain` says whether the expression is evaluated whenever the variable is initialised.
    fn search(&mut self, expr: &mut Expr, certain: bool) -> Search {
        if matches!(expr.kind, ExprKind::Local(local) if local == self.local) {
            if let Some(value) = self.value.take_if(|_| certain || self.effects.pure()) {
                *expr = value;
            }
            return Search::Over;
        }
        self.left = self.left.saturating_sub(1);
        if self.left == 0 || self.parts(expr, certain) == Search::Over {
            return Search::Over;
        }
        match self.effects.disturbs(own(expr, self.usage)) {
            true => Search::Over,
            false => Search::Further,
        }
    }

    fn parts(&mut self, expr: &mut Expr, certain: bool) -> Search {
        match &mut expr.kind {
            ExprKind::And(a, b) | ExprKind::Or(a, b) | ExprKind::Implies(a, b) => {
                self.in_order([(a, certain), (b, false)])
            }
            ExprKind::Conditional(c, a, b) => self.in_order([(c, certain), (a, false), (b, false)]),
            // The place is read before or after the value is computed: let nothing move between.
            ExprKind::Update { .. } if self.effects.writes => Search::Over,
            ExprKind::Catch(..) if self.effects.ends => Search::Over,
            // C code names places, not values.
            ExprKind::CBlock(_) => Search::Over,
            _ => {
                let mut state = Search::Further;
                expr.for_each_child_mut(|part| {
                    if state == Search::Further {
                        state = self.search(part, certain);
                    }
                });
                state
            }
        }
    }

    fn in_order<const N: usize>(&mut self, parts: [(&mut Box<Expr>, bool); N]) -> Search {
        for (part, certain) in parts {
            if self.search(part, certain) == Search::Over {
                return Search::Over;
            }
        }
        Search::Further
    }
}
