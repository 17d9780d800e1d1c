//! What all functions of one C file know in common.

use std::collections::BTreeSet;

use clickwork_source::Sources;

use super::Options;
use super::definite;
use super::effects::{Scan, Summary};
use super::names::Names;
use super::reach::Reach;
use super::text::{C, Kind};
use super::types;
use crate::program::tree::{Call, Dispatch, Expr, ExprKind};
use crate::program::{Field, Layout, LocalId, MethodId, ModuleId, ModuleRef, Program, Type, ViewId};

/// A program on its way to C.
pub(super) struct Unit<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its text.
    pub sources: &'a Sources,
    /// What the caller wants.
    pub options: &'a Options,
    /// C names.
    pub names: Names,
    /// Where fields lie, by module.
    pub layouts: Vec<Layout>,
    /// What can happen.
    pub reach: Reach,
    /// The modules that introduce slots that are dispatched on.
    pub tables: BTreeSet<ModuleId>,
    /// The methods that C code calls.
    pub exported: BTreeSet<MethodId>,
    /// What methods do.
    pub summaries: Vec<Summary>,
}

impl<'a> Unit<'a> {
    /// Looks at the expressions of a method.
    pub fn scan(&'a self, method: MethodId) -> Scan<'a> {
        let shared = &self.summaries[method.0 as usize].shared;
        Scan { program: self.program, reach: &self.reach, summaries: &self.summaries, shared }
    }

    /// `*M`
    pub fn pointer_to(&self, module: ModuleId) -> Type {
        Type::pointer(Type::Module(ModuleRef { module, view: ViewId(0) }))
    }

    /// The type in C.
    pub fn c_type(&self, ty: &Type) -> String {
        types::declare(&self.names, ty, "")
    }

    /// The module whose structure the objects of `module` have: the module itself or an ancestor that adds the last field.
    pub fn structure(&self, module: ModuleId) -> ModuleId {
        let slots = |m: ModuleId| self.layouts[m.0 as usize].slots.len();
        let own = slots(module);
        self.program.ancestry(module).take_while(|&m| slots(m) == own).last().unwrap_or(module)
    }

    /// Whether it is the type of objects without fields. Compilers say that these are used uninitialized.
    pub fn is_empty(&self, ty: &Type) -> bool {
        ty.module().is_some_and(|m| self.layouts[m.module.0 as usize].slots.is_empty())
    }

    /// Whether two types are one in C.
    pub fn same_c(&self, a: &Type, b: &Type) -> bool {
        types::same(&|m| self.structure(m), a, b)
    }

    /// Whether C converts pointers of the first type to the second without a cast.
    pub fn converts(&self, from: &Type, to: &Type) -> bool {
        let generic = |t: &Type| matches!(t.pointee(), Some(Type::Void));
        generic(from) || generic(to) || self.same_c(from, to)
    }

    /// Whether C compares two pointers without a cast.
    pub fn converts_either(&self, a: &C, b: &C) -> bool {
        match (&a.kind, &b.kind) {
            (Kind::Pointer(x), Kind::Pointer(y)) => {
                a.text == "NULL" || b.text == "NULL" || self.converts(x, y)
            }
            _ => false,
        }
    }

    /// Whether the C function returns a negative number for an exception. What C code calls is as the source says,
    /// whatever the optimiser finds out.
    pub fn can_throw(&self, method: MethodId) -> bool {
        let exported = self.exported.contains(&method) && !self.program[method].throws.is_empty();
        exported || !self.summaries[method.0 as usize].throws.is_empty()
    }

    /// Whether a call goes through a table.
    pub fn has_table(&self, call: &Call) -> bool {
        call.dispatch == Dispatch::Dynamic && self.reach.has_table(self.program, call)
    }

    /// Whether there can be objects of exactly that module.
    pub fn is_made(&self, module: ModuleId) -> bool {
        self.reach.made(module).contains(&module)
    }

    /// The modules of the objects in a static field.
    pub fn static_objects(&self, field: &Field) -> impl Iterator<Item = ModuleId> {
        self.program.objects_in(&field.ty).into_iter().filter(|&m| self.is_made(m))
    }

    /// The modules whose tables an object of `module` points to, outermost ancestor first.
    pub fn tables_of(&self, module: ModuleId) -> Vec<ModuleId> {
        let mut all: Vec<ModuleId> =
            self.program.ancestry(module).filter(|m| self.tables.contains(m)).collect();
        all.reverse();
        all
    }

    /// The module, if storing in the place must spare what a derived object has there: its tables, and fields of its own
    /// in the gaps of the module.
    pub fn spared_module(&self, place: &Expr) -> Option<ModuleId> {
        let module = place.ty.module()?.module;
        let shared = !self.tables_of(module).is_empty() || self.has_shared_gaps(module);
        (shared && !is_exact(place)).then_some(module)
    }

    /// Whether a derived module has fields between those of `module`.
    pub fn has_shared_gaps(&self, module: ModuleId) -> bool {
        let layout = &self.layouts[module.0 as usize];
        let inside = |m: ModuleId| {
            let slots = &self.layouts[m.0 as usize].slots;
            slots.iter().filter(|&&(_, offset, _)| offset < layout.size).count() > layout.slots.len()
        };
        let mut open = self.program[module].children.clone();
        while let Some(child) = open.pop() {
            if inside(child) {
                return true;
            }
            open.extend(&self.program[child].children);
        }
        false
    }

    /// The module, if `e` is an object with tables that can be of another run-time type.
    pub fn copied_module(&self, e: &Expr) -> Option<ModuleId> {
        e.ty.module().map(|m| m.module).filter(|&m| !is_exact(e) && !self.tables_of(m).is_empty())
    }

    /// Whether the method's extern function sets tables, so that constructing parts needs another one.
    pub fn sets_tables(&self, method: MethodId) -> bool {
        let m = &self.program[method];
        m.kind.is_constructor() && self.exported.contains(&method) && !self.tables_of(m.module).is_empty()
    }

    /// The function that runs a constructor without setting tables.
    pub fn part_name(&self, method: MethodId) -> String {
        let name = self.names.method(method);
        if self.sets_tables(method) { self.names.own(&format!("{name}__part")) } else { name.to_string() }
    }

    /// The member that points to the table of the slots that `owner` introduces.
    pub fn table_member(&self, owner: ModuleId) -> String {
        format!("table__{}", self.names.module(owner))
    }

    /// Whether constructing an object of `module` does anything.
    pub fn does_something(&self, module: ModuleId) -> bool {
        !self.tables_of(module).is_empty() || !self.is_idle(self.program[module].constructor)
    }

    /// Whether a method does nothing.
    pub fn is_idle(&self, method: MethodId) -> bool {
        !self.summaries[method.0 as usize].effects.has_effect()
    }

    /// Whether a variable without a value can be read before it is written.
    pub fn needs_zero(&self, method: MethodId, local: LocalId) -> bool {
        let body = &self.program[method].body;
        let array = matches!(body.locals[local.0 as usize].ty, Type::Array(..));
        !array && !definite::is_assigned_first(&body.root, local, &|module| self.does_something(module))
    }
}

/// Whether a place holds an object of exactly its type.
fn is_exact(place: &Expr) -> bool {
    match &place.kind {
        ExprKind::This => false,
        ExprKind::Deref(pointer) => match &pointer.kind {
            ExprKind::AddressOf(place) => is_exact(place),
            _ => false,
        },
        _ => true,
    }
}
