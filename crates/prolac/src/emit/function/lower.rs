//! Expressions as statements.

use super::{Dest, Function, Target};
use crate::Name;
use crate::emit::effects::Effects;
use crate::emit::helpers::Helper;
use crate::emit::stmt::{StmtKind, ends};
use crate::emit::text::{C, level};
use crate::program::tree::{Expr, ExprKind};
use crate::program::{LocalId, Type};

impl<'a> Function<'a> {
    /// Makes statements that evaluate `e` and bring its value to `dest`.
    pub(super) fn lower_to(&mut self, e: &'a Expr, dest: &Dest) {
        let outer = self.span;
        if !e.span.is_none() {
            self.span = e.span;
        }
        self.lower_here(e, dest);
        self.span = outer;
    }

    fn lower_here(&mut self, e: &'a Expr, dest: &Dest) {
        if let Dest::Store(target) = dest
            && self.writes_too(e, target)
        {
            let value = self.value(e);
            let value = self.temporary("value", &e.ty, &value);
            return self.store(target, &value);
        }
        match &e.kind {
            ExprKind::Nothing => self.finish(dest),
            ExprKind::Sequence(all) => self.sequence(all, dest),
            ExprKind::Let(bindings, body) => {
                self.bind(bindings);
                self.lower_to(body, dest);
            }
            ExprKind::Outline(_, inner) => self.lower_to(inner, dest),
            ExprKind::Convert(inner) if e.ty.is_void() => self.lower_to(inner, dest),
            ExprKind::Raise(exception) => self.raise(*exception),
            ExprKind::Missing => self.missing(),
            ExprKind::CBlock(block) => {
                self.code(block, e.span);
                self.deliver(C::literal("1".into(), C::truth("", 0).kind), &Type::Bool, dest);
            }
            ExprKind::Call(call) => self.call_to(e, call, dest),
            ExprKind::Construct { module, args } => self.construct_to(*module, args, e, dest),
            ExprKind::ConstructAt { place, module, args } => {
                self.construct_at(place, *module, args);
                self.finish(dest);
            }
            ExprKind::Conditional(test, yes, no) => self.conditional(e, test, yes, no, dest),
            ExprKind::And(..) | ExprKind::Or(..) | ExprKind::Implies(..) | ExprKind::Catch(..) => {
                self.logic(e, dest);
            }
            _ if dest.wants_value() => {
                let value = self.value(e);
                self.deliver(value, &e.ty, dest);
            }
            ExprKind::Assign(place, value) => {
                self.assign(place, value);
                self.finish(dest);
            }
            ExprKind::Update { .. } | ExprKind::Step { .. } => {
                self.update_statement(e);
                self.finish(dest);
            }
            ExprKind::Binary(op, _, divisor) if crate::emit::effects::can_trap(*op, divisor) => {
                let value = self.value(e);
                self.push(StmtKind::Do(value.text));
                self.finish(dest);
            }
            _ => {
                let mut children = Vec::new();
                e.for_each_child(|child| children.push(child));
                children.into_iter().for_each(|child| self.lower_to(child, &Dest::Nowhere));
                self.finish(dest);
            }
        }
    }

    /// Whether `e`, which would be on the right side of an assignment, itself changes what is assigned to.
    fn writes_too(&mut self, e: &'a Expr, target: &Target) -> bool {
        self.is_simple(e) && writes_inside(e) && self.effects(e).conflicts(target.write)
    }

    fn sequence(&mut self, all: &'a [Expr], dest: &Dest) {
        let Some((last, before)) = all.split_last() else { return self.finish(dest) };
        for e in before {
            self.lower_to(e, &Dest::Nowhere);
            if ends(&self.out) {
                return;
            }
        }
        self.lower_to(last, dest);
    }

    /// Declares the variables of a `let`.
    pub(super) fn bind(&mut self, bindings: &'a [(LocalId, Option<Expr>)]) {
        let values: Vec<_> = bindings.iter().map(|(local, value)| (*local, value.as_ref())).collect();
        for (local, value) in values {
            let ty = self.local_type(local);
            match value {
                None => {
                    let name = self.name_local(local);
                    let zero = self.unit.needs_zero(self.method, local).then(|| zero(ty).to_string());
                    self.declare(&name, ty, zero);
                }
                Some(value) => self.bind_value(local, ty, value),
            }
        }
    }

    fn bind_value(&mut self, local: LocalId, ty: &'a Type, value: &'a Expr) {
        let outer = std::mem::replace(&mut self.span, value.span);
        if self.is_simple(value) {
            let value = self.value(value);
            let text = self.assignable(&value, ty);
            let name = self.name_local(local);
            self.declare(&name, ty, Some(text));
        } else {
            let name = self.name_local(local);
            self.declare_for(&name, ty, value);
        }
        self.span = outer;
    }

    /// Declares a variable and brings the value of `e` there.
    pub(super) fn declare_for(&mut self, name: &str, ty: &Type, e: &'a Expr) {
        let start = self.out.len();
        self.declare(name, ty, None);
        let target = Target {
            text: name.to_string(),
            ty: ty.clone(),
            fresh: true,
            write: Effects::default(),
            spared: None,
        };
        self.lower_to(e, &Dest::Store(target));
        self.join_declaration(start, name);
    }

    /// If the variable declared at `start` gets its value once, and last: declares it there.
    fn join_declaration(&mut self, start: usize, name: &str) {
        let Some(StmtKind::Store { place, value }) = self.out.last().map(|s| s.kind.clone()) else { return };
        if place != name {
            return;
        }
        let declaration = self.out.remove(start);
        if let (StmtKind::Declare { name, declarator, .. }, Some(last)) =
            (declaration.kind, self.out.last_mut())
        {
            last.kind = StmtKind::Declare { name, declarator, value: Some(value), unused: false };
        }
    }

    /// Brings a value to where it is wanted.
    pub(super) fn deliver(&mut self, value: C, ty: &Type, dest: &Dest) {
        match dest {
            Dest::Nowhere | Dest::End => self.finish(dest),
            Dest::Return => {
                let returns = self.unit.program[self.method].returns.clone();
                let to = if ty.is_void() { ty.clone() } else { returns };
                let text = self.assignable(&value, &to);
                self.jump(format!("return {text}"));
            }
            Dest::Store(target) => self.store(target, &value),
        }
    }

    /// Nothing more is to be done: goes on after the statement, or leaves the function.
    pub(super) fn finish(&mut self, dest: &Dest) {
        if matches!(dest, Dest::End) && self.must_return && !ends(&self.out) {
            self.jump(if self.can_throw() { "return 0" } else { "return" });
        }
    }

    fn missing(&mut self) {
        self.needs.helpers.insert(Helper::Missing);
        let name = self.unit.program.method_name(self.method);
        self.jump(format!("{}(\"{name}\")", Helper::Missing.name()));
    }

    /// A value that statements must make, in a variable of its own.
    pub(super) fn by_statements(&mut self, e: &'a Expr) -> C {
        let wish = self.wish_for(e);
        let name = self.fresh_name(&wish);
        self.declare_for(&name, &e.ty, e);
        C::new(name, level::PRIMARY, crate::emit::text::Kind::of(&e.ty))
    }

    /// A name for a variable that holds the value of `e`.
    pub(super) fn wish_for(&self, e: &Expr) -> String {
        let last = |path: &[Name]| path.last().map_or("value".to_string(), Name::to_c);
        match &e.kind {
            ExprKind::Call(call) => last(&self.unit.program[call.method].path),
            ExprKind::Field(_, field) | ExprKind::StaticField(field) => last(&self.unit.program[*field].path),
            ExprKind::Construct { .. } => "object".into(),
            ExprKind::Convert(inner) | ExprKind::Outline(_, inner) => self.wish_for(inner),
            ExprKind::Local(local) => format!("old_{}", self.local_wish(*local)),
            _ if e.ty == Type::Bool => "holds".into(),
            _ => "value".into(),
        }
    }

    fn local_wish(&self, local: LocalId) -> String {
        self.unit.program[self.method].body.locals[local.0 as usize].name.to_c()
    }
}

/// Whether there are assignments, updates or steps in an expression.
pub(super) fn writes_inside(e: &Expr) -> bool {
    let mut writes = false;
    e.walk(&mut |part| {
        writes |= matches!(part.kind, ExprKind::Assign(..) | ExprKind::Update { .. } | ExprKind::Step { .. });
    });
    writes
}

/// What a variable holds that has no value.
fn zero(ty: &Type) -> &'static str {
    match ty {
        Type::Module(_) => "{}",
        Type::Pointer(_) => "NULL",
        _ => "0",
    }
}
