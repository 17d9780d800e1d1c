//! Names: which modules there are, what each shows, and what a name means where it stands (sections 3, 4 and 8).
//!
//! [`Names::build`] works in the order in which one thing needs another:
//! 1. [`globals`]: the namespaces outside of modules, with modules and equations in them;
//! 2. [`headers`]: which module each parent and import is;
//! 3. [`modules`]: the *original namespace* of each module, parents first: what it inherits, then its links (itself,
//!    parents, imports), then its own features; and the names it uses without having them;
//! 4. [`views`], [`operators`]: what others see of it, as soon as it is asked for;
//! 5. [`implicit`]: what the names used without having them stand for;
//! 6. [`exports`]: the roots of the program.
//!
//! Nothing here looks at types or into expressions beyond their names.

mod exports;
mod glob;
mod globals;
mod headers;
mod implicit;
mod members;
mod modules;
mod operators;
mod space;
#[cfg(test)]
mod tests;
mod unresolved;
mod views;

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use clickwork_source::{Diagnostic, Diagnostics, Span};

use crate::Name;
use crate::program::{FieldId, MethodId, ModuleId, Program, ViewId};
use crate::syntax::ast;
use globals::Globals;
pub use globals::{EquationId, GlobalId};
use headers::Header;
pub use implicit::{Forward, NearMiss, Via};
use implicit::{Implicit, Source};
pub use space::{Entry, Feature, ImplicitId, LevelId, Link, LinkKind, Space, Using};
pub use views::View;

/// Everything known about names.
pub struct Names<'a> {
    globals: Globals<'a>,
    /// By module.
    modules: Vec<Decl<'a>>,
    views: Vec<View>,
    equation_views: BTreeMap<EquationId, ViewId>,
    /// Views that operators made of a view, by the text of the operators.
    known_views: HashMap<(ViewId, String), ViewId>,
    implicits: Vec<Implicit>,
    /// By module: where implicit search looks.
    sources: Vec<Vec<Source>>,
    levels: Vec<u8>,
    /// By method.
    methods: Vec<MethodDecl<'a>>,
    /// By field: the declaration and the namespaces around it.
    fields: Vec<(&'a ast::Field, Rc<[Name]>)>,
}

/// What is known of one module while names are built.
struct Decl<'a> {
    ast: &'a ast::Module,
    /// The namespace that contains it.
    home: GlobalId,
    header: Header<'a>,
    /// Names of parents and imports that lead to no module; a message was given.
    lost: Vec<Name>,
    /// Whether a parent is among them.
    lost_parent: bool,
    /// What its body defines.
    body: Space,
    original: State,
    default: Option<ViewId>,
}

/// How far the original namespace of a module is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    NotYet,
    Working,
    Done(ViewId),
}

/// Where a method was written.
#[derive(Clone)]
struct MethodDecl<'a> {
    ast: Option<&'a ast::Method>,
    space: Rc<[Name]>,
    forward: Option<Forward>,
}

/// Where a name stands: a module and the namespaces inside it, outermost first.
#[derive(Clone, Debug)]
pub struct Scope {
    /// The module.
    pub module: ModuleId,
    /// Nested namespaces.
    pub space: Rc<[Name]>,
}

/// Why a view lacks a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// The operator that hid it.
    pub operator: Span,
}

/// Building in progress: the tables so far, and where messages go.
struct Builder<'a, 'b> {
    names: Names<'a>,
    program: &'b mut Program,
    diagnostics: &'b mut Diagnostics,
}

impl<'a> Names<'a> {
    /// Builds the names of a program, and enters its modules, methods, fields, exceptions, equations, exports and
    /// support code into `program`. Types are still missing there, and bodies are empty.
    pub fn build(ast: &'a ast::Program, program: &mut Program, diagnostics: &mut Diagnostics) -> Names<'a> {
        let names = Names {
            globals: Globals::new(),
            modules: Vec::new(),
            views: Vec::new(),
            equation_views: BTreeMap::new(),
            known_views: HashMap::new(),
            implicits: Vec::new(),
            sources: Vec::new(),
            levels: Vec::new(),
            methods: Vec::new(),
            fields: Vec::new(),
        };
        let mut builder = Builder { names, program, diagnostics };
        builder.collect(ast);
        builder.declare_members();
        builder.resolve_headers();
        builder.build_modules();
        builder.complete_views();
        builder.link_views();
        builder.resolve_implicits();
        builder.resolve_exports();
        builder.name_equations();
        builder.names
    }

    /// What a simple name means: innermost namespace outward to the top level of the module.
    pub fn lookup(&self, scope: &Scope, name: &Name) -> Option<&Entry> {
        let top = self.top(scope.module)?;
        let found = (0..=scope.space.len()).rev().find_map(|depth| top.at(&scope.space[..depth])?.get(name));
        found.filter(|entry| self.exists(entry))
    }

    /// What `.name` means inside a module.
    pub fn lookup_top(&self, module: ModuleId, name: &Name) -> Option<&Entry> {
        self.top(module)?.get(name).filter(|entry| self.exists(entry))
    }

    /// What a view shows under a name.
    pub fn member(&self, view: ViewId, name: &Name) -> Option<&Entry> {
        self.view(view).space.get(name).filter(|entry| self.exists(entry))
    }

    /// A view.
    pub fn view(&self, view: ViewId) -> &View {
        &self.views[view.0 as usize]
    }

    /// All that a module has: what its own code sees.
    pub fn original_view(&self, module: ModuleId) -> ViewId {
        match self.modules[module.0 as usize].original {
            State::Done(view) => view,
            _ => Link::UNKNOWN,
        }
    }

    /// What others see of a module that is named without operators.
    pub fn default_view(&self, module: ModuleId) -> Option<ViewId> {
        self.modules[module.0 as usize].default
    }

    /// The method (a forwarder) or exception that an implicit name stands for; `None` if a message was given about it.
    pub fn implicit(&self, id: ImplicitId) -> Option<&Entry> {
        self.implicits[id.0 as usize].target.as_ref()
    }

    /// The value of an inline level: 0 to 3.
    pub fn level(&self, id: LevelId) -> u8 {
        self.levels[id.0 as usize]
    }

    /// How a method was written; `None` if the compiler made it.
    pub fn method_ast(&self, method: MethodId) -> Option<&'a ast::Method> {
        self.methods[method.0 as usize].ast
    }

    /// Where the body of a method stands.
    pub fn method_scope(&self, program: &Program, method: MethodId) -> Scope {
        Scope { module: program[method].module, space: self.methods[method.0 as usize].space.clone() }
    }

    /// What a forwarder forwards to.
    pub fn forward(&self, method: MethodId) -> Option<Forward> {
        self.methods[method.0 as usize].forward
    }

    /// How a field was written.
    pub fn field_ast(&self, field: FieldId) -> &'a ast::Field {
        self.fields[field.0 as usize].0
    }

    /// Where the declaration of a field stands.
    pub fn field_scope(&self, program: &Program, field: FieldId) -> Scope {
        Scope { module: program[field].module, space: self.fields[field.0 as usize].1.clone() }
    }

    /// The operators after the closing brace and in the header of a module, for messages and reports.
    pub fn module_ast(&self, module: ModuleId) -> &'a ast::Module {
        self.modules[module.0 as usize].ast
    }

    /// The links of a module's header, parents first, in the order written.
    pub fn links(&self, module: ModuleId) -> Vec<(Name, Link)> {
        let Some(top) = self.top(module) else { return Vec::new() };
        let header = &self.modules[module.0 as usize].header;
        let named = header.parents.iter().chain(&header.imports).filter_map(|part| {
            let name = part.name();
            match top.get(&name)?.feature {
                Feature::Module(link) => Some((name, link)),
                _ => None,
            }
        });
        named.collect()
    }

    /// Why `view` does not show a name that its module has.
    pub fn hidden(&self, view: ViewId, name: &Name) -> Option<Hidden> {
        self.view(view).hidden.get(name).map(|&operator| Hidden { operator })
    }

    /// Whether a message about a name that `module` lacks would only repeat one about its header.
    pub fn is_lost(&self, program: &Program, module: ModuleId, name: &Name) -> bool {
        self.modules[module.0 as usize].lost.contains(name) || self.has_lost_parent(program, module)
    }

    /// Whether a module or one of its ancestors has a parent that leads to no module: nobody knows what it inherits.
    pub fn has_lost_parent(&self, program: &Program, module: ModuleId) -> bool {
        program.ancestry(module).any(|m| self.modules[m.0 as usize].lost_parent)
    }

    fn top(&self, module: ModuleId) -> Option<&Space> {
        match self.modules[module.0 as usize].original {
            State::Done(view) => Some(&self.view(view).space),
            _ => None,
        }
    }

    /// Whether an entry stands for something: an implicit name may turn out to have no target.
    fn exists(&self, entry: &Entry) -> bool {
        match entry.feature {
            Feature::Implicit(id) => !self.implicits[id.0 as usize].missing,
            _ => true,
        }
    }
}

impl Builder<'_, '_> {
    fn error(&mut self, span: Span, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(span, message));
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }
}
