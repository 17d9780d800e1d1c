//! Dispatch tables: their types, their contents, and the small functions between an entry and a definition.
//!
//! A table has a function pointer for each slot that is dispatched on. Entries take the object as the module that
//! introduces the slot; a definition of another module is reached through a function that converts.

use std::fmt::Write;

use super::function::Needs;
use super::names::free;
use super::types;
use super::unit::Unit;
use crate::program::{MethodId, ModuleId, Slot, Type};

/// The member of a table for a slot.
pub(super) fn entry(unit: &Unit<'_>, slot: MethodId) -> String {
    let path: Vec<String> = unit.program[slot].path.iter().map(|n| n.to_c()).collect();
    free(&path.join("__"), |name| unit.names.is_reserved(name))
}

/// The table for objects of `module` with the slots that `owner` introduces.
pub(super) fn table(unit: &Unit<'_>, module: ModuleId, owner: ModuleId) -> String {
    unit.names.own(&format!("{}__as__{}", unit.names.module(module), unit.names.module(owner)))
}

/// The definitions in a table. One that nothing can call is left out: its entry is null.
pub(super) fn definitions(unit: &Unit<'_>, module: ModuleId, owner: ModuleId) -> Vec<(MethodId, MethodId)> {
    let slots = unit.reach.slots(owner);
    let entries = slots.map(|slot| (slot, unit.program.definition_in(module, slot)));
    entries.filter(|&(_, definition)| unit.reach.has(definition)).collect()
}

/// Whether an exception can leave a call through a slot.
fn slot_throws(unit: &Unit<'_>, slot: MethodId) -> bool {
    let owner = unit.program[slot].module;
    unit.reach.made(owner).iter().any(|&m| {
        let definition = unit.program.definition_in(m, slot);
        !unit.summaries[definition.0 as usize].throws.is_empty()
    })
}

/// The type of the table of the slots that `owner` introduces.
pub(super) fn declaration(unit: &Unit<'_>, owner: ModuleId) -> String {
    let name = unit.names.module(owner);
    let mut text = format!("/* How the methods of {} are found. */\n", unit.program.module_name(owner));
    let _ = writeln!(text, "struct {name}__table {{");
    for slot in unit.reach.slots(owner) {
        let pointer = format!("(*{})({})", entry(unit, slot), params(unit, slot, false));
        let _ = writeln!(text, "\t{};", returning(unit, slot, &pointer));
    }
    text.push_str("};\n");
    text
}

/// A table.
pub(super) fn definition(unit: &Unit<'_>, module: ModuleId, owner: ModuleId) -> String {
    let ty = unit.names.module(owner);
    let mut text = format!("static const struct {ty}__table {} = {{\n", table(unit, module, owner));
    let entries = definitions(unit, module, owner);
    if entries.is_empty() {
        text.push_str("\t0\n");
    }
    for (slot, definition) in entries {
        let function = if needs_thunk(unit, slot, definition) {
            thunk_name(unit, slot, definition)
        } else {
            unit.names.method(definition).to_string()
        };
        let _ = writeln!(text, "\t.{} = {function},", entry(unit, slot));
    }
    text.push_str("};\n");
    text
}

/// Whether a definition's function is of another type than the entry.
pub(super) fn needs_thunk(unit: &Unit<'_>, slot: MethodId, definition: MethodId) -> bool {
    let void = unit.program[slot].returns.is_void();
    definition != slot || (void && slot_throws(unit, slot) != unit.can_throw(definition))
}

fn thunk_name(unit: &Unit<'_>, slot: MethodId, definition: MethodId) -> String {
    let owner = unit.names.module(unit.program[slot].module);
    unit.names.own(&format!("{}__as__{owner}", unit.names.method(definition)))
}

/// The head of the function between an entry and a definition.
pub(super) fn thunk_head(unit: &Unit<'_>, slot: MethodId, definition: MethodId) -> String {
    let name = format!("{}({})", thunk_name(unit, slot, definition), params(unit, slot, true));
    format!("static {}", returning(unit, slot, &name))
}

/// That function.
pub(super) fn thunk(unit: &Unit<'_>, slot: MethodId, definition: MethodId) -> String {
    let (from, to) = (&unit.program[slot], &unit.program[definition]);
    let this = Type::pointer(unit.pointer_to(to.module).pointee().cloned().unwrap_or(Type::Void));
    let mut args = vec![format!("({})This", unit.c_type(&this))];
    for (i, (a, b)) in from.body.locals.iter().zip(&to.body.locals).take(from.params as usize).enumerate() {
        let cast = !matches!(a.ty, Type::Module(_))
            && !unit.converts(&a.ty, &b.ty)
            && matches!(b.ty, Type::Pointer(_));
        args.push(if cast { format!("({})p{i}", unit.c_type(&b.ty)) } else { format!("p{i}") });
    }
    let call = format!("{}({})", unit.part_name(definition), args.join(", "));
    let body = match (from.returns.is_void(), slot_throws(unit, slot), unit.can_throw(definition)) {
        (true, false, _) => format!("\t{call};\n"),
        (true, true, false) => format!("\t{call};\n\treturn 0;\n"),
        (false, ..)
            if matches!(from.returns, Type::Pointer(_)) && !unit.converts(&to.returns, &from.returns) =>
        {
            format!("\treturn ({}){call};\n", unit.c_type(&from.returns))
        }
        _ => format!("\treturn {call};\n"),
    };
    format!("{}\n{{\n{body}}}\n", thunk_head(unit, slot, definition))
}

/// The parameters of a slot's functions, `This` first.
fn params(unit: &Unit<'_>, slot: MethodId, named: bool) -> String {
    let method = &unit.program[slot];
    let this = unit.pointer_to(method.module);
    let mut all = vec![types::declare(&unit.names, &this, "This")];
    for (i, local) in method.body.locals.iter().take(method.params as usize).enumerate() {
        let name = if named { format!("p{i}") } else { String::new() };
        all.push(types::declare(&unit.names, &local.ty, &name));
    }
    all.join(", ")
}

fn returning(unit: &Unit<'_>, slot: MethodId, declarator: &str) -> String {
    let method = &unit.program[slot];
    if slot_throws(unit, slot) {
        return format!("int {declarator}");
    }
    let returns = if method.returns == Type::Never { Type::Void } else { method.returns.clone() };
    types::declare(&unit.names, &returns, declarator)
}

/// The function that assigns to an object that can be of a derived module.
pub(super) fn assign_name(unit: &Unit<'_>, module: ModuleId) -> String {
    unit.names.own(&format!("assign__{}", unit.names.module(module)))
}

/// The function that copies an object that can be of a derived module.
pub(super) fn copy_name(unit: &Unit<'_>, module: ModuleId) -> String {
    unit.names.own(&format!("copy__{}", unit.names.module(module)))
}

/// Functions that copy objects and keep or set their tables.
pub(super) fn copies(unit: &Unit<'_>, needs: &Needs) -> String {
    let mut text = String::new();
    for &module in &needs.assigned {
        let name = unit.names.module(module);
        let function = assign_name(unit, module);
        let _ = writeln!(text, "static inline void {function}({name} *to, {name} from)\n{{");
        let body = assignments(unit, module);
        let unused = "\t(void)to;\n\t(void)from;\n";
        text.push_str(if body.is_empty() { unused } else { &body });
        text.push_str("}\n\n");
    }
    for &module in &needs.copied {
        let name = unit.names.module(module);
        let function = copy_name(unit, module);
        let _ =
            writeln!(text, "static inline {name} {function}(const {name} *from)\n{{\n\t{name} to = *from;\n");
        for owner in unit.tables_of(module) {
            let _ = writeln!(text, "\tto.{} = &{};", unit.table_member(owner), table(unit, module, owner));
        }
        text.push_str("\treturn to;\n}\n\n");
    }
    text
}

/// Statements that assign `from` to `*to` and leave alone what a derived object has there.
fn assignments(unit: &Unit<'_>, module: ModuleId) -> String {
    let mut text = String::new();
    if !unit.has_shared_gaps(module) {
        for owner in unit.tables_of(module) {
            let member = unit.table_member(owner);
            let _ = writeln!(text, "\tfrom.{member} = to->{member};");
        }
        text.push_str("\t*to = from;\n");
        return text;
    }
    for &(slot, ..) in &unit.layouts[module.0 as usize].slots {
        let Slot::Field(field) = slot else { continue };
        let member = unit.names.field(field);
        let _ = match unit.program[field].ty {
            Type::Array(..) => {
                writeln!(text, "\t__builtin_memcpy(to->{member}, from.{member}, sizeof(to->{member}));")
            }
            _ => writeln!(text, "\tto->{member} = from.{member};"),
        };
    }
    text
}
