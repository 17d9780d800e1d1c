//! Objects: where their fields lie, and the hidden fields that say what they are.
//!
//! Every module that introduces a dispatched method has a hidden field, where C keeps the pointer to a dispatch table. Here
//! the field holds the number of the run-time module plus one. A variable or static field holds objects of exactly its
//! type from the start. Zero is what lies in memory that no Prolac code made: an object there counts as one of the type
//! of the pointer to it.

use std::collections::BTreeSet;
use std::ops::Range;

use super::value::{Value, decode, encode};
use super::{Memory, TrapKind};
use crate::program::{FieldId, Layout, MethodId, ModuleId, Program, Slot, Type, layouts};

/// Layouts of all modules, and what follows from them.
pub(super) struct Objects<'p> {
    program: &'p Program,
    layouts: Vec<Layout>,
    /// Where each dynamic field lies, by number.
    fields: Vec<Option<u64>>,
    /// Where the hidden field lies that each module introduces, by number.
    tables: Vec<Option<u64>>,
}

/// The modules that introduce a method which is overridden.
fn dispatching_modules(program: &Program) -> BTreeSet<ModuleId> {
    let overrides = program.methods.iter().filter(|m| !m.is_static && !m.kind.is_constructor());
    overrides.filter(|m| m.overrides.is_some()).map(|m| program[m.slot].module).collect()
}

impl<'p> Objects<'p> {
    pub(super) fn new(program: &'p Program) -> Result<Self, TrapKind> {
        let all = layouts(program, &dispatching_modules(program));
        let layouts: Vec<Layout> = all.into_iter().collect::<Result<_, _>>().map_err(TrapKind::Layout)?;
        let mut fields = vec![None; program.fields.len()];
        let mut tables = vec![None; program.modules.len()];
        for &(slot, offset, _) in layouts.iter().flat_map(|layout| &layout.slots) {
            match slot {
                Slot::Field(field) => fields[field.0 as usize] = Some(offset),
                Slot::Table(module) => tables[module.0 as usize] = Some(offset),
            }
        }
        Ok(Objects { program, layouts, fields, tables })
    }

    /// Bytes of a value.
    pub(super) fn size(&self, ty: &Type) -> u64 {
        match ty {
            Type::Bool => 4,
            Type::Int(int) => u64::from(int.bits()) / 8,
            Type::Pointer(_) => self.program.target.pointer,
            Type::Module(m) => self.layout(m.module).size,
            Type::Array(of, count) => self.size(of).saturating_mul(*count),
            Type::Void | Type::Never | Type::Error => 0,
        }
    }

    /// Bytes of an object.
    pub(super) fn module_size(&self, module: ModuleId) -> u64 {
        self.layout(module).size
    }

    /// Where a field lies in its object.
    pub(super) fn offset(&self, field: FieldId) -> Result<u64, TrapKind> {
        self.fields[field.0 as usize].ok_or(TrapKind::BrokenTree)
    }

    /// New memory for a value of zeros that stays. Objects in it have exactly their static types.
    pub(super) fn allocate(&self, memory: &mut Memory, ty: &Type) -> Result<u64, TrapKind> {
        let address = memory.allocate(self.size(ty))?;
        self.stamp(memory.bytes_mut(address, self.size(ty))?, ty);
        Ok(address)
    }

    /// Reads a value. An object that is read has exactly the type it is read as.
    pub(super) fn load(&self, memory: &Memory, address: u64, ty: &Type) -> Result<Value, TrapKind> {
        let bytes = memory.read(address, self.size(ty))?;
        self.value_of(bytes, ty)
    }

    /// The value that bytes are.
    pub(super) fn value_of(&self, bytes: &[u8], ty: &Type) -> Result<Value, TrapKind> {
        let number = || decode(self.program.target, bytes);
        Ok(match ty {
            Type::Void => Value::Void,
            Type::Bool => Value::Bool(number() != 0),
            Type::Int(int) => Value::int(*int, number() as i64),
            Type::Pointer(_) => Value::Pointer(number()),
            Type::Module(m) => {
                let mut bytes = bytes.to_vec();
                self.stamp(&mut bytes, ty);
                Value::Object(m.module, bytes)
            }
            Type::Array(..) | Type::Never | Type::Error => return Err(TrapKind::BrokenTree),
        })
    }

    /// Puts a value where one of the same type is. An object keeps its run-time type: only fields are copied.
    pub(super) fn store(
        &self,
        memory: &mut Memory,
        address: u64,
        ty: &Type,
        value: &Value,
    ) -> Result<(), TrapKind> {
        let place = memory.bytes_mut(address, self.size(ty))?;
        match (ty, value) {
            (Type::Void, Value::Void) => {}
            (Type::Module(m), Value::Object(module, bytes)) if m.module == *module => {
                self.copy_fields(*module, bytes, place);
            }
            (
                Type::Bool | Type::Int(_) | Type::Pointer(_),
                Value::Bool(_) | Value::Int(..) | Value::Pointer(_),
            ) => {
                encode(self.program.target, value.number().unwrap_or(0) as u64, place);
            }
            _ => return Err(TrapKind::BrokenTree),
        }
        Ok(())
    }

    /// Puts a value into new memory.
    pub(super) fn init(
        &self,
        memory: &mut Memory,
        address: u64,
        ty: &Type,
        value: &Value,
    ) -> Result<(), TrapKind> {
        match value {
            Value::Object(_, bytes) if bytes.len() as u64 == self.size(ty) => memory.write(address, bytes),
            _ => self.store(memory, address, ty, value),
        }
    }

    /// Makes every object in the bytes of a value one of exactly its static type.
    pub(super) fn stamp(&self, bytes: &mut [u8], ty: &Type) {
        self.for_each_object(bytes, ty, &|bytes, module| self.mark(bytes, module));
    }

    /// Makes the bytes an object of exactly this module. The objects in its fields stay as they are.
    pub(super) fn mark(&self, bytes: &mut [u8], module: ModuleId) {
        let number = u64::from(module.0) + 1;
        for &(slot, start, size) in &self.layout(module).slots {
            if let Slot::Table(_) = slot {
                encode(self.program.target, number, &mut bytes[start as usize..(start + size) as usize]);
            }
        }
    }

    /// Calls `f` with every object in a value: itself, those in its fields and those in arrays.
    fn for_each_object(&self, bytes: &mut [u8], ty: &Type, f: &dyn Fn(&mut [u8], ModuleId)) {
        match ty {
            Type::Module(m) => {
                f(bytes, m.module);
                self.for_each_field(m.module, |ty, at| self.for_each_object(&mut bytes[at], ty, f));
            }
            Type::Array(of, _) if holds_objects(of) => {
                let size = self.size(of).max(1) as usize;
                bytes.chunks_exact_mut(size).for_each(|element| self.for_each_object(element, of, f));
            }
            _ => {}
        }
    }

    /// The definition of `method` that the object at `address` has.
    pub(super) fn dispatch(
        &self,
        memory: &Memory,
        address: u64,
        method: MethodId,
    ) -> Result<MethodId, TrapKind> {
        let introduced = self.program[self.program[method].slot].module;
        let Some(offset) = self.tables[introduced.0 as usize] else { return Ok(method) };
        let hidden = memory.read(address.wrapping_add(offset), self.program.target.pointer)?;
        let Some(number) = decode(self.program.target, hidden).checked_sub(1) else { return Ok(method) };
        let module = ModuleId(u32::try_from(number).unwrap_or(u32::MAX));
        let known = (module.0 as usize) < self.program.modules.len();
        if !known || !self.program.is_derived(module, self.program[method].module) {
            return Err(TrapKind::NoObject(address));
        }
        Ok(self.program.definition_in(module, method))
    }

    fn copy_fields(&self, module: ModuleId, from: &[u8], to: &mut [u8]) {
        self.for_each_field(module, |ty, at| self.copy(ty, &from[at.clone()], &mut to[at]));
    }

    fn copy(&self, ty: &Type, from: &[u8], to: &mut [u8]) {
        match ty {
            Type::Module(m) => self.copy_fields(m.module, from, to),
            Type::Array(of, _) if holds_objects(of) => {
                let size = self.size(of).max(1) as usize;
                from.chunks_exact(size)
                    .zip(to.chunks_exact_mut(size))
                    .for_each(|(from, to)| self.copy(of, from, to));
            }
            _ => to.copy_from_slice(from),
        }
    }

    /// Calls `f` with the type and the place of every dynamic field, inherited ones included.
    fn for_each_field(&self, module: ModuleId, mut f: impl FnMut(&'p Type, Range<usize>)) {
        for &(slot, start, size) in &self.layout(module).slots {
            if let Slot::Field(field) = slot {
                f(&self.program[field].ty, start as usize..(start + size) as usize);
            }
        }
    }

    fn layout(&self, module: ModuleId) -> &Layout {
        &self.layouts[module.0 as usize]
    }
}

fn holds_objects(ty: &Type) -> bool {
    match ty {
        Type::Module(_) => true,
        Type::Array(of, _) => holds_objects(of),
        _ => false,
    }
}
