//! What the generator knows of the program it has written so far.

use std::collections::{BTreeMap, BTreeSet};

use super::node::Node;

/// An integer type, by its place here.
pub type Int = usize;

pub const INTS: [&str; 9] = ["char", "short", "int", "long", "uchar", "ushort", "uint", "ulong", "seqint"];
pub const INT: Int = 2;
pub const SEQINT: Int = 8;

pub type ModuleId = usize;
pub type ViewId = usize;
pub type SlotId = usize;
pub type ExceptionId = usize;

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub enum Ty {
    Void,
    Bool,
    Int(Int),
    /// To an object; never null, and to one that lives long enough.
    Pointer(ViewId),
    IntPointer(Int),
    Object(ModuleId),
    Array(Int, usize),
    Objects(ModuleId, usize),
}

/// A method, with all its definitions.
pub struct Slot {
    pub is_static: bool,
    pub params: Vec<Ty>,
    pub returns: Ty,
    /// What its definitions may raise.
    pub throws: BTreeSet<ExceptionId>,
    /// Definitions call only methods with lower ranks.
    pub rank: usize,
    /// No call takes more steps than this, roughly.
    pub cost: i64,
    /// Whether the first parameter counts down the calls of itself.
    pub counts: bool,
    /// Whether it is overridden.
    pub is_overridden: bool,
    /// Whether no definition uses the object, so that a constructor can call it.
    pub is_detached: bool,
}

pub struct Field {
    pub name: String,
    pub ty: Ty,
    pub is_static: bool,
    /// Whether methods of what it holds are found by their names alone.
    pub is_open: bool,
    pub offset: Option<Node>,
}

pub struct Module {
    /// With its namespace.
    pub path: String,
    /// The last part of the path.
    pub name: String,
    pub parent: Option<ModuleId>,
    /// What its parent is called in its header.
    pub parent_name: String,
    /// Whether that name shows other methods than the parent does elsewhere.
    pub renames_parent: bool,
    pub fields: Vec<Field>,
    pub constructor: Constructor,
    /// Whether there is a pointer in its objects, which must not outlive what it points to.
    pub is_linked: bool,
    /// The names of methods inside.
    pub names: BTreeMap<SlotId, String>,
    /// Methods of others that are found by their names alone.
    pub implicit: BTreeMap<SlotId, String>,
    /// Its default view.
    pub view: ViewId,
    /// Views that it can name.
    pub imports: Vec<ViewId>,
    pub exceptions: Vec<ExceptionId>,
    pub source: Source,
}

#[derive(Clone)]
pub struct Constructor {
    pub params: Vec<Ty>,
    pub rank: usize,
    pub cost: i64,
}

/// The text of a module.
#[derive(Clone, Default)]
pub struct Source {
    pub name: String,
    /// Up to the imports.
    pub header: String,
    pub imports: Vec<Import>,
    pub members: Vec<Node>,
    /// After the brace.
    pub operators: String,
}

/// The text of an import.
#[derive(Clone)]
pub struct Import {
    /// The last part of its name.
    pub name: String,
    pub text: String,
}

/// The text of an equation.
#[derive(Clone)]
pub struct Equation {
    pub name: String,
    /// The last part of the name of what it stands for.
    pub of: String,
    pub text: String,
}

/// A module or an equation, as others see it.
pub struct View {
    pub path: String,
    pub name: String,
    pub module: ModuleId,
    pub names: BTreeMap<SlotId, String>,
}

pub struct Exception {
    pub name: String,
    pub module: ModuleId,
}

#[derive(Default)]
pub struct Model {
    pub modules: Vec<Module>,
    pub views: Vec<View>,
    pub slots: Vec<Slot>,
    pub exceptions: Vec<Exception>,
}

impl Model {
    pub fn ancestry(&self, module: ModuleId) -> impl Iterator<Item = ModuleId> + '_ {
        std::iter::successors(Some(module), |&m| self.modules[m].parent)
    }

    pub fn is_derived(&self, module: ModuleId, ancestor: ModuleId) -> bool {
        self.ancestry(module).any(|m| m == ancestor)
    }

    pub fn root(&self, module: ModuleId) -> ModuleId {
        self.ancestry(module).last().unwrap_or(module)
    }

    /// What an exception is called in a module, if it can be named there.
    pub fn exception_name(&self, exception: ExceptionId, inside: ModuleId) -> Option<String> {
        let Exception { name, module } = &self.exceptions[exception];
        if self.is_derived(inside, *module) {
            return Some(name.clone());
        }
        let view = self.modules[*module].view;
        let imported = self.modules[inside].imports.contains(&view);
        imported.then(|| format!("{}.{name}", self.views[view].name))
    }

    /// A type as it is written. Arrays need no parentheses, because no array of pointers is made.
    pub fn type_name(&self, ty: &Ty) -> String {
        match ty {
            Ty::Void => "void".into(),
            Ty::Bool => "bool".into(),
            Ty::Int(int) => INTS[*int].into(),
            Ty::Pointer(view) => format!("*{}", self.views[*view].name),
            Ty::IntPointer(int) => format!("*{}", INTS[*int]),
            Ty::Object(module) => self.object_name(*module),
            Ty::Array(int, count) => format!("{}[{count}]", INTS[*int]),
            Ty::Objects(module, count) => format!("{}[{count}]", self.object_name(*module)),
        }
    }

    fn object_name(&self, module: ModuleId) -> String {
        self.modules[module].name.clone()
    }
}
