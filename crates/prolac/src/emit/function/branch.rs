//! Choices: conditions become control flow where C cannot say them in one expression.

use std::rc::Rc;

use super::value::{is_cold, is_not_zero};
use super::{Dest, Function};
use crate::emit::helpers::Helper;
use crate::emit::stmt::{Stmt, StmtKind, ends};
use crate::emit::text::{C, Kind, level};
use crate::program::Type;
use crate::program::tree::{Expr, ExprKind, UnaryOp};

/// What one side of a choice does.
#[derive(Clone, Debug, Default)]
pub(super) struct Arm<'e> {
    /// For their effects, in this order.
    effects: Vec<&'e Expr>,
    /// What its value is.
    value: Value<'e>,
}

/// The value of one side of a choice.
#[derive(Clone, Debug, Default)]
enum Value<'e> {
    /// None.
    #[default]
    None,
    /// None, and what comes after the choice goes on.
    Skip,
    /// A constant.
    Bool(bool),
    /// An expression's.
    Of(&'e Expr),
    /// That of another choice.
    Choice(Rc<(&'e Expr, Arm<'e>, Arm<'e>)>),
}

impl<'e> Arm<'e> {
    /// A side that evaluates `e`.
    pub fn of(e: &'e Expr) -> Self {
        let value = match &e.kind {
            ExprKind::Nothing => Value::None,
            ExprKind::Int(value) if e.ty == Type::Bool => Value::Bool(*value != 0),
            _ => Value::Of(e),
        };
        Arm { effects: Vec::new(), value }
    }

    /// A side that has a known value.
    fn bool(value: bool) -> Self {
        Arm { effects: Vec::new(), value: Value::Bool(value) }
    }

    fn skip() -> Self {
        Arm { effects: Vec::new(), value: Value::Skip }
    }

    fn choice(test: &'e Expr, yes: &Self, no: &Self) -> Self {
        Arm { effects: Vec::new(), value: Value::Choice(Rc::new((test, yes.clone(), no.clone()))) }
    }

    fn after(&self, first: &'e Expr) -> Self {
        let mut effects = vec![first];
        effects.extend(&self.effects);
        Arm { effects, value: self.value.clone() }
    }

    /// Whether it does nothing.
    pub fn is_empty(&self) -> bool {
        self.effects.is_empty() && matches!(self.value, Value::None | Value::Skip)
    }

    /// Whether it can go on after the choice.
    fn skips(&self) -> bool {
        match &self.value {
            Value::Skip => true,
            Value::Choice(choice) => choice.1.skips() || choice.2.skips(),
            _ => false,
        }
    }

    /// Whether it can be written twice.
    fn is_small(&self) -> bool {
        self.effects.is_empty() && matches!(self.value, Value::None | Value::Skip | Value::Bool(_))
    }

    fn is_cold(&self) -> bool {
        match (self.effects.first(), &self.value) {
            (Some(first), _) => is_cold(first),
            (None, Value::Of(e)) => is_cold(e),
            (None, Value::Choice(choice)) => is_cold(choice.0),
            _ => false,
        }
    }
}

/// One side of a choice between conditions.
#[derive(Clone, Copy)]
enum Side<'e> {
    Known(bool),
    Of(&'e Expr),
}

impl<'e> Side<'e> {
    fn of(e: &'e Expr) -> Self {
        match &e.kind {
            ExprKind::Int(value) => Side::Known(*value != 0),
            ExprKind::Outline(_, inner) if matches!(inner.kind, ExprKind::Int(_)) => Side::of(inner),
            _ => Side::Of(e),
        }
    }

    fn arm(self, yes: &Arm<'e>, no: &Arm<'e>) -> Arm<'e> {
        match self {
            Side::Known(true) => yes.clone(),
            Side::Known(false) => no.clone(),
            Side::Of(e) => Arm::choice(e, yes, no),
        }
    }
}

/// A condition that is ready to be tested.
pub(super) enum Outcome<'e> {
    /// A simple expression.
    Of(&'e Expr),
    /// C, and its opposite.
    Text(C, C),
}

impl Outcome<'_> {
    /// C.
    fn value(c: C) -> Self {
        let opposite = C::truth(format!("!{}", c.operand(level::UNARY, true)), level::UNARY);
        Outcome::Text(c, opposite)
    }

    /// Whether a C call gives a negative number.
    pub fn negative(call: &str) -> Self {
        let test = |op: &str| C::truth(format!("{call} {op} 0"), level::ORDER);
        Outcome::Text(test("<"), test(">="))
    }
}

impl<'a> Function<'a> {
    /// `test ? yes : no`
    pub(super) fn conditional(
        &mut self,
        e: &'a Expr,
        test: &'a Expr,
        yes: &'a Expr,
        no: &'a Expr,
        dest: &Dest,
    ) {
        let cold = is_cold(yes) || is_cold(no);
        if dest.wants_value() && !cold && !self.has_tail(yes) && !self.has_tail(no) && self.is_simple(e) {
            let value = self.embed(|f| f.value(e));
            if value.text.len() <= 50 && value.text.matches('?').count() == 1 {
                return self.deliver(value, &e.ty, dest);
            }
        }
        self.branch(test, &Arm::of(yes), &Arm::of(no), dest);
    }

    fn has_tail(&self, e: &Expr) -> bool {
        let mut found = false;
        if !self.tails.is_empty() {
            e.walk(&mut |e| found |= self.tails.contains(&std::ptr::from_ref(e)));
        }
        found
    }

    /// `&&`, `||`, `==>` and `catch`.
    pub(super) fn logic(&mut self, e: &'a Expr, dest: &Dest) {
        if dest.wants_value() && e.ty == Type::Bool && !self.has_tail(e) && self.is_simple(e) {
            let value = self.value(e);
            return self.deliver(value, &e.ty, dest);
        }
        let wanted = dest.wants_value();
        let known = |value| if wanted { Arm::bool(value) } else { Arm::default() };
        match &e.kind {
            ExprKind::And(a, b) => self.branch(a, &Arm::of(b), &known(false), dest),
            ExprKind::Or(a, b) => self.branch(a, &known(true), &Arm::of(b), dest),
            ExprKind::Implies(a, b) if wanted => self.branch(a, &known(true).after(b), &known(false), dest),
            ExprKind::Implies(a, b) => self.branch(a, &Arm::of(b), &known(false), dest),
            _ => self.branch(e, &known(true), &known(false), dest),
        }
    }

    /// Does one side of a choice.
    pub(super) fn arm(&mut self, arm: &Arm<'a>, dest: &Dest) {
        for e in &arm.effects {
            self.lower_to(e, &Dest::Nowhere);
            if ends(&self.out) {
                return;
            }
        }
        match &arm.value {
            Value::None => self.finish(dest),
            Value::Skip => {}
            Value::Choice(choice) => self.branch(choice.0, &choice.1, &choice.2, dest),
            Value::Of(e) => self.lower_to(e, dest),
            Value::Bool(value) => {
                let text = C::literal(u8::from(*value).to_string(), Kind::Int(32, true));
                self.deliver(text, &Type::Bool, dest);
            }
        }
    }

    /// Does `yes` or `no`.
    pub(super) fn branch(&mut self, test: &'a Expr, yes: &Arm<'a>, no: &Arm<'a>, dest: &Dest) {
        let outer = self.span;
        if !test.span.is_none() {
            self.span = test.span;
        }
        self.branch_here(test, yes, no, dest);
        self.span = outer;
    }

    fn branch_here(&mut self, test: &'a Expr, yes: &Arm<'a>, no: &Arm<'a>, dest: &Dest) {
        match &test.kind {
            ExprKind::Int(value) => self.arm(if *value != 0 { yes } else { no }, dest),
            ExprKind::Unary(UnaryOp::Not, inner) => self.branch(inner, no, yes, dest),
            ExprKind::Outline(_, inner) => self.branch(inner, yes, no, dest),
            _ if self.is_simple(test) => self.test(Outcome::Of(test), yes, no, dest),
            ExprKind::Sequence(all) => {
                let Some((last, before)) = all.split_last() else { return };
                for e in before {
                    self.lower_to(e, &Dest::Nowhere);
                }
                self.branch(last, yes, no, dest);
            }
            ExprKind::Let(bindings, body) => {
                self.bind(bindings);
                self.branch(body, yes, no, dest);
            }
            ExprKind::CBlock(block) => {
                self.code(block, test.span);
                self.arm(yes, dest);
            }
            ExprKind::Raise(exception) => self.raise(*exception),
            ExprKind::Implies(a, b) => self.branch(a, &yes.after(b), no, dest),
            ExprKind::And(a, b) => self.nested(test, (a, [Side::of(b), Side::Known(false)]), yes, no, dest),
            ExprKind::Or(a, b) => self.nested(test, (a, [Side::Known(true), Side::of(b)]), yes, no, dest),
            ExprKind::Conditional(a, b, c) => {
                self.nested(test, (a, [Side::of(b), Side::of(c)]), yes, no, dest);
            }
            ExprKind::Catch(body, caught) => self.caught(body, caught, (yes, no), dest),
            ExprKind::Call(call) if !self.scan.call_throws(call).is_empty() => {
                let throws = self.scan.call_throws(call);
                let text = self.call_text(call);
                let result = self.tested_call(text, &throws);
                self.test(Outcome::value(result), yes, no, dest);
            }
            ExprKind::Convert(inner) if inner.ty.is_int() => {
                let value = self.value(inner);
                let value = self.exact_int(value, &inner.ty);
                self.test(
                    Outcome::Text(is_not_zero(false, &value), is_not_zero(true, &value)),
                    yes,
                    no,
                    dest,
                );
            }
            _ => {
                let value = self.value(test);
                self.test(Outcome::value(value), yes, no, dest);
            }
        }
    }

    /// A choice whose test is itself a choice. Each side of the inner one leads to `yes` or `no`, or to both.
    fn nested(
        &mut self,
        e: &'a Expr,
        (a, sides): (&'a Expr, [Side<'a>; 2]),
        yes: &Arm<'a>,
        no: &Arm<'a>,
        dest: &Dest,
    ) {
        let leads =
            |value: bool| sides.iter().filter(|side| !matches!(side, Side::Known(v) if *v != value)).count();
        let (yes_once, no_once) = (leads(true) < 2 || yes.is_small(), leads(false) < 2 || no.is_small());
        let skip = Arm::skip();
        match (yes_once, no_once) {
            (true, true) => self.branch(a, &sides[0].arm(yes, no), &sides[1].arm(yes, no), dest),
            (true, false) if dest.leaves() && !yes.skips() => {
                self.leaving(|f| f.branch(a, &sides[0].arm(yes, &skip), &sides[1].arm(yes, &skip), dest));
                self.arm(no, dest);
            }
            (false, true) if dest.leaves() && !no.skips() => {
                self.leaving(|f| f.branch(a, &sides[0].arm(&skip, no), &sides[1].arm(&skip, no), dest));
                self.arm(yes, dest);
            }
            _ => {
                let flag = self.by_statements(e);
                self.test(Outcome::value(flag), yes, no, dest);
            }
        }
    }

    /// Makes sure that what `make` makes leaves the function at its ends.
    fn leaving(&mut self, make: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.must_return, true);
        make(self);
        self.must_return = outer;
    }

    /// Tests a condition that is ready.
    pub(super) fn test(&mut self, test: Outcome<'a>, yes: &Arm<'a>, no: &Arm<'a>, dest: &Dest) {
        let ends_at_once = matches!(dest, Dest::Return) || self.must_return && matches!(dest, Dest::End);
        let short = no.is_small() && !yes.is_small() || self.arm_loops(yes) && !self.arm_loops(no);
        let guard = ends_at_once && short && !matches!(no.value, Value::Skip);
        if guard {
            let then = self.block(|f| f.arm(no, dest));
            self.choose(&test, true, (yes, no), then, Vec::new());
            return self.arm(yes, dest);
        }
        let then = self.block(|f| f.arm(yes, dest));
        if ends(&then) {
            self.choose(&test, false, (yes, no), then, Vec::new());
            return self.arm(no, dest);
        }
        let otherwise = self.block(|f| f.arm(no, dest));
        match (then.is_empty(), otherwise.is_empty()) {
            (true, true) => self.only_effects(&test),
            (true, false) => self.choose(&test, true, (yes, no), otherwise, Vec::new()),
            _ => self.choose(&test, false, (yes, no), then, otherwise),
        }
    }

    /// Whether one side of a choice ends with a jump to the start of the method.
    fn arm_loops(&self, arm: &Arm<'a>) -> bool {
        match &arm.value {
            Value::Of(e) => self.has_tail(e),
            Value::Choice(choice) => self.arm_loops(&choice.1) || self.arm_loops(&choice.2),
            _ => false,
        }
    }

    /// Tests a condition that nothing depends on.
    fn only_effects(&mut self, test: &Outcome<'a>) {
        match test {
            Outcome::Of(e) if self.effects(e).has_effect() => self.lower_to(e, &Dest::Nowhere),
            Outcome::Text(c, _) if c.text.contains('(') => {
                self.push(StmtKind::Do(format!("(void){}", c.operand(level::UNARY, true))));
            }
            _ => {}
        }
    }

    /// `if`, with a hint when one side is cold.
    fn choose(
        &mut self,
        test: &Outcome<'a>,
        negated: bool,
        arms: (&Arm<'a>, &Arm<'a>),
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    ) {
        let c = match test {
            Outcome::Of(e) => self.condition(e, negated),
            Outcome::Text(_, no) if negated => no.clone(),
            Outcome::Text(yes, _) => yes.clone(),
        };
        let (first, second) = if negated { (arms.1, arms.0) } else { arms };
        let hint = match (first.is_cold(), second.is_cold()) {
            (true, false) => Some(Helper::Unlikely),
            (false, true) => Some(Helper::Likely),
            _ => None,
        };
        let test = match hint {
            Some(helper) => self.expect(helper, c),
            None if c.level == level::ASSIGN => C::truth(format!("({})", c.text), level::PRIMARY),
            None => c,
        };
        self.push_choice(test, then, otherwise);
    }

    /// `if`; one in another becomes `&&`.
    pub(super) fn push_choice(&mut self, test: C, mut then: Vec<Stmt>, otherwise: Vec<Stmt>) {
        if let ([Stmt { kind: StmtKind::If { test: inner, otherwise: rest, .. }, .. }], []) =
            (&then[..], &otherwise[..])
            && rest.is_empty()
        {
            let both = format!("{} && {}", test.operand(level::AND, false), inner.operand(level::AND, true));
            if both.len() <= 80
                && let Some(Stmt { kind: StmtKind::If { then, .. }, .. }) = then.pop()
            {
                return self.push(StmtKind::If { test: C::truth(both, level::AND), then, otherwise });
            }
        }
        self.push(StmtKind::If { test, then, otherwise });
    }
}
