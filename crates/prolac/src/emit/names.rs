//! The C names of everything outside of functions (section 12), without collisions.
//!
//! A method is `[Ns__]name__Module`, a module and its type `Pack__Module`, a static field or an exception
//! `Module__[Ns__]name`, a field of an object `[Ns__]name`. Two things with one name: the later gets a number, and
//! exported methods come first, because other C code calls them by their names.

use std::collections::{HashMap, HashSet};

use clickwork_source::{Diagnostic, Diagnostics, Sources};

use crate::Name;
use crate::program::{ExceptionId, FieldId, MethodId, ModuleId, Program};

/// Words that C or its usual headers take away.
const RESERVED: &str = "auto break case char const continue default do double else enum extern float for goto if \
    inline int long register restrict return short signed sizeof static struct switch typedef union unsigned void \
    volatile while _Alignas _Alignof _Atomic _Bool _Complex _Generic _Imaginary _Noreturn _Static_assert \
    _Thread_local asm typeof bool true false nullptr constexpr alignas alignof static_assert thread_local \
    This linux unix i386 arm sparc vax sun NULL EOF errno stdin stdout stderr assert offsetof main environ \
    CHAR_BIT CHAR_MAX CHAR_MIN INT_MAX INT_MIN UINT_MAX LONG_MAX LONG_MIN ULONG_MAX SIZE_MAX \
    and and_eq bitand bitor catch class compl const_cast delete dynamic_cast explicit export false friend mutable \
    namespace new not not_eq operator or or_eq private protected public reinterpret_cast static_cast template throw \
    try typeid typename using virtual wchar_t xor xor_eq this \
    int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t ptrdiff_t seqint likely unlikely";

/// The C names of a program.
pub(super) struct Names {
    methods: Vec<String>,
    modules: Vec<String>,
    fields: Vec<String>,
    exceptions: Vec<String>,
    /// The name of each equation; `None` if it has the name of its module.
    pub equations: Vec<Option<String>>,
    /// What no name inside of a function may be.
    reserved: HashSet<String>,
    /// All names outside of functions.
    taken: HashSet<String>,
}

impl Names {
    /// The C name of a method.
    pub fn method(&self, id: MethodId) -> &str {
        &self.methods[id.0 as usize]
    }

    /// The C type of a module's objects.
    pub fn module(&self, id: ModuleId) -> &str {
        &self.modules[id.0 as usize]
    }

    /// The C name of a field: a global one if it is static, else a member's.
    pub fn field(&self, id: FieldId) -> &str {
        &self.fields[id.0 as usize]
    }

    /// The constant that stands for an exception.
    pub fn exception(&self, id: ExceptionId) -> &str {
        &self.exceptions[id.0 as usize]
    }

    /// A name for something that only this compiler knows, like `wish`.
    pub fn own(&self, wish: &str) -> String {
        free(wish, |name| self.taken.contains(name))
    }

    /// Whether a variable of a function must not be called so.
    pub fn is_reserved(&self, name: &str) -> bool {
        self.reserved.contains(name)
    }
}

/// Names everything, or tells which exported methods collide.
pub(super) fn names(program: &Program, sources: &Sources) -> Result<Names, Diagnostics> {
    let reserved = reserved(program, sources);
    let mut taken = reserved.clone();
    let mut methods = vec![String::new(); program.methods.len()];
    export(program, &mut taken, &mut methods)?;
    let modules: Vec<String> =
        program.module_ids().map(|m| unique(&mut taken, join(&program[m].path))).collect();
    let equations = equations(program, &modules, &mut taken);
    let exceptions = program
        .exceptions
        .iter()
        .map(|e| unique(&mut taken, format!("{}__{}", join(&program[e.module].path), join(&e.path))))
        .collect();
    for id in program.method_ids() {
        if methods[id.0 as usize].is_empty() {
            methods[id.0 as usize] = unique(&mut taken, method_name(program, id));
        }
    }
    let fields = fields(program, &reserved, &mut taken);
    let types = modules.iter().chain(equations.iter().flatten()).cloned();
    let reserved = reserved.iter().cloned().chain(types).collect();
    Ok(Names { methods, modules, fields, exceptions, equations, reserved, taken })
}

fn join(path: &[Name]) -> String {
    path.iter().map(Name::to_c).collect::<Vec<_>>().join("__")
}

fn method_name(program: &Program, id: MethodId) -> String {
    let method = &program[id];
    format!("{}__{}", join(&method.path), join(&program[method.module].path))
}

/// `name`, or `name_2`, `name_3` and so on if it is taken.
pub(super) fn unique(taken: &mut HashSet<String>, name: String) -> String {
    let name = free(&name, |n| taken.contains(n));
    taken.insert(name.clone());
    name
}

/// `name`, or the first of `name_2`, `name_3` and so on that is not taken.
pub(super) fn free(name: &str, taken: impl Fn(&str) -> bool) -> String {
    if !taken(name) {
        return name.to_string();
    }
    (2..).map(|n| format!("{name}_{n}")).find(|n| !taken(n)).unwrap_or_default()
}

fn export(program: &Program, taken: &mut HashSet<String>, methods: &mut [String]) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::new();
    let mut found = HashMap::new();
    for &id in &program.exports {
        let name = method_name(program, id);
        if let Some(&other) = found.get(&name) {
            errors.push(collision(program, id, other, &name));
        } else {
            found.insert(name.clone(), id);
            taken.insert(name.clone());
        }
        methods[id.0 as usize] = name;
    }
    if errors.has_errors() { Err(errors) } else { Ok(()) }
}

fn collision(program: &Program, id: MethodId, other: MethodId, name: &str) -> Diagnostic {
    let message = format!(
        "`{}` and `{}` are both exported and would both be `{name}` in C",
        program.method_name(other),
        program.method_name(id)
    );
    Diagnostic::error(program[id].span, message)
        .label(program[other].span, "the other one")
        .hint("rename one of them or export only one")
}

fn equations(program: &Program, modules: &[String], taken: &mut HashSet<String>) -> Vec<Option<String>> {
    program
        .equations
        .iter()
        .map(|equation| {
            let name = join(&equation.path);
            (modules[equation.module.0 as usize] != name).then(|| unique(taken, name))
        })
        .collect()
}

fn fields(program: &Program, reserved: &HashSet<String>, taken: &mut HashSet<String>) -> Vec<String> {
    let mut names = vec![String::new(); program.fields.len()];
    for module in parents_first(program) {
        let inherited = program.ancestry(module).skip(1).flat_map(|m| &program[m].fields);
        let mut members = reserved.clone();
        members.extend(inherited.map(|f| names[f.0 as usize].clone()));
        for &field in &program[module].fields {
            let name = join(&program[field].path);
            names[field.0 as usize] = if program[field].is_static {
                unique(taken, format!("{}__{name}", join(&program[module].path)))
            } else {
                unique(&mut members, name)
            };
        }
    }
    names
}

/// All modules, each after its parent.
pub(super) fn parents_first(program: &Program) -> Vec<ModuleId> {
    let mut order: Vec<ModuleId> = program.module_ids().filter(|&m| program[m].parent.is_none()).collect();
    let mut next = 0;
    while next < order.len() {
        let children = program[order[next]].children.clone();
        order.extend(children);
        next += 1;
    }
    order
}

/// C's own words and the macros that the support code defines.
fn reserved(program: &Program, sources: &Sources) -> HashSet<String> {
    let words = RESERVED.split_whitespace().map(str::to_string);
    let macros = program.support.iter().flat_map(|s| macros(sources.slice(s.text)));
    words.chain(macros).collect()
}

fn macros(text: &str) -> Vec<String> {
    let define = |line: &str| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("define")?;
        Some(identifiers(rest).next()?.to_string())
    };
    text.lines().filter_map(define).collect()
}

/// Everything in a text that looks like an identifier.
pub(super) fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.split(move |c| !is_part(c)).filter(|word| word.starts_with(|c: char| !c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_name_gets_a_number() {
        let mut taken = HashSet::from(["a".to_string()]);
        assert_eq!(unique(&mut taken, "a".into()), "a_2");
        assert_eq!(unique(&mut taken, "a".into()), "a_3");
        assert_eq!(unique(&mut taken, "b".into()), "b");
    }

    #[test]
    fn macros_of_support_code_are_found() {
        assert_eq!(macros("# define LEN 4\nint x;\n#define f(a) a\n"), ["LEN", "f"]);
        assert_eq!(identifiers("a->b2 + 3c").collect::<Vec<_>>(), ["a", "b2"]);
    }
}
