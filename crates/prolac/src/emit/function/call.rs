//! Calls, and what becomes of exceptions that leave them.

use super::{Dest, Function, THIS};
use crate::emit::stmt::StmtKind;
use crate::emit::text::{C, Kind, level};
use crate::program::tree::{Call, Dispatch, Expr};
use crate::program::{MethodId, Type};

impl<'a> Function<'a> {
    /// The text of a call, which nothing is known about but that its operands are in order.
    pub(super) fn call_text(&mut self, call: &'a Call) -> String {
        let all: Vec<&Expr> = call.receiver.iter().chain(&call.args).collect();
        let mut values = self.operands(&all);
        let receiver = call.receiver.as_ref().map(|_| values.remove(0));
        match (call.dispatch, receiver) {
            (Dispatch::Dynamic, Some(receiver)) if self.unit.has_table(call) => {
                self.dynamic_call(call, receiver, &values)
            }
            (_, receiver) => {
                let method = call.method;
                self.needs.methods.insert(method);
                let mut args = Vec::new();
                if let Some(receiver) = receiver {
                    let ty = self.unit.pointer_to(self.unit.program[method].module);
                    args.push(self.assignable(&receiver, &ty));
                }
                args.extend(self.arguments(method, &values));
                let name = if self.is_part(method) {
                    self.needs.parts.insert(method);
                    self.unit.part_name(method)
                } else {
                    self.unit.names.method(method).to_string()
                };
                format!("{name}({})", args.join(", "))
            }
        }
    }

    /// Whether a constructor is called to construct a part of an object, or its parent's.
    fn is_part(&self, method: MethodId) -> bool {
        self.unit.sets_tables(method)
    }

    /// Arguments as the parameters of `method` want them.
    pub(super) fn arguments(&self, method: MethodId, values: &[C]) -> Vec<String> {
        let params = &self.unit.program[method].body.locals;
        values.iter().zip(params).map(|(value, param)| self.assignable(value, &param.ty)).collect()
    }

    fn dynamic_call(&mut self, call: &'a Call, receiver: C, values: &[C]) -> String {
        let slot = self.unit.program[call.method].slot;
        let owner = self.unit.program[slot].module;
        let repeatable = call.receiver.as_ref().is_some_and(|r| self.is_repeatable_value(r));
        let receiver = match &call.receiver {
            Some(e) if !repeatable => self.temporary("object", &e.ty, &receiver),
            _ => receiver,
        };
        let this = self.assignable(&receiver, &self.unit.pointer_to(owner));
        let mut args = vec![this];
        args.extend(self.arguments(slot, values));
        let object = match receiver.text.strip_prefix('&') {
            Some(place) if receiver.level == level::UNARY => format!("{place}."),
            _ => format!("{}->", receiver.operand(level::POSTFIX, false)),
        };
        let name = crate::emit::tables::entry(self.unit, slot);
        format!("{object}{}->{name}({})", self.unit.table_member(owner), args.join(", "))
    }

    /// The value of a call that throws nothing.
    pub(super) fn call_value(&mut self, call: &'a Call) -> C {
        let text = self.call_text(call);
        let returns = match call.dispatch {
            Dispatch::Dynamic if self.unit.has_table(call) => {
                &self.unit.program[self.unit.program[call.method].slot].returns
            }
            _ => &self.unit.program[call.method].returns,
        };
        C::new(text, level::POSTFIX, Kind::of(returns))
    }

    /// A call as a statement.
    pub(super) fn call_to(&mut self, e: &'a Expr, call: &'a Call, dest: &Dest) {
        if self.tails.contains(&std::ptr::from_ref(e)) {
            return self.tail_call(call);
        }
        let throws = self.scan.call_throws(call);
        if !throws.is_empty() {
            let text = self.call_text(call);
            return self.checked(text, &throws, &e.ty, dest);
        }
        if dest.wants_value() && !e.ty.is_void() {
            let value = self.call_value(call);
            return self.deliver(value, &e.ty, dest);
        }
        let text = self.call_text(call);
        self.push(StmtKind::Do(text));
        self.finish(dest);
    }

    /// Assigns the parameters and starts over.
    fn tail_call(&mut self, call: &'a Call) {
        let mut names = Vec::new();
        let mut values: Vec<(&'a Expr, Option<usize>)> = Vec::new();
        if let Some(receiver) = &call.receiver {
            names.push((THIS.to_string(), self.unit.pointer_to(self.unit.program[self.method].module)));
            values.push((receiver, None));
        }
        for (i, arg) in call.args.iter().enumerate() {
            let local = crate::program::LocalId(i as u32);
            names.push((self.local_name(local), self.local_type(local).clone()));
            values.push((arg, Some(i)));
        }
        self.assign_all(&names, &values);
        self.jump("continue");
    }

    /// Whether the call's C value can be this function's own C value whatever happens.
    pub(super) fn passes_result(&self, ty: &Type, dest: &Dest) -> bool {
        match dest {
            Dest::Return => *ty == Type::Bool && self.unit.program[self.method].returns == Type::Bool,
            Dest::End => ty.is_void() && self.can_throw(),
            _ => false,
        }
    }
}
