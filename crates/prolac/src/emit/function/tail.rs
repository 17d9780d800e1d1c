//! Self tail calls: which calls become jumps, and the parallel assignment of the parameters.

use super::Function;
use crate::emit::stmt::StmtKind;
use crate::emit::text::C;
use crate::program::tree::{Dispatch, Expr, ExprKind};
use crate::program::{LocalId, Type};

impl<'a> Function<'a> {
    /// Notes the tail calls of the method itself in `root`, if they can become jumps.
    pub(super) fn find_tails(&mut self, root: &'a Expr) {
        if !self.scan.shared.contains(&true) {
            self.tails_in(root);
        }
    }

    fn tails_in(&mut self, e: &'a Expr) {
        match &e.kind {
            ExprKind::Call(call) => {
                let itself = call.dispatch == Dispatch::Exact && call.method == self.method;
                if itself && !self.unit.sets_tables(self.method) {
                    self.tails.insert(e);
                }
            }
            ExprKind::Sequence(all) => {
                if let Some(last) = all.last() {
                    self.tails_in(last);
                }
            }
            ExprKind::Let(_, body) => self.tails_in(body),
            ExprKind::Outline(_, body) => self.tails_in(body),
            ExprKind::Conditional(_, a, b) => {
                self.tails_in(a);
                self.tails_in(b);
            }
            ExprKind::And(_, b) | ExprKind::Or(_, b) => self.tails_in(b),
            ExprKind::Convert(inner) if e.ty.is_void() && !self.returns_value() => self.tails_in(inner),
            ExprKind::Implies(_, b) if !self.returns_value() => self.tails_in(b),
            _ => {}
        }
    }

    /// Gives several variables new values, all computed before any changes.
    pub(super) fn assign_all(&mut self, names: &[(String, Type)], values: &[(&'a Expr, Option<usize>)]) {
        let all: Vec<&'a Expr> = values.iter().map(|(e, _)| *e).collect();
        let calm = all.iter().all(|e| self.is_simple(e) && !self.effects(e).has_effect());
        if !calm {
            let values = self.operands(&all);
            let held = self.hold(names, values);
            return held.into_iter().zip(names).for_each(|(value, (name, _))| self.set(name, value));
        }
        let mut open: Vec<usize> = (0..all.len()).filter(|&i| !self.is_same(values[i])).collect();
        while !open.is_empty() {
            let free =
                open.iter().position(|&i| !open.iter().any(|&j| j != i && self.needs(all[j], values[i].1)));
            if let Some(place) = free {
                let i = open.remove(place);
                let value = self.value(all[i]);
                let text = self.assignable(&value, &names[i].1);
                self.set(&names[i].0, text);
                continue;
            }
            // A circle: everything that is left waits in variables.
            let left: Vec<(String, Type)> = open.iter().map(|&i| names[i].clone()).collect();
            let waiting = open.iter().map(|&i| self.value(all[i])).collect();
            let last = open.len() - 1;
            let held = self.hold_but(&left, waiting, last);
            let order = std::iter::once(last).chain(0..last);
            order.for_each(|i| self.set(&left[i].0, held[i].clone()));
            return;
        }
    }

    fn hold(&mut self, names: &[(String, Type)], values: Vec<C>) -> Vec<String> {
        let last = values.len();
        self.hold_but(names, values, last)
    }

    /// Puts values into new variables, all but the one at `direct`.
    fn hold_but(&mut self, names: &[(String, Type)], values: Vec<C>, direct: usize) -> Vec<String> {
        let mut held = Vec::new();
        for (i, (value, (name, ty))) in values.into_iter().zip(names).enumerate() {
            held.push(if i == direct {
                self.assignable(&value, ty)
            } else {
                let wish = if name == super::THIS { "next".to_string() } else { format!("next_{name}") };
                self.temporary(&wish, ty, &value).text
            });
        }
        held
    }

    fn set(&mut self, name: &str, value: String) {
        self.push(StmtKind::Store { place: name.to_string(), value });
    }

    /// Whether a parameter is passed on as it is.
    fn is_same(&self, (e, param): (&Expr, Option<usize>)) -> bool {
        match (&e.kind, param) {
            (ExprKind::Local(local), Some(i)) => local.0 as usize == i,
            (ExprKind::AddressOf(place), None) => matches!(place.kind, ExprKind::This),
            _ => false,
        }
    }

    /// Whether `e` uses the parameter, or the receiver if it is none.
    fn needs(&self, e: &Expr, param: Option<usize>) -> bool {
        let mut found = false;
        e.walk(&mut |e| {
            found |= match (&e.kind, param) {
                (ExprKind::Local(local), Some(i)) => *local == LocalId(i as u32),
                (ExprKind::This, None) => true,
                _ => false,
            };
        });
        found
    }
}
