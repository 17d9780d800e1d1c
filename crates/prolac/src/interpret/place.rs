//! Places: expressions that denote memory.

use super::machine::{At, Eval, Machine};
use super::{TrapKind, Value};
use crate::program::FieldId;
use crate::program::tree::{Expr, ExprKind};

impl<'p> Machine<'p> {
    /// Where a place lies. Nothing is read there yet.
    pub(super) fn place(&mut self, e: &'p Expr) -> Eval<u64> {
        self.enter(e.span)?;
        let address = match &e.kind {
            ExprKind::Local(local) => self.local(*local).at(e.span),
            ExprKind::This => Ok(self.this()),
            ExprKind::StaticField(field) => Ok(self.static_field(*field)),
            ExprKind::Field(object, field) => self.field_place(object, *field),
            ExprKind::Deref(pointer) => self.pointer(pointer),
            _ => Err(TrapKind::BrokenTree).at(e.span),
        };
        self.leave();
        address
    }

    fn field_place(&mut self, object: &'p Expr, field: FieldId) -> Eval<u64> {
        let base = self.place(object)?;
        if base == 0 {
            return Err(TrapKind::NullPointer).at(object.span);
        }
        Ok(base.wrapping_add(self.objects.offset(field).at(object.span)?))
    }

    /// The value at a place.
    pub(super) fn load_place(&mut self, e: &'p Expr) -> Eval<Value> {
        let address = self.place(e)?;
        self.spend_on(self.objects.size(&e.ty)).at(e.span)?;
        self.objects.load(&self.memory, address, &e.ty).at(e.span)
    }

    /// A field of an object that lies nowhere.
    pub(super) fn field_of_value(&mut self, object: &'p Expr, field: FieldId) -> Eval<Value> {
        let Value::Object(_, bytes) = self.eval(object)? else {
            return Err(TrapKind::BrokenTree).at(object.span);
        };
        let ty = &self.program[field].ty;
        let start = self.objects.offset(field).at(object.span)? as usize;
        let bytes = bytes.get(start..start + self.objects.size(ty) as usize);
        self.objects.value_of(bytes.unwrap_or(&[]), ty).at(object.span)
    }
}
