//! The resolved program: what there is, and the typed tree of every method body.
//!
//! This is the compiler's middle. `check` builds it, `interpret` runs it as it is, `optimize` rewrites the bodies, `emit`
//! writes C. Everything is held in the tables of a [`Program`] and named by small numbers; nothing refers back to the
//! syntax tree or to views. Start with [`Program`], then [`tree::Expr`].

pub mod arith;
mod layout;
mod print;
mod target;
pub mod tree;
mod types;

use std::collections::BTreeSet;

use clickwork_source::Span;

use crate::{Map, Name};
pub use layout::{Layout, LayoutError, Slot, layouts};
pub use print::{print_expr, print_method};
pub use target::Target;
pub use tree::{Body, LocalId};
pub use types::{IntType, ModuleRef, Type, ViewId};

/// Declares the number type of one table and its `Index` on [`Program`].
macro_rules! id {
    ($(#[$doc:meta])* $id:ident, $entry:ty, $table:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $id(pub u32);

        impl std::ops::Index<$id> for Program {
            type Output = $entry;
            fn index(&self, id: $id) -> &$entry {
                &self.$table[id.0 as usize]
            }
        }

        impl std::ops::IndexMut<$id> for Program {
            fn index_mut(&mut self, id: $id) -> &mut $entry {
                &mut self.$table[id.0 as usize]
            }
        }
    };
}

id!(
    /// One module definition. Views and equations have none.
    ModuleId, Module, modules
);
id!(
    /// One method definition; an override is a definition of its own.
    MethodId, Method, methods
);
id!(
    /// One field, static or not.
    FieldId, Field, fields
);
id!(
    /// One exception.
    ExceptionId, Exception, exceptions
);

/// A whole program after checking.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// What layouts and pointers follow.
    pub target: Target,
    /// All modules. A parent can come after its children.
    pub modules: Vec<Module>,
    /// All methods, with those the compiler made (constructors, implicit forwarders).
    pub methods: Vec<Method>,
    /// All fields.
    pub fields: Vec<Field>,
    /// All exceptions. Exception `i` has the C value `-1 - i`.
    pub exceptions: Vec<Exception>,
    /// Names of modules that equations give, in the order written.
    pub equations: Vec<Equation>,
    /// The exported methods, in the order exported, each once: the roots of the program.
    pub exports: Vec<MethodId>,
    /// C code outside of modules and methods, in the order written.
    pub support: Vec<Support>,
}

/// A module: a struct type and its methods.
#[derive(Clone, Debug)]
pub struct Module {
    /// The namespaces around it, outermost first, then its own name.
    pub path: Vec<Name>,
    /// What it is derived from.
    pub parent: Option<ModuleId>,
    /// The modules derived from it directly.
    pub children: Vec<ModuleId>,
    /// The fields that it declares, in the order written, static ones too.
    pub fields: Vec<FieldId>,
    /// The methods that it defines or that were made for it.
    pub methods: Vec<MethodId>,
    /// For each slot of its own and its ancestors', the definition that an object of this very module uses.
    /// A slot is named by its first definition. Static methods and constructors have no slot here.
    pub table: Map<MethodId, MethodId>,
    /// Its constructor.
    pub constructor: MethodId,
    /// Its name where it is defined.
    pub span: Span,
}

/// A name that an equation gives to a module.
#[derive(Clone, Debug)]
pub struct Equation {
    /// The namespaces around it, then the name.
    pub path: Vec<Name>,
    /// What it stands for.
    pub module: ModuleId,
    /// The name where it is defined.
    pub span: Span,
}

/// What made a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MethodKind {
    /// Written in the source.
    Plain,
    /// `constructor`, written in the source.
    Constructor,
    /// A constructor made for a module that has none.
    GeneratedConstructor,
    /// An implicit method: forwards to the feature of a field or an import.
    Forwarder,
}

impl MethodKind {
    /// Whether it is a constructor, written or not.
    pub fn is_constructor(self) -> bool {
        matches!(self, MethodKind::Constructor | MethodKind::GeneratedConstructor)
    }
}

/// A method definition.
#[derive(Clone, Debug)]
pub struct Method {
    /// The namespaces inside its module, outermost first, then its own name.
    pub path: Vec<Name>,
    /// The module that defines it.
    pub module: ModuleId,
    /// What made it.
    pub kind: MethodKind,
    /// Whether it has no `self`.
    pub is_static: bool,
    /// How many of the body's first locals are the parameters.
    pub params: u32,
    /// The type of its value. Void for constructors.
    pub returns: Type,
    /// The definition that it overrides, in the nearest ancestor that has one.
    pub overrides: Option<MethodId>,
    /// The first definition of all that it overrides; itself if it overrides nothing.
    pub slot: MethodId,
    /// The exceptions that can leave it, those that can leave its overrides included.
    pub throws: BTreeSet<ExceptionId>,
    /// What it does.
    pub body: Body,
    /// Its name where it is defined; for one that was made, the place that made it necessary.
    pub span: Span,
}

/// A field.
#[derive(Clone, Debug)]
pub struct Field {
    /// The namespaces inside its module, outermost first, then its own name.
    pub path: Vec<Name>,
    /// The module that declares it.
    pub module: ModuleId,
    /// Whether there is one for the program instead of one in each object.
    pub is_static: bool,
    /// The type; never void.
    pub ty: Type,
    /// The offset in bytes that `@` demands.
    pub offset: Option<u64>,
    /// Its name where it is declared.
    pub span: Span,
}

/// An exception.
#[derive(Clone, Debug)]
pub struct Exception {
    /// The namespaces inside its module, outermost first, then its own name.
    pub path: Vec<Name>,
    /// The module that declares it.
    pub module: ModuleId,
    /// Its name where it is declared.
    pub span: Span,
}

/// A block `%{ ... %}`.
#[derive(Clone, Debug)]
pub struct Support {
    /// The C code between the marks.
    pub text: Span,
    /// Whether it goes to the top of the C file, not to the end.
    pub first: bool,
}

impl Program {
    /// The numbers of all modules.
    pub fn module_ids(&self) -> impl Iterator<Item = ModuleId> + use<> {
        (0..self.modules.len() as u32).map(ModuleId)
    }

    /// The numbers of all methods.
    pub fn method_ids(&self) -> impl Iterator<Item = MethodId> + use<> {
        (0..self.methods.len() as u32).map(MethodId)
    }

    /// The module, its parent, its parent's parent and so on.
    pub fn ancestry(&self, module: ModuleId) -> impl Iterator<Item = ModuleId> {
        std::iter::successors(Some(module), |&m| self[m].parent)
    }

    /// The module and everything derived from it, parents before children.
    pub fn descendants(&self, module: ModuleId) -> Vec<ModuleId> {
        let mut all = vec![module];
        let mut next = 0;
        while let Some(&m) = all.get(next) {
            all.extend(&self[m].children);
            next += 1;
        }
        all
    }

    /// Whether `module` is `ancestor` or is derived from it.
    pub fn is_derived(&self, module: ModuleId, ancestor: ModuleId) -> bool {
        self.ancestry(module).any(|m| m == ancestor)
    }

    /// The nearest module that both are or are derived from.
    pub fn common_ancestor(&self, a: ModuleId, b: ModuleId) -> Option<ModuleId> {
        self.ancestry(a).find(|&m| self.is_derived(b, m))
    }

    /// The definition that an object of exactly `module` uses for the slot of `method`; `method` itself if it is static
    /// or a constructor.
    pub fn definition_in(&self, module: ModuleId, method: MethodId) -> MethodId {
        self[module].table.get(&self[method].slot).copied().unwrap_or(method)
    }

    /// The modules of all objects in a variable of this type: of itself, of its elements and of their fields. Each once.
    pub fn objects_in(&self, ty: &Type) -> Vec<ModuleId> {
        let mut all: Vec<ModuleId> = ty.object().into_iter().collect();
        let mut next = 0;
        while let Some(&module) = all.get(next) {
            let fields = self.ancestry(module).flat_map(|m| &self[m].fields).map(|&f| &self[f]);
            let inner = fields.filter(|f| !f.is_static).filter_map(|f| f.ty.object());
            let new: BTreeSet<ModuleId> = inner.filter(|m| !all.contains(m)).collect();
            all.extend(new);
            next += 1;
        }
        all
    }

    /// A module's full name, `Pack.Mod`.
    pub fn module_name(&self, module: ModuleId) -> String {
        dotted(&self[module].path)
    }

    /// A method's full name, `Pack.Mod.space.method`.
    pub fn method_name(&self, method: MethodId) -> String {
        format!("{}.{}", self.module_name(self[method].module), dotted(&self[method].path))
    }

    /// A field's full name, `Pack.Mod.space.field`.
    pub fn field_name(&self, field: FieldId) -> String {
        format!("{}.{}", self.module_name(self[field].module), dotted(&self[field].path))
    }

    /// An exception's full name, `Pack.Mod.exception`.
    pub fn exception_name(&self, exception: ExceptionId) -> String {
        format!("{}.{}", self.module_name(self[exception].module), dotted(&self[exception].path))
    }

    /// A type as it is written in Prolac.
    pub fn type_name(&self, ty: &Type) -> String {
        match ty {
            Type::Never => "an exception".into(),
            Type::Error => "an unknown type".into(),
            Type::Void => "void".into(),
            Type::Bool => "bool".into(),
            Type::Int(int) => int.keyword().into(),
            Type::Module(m) => self.module_name(m.module),
            Type::Pointer(to) => match &**to {
                Type::Array(..) => format!("*({})", self.type_name(to)),
                _ => format!("*{}", self.type_name(to)),
            },
            Type::Array(of, count) => match &**of {
                Type::Pointer(_) => format!("({})[{count}]", self.type_name(of)),
                _ => format!("{}[{count}]", self.type_name(of)),
            },
        }
    }
}

fn dotted(path: &[Name]) -> String {
    path.iter().map(Name::as_str).collect::<Vec<_>>().join(".")
}
