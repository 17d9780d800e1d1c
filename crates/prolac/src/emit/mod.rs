//! C from a program: a C file and a header.
//!
//! Nothing here decides what is called or inlined; that is done to the trees before. `function` makes the statements of
//! one method, `writer` lays them out, `header` describes the program to C code that calls it. Only what exported
//! methods need is written.

mod cold;
mod definite;
mod effects;
mod function;
mod header;
mod helpers;
mod names;
mod ranges;
mod reach;
mod stmt;
mod tables;
#[cfg(test)]
mod tests;
mod text;
mod types;
mod unit;
mod unused;
mod writer;

use std::collections::{BTreeMap, BTreeSet};

use clickwork_source::{Diagnostic, Diagnostics, Sources, Span};

use crate::program::{FieldId, Layout, MethodId, ModuleId, Program, Slot, Type, layouts};
use function::{Finished, Function, Needs};
use reach::Reach;
use unit::Unit;
use writer::Writer;

/// What the output looks like.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether `#line` tells compilers and debuggers the places in the Prolac source.
    pub lines: bool,
    /// What the C file is called, for `#line`.
    pub source_name: String,
    /// What the header is called, for `#include`.
    pub header_name: String,
}

/// The two files.
#[derive(Clone, Debug)]
pub struct Output {
    /// The C file.
    pub source: String,
    /// The header.
    pub header: String,
}

/// Writes a program in C.
pub fn emit(program: &Program, sources: &Sources, options: &Options) -> Result<Output, Diagnostics> {
    let names = names::names(program, sources)?;
    let reach = Reach::new(program);
    let tables = reach.tables();
    let layouts = checked_layouts(program, &tables)?;
    let summaries = effects::summaries(program, &reach);
    let exported = program.exports.iter().copied().collect();
    let unit = Unit { program, sources, options, names, layouts, reach, tables, summaries, exported };
    let (functions, needs) = functions(&unit);
    let used = used_modules(&unit, &functions, &needs);
    Ok(Output { source: source(&unit, &functions, &needs), header: header::header(&unit, &used) })
}

fn checked_layouts(program: &Program, tables: &BTreeSet<ModuleId>) -> Result<Vec<Layout>, Diagnostics> {
    let mut errors = Diagnostics::new();
    let mut all = Vec::new();
    for (module, layout) in program.module_ids().zip(layouts(program, tables)) {
        match layout {
            Ok(layout) => all.push(layout),
            Err(_) => {
                let name = program.module_name(module);
                let message = format!("the objects of `{name}` cannot be laid out");
                errors.push(Diagnostic::error(program[module].span, message));
                all.push(Layout { align: 1, ..Layout::default() });
            }
        }
    }
    if errors.has_errors() { Err(errors) } else { Ok(all) }
}

/// The functions of all methods that the exported ones need.
fn functions<'a>(unit: &'a Unit<'a>) -> (BTreeMap<MethodId, Finished>, Needs) {
    let mut done = BTreeMap::new();
    let mut needs = Needs::default();
    let mut open: Vec<MethodId> = unit.program.exports.clone();
    add_static_tables(unit, &mut needs);
    loop {
        while let Some(method) = open.pop() {
            if done.contains_key(&method) {
                continue;
            }
            let mut function = Function::lower(unit, method);
            open.extend(function.needs.methods.iter().copied());
            merge(unit, &mut needs, std::mem::take(&mut function.needs), method);
            done.insert(method, function);
        }
        let entries =
            needs.tables.iter().flat_map(|&(module, owner)| tables::definitions(unit, module, owner));
        open.extend(entries.map(|(_, definition)| definition).filter(|m| !done.contains_key(m)));
        if open.is_empty() {
            return (done, needs);
        }
    }
}

/// Static objects, and the objects in them, have their tables from the start.
fn add_static_tables(unit: &Unit<'_>, needs: &mut Needs) {
    for field in unit.program.fields.iter().filter(|f| f.is_static) {
        for module in unit.static_objects(field) {
            needs.tables.extend(unit.tables_of(module).into_iter().map(|owner| (module, owner)));
        }
    }
}

fn merge(unit: &Unit<'_>, all: &mut Needs, new: Needs, method: MethodId) {
    all.methods.extend(new.methods);
    all.tables.extend(new.tables);
    all.helpers.extend(new.helpers);
    all.assigned.extend(new.assigned);
    all.parts.extend(new.parts);
    for &module in &new.copied {
        all.tables.extend(unit.tables_of(module).into_iter().map(|owner| (module, owner)));
    }
    all.copied.extend(new.copied);
    if unit.sets_tables(method) {
        let module = unit.program[method].module;
        all.tables.extend(unit.tables_of(module).into_iter().map(|owner| (module, owner)));
    }
}

/// The modules that types in the output mention.
fn used_modules(
    unit: &Unit<'_>,
    functions: &BTreeMap<MethodId, Finished>,
    needs: &Needs,
) -> BTreeSet<ModuleId> {
    let mut used = BTreeSet::new();
    for &method in functions.keys() {
        let m = &unit.program[method];
        if !m.is_static {
            used.insert(m.module);
        }
        let types = m.body.locals.iter().map(|local| &local.ty).chain([&m.returns]);
        used.extend(types.filter_map(header::mentioned));
        m.body.root.walk(&mut |e| used.extend(header::mentioned(&e.ty)));
    }
    let fields = unit.program.fields.iter().filter(|f| f.is_static);
    used.extend(fields.filter_map(|f| header::mentioned(&f.ty)));
    for &(module, owner) in &needs.tables {
        used.extend([module, owner]);
        for (slot, _) in tables::definitions(unit, module, owner) {
            let m = &unit.program[slot];
            used.extend(
                m.body.locals.iter().map(|local| &local.ty).chain([&m.returns]).filter_map(header::mentioned),
            );
        }
    }
    used
}

fn source(unit: &Unit<'_>, functions: &BTreeMap<MethodId, Finished>, needs: &Needs) -> String {
    let options = unit.options;
    let mut w = Writer::new(unit.sources, options.lines.then_some(&options.source_name));
    let name = &options.source_name;
    w.made(&format!("/* {name}: made by prolacc. Change the Prolac source, not this file. */"));
    w.made(&format!("#include \"{}\"\n\n", options.header_name));
    support(unit, &mut w, true);
    if uses_char(unit, functions) {
        w.made("_Static_assert((char)-1 < 0, \"Prolac's char is signed: compile with -fsigned-char\");\n\n");
    }
    needs.helpers.iter().for_each(|helper| w.made(&format!("{}\n", helper.definition())));
    prototypes(unit, &mut w, functions, needs);
    dispatch(unit, &mut w, needs);
    static_fields(unit, &mut w);
    functions.iter().for_each(|(&method, function)| write_function(unit, &mut w, method, function));
    write_thunks(unit, &mut w, needs);
    support(unit, &mut w, false);
    w.finish()
}

fn support(unit: &Unit<'_>, w: &mut Writer<'_>, first: bool) {
    for support in unit.program.support.iter().filter(|s| s.first == first) {
        let text = unit.sources.slice(support.text);
        let skipped = text.len() - text.trim_start_matches(['\n', '\r']).len();
        let start = support.text.start + skipped as u32;
        w.copied(Span::new(support.text.file, start, support.text.end), text[skipped..].trim_end());
        w.made("\n");
    }
}

fn uses_char(unit: &Unit<'_>, functions: &BTreeMap<MethodId, Finished>) -> bool {
    let is_char = |ty: &crate::program::Type| ty.int() == Some(crate::program::IntType::Char);
    functions.keys().any(|&m| {
        let mut found = false;
        unit.program[m].body.root.walk(&mut |e| found |= is_char(&e.ty) && e.is_place());
        found
    })
}

/// Whether the function is for this file only.
fn is_static(unit: &Unit<'_>, method: MethodId) -> bool {
    unit.sets_tables(method) || !unit.exported.contains(&method)
}

fn prototypes(unit: &Unit<'_>, w: &mut Writer<'_>, functions: &BTreeMap<MethodId, Finished>, needs: &Needs) {
    let mut text = String::new();
    for (&method, function) in functions.iter().filter(|&(&m, _)| is_static(unit, m)) {
        text.push_str(&format!("static {};\n", header::head(unit, method, Some(&function.params))));
    }
    for (slot, definition) in thunks(unit, needs) {
        text.push_str(&format!("{};\n", tables::thunk_head(unit, slot, definition)));
    }
    if !text.is_empty() {
        w.made(&format!("{text}\n"));
    }
}

fn thunks(unit: &Unit<'_>, needs: &Needs) -> BTreeSet<(MethodId, MethodId)> {
    let entries = needs.tables.iter().flat_map(|&(module, owner)| tables::definitions(unit, module, owner));
    entries.filter(|&(slot, definition)| tables::needs_thunk(unit, slot, definition)).collect()
}

fn dispatch(unit: &Unit<'_>, w: &mut Writer<'_>, needs: &Needs) {
    for &(module, owner) in &needs.tables {
        w.made(&format!("{}\n", tables::definition(unit, module, owner)));
    }
    w.made(&tables::copies(unit, needs));
}

fn static_fields(unit: &Unit<'_>, w: &mut Writer<'_>) {
    let mut any = false;
    for (i, field) in unit.program.fields.iter().enumerate().filter(|(_, f)| f.is_static) {
        let declaration = types::declare(&unit.names, &field.ty, unit.names.field(FieldId(i as u32)));
        let value = initial(unit, &field.ty).map_or(String::new(), |value| format!(" = {value}"));
        w.made(&format!("{declaration}{value};"));
        any = true;
    }
    if any {
        w.made("\n");
    }
}

/// The initial value of a static field that has objects with tables in it: all else is zero.
fn initial(unit: &Unit<'_>, ty: &Type) -> Option<String> {
    match ty {
        Type::Array(of, count) if *count > 0 => {
            initial(unit, of).map(|value| format!("{{ {} }}", vec![&*value; *count as usize].join(", ")))
        }
        Type::Module(m) => initial_object(unit, m.module),
        _ => None,
    }
}

fn initial_object(unit: &Unit<'_>, module: ModuleId) -> Option<String> {
    let table = |owner| format!("&{}", tables::table(unit, module, owner));
    let owners = if unit.is_made(module) { unit.tables_of(module) } else { Vec::new() };
    let own = owners.into_iter().map(|owner| (unit.table_member(owner), table(owner)));
    let fields = unit.layouts[module.0 as usize].slots.iter().filter_map(|&(slot, ..)| match slot {
        Slot::Field(field) => Some(field),
        Slot::Table(_) => None,
    });
    let name = |field| unit.names.field(field).to_string();
    let inner = fields.filter_map(|f| initial(unit, &unit.program[f].ty).map(|value| (name(f), value)));
    let all: Vec<String> = own.chain(inner).map(|(name, value)| format!(".{name} = {value}")).collect();
    if all.is_empty() { None } else { Some(format!("{{ {} }}", all.join(", "))) }
}

fn write_function(unit: &Unit<'_>, w: &mut Writer<'_>, method: MethodId, function: &Finished) {
    let name = unit.program.method_name(method);
    w.made(&format!("/* {name} */"));
    let linkage = if is_static(unit, method) { "static " } else { "" };
    w.at(unit.program[method].span);
    w.indented(0, &format!("{linkage}{}", header::head(unit, method, Some(&function.params))));
    w.plain("{");
    for param in &function.unused {
        w.plain(&format!("\t(void){param};"));
    }
    w.statements(&function.body, 1);
    w.plain("}\n\n");
    if unit.sets_tables(method) {
        write_extern_constructor(unit, w, method);
    }
}

/// The constructor that C code calls: it makes an object of exactly its module.
fn write_extern_constructor(unit: &Unit<'_>, w: &mut Writer<'_>, method: MethodId) {
    let module = unit.program[method].module;
    let mut text = format!("{}\n{{\n", header::head(unit, method, None));
    for owner in unit.tables_of(module) {
        let table = tables::table(unit, module, owner);
        text.push_str(&format!("\tThis->{} = &{table};\n", unit.table_member(owner)));
    }
    let args = header::param_names(unit, method).join(", ");
    let give = if unit.can_throw(method) { "return " } else { "" };
    text.push_str(&format!("\t{give}{}({args});\n}}\n\n", unit.part_name(method)));
    w.made(&text);
}

fn write_thunks(unit: &Unit<'_>, w: &mut Writer<'_>, needs: &Needs) {
    for (slot, definition) in thunks(unit, needs) {
        w.made(&format!("{}\n", tables::thunk(unit, slot, definition)));
    }
}
