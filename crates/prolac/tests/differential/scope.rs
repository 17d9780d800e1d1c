//! What can be named at a point of a method, and what it may do.

use std::collections::BTreeSet;

use super::Generator;
use super::model::{ExceptionId, Field, INT, ModuleId, SlotId, Ty};
use super::node::Node;

/// A point in a method.
#[derive(Clone)]
pub struct Scope {
    pub module: ModuleId,
    /// Whether the object can be used.
    pub this: bool,
    /// Whether the object is complete, so that its methods can be called.
    pub complete: bool,
    pub vars: Vec<Var>,
    /// Exceptions that may be raised.
    pub allowed: BTreeSet<ExceptionId>,
    pub rank: usize,
    /// Steps that calls may still take.
    pub budget: i64,
    /// Nodes that may still be made.
    pub fuel: i64,
    /// The method that is overridden, until it has been called.
    pub overridden: Option<SlotId>,
}

#[derive(Clone)]
pub struct Var {
    pub name: String,
    pub ty: Ty,
    pub writable: bool,
}

impl Var {
    pub fn new(name: impl Into<String>, ty: Ty) -> Self {
        Var { name: name.into(), ty, writable: true }
    }
}

/// An expression that denotes memory.
#[derive(Clone)]
pub struct Path {
    pub text: String,
    pub ty: Ty,
    pub writable: bool,
}

impl Generator {
    /// All places that can be named, through objects too.
    pub fn paths(&mut self, s: &Scope) -> Vec<Path> {
        let mut paths = self.starts(s);
        let mut from = 0;
        for _ in 0..2 {
            let until = paths.len();
            for i in from..until {
                let path = paths[i].clone();
                self.expand(&path, s, &mut paths);
            }
            from = until;
        }
        paths
    }

    fn starts(&mut self, s: &Scope) -> Vec<Path> {
        let mut seen = BTreeSet::new();
        let mut paths = Vec::new();
        for var in s.vars.iter().rev() {
            if seen.insert(&var.name) {
                paths.push(Path { text: var.name.clone(), ty: var.ty.clone(), writable: var.writable });
            }
        }
        for module in self.model.ancestry(s.module).collect::<Vec<_>>() {
            for field in self.model.modules[module].fields.iter().filter(|f| f.is_static || s.this) {
                paths.push(field_path(String::new(), field));
            }
        }
        for &view in &self.model.modules[s.module].imports {
            let view = &self.model.views[view];
            for field in self.model.modules[view.module].fields.iter().filter(|f| f.is_static) {
                paths.push(field_path(format!("{}.", view.name), field));
            }
        }
        paths
    }

    fn expand(&mut self, path: &Path, s: &Scope, paths: &mut Vec<Path>) {
        match &path.ty {
            Ty::Object(module) => self.expand_object(format!("{}.", path.text), *module, paths),
            Ty::Pointer(view) => {
                let module = self.model.views[*view].module;
                self.expand_object(format!("{}->", path.text), module, paths);
            }
            Ty::IntPointer(int) => {
                paths.push(Path { text: format!("(*{})", path.text), ty: Ty::Int(*int), writable: true });
            }
            Ty::Array(int, count) => self.expand_array(path, Ty::Int(*int), *count, s, paths),
            Ty::Objects(module, count) => self.expand_array(path, Ty::Object(*module), *count, s, paths),
            Ty::Void | Ty::Bool | Ty::Int(_) => {}
        }
    }

    fn expand_object(&self, prefix: String, module: ModuleId, paths: &mut Vec<Path>) {
        for module in self.model.ancestry(module) {
            let fields = self.model.modules[module].fields.iter().filter(|f| !f.is_static);
            paths.extend(fields.map(|field| field_path(prefix.clone(), field)));
        }
    }

    fn expand_array(&mut self, path: &Path, ty: Ty, count: usize, s: &Scope, paths: &mut Vec<Path>) {
        let var = s.vars.iter().rev().find(|v| matches!(v.ty, Ty::Int(_)));
        let shadowed = |name: &str| {
            s.vars.iter().rev().find(|v| v.name == name).is_some_and(|v| !matches!(v.ty, Ty::Int(_)))
        };
        let index = match var {
            Some(var) if self.random.percent(50) && !shadowed(&var.name) => {
                format!("{} & {}", var.name, count - 1)
            }
            _ => self.random.below(count).to_string(),
        };
        paths.push(Path { text: format!("{}[{index}]", path.text), ty, writable: path.writable });
    }

    /// A place of an integer type, of this one if one is given.
    pub fn int_place(
        &mut self,
        s: &mut Scope,
        wanted: Option<usize>,
        write: bool,
        depth: u32,
    ) -> Option<Node> {
        let paths = self.paths(s);
        let fits = |int: usize| wanted.is_none_or(|wanted| wanted == int);
        let arrays: Vec<&Path> =
            paths.iter().filter(|p| matches!(p.ty, Ty::Array(int, _) if fits(int)) && p.writable).collect();
        if depth > 0 && !arrays.is_empty() && self.random.percent(15) {
            let array = (*self.random.pick(&arrays)).clone();
            let Ty::Array(_, count) = array.ty else { return None };
            let index = self.int(s, depth - 1);
            return Some(Node::new("", format!("{}[$ & {}]", array.text, count - 1), vec![index]));
        }
        let ints: Vec<&Path> = paths
            .iter()
            .filter(|p| matches!(p.ty, Ty::Int(int) if fits(int)) && (p.writable || !write))
            .collect();
        self.random.pick_some(&ints).map(|path| Node::text(path.text.clone()))
    }

    /// The address of an integer.
    pub fn int_pointer(&mut self, s: &mut Scope, int: usize) -> Option<Node> {
        let pointers: Vec<Path> = self.paths(s).into_iter().filter(|p| p.ty == Ty::IntPointer(int)).collect();
        if !pointers.is_empty() && self.random.percent(40) {
            return self.random.pick_some(&pointers).map(|p| Node::text(p.text.clone()));
        }
        let place = self.int_place(s, Some(int), true, 0)?;
        Some(Node::new("", "&$", vec![place]))
    }

    /// The address of an object that this view, or one of an ancestor, shows.
    pub fn pointer(&mut self, s: &Scope, view: usize) -> Option<Node> {
        let target = self.model.views[view].module;
        let mut all = Vec::new();
        for path in self.paths(s) {
            match path.ty {
                Ty::Pointer(view) => all.push((path.text, self.model.views[view].module)),
                Ty::Object(module) => all.push((format!("&{}", path.text), module)),
                _ => {}
            }
        }
        if s.complete {
            all.push(("&self".into(), s.module));
        }
        all.retain(|(_, module)| self.model.is_derived(*module, target));
        let chosen = self.random.prefer(&all, 60, |(_, module)| *module != target);
        chosen.map(|(text, _)| Node::text(text.clone()))
    }

    /// An integer type to declare something with.
    pub fn any_int(&mut self) -> usize {
        if self.random.percent(30) { INT } else { self.random.below(super::model::INTS.len()) }
    }

    /// A name for a variable, often one that is in use already.
    pub fn var_name(&mut self) -> String {
        const NAMES: [&str; 17] = [
            "a",
            "b",
            "c-d",
            "x1",
            "left-over",
            "y",
            "tmp",
            "register",
            "double",
            "this",
            "This",
            "result",
            "int8_t",
            "p",
            "goto",
            "volatile",
            "unsigned",
        ];
        self.random.pick(&NAMES).to_string()
    }
}

fn field_path(prefix: String, field: &Field) -> Path {
    Path { text: format!("{prefix}{}", field.name), ty: field.ty.clone(), writable: true }
}
