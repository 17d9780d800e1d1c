//! Finds a method by the name that a person gives it: `Module.method`.

use clickwork_source::suggest;

use super::dotted;
use crate::Name;
use crate::program::{MethodId, MethodKind, ModuleId, Program};

/// The method that a name means: the definition that objects of the module use. The module is called by its full name or
/// that of an equation, or by the end of its full name if no other ends so.
///
/// # Errors
/// If there is no such method.
pub fn find_method(program: &Program, name: &str) -> Result<MethodId, String> {
    let parts: Vec<Name> = name.split('.').map(Name::new).collect();
    // The module's name is the longest beginning that is one.
    for (module, path) in (1..parts.len()).rev().map(|at| parts.split_at(at)) {
        let modules = modules(program, module);
        let mut found = modules.iter().filter_map(|&m| method_of(program, m, path));
        if let Some(method) = found.next() {
            return Ok(method);
        }
        if let [module, ..] = modules[..] {
            return Err(no_method(program, module, path));
        }
    }
    find_alone(program, &parts).ok_or_else(|| {
        let names: Vec<String> = program.method_ids().map(|m| program.method_name(m)).collect();
        format!("there is no method '{name}': write MODULE.METHOD{}", did_you_mean(name, &names))
    })
}

/// The definition that objects of a module use for a method of its own or of an ancestor.
fn method_of(program: &Program, module: ModuleId, path: &[Name]) -> Option<MethodId> {
    let mut ancestry = program.ancestry(module);
    let found = ancestry.find_map(|m| program[m].methods.iter().find(|&&f| program[f].path == path))?;
    Some(program.definition_in(module, *found))
}

fn no_method(program: &Program, module: ModuleId, path: &[Name]) -> String {
    let methods = program.ancestry(module).flat_map(|m| &program[m].methods);
    let names: Vec<String> = methods.map(|&m| dotted(&program[m].path)).collect();
    let (name, path) = (program.module_name(module), dotted(path));
    format!("the module {name} has no method '{path}'{}", did_you_mean(&path, &names))
}

fn did_you_mean(name: &str, names: &[String]) -> String {
    suggest(name, names).map_or(String::new(), |near| format!("; did you mean '{near}'?"))
}

/// The method with this name if there is only one; overriding and implicit ones are not counted.
fn find_alone(program: &Program, path: &[Name]) -> Option<MethodId> {
    let is_first = |&m: &MethodId| {
        let method = &program[m];
        method.path == path && method.overrides.is_none() && method.kind != MethodKind::Forwarder
    };
    let mut found = program.method_ids().filter(is_first);
    found.next().filter(|_| found.next().is_none())
}

/// The modules that a name can mean: the one with this full name or this equation, else those whose names end so.
fn modules(program: &Program, name: &[Name]) -> Vec<ModuleId> {
    let full = program.module_ids().find(|&m| program[m].path == name);
    let equation = program.equations.iter().find(|e| e.path == name).map(|e| e.module);
    match full.or(equation) {
        Some(module) => vec![module],
        None => program.module_ids().filter(|&m| program[m].path.ends_with(name)).collect(),
    }
}
