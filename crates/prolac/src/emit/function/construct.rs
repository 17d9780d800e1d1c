//! Making objects: their tables, then their constructor.

use super::{Dest, Function};
use crate::emit::stmt::StmtKind;
use crate::emit::text::{C, Kind, level};
use crate::program::tree::{Expr, ExprKind};
use crate::program::{ModuleId, Type};

impl<'a> Function<'a> {
    /// A new object as a value.
    pub(super) fn construct_to(&mut self, module: ModuleId, args: &'a [Expr], e: &'a Expr, dest: &Dest) {
        if let Dest::Store(target @ super::Target { fresh: true, .. }) = dest {
            let place = C::primary(target.text.clone(), &target.ty);
            return self.construct(&place, module, args);
        }
        let name = self.fresh_name("object");
        self.declare(&name, &e.ty, None);
        let object = C::primary(name, &e.ty);
        self.construct(&object, module, args);
        if dest.wants_value() {
            self.deliver(object, &e.ty, dest);
        } else {
            self.finish(dest);
        }
    }

    /// `place.constructor(args)`, for each element if the place is an array.
    pub(super) fn construct_at(&mut self, place: &'a Expr, module: ModuleId, args: &'a [Expr]) {
        let calm = args.iter().all(|arg| !self.effects(arg).has_effect());
        if calm && !self.scan.address(place).has_effect() && !self.unit.does_something(module) {
            return;
        }
        let conflict = args.iter().any(|arg| self.place_conflicts(place, arg));
        let target = match &place.kind {
            _ if conflict => {
                let ty = Type::pointer(place.ty.clone());
                let address = self.address(place, &ty);
                let pointer = self.temporary("place", &ty, &address);
                C::new(format!("*{}", pointer.text), level::UNARY, Kind::of(&place.ty))
            }
            ExprKind::Deref(_)
            | ExprKind::This
            | ExprKind::Local(_)
            | ExprKind::StaticField(_)
            | ExprKind::Field(..) => self.place(place),
            _ => self.value(place),
        };
        self.construct_all(target, &place.ty, module, args);
    }

    fn construct_all(&mut self, place: C, ty: &Type, module: ModuleId, args: &'a [Expr]) {
        let Type::Array(of, count) = ty else { return self.construct(&place, module, args) };
        if !self.unit.does_something(module) {
            return;
        }
        let index = self.fresh_name("i");
        let text = format!("{}[{index}]", place.operand(level::POSTFIX, false));
        let element = C::new(text, level::POSTFIX, Kind::of(of));
        let body = self.block(|f| f.construct_all(element, of, module, args));
        self.push(StmtKind::Each { index, count: *count, body });
    }

    fn construct(&mut self, place: &C, module: ModuleId, args: &'a [Expr]) {
        let constructor = self.unit.program[module].constructor;
        let method = &self.unit.program[constructor];
        let values = self.operands(&args.iter().collect::<Vec<_>>());
        let tables: Vec<ModuleId> = self.unit.tables_of(module);
        for owner in tables {
            let table = crate::emit::tables::table(self.unit, module, owner);
            self.needs.tables.insert((module, owner));
            let object = match place.text.strip_prefix('*') {
                Some(pointer) => {
                    format!("{}->", C::truth(pointer, level::UNARY).operand(level::UNARY, false))
                }
                None => format!("{}.", place.operand(level::POSTFIX, false)),
            };
            let member = self.unit.table_member(owner);
            self.push(StmtKind::Store { place: format!("{object}{member}"), value: format!("&{table}") });
        }
        if self.unit.is_idle(constructor) && values.iter().all(|v| v.literal || v.level == level::PRIMARY) {
            return;
        }
        self.needs.methods.insert(constructor);
        let address = match place.text.strip_prefix('*') {
            Some(pointer) => pointer.to_string(),
            None => format!("&{}", place.operand(level::UNARY, true)),
        };
        let this = C::new(address, level::UNARY, Kind::of(&self.unit.pointer_to(module)));
        let mut all = vec![self.assignable(&this, &self.unit.pointer_to(method.module))];
        all.extend(self.arguments(constructor, &values));
        let name = self.unit.part_name(constructor);
        if self.unit.sets_tables(constructor) {
            self.needs.parts.insert(constructor);
        }
        let call = format!("{name}({})", all.join(", "));
        let throws = self.scan.method_throws(constructor);
        if throws.is_empty() {
            self.push(StmtKind::Do(call));
        } else {
            self.checked(call, &throws, &Type::Void, &Dest::Nowhere);
        }
    }
}
