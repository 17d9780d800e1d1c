//! The header: what C code that calls the program must know.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::tables;
use super::types;
use super::unit::Unit;
use crate::program::{FieldId, MethodId, ModuleId, Slot, Type};

/// The text of the header. `used` are the modules that anything in the C file mentions.
pub(super) fn header(unit: &Unit<'_>, used: &BTreeSet<ModuleId>) -> String {
    let name = &unit.options.header_name;
    let guard = guard(name);
    let mut text = format!("/* {name}: made by prolacc. Change the Prolac source, not this file. */\n");
    let _ = write!(text, "#ifndef {guard}\n#define {guard}\n\n#include <stddef.h>\n#include <stdint.h>\n\n");
    text.push_str("#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    text.push_str(
        "/* A number on a circle: a is before b if (int)(a - b) < 0. */\ntypedef uint32_t seqint;\n\n",
    );
    exceptions(unit, &mut text);
    structures(unit, used, &mut text);
    static_fields(unit, &mut text);
    for &method in &unit.program.exports {
        text.push_str(&comment(unit, method));
        let _ = writeln!(text, "{};\n", head(unit, method, None));
    }
    let _ = write!(text, "#ifdef __cplusplus\n}}\n#endif\n\n#endif /* {guard} */\n");
    text
}

fn guard(name: &str) -> String {
    let file = name.rsplit('/').next().unwrap_or(name);
    let letters = file.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' });
    let word: String = letters.collect();
    format!("PROLAC_{word}")
}

fn exceptions(unit: &Unit<'_>, text: &mut String) {
    if unit.program.exceptions.is_empty() {
        return;
    }
    text.push_str("/* What a function returns when an exception leaves it. */\nenum {\n");
    for (i, exception) in unit.program.exceptions.iter().enumerate() {
        let id = crate::program::ExceptionId(i as u32);
        let place = unit.sources.landmark(exception.span);
        let about = format!("{}, {place}", unit.program.exception_name(id));
        let _ = writeln!(text, "\t{} = {},\t/* {about} */", unit.names.exception(id), -1 - i as i64);
    }
    text.push_str("};\n\n");
}

/// All modules that need a structure, those inside of others first.
fn structures(unit: &Unit<'_>, used: &BTreeSet<ModuleId>, text: &mut String) {
    let mut order = Vec::new();
    used.iter().for_each(|&module| collect(unit, module, &mut order));
    for &module in &order {
        let (name, structure) = (unit.names.module(module), unit.names.module(unit.structure(module)));
        if name == structure {
            let _ = writeln!(text, "typedef struct {name} {name};");
        }
    }
    for &module in &order {
        let (name, structure) = (unit.names.module(module), unit.names.module(unit.structure(module)));
        if name != structure {
            let _ = writeln!(text, "typedef {structure} {name};");
        }
    }
    for (equation, name) in unit.program.equations.iter().zip(&unit.names.equations) {
        if let (Some(name), true) = (name, order.contains(&equation.module)) {
            let _ = writeln!(text, "typedef {} {name};", unit.names.module(equation.module));
        }
    }
    if !order.is_empty() {
        text.push('\n');
    }
    for &owner in unit.tables.iter().filter(|m| order.contains(m)) {
        let _ = writeln!(text, "{}", tables::declaration(unit, owner));
    }
    for &module in order.iter().filter(|&&m| unit.structure(m) == m) {
        structure(unit, module, &order, text);
    }
    assertions(unit, &order, text);
}

/// Puts the modules that `module` needs before it into `order`, then itself.
fn collect(unit: &Unit<'_>, module: ModuleId, order: &mut Vec<ModuleId>) {
    if order.contains(&module) {
        return;
    }
    let structure = unit.structure(module);
    for &(slot, ..) in &unit.layouts[structure.0 as usize].slots {
        if let Slot::Field(field) = slot {
            unit.program[field].ty.object().iter().for_each(|&m| collect(unit, m, order));
        }
    }
    if structure != module {
        collect(unit, structure, order);
    }
    if !order.contains(&module) {
        order.push(module);
    }
    let pointed = unit.layouts[structure.0 as usize].slots.iter().filter_map(|&(slot, ..)| match slot {
        Slot::Field(field) => mentioned(&unit.program[field].ty),
        Slot::Table(_) => None,
    });
    pointed.for_each(|m| collect_later(unit, m, order));
    unit.tables_of(module).into_iter().for_each(|m| collect_later(unit, m, order));
}

fn collect_later(unit: &Unit<'_>, module: ModuleId, order: &mut Vec<ModuleId>) {
    collect(unit, module, order);
}

/// The module that a type mentions.
pub(super) fn mentioned(ty: &Type) -> Option<ModuleId> {
    match ty {
        Type::Module(m) => Some(m.module),
        Type::Pointer(of) | Type::Array(of, _) => mentioned(of),
        _ => None,
    }
}

/// A structure. Where C would put a member elsewhere, bytes fill the gap.
fn structure(unit: &Unit<'_>, module: ModuleId, order: &[ModuleId], text: &mut String) {
    let name = unit.names.module(module);
    let layout = &unit.layouts[module.0 as usize];
    let place = unit.sources.landmark(unit.program[module].span);
    let _ = writeln!(text, "/* {}, {place} */", unit.program.module_name(module));
    let aliased = if is_aliased(unit, module, order) { " __attribute__((may_alias))" } else { "" };
    let _ = writeln!(text, "struct{aliased} {name} {{");
    let (mut end, mut gaps) = (0, 0);
    for &(slot, offset, size) in &layout.slots {
        let natural = u64::next_multiple_of(end, align(unit, slot).max(1));
        if natural != offset && offset > end {
            gaps += 1;
            let _ = writeln!(text, "\tunsigned char gap_{gaps}[{}];", offset - end);
        }
        let _ = writeln!(text, "\t{};", member(unit, slot));
        end = offset + size;
    }
    if layout.slots.is_empty() {
        text.push_str("\tchar nothing[0];\n");
    }
    text.push_str("};\n\n");
}

/// Whether the memory of an object is also seen as another structure: as that of a relative in `order`, or by foreign C
/// code.
fn is_aliased(unit: &Unit<'_>, module: ModuleId, order: &[ModuleId]) -> bool {
    let program = unit.program;
    let related = |&other: &ModuleId| {
        unit.structure(other) != module
            && (program.is_derived(module, other) || program.is_derived(other, module))
    };
    order.iter().any(related) || program[module].fields.iter().any(|&f| program[f].offset.is_some())
}

fn align(unit: &Unit<'_>, slot: Slot) -> u64 {
    match slot {
        Slot::Table(_) => unit.program.target.pointer,
        Slot::Field(field) => type_align(unit, &unit.program[field].ty),
    }
}

fn type_align(unit: &Unit<'_>, ty: &Type) -> u64 {
    match ty {
        Type::Int(int) if int.bits() == 64 => unit.program.target.long_align,
        Type::Int(int) => u64::from(int.bits()) / 8,
        Type::Pointer(_) => unit.program.target.pointer,
        Type::Array(of, _) => type_align(unit, of),
        Type::Module(m) => unit.layouts[m.module.0 as usize].align,
        _ => 4,
    }
}

fn member(unit: &Unit<'_>, slot: Slot) -> String {
    match slot {
        Slot::Field(field) => types::declare(&unit.names, &unit.program[field].ty, unit.names.field(field)),
        Slot::Table(owner) => {
            format!("const struct {}__table *{}", unit.names.module(owner), unit.table_member(owner))
        }
    }
}

/// Checks that the C compiler lays out objects as this one did.
fn assertions(unit: &Unit<'_>, order: &[ModuleId], text: &mut String) {
    let modules: Vec<ModuleId> = order.iter().copied().filter(|&m| unit.structure(m) == m).collect();
    if modules.is_empty() {
        return;
    }
    let _ = write!(
        text,
        "/* The layouts are those of {0}: a C compiler for another machine must say so. */\n\
         #ifdef __cplusplus\n#define ASSERT__LAYOUT static_assert\n#else\n#define ASSERT__LAYOUT _Static_assert\n#endif\n",
        unit.program.target.name
    );
    for module in modules {
        let name = unit.names.module(module);
        let layout = &unit.layouts[module.0 as usize];
        let machine = unit.program.target.name;
        for &(slot, offset, _) in &layout.slots {
            let member = match slot {
                Slot::Field(field) => unit.names.field(field).to_string(),
                Slot::Table(owner) => unit.table_member(owner),
            };
            let _ = writeln!(
                text,
                "ASSERT__LAYOUT(offsetof(struct {name}, {member}) == {offset}, \"laid out for {machine}\");"
            );
        }
        let _ = writeln!(
            text,
            "ASSERT__LAYOUT(sizeof(struct {name}) == {}, \"laid out for {machine}\");",
            layout.size
        );
    }
    text.push_str("#undef ASSERT__LAYOUT\n\n");
}

fn static_fields(unit: &Unit<'_>, text: &mut String) {
    let mut any = false;
    for (i, field) in unit.program.fields.iter().enumerate().filter(|(_, f)| f.is_static) {
        let id = FieldId(i as u32);
        let about = format!("{}, {}", unit.program.field_name(id), unit.sources.landmark(field.span));
        let declaration = types::declare(&unit.names, &field.ty, unit.names.field(id));
        let _ = writeln!(text, "extern {declaration};\t/* {about} */");
        any = true;
    }
    if any {
        text.push('\n');
    }
}

/// What a function is in Prolac.
fn comment(unit: &Unit<'_>, method: MethodId) -> String {
    let m = &unit.program[method];
    let params: Vec<String> = m.body.locals[..m.params as usize]
        .iter()
        .map(|local| format!("{} :> {}", local.name, unit.program.type_name(&local.ty)))
        .collect();
    let params = if params.is_empty() { String::new() } else { format!("({})", params.join(", ")) };
    let returns = if m.returns.is_void() {
        String::new()
    } else {
        format!(" :> {}", unit.program.type_name(&m.returns))
    };
    let is_static = if m.is_static { "static " } else { "" };
    let name = unit.program.method_name(method);
    let place = unit.sources.landmark(m.span);
    let mut text = format!("/* {is_static}{name}{params}{returns}, {place}");
    for &exception in &m.throws {
        let name = unit.program.exception_name(exception);
        let _ = write!(text, "\n   returns {} when {name} leaves it", unit.names.exception(exception));
    }
    text.push_str(" */\n");
    text
}

/// The head of a method's function, with the names of its parameters if they are known.
pub(super) fn head(unit: &Unit<'_>, method: MethodId, names: Option<&[(String, Type)]>) -> String {
    let m = &unit.program[method];
    let params = match names {
        Some(names) => names.to_vec(),
        None => plain_params(unit, method),
    };
    let params: Vec<String> = params.iter().map(|(name, ty)| types::declare(&unit.names, ty, name)).collect();
    let params = if params.is_empty() { "void".to_string() } else { params.join(", ") };
    let declarator = format!(
        "{}({params})",
        if names.is_some() { unit.part_name(method) } else { unit.names.method(method).to_string() }
    );
    if unit.can_throw(method) {
        return format!("int {declarator}");
    }
    let returns = if m.returns.is_void() { Type::Void } else { m.returns.clone() };
    types::declare(&unit.names, &returns, &declarator)
}

/// The names of a method's parameters in the header.
pub(super) fn param_names(unit: &Unit<'_>, method: MethodId) -> Vec<String> {
    plain_params(unit, method).into_iter().map(|(name, _)| name).collect()
}

fn plain_params(unit: &Unit<'_>, method: MethodId) -> Vec<(String, Type)> {
    let m = &unit.program[method];
    let this = (!m.is_static).then(|| ("This".to_string(), unit.pointer_to(m.module)));
    let locals = m.body.locals[..m.params as usize].iter();
    let mut taken = std::collections::HashSet::new();
    let params = locals.map(|local| {
        let wish = super::names::free(&local.name.to_c(), |n| unit.names.is_reserved(n));
        (super::names::unique(&mut taken, wish), local.ty.clone())
    });
    this.into_iter().chain(params).collect()
}
