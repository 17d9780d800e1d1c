//! Places as C lvalues, and pointers to them.

use super::{Function, THIS};
use crate::emit::text::{C, Kind, level};
use crate::program::tree::{BinaryOp, Expr, ExprKind};
use crate::program::{FieldId, Type};

impl<'a> Function<'a> {
    /// A place in C.
    pub(super) fn place(&mut self, e: &'a Expr) -> C {
        match &e.kind {
            ExprKind::Local(local) => {
                let name = self.local_name(*local);
                C::primary(name, &e.ty)
            }
            ExprKind::This => C::new(format!("*{THIS}"), level::UNARY, Kind::Object),
            ExprKind::StaticField(field) => C::primary(self.unit.names.field(*field), &e.ty),
            ExprKind::Field(object, field) => self.field(object, *field, &e.ty),
            ExprKind::Deref(pointer) => self.target(pointer, &e.ty),
            _ => self.value(e),
        }
    }

    fn field(&mut self, object: &'a Expr, field: FieldId, ty: &Type) -> C {
        let name = self.unit.names.field(field).to_string();
        let text = match &object.kind {
            ExprKind::This => {
                format!("{THIS}->{name}")
            }
            ExprKind::Deref(pointer) => match address_of(pointer) {
                Some(place) => return self.field(place, field, ty),
                None => format!("{}->{name}", self.pointer_to_part(pointer, field)),
            },
            _ => {
                // To store in a part of a variable does not use it; to load from it is noted by `load`.
                let object = if object.is_place() { self.place(object) } else { self.value(object) };
                format!("{}.{name}", object.operand(level::POSTFIX, false))
            }
        };
        C::new(text, level::POSTFIX, Kind::of(ty))
    }

    /// A pointer that `->field` can follow.
    fn pointer_to_part(&mut self, pointer: &'a Expr, field: FieldId) -> String {
        let value = self.value(pointer);
        let owner = self.unit.program[field].module;
        let has_it = match &value.kind {
            Kind::Pointer(Type::Pointer(to)) => {
                to.module().is_some_and(|m| self.unit.program.is_derived(m.module, owner))
            }
            _ => false,
        };
        let value = if has_it { value } else { self.exact_pointer(value, &pointer.ty) };
        value.operand(level::POSTFIX, false)
    }

    fn target(&mut self, pointer: &'a Expr, ty: &Type) -> C {
        if let Some(place) = address_of(pointer) {
            return self.place(place);
        }
        if let ExprKind::Binary(BinaryOp::Add, array, index) = &pointer.kind {
            let values = self.operands(&[array, index]);
            if let [array_value, index_value] = &values[..] {
                let array_value = self.exact_pointer(array_value.clone(), &array.ty);
                let index = self.exact_int(index_value.clone(), &index.ty);
                let text = format!("{}[{}]", array_value.operand(level::POSTFIX, false), index.text);
                return C::new(text, level::POSTFIX, Kind::of(ty));
            }
        }
        let value = self.value(pointer);
        let value = self.exact_pointer(value, &pointer.ty);
        C::new(format!("*{}", value.operand(level::UNARY, true)), level::UNARY, Kind::of(ty))
    }

    /// The address of a place.
    pub(super) fn address(&mut self, place: &'a Expr, ty: &Type) -> C {
        match &place.kind {
            ExprKind::This => C::primary(THIS, &self.unit.pointer_to(self.unit.program[self.method].module)),
            ExprKind::Deref(pointer) => self.value(pointer),
            _ => {
                let place = self.place(place);
                C::new(format!("&{}", place.operand(level::UNARY, true)), level::UNARY, Kind::of(ty))
            }
        }
    }

    /// A pointer that C, too, thinks is of type `ty`.
    pub(super) fn exact_pointer(&self, c: C, ty: &Type) -> C {
        match &c.kind {
            Kind::Pointer(from) if !self.unit.same_c(from, ty) => c.cast(&self.unit.c_type(ty), Kind::of(ty)),
            _ => c,
        }
    }
}

/// `x` if the pointer is `&x`.
fn address_of(pointer: &Expr) -> Option<&Expr> {
    match &pointer.kind {
        ExprKind::AddressOf(place) => Some(place),
        _ => None,
    }
}
