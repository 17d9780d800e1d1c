//! Where the fields of an object lie (section 5).
//!
//! A module's layout begins with its parent's, so that a pointer to it is a pointer to its parent. The module's own
//! fields with `@` come next; every other one, in the order declared, goes to the first gap that it fits. Dispatch
//! tables' pointers are fields without `@` that come before all others of the module that introduces them.

use std::collections::BTreeSet;

use super::{FieldId, ModuleId, Program, Type};

/// One piece of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// A dynamic field.
    Field(FieldId),
    /// The pointer to the dispatch table for the methods that this module introduces.
    Table(ModuleId),
}

/// The layout of one module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Slots with offset and size in bytes, by offset.
    pub slots: Vec<(Slot, u64, u64)>,
    /// Bytes of an object, a multiple of the alignment; 0 if it has no fields.
    pub size: u64,
    /// Alignment in bytes; at least 1.
    pub align: u64,
}

/// Why a module cannot be laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayoutError {
    /// The offset of the field is no multiple of its alignment.
    Misaligned {
        /// The field.
        field: FieldId,
        /// What its offset must be a multiple of.
        align: u64,
    },
    /// Two slots share bytes.
    Overlap {
        /// The field with `@`.
        field: FieldId,
        /// What was there before.
        other: Slot,
    },
    /// The module contains itself.
    Infinite {
        /// The field through which it does.
        field: FieldId,
    },
    /// The object would be larger than `MAX_SIZE`.
    TooLarge {
        /// The field that goes beyond.
        field: FieldId,
    },
}

/// No object is larger than this, in bytes.
const MAX_SIZE: u64 = 1 << 31;

/// Lays out every module, in the order of [`Program::modules`]. The modules of `tables` introduce dispatched methods.
pub fn layouts(program: &Program, tables: &BTreeSet<ModuleId>) -> Vec<Result<Layout, LayoutError>> {
    let mut builder = Builder { program, tables, open: Vec::new(), done: vec![None; program.modules.len()] };
    let errors: Vec<Option<LayoutError>> =
        program.module_ids().map(|module| builder.module(module).err()).collect();
    let done = builder.done.into_iter().zip(errors);
    done.map(|(done, error)| error.map_or_else(|| done.unwrap_or_else(|| Ok(Layout::default())), Err))
        .collect()
}

struct Builder<'a> {
    program: &'a Program,
    tables: &'a BTreeSet<ModuleId>,
    /// The modules being laid out, outermost first.
    open: Vec<ModuleId>,
    /// What is known so far.
    done: Vec<Option<Result<Layout, LayoutError>>>,
}

impl Builder<'_> {
    fn module(&mut self, module: ModuleId) -> Result<Layout, LayoutError> {
        if let Some(done) = &self.done[module.0 as usize] {
            return done.clone();
        }
        self.open.push(module);
        let result = self.build(module);
        self.open.pop();
        // A module inside of itself is an error of the outermost one; the others cannot tell yet.
        if self.open.is_empty() || result.is_ok() {
            self.done[module.0 as usize] = Some(result.clone());
        }
        result
    }

    fn build(&mut self, module: ModuleId) -> Result<Layout, LayoutError> {
        let mut result = match self.program[module].parent {
            Some(parent) => self.module(parent)?,
            None => Layout { align: 1, ..Layout::default() },
        };
        let fields = self.program[module].fields.iter().copied();
        let dynamic = fields.filter(|&f| !self.program[f].is_static);
        let (fixed, floating): (Vec<FieldId>, Vec<FieldId>) =
            dynamic.partition(|&f| self.program[f].offset.is_some());
        for field in fixed {
            self.place_fixed(&mut result, field)?;
        }
        if self.tables.contains(&module) {
            let pointer = self.program.target.pointer;
            float(&mut result, Slot::Table(module), pointer, pointer);
        }
        for field in floating {
            let (size, align) = self.size_of(field, &self.program[field].ty)?;
            float(&mut result, Slot::Field(field), size, align);
            if result.size > MAX_SIZE {
                return Err(LayoutError::TooLarge { field });
            }
        }
        result.size = result.size.next_multiple_of(result.align);
        // It is kept, and copied by derived modules, as it is.
        result.slots.shrink_to_fit();
        Ok(result)
    }

    fn place_fixed(&mut self, result: &mut Layout, field: FieldId) -> Result<(), LayoutError> {
        let (size, align) = self.size_of(field, &self.program[field].ty)?;
        let offset = self.program[field].offset.unwrap_or(0);
        if !offset.is_multiple_of(align) {
            return Err(LayoutError::Misaligned { field, align });
        }
        let end =
            offset.checked_add(size).filter(|&end| end <= MAX_SIZE).ok_or(LayoutError::TooLarge { field })?;
        if let Some(&(other, ..)) = result.slots.iter().find(|&&(_, o, s)| offset < o + s && o < end) {
            return Err(LayoutError::Overlap { field, other });
        }
        insert(result, Slot::Field(field), offset, size, align);
        Ok(())
    }

    /// Size and alignment of a type, for a message about `field`.
    fn size_of(&mut self, field: FieldId, ty: &Type) -> Result<(u64, u64), LayoutError> {
        let target = self.program.target;
        Ok(match ty {
            Type::Bool => (4, 4),
            Type::Int(int) if int.bits() == 64 => (8, target.long_align),
            Type::Int(int) => (u64::from(int.bits()) / 8, u64::from(int.bits()) / 8),
            Type::Pointer(_) => (target.pointer, target.pointer),
            Type::Array(of, count) => {
                let (size, align) = self.size_of(field, of)?;
                let total = size.checked_mul(*count).filter(|&n| n <= MAX_SIZE);
                (total.ok_or(LayoutError::TooLarge { field })?, align)
            }
            Type::Module(m) => {
                if self.open.contains(&m.module) {
                    return Err(LayoutError::Infinite { field });
                }
                let layout = self.module(m.module)?;
                (layout.size, layout.align)
            }
            Type::Void | Type::Never | Type::Error => (0, 1),
        })
    }
}

/// Puts a slot into the first gap that it fits.
fn float(result: &mut Layout, slot: Slot, size: u64, align: u64) {
    let mut offset = 0;
    for &(_, other, other_size) in &result.slots {
        if offset + size <= other {
            break;
        }
        offset = offset.max((other + other_size).next_multiple_of(align));
    }
    insert(result, slot, offset, size, align);
}

fn insert(result: &mut Layout, slot: Slot, offset: u64, size: u64, align: u64) {
    let at = result.slots.partition_point(|&(_, o, _)| o < offset || (o == offset && size > 0));
    result.slots.insert(at, (slot, offset, size));
    result.size = result.size.max(offset + size);
    result.align = result.align.max(align);
}
