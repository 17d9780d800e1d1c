//! Exceptions: a `catch` is a label, raising is a jump there or a negative result.

use std::collections::BTreeSet;

use super::branch::{Arm, Outcome};
use super::{Dest, Function};
use crate::emit::stmt::{StmtKind, ends};
use crate::emit::text::{C, level};
use crate::program::tree::{Call, Expr, ExprKind};
use crate::program::{ExceptionId, Type};

/// A `catch` around what is being lowered.
#[derive(Debug)]
pub(super) struct Handler {
    /// What it catches; everything if `None`.
    caught: Option<Vec<ExceptionId>>,
    /// Where it is.
    label: String,
    /// Whether anything jumps there.
    used: bool,
}

impl Handler {
    fn catches(&self, exception: ExceptionId) -> bool {
        self.caught.as_ref().is_none_or(|caught| caught.contains(&exception))
    }
}

impl<'a> Function<'a> {
    /// The innermost handler of an exception; `None` if it leaves the function.
    fn handler(&self, exception: ExceptionId) -> Option<usize> {
        self.handlers.iter().rposition(|h| h.catches(exception))
    }

    fn leave(&mut self, to: Option<usize>, value: &str) {
        match to.and_then(|i| self.handlers.get_mut(i)) {
            Some(handler) => {
                handler.used = true;
                let text = format!("goto {}", handler.label);
                self.jump(text);
            }
            None => self.jump(format!("return {value}")),
        }
    }

    pub(super) fn raise(&mut self, exception: ExceptionId) {
        let to = self.handler(exception);
        let value = self.unit.names.exception(exception).to_string();
        self.leave(to, &value);
    }

    /// A call that can throw, given as text: looks at its result and brings its value to `dest`.
    pub(super) fn checked(&mut self, call: String, throws: &BTreeSet<ExceptionId>, ty: &Type, dest: &Dest) {
        let escapes = throws.iter().all(|&e| self.handler(e).is_none());
        if escapes && self.passes_result(ty, dest) {
            return self.jump(format!("return {call}"));
        }
        let wanted = dest.wants_value() && !ty.is_void();
        let first = throws.iter().next().and_then(|&e| self.handler(e));
        let single = throws.iter().all(|&e| self.handler(e) == first);
        if single && first.is_some() && !wanted {
            self.check(format!("{call} < 0"), first, "");
        } else {
            let result = self.set_result(call);
            self.check_result(&result, throws);
        }
        if wanted {
            let result = self.result.clone();
            self.deliver(C::primary(result, &Type::Bool), ty, dest);
        } else {
            self.finish(dest);
        }
    }

    /// The value of a call that can throw, after exceptions have gone their ways.
    pub(super) fn tested_call(&mut self, call: String, throws: &BTreeSet<ExceptionId>) -> C {
        let result = self.set_result(call);
        self.check_result(&result, throws);
        C::primary(result, &Type::Bool)
    }

    fn set_result(&mut self, call: String) -> String {
        let result = self.result.clone();
        self.uses_result = true;
        self.push(StmtKind::Store { place: result.clone(), value: call });
        result
    }

    /// `if (test) leave;`
    fn check(&mut self, test: String, to: Option<usize>, value: &str) {
        let then = self.block(|f| f.leave(to, value));
        self.push_choice(C::truth(test, level::ORDER), then, Vec::new());
    }

    /// Leaves to where each exception goes.
    fn check_result(&mut self, result: &str, throws: &BTreeSet<ExceptionId>) {
        let mut open: Vec<ExceptionId> = throws.iter().copied().collect();
        while let Some(&first) = open.first() {
            let to = self.handler(first);
            let (same, other): (Vec<_>, Vec<_>) = open.into_iter().partition(|&e| self.handler(e) == to);
            let test = if other.is_empty() { format!("{result} < 0") } else { self.is_one_of(result, &same) };
            self.check(test, to, result);
            open = other;
        }
    }

    fn is_one_of(&self, result: &str, exceptions: &[ExceptionId]) -> String {
        let tests: Vec<String> =
            exceptions.iter().map(|&e| format!("{result} == {}", self.unit.names.exception(e))).collect();
        tests.join(" || ")
    }

    /// A choice on whether an exception is caught.
    pub(super) fn caught(
        &mut self,
        body: &'a Expr,
        caught: &Option<Vec<ExceptionId>>,
        (yes, no): (&Arm<'a>, &Arm<'a>),
        dest: &Dest,
    ) {
        if let Some(call) = self.single_call(body, caught) {
            let text = self.call_text(call);
            if yes.is_empty() && no.is_empty() {
                self.push(StmtKind::Do(text));
                return self.finish(dest);
            }
            return self.test(Outcome::negative(&text), yes, no, dest);
        }
        let wish = match caught.as_deref() {
            Some([only]) => {
                let name = self.unit.program[*only].path.last().map_or(String::new(), |n| n.to_c());
                format!("catch_{name}")
            }
            _ => "caught".into(),
        };
        let label = self.fresh_label(&wish);
        self.handlers.push(Handler { caught: caught.clone(), label, used: false });
        self.lower_to(body, &Dest::Nowhere);
        let Some(handler) = self.handlers.pop() else { return };
        if !handler.used {
            return self.arm(no, dest);
        }
        self.with_label(handler.label, yes, no, dest);
    }

    /// What happens without an exception, then the label and what happens with one.
    fn with_label(&mut self, label: String, yes: &Arm<'a>, no: &Arm<'a>, dest: &Dest) {
        let mut done = None;
        if !ends(&self.out) {
            let leaving = self.must_return;
            self.must_return |= dest.leaves();
            self.arm(no, dest);
            self.finish(dest);
            self.must_return = leaving;
            if !ends(&self.out) && !yes.is_empty() {
                let label = self.fresh_label("done");
                self.jump(format!("goto {label}"));
                done = Some(label);
            }
        }
        self.push(StmtKind::Label(label));
        self.arm(yes, dest);
        if let Some(done) = done {
            self.push(StmtKind::Label(done));
        }
    }

    /// The call that `body` is, if everything that it throws is caught.
    fn single_call(&mut self, body: &'a Expr, caught: &Option<Vec<ExceptionId>>) -> Option<&'a Call> {
        match &body.kind {
            ExprKind::Convert(inner) if body.ty.is_void() => self.single_call(inner, caught),
            ExprKind::Call(call) => {
                let throws = self.scan.call_throws(call);
                let args_calm =
                    call.receiver.iter().chain(&call.args).all(|e| self.scan.throws(e).is_empty());
                let all = throws.iter().all(|e| caught.as_ref().is_none_or(|c| c.contains(e)));
                (args_calm && all && !throws.is_empty()).then_some(&**call)
            }
            _ => None,
        }
    }
}
