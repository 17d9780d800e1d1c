//! Namespaces outside of modules.

use std::collections::BTreeMap;

use clickwork_source::{Diagnostic, Span, suggest};

use super::headers::Header;
use super::{Builder, Decl, Space, State};
use crate::Name;
use crate::program::{Equation, Module, ModuleId, Support};
use crate::syntax::ast::{self, Member, TopItem};

/// A namespace outside of modules; 0 is the file's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GlobalId(pub u32);

/// A module equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EquationId(pub u32);

/// What a name outside of modules stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Global {
    /// A namespace.
    Space(GlobalId),
    /// A module definition.
    Module(ModuleId),
    /// A module equation.
    Equation(EquationId),
}

/// The namespaces outside of modules, and the equations.
pub struct Globals<'a> {
    spaces: Vec<GlobalSpace>,
    pub(super) equations: Vec<EquationDecl<'a>>,
    pub(super) exports: Vec<(GlobalId, &'a ast::Export)>,
}

struct GlobalSpace {
    outer: Option<GlobalId>,
    path: Vec<Name>,
    names: BTreeMap<Name, (Global, Span)>,
}

/// An equation.
pub struct EquationDecl<'a> {
    pub ast: &'a ast::Equation,
    pub home: GlobalId,
    /// The last module that said `:> super.N` of it: then the equation stands for that one.
    pub end: Option<ModuleId>,
}

impl<'a> Globals<'a> {
    pub fn new() -> Self {
        let file = GlobalSpace { outer: None, path: Vec::new(), names: BTreeMap::new() };
        Globals { spaces: vec![file], equations: Vec::new(), exports: Vec::new() }
    }

    fn space(&self, id: GlobalId) -> &GlobalSpace {
        &self.spaces[id.0 as usize]
    }

    /// The names around and in a namespace, outermost first.
    pub fn path(&self, id: GlobalId) -> &[Name] {
        &self.space(id).path
    }

    /// What `name` stands for in one namespace, and where that is defined.
    pub fn get(&self, space: GlobalId, name: &Name) -> Option<(Global, Span)> {
        self.space(space).names.get(name).copied()
    }

    /// What a simple name stands for, from `home` outward.
    pub fn lookup(&self, home: GlobalId, name: &Name) -> Option<Global> {
        let mut around = std::iter::successors(Some(home), |&id| self.space(id).outer);
        around.find_map(|id| self.get(id, name)).map(|(global, _)| global)
    }

    /// What a path stands for, or why it stands for nothing.
    pub fn find(&self, home: GlobalId, path: &ast::Path) -> Result<Global, Box<Diagnostic>> {
        let mut parts = path.parts.iter();
        let Some(mut before) = parts.next() else {
            return Err(Box::new(Diagnostic::error(path.span, "a name is missing here")));
        };
        let home = if path.global { GlobalId(0) } else { home };
        let mut global = self.lookup(home, &before.name).ok_or_else(|| self.unknown_name(home, before))?;
        for part in parts {
            let Global::Space(space) = global else {
                let message = format!("`{}` is a module; no module is inside of it", before.name);
                return Err(Box::new(Diagnostic::error(part.span, message)));
            };
            let inner =
                self.get(space, &part.name).ok_or_else(|| self.unknown_member(space, before, part))?;
            (global, before) = (inner.0, part);
        }
        Ok(global)
    }

    /// The equation that a path names, from `home` outward. Modules of that name do not count, so that a module can be
    /// called like the chain that it extends.
    pub fn find_equation(&self, home: GlobalId, path: &ast::Path) -> Option<EquationId> {
        let (first, rest) = path.parts.split_first()?;
        let start = if path.global { GlobalId(0) } else { home };
        std::iter::successors(Some(start), |&id| self.space(id).outer).find_map(|id| {
            let (mut global, _) = self.get(id, &first.name)?;
            for part in rest {
                let Global::Space(space) = global else { return None };
                global = self.get(space, &part.name)?.0;
            }
            match global {
                Global::Equation(equation) => Some(equation),
                _ => None,
            }
        })
    }

    fn unknown_name(&self, home: GlobalId, name: &ast::Ident) -> Box<Diagnostic> {
        let around = std::iter::successors(Some(home), |&id| self.space(id).outer);
        let visible = around.flat_map(|id| self.space(id).names.keys());
        let message =
            Diagnostic::error(name.span, format!("no module or namespace is called `{}`", name.name));
        Box::new(with_suggestion(message, name, visible))
    }

    fn unknown_member(&self, space: GlobalId, outer: &ast::Ident, name: &ast::Ident) -> Box<Diagnostic> {
        let message =
            Diagnostic::error(name.span, format!("namespace `{}` has no `{}`", outer.name, name.name));
        Box::new(with_suggestion(message, name, self.space(space).names.keys()))
    }
}

/// Adds "did you mean", if one of the names is near.
fn with_suggestion<'n>(
    message: Diagnostic,
    wrong: &ast::Ident,
    names: impl Iterator<Item = &'n Name>,
) -> Diagnostic {
    match suggest(wrong.name.as_str(), names.map(Name::as_str)) {
        Some(near) => message.hint(format!("did you mean `{near}`?")),
        None => message,
    }
}

impl<'a> Builder<'a, '_> {
    /// Enters all modules, equations and exports of the program.
    pub(super) fn collect(&mut self, ast: &'a ast::Program) {
        self.collect_items(GlobalId(0), &ast.items);
    }

    fn collect_items(&mut self, home: GlobalId, items: &'a [TopItem]) {
        for item in items {
            match item {
                TopItem::Module(module) => {
                    self.collect_module(home, module);
                    self.collect_support(&module.members);
                }
                TopItem::Equation(equation) => self.collect_equation(home, equation),
                TopItem::Namespace(inner) => {
                    if let Some(space) = self.open(home, &inner.name.parts) {
                        self.collect_items(space, &inner.items);
                    }
                }
                TopItem::Export(export) => self.names.globals.exports.push((home, export)),
                TopItem::Support(support) => {
                    self.program.support.push(Support { text: support.text, first: support.first });
                }
            }
        }
    }

    /// Enters the support code in a module, so that it keeps its place among the rest.
    fn collect_support(&mut self, members: &[Member]) {
        for member in members {
            match member {
                Member::Support(support) => {
                    self.program.support.push(Support { text: support.text, first: support.first });
                }
                Member::Namespace(inner) => self.collect_support(&inner.items),
                Member::Method(_) | Member::Field(_) | Member::Exception(_) => {}
            }
        }
    }

    /// The namespace at `path` inside `home`, opened now or before. `None` after a message.
    fn open(&mut self, home: GlobalId, path: &[ast::Ident]) -> Option<GlobalId> {
        path.iter().try_fold(home, |outer, part| match self.names.globals.get(outer, &part.name) {
            Some((Global::Space(id), _)) => Some(id),
            Some((_, span)) => {
                self.redefined(part, span, "it is not a namespace, so that nothing can be put into it");
                None
            }
            None => {
                let id = GlobalId(self.names.globals.spaces.len() as u32);
                let mut path = self.names.globals.path(outer).to_vec();
                path.push(part.name.clone());
                self.names.globals.spaces.push(GlobalSpace {
                    outer: Some(outer),
                    path,
                    names: BTreeMap::new(),
                });
                self.bind(outer, part, Global::Space(id));
                Some(id)
            }
        })
    }

    fn bind(&mut self, home: GlobalId, name: &ast::Ident, global: Global) {
        let space = &mut self.names.globals.spaces[home.0 as usize];
        space.names.insert(name.name.clone(), (global, name.span));
    }

    /// The namespace for a new name `path`, and its last part. `None` after a message.
    fn place<'n>(&mut self, home: GlobalId, path: &'n ast::Path) -> Option<(GlobalId, &'n ast::Ident)> {
        let (last, outer) = path.parts.split_last()?;
        let from = if path.global { GlobalId(0) } else { home };
        let home = self.open(from, outer)?;
        if let Some((_, span)) = self.names.globals.get(home, &last.name) {
            self.redefined(last, span, "it is defined already");
            return None;
        }
        Some((home, last))
    }

    fn redefined(&mut self, name: &ast::Ident, first: Span, why: &str) {
        self.report(
            Diagnostic::error(name.span, format!("`{}` cannot be defined here: {why}", name.name))
                .label(first, "first defined here"),
        );
    }

    fn collect_module(&mut self, home: GlobalId, module: &'a ast::Module) {
        let Some((home, name)) = self.place(home, &module.name) else { return };
        let id = ModuleId(self.names.modules.len() as u32);
        self.bind(home, name, Global::Module(id));
        let mut path = self.names.globals.path(home).to_vec();
        path.push(name.name.clone());
        self.program.modules.push(Module {
            path,
            parent: None,
            children: Vec::new(),
            fields: Vec::new(),
            methods: Vec::new(),
            table: crate::Map::default(),
            constructor: crate::program::MethodId(u32::MAX),
            span: name.span,
        });
        self.names.modules.push(Decl {
            ast: module,
            home,
            header: Header::default(),
            lost: Vec::new(),
            lost_parent: false,
            body: Space::default(),
            original: State::NotYet,
            default: None,
        });
    }

    fn collect_equation(&mut self, home: GlobalId, equation: &'a ast::Equation) {
        let Some((home, name)) = self.place(home, &equation.name) else { return };
        let id = EquationId(self.names.globals.equations.len() as u32);
        self.bind(home, name, Global::Equation(id));
        self.names.globals.equations.push(EquationDecl { ast: equation, home, end: None });
    }

    /// What a path outside of modules stands for; `None` after a message.
    pub(super) fn resolve_path(&mut self, home: GlobalId, path: &ast::Path) -> Option<Global> {
        self.names.globals.find(home, path).map_err(|message| self.report(*message)).ok()
    }

    /// Enters the equations into the program, so that C gets their names.
    pub(super) fn name_equations(&mut self) {
        for index in 0..self.names.globals.equations.len() {
            let id = EquationId(index as u32);
            let Some(&view) = self.names.equation_views.get(&id) else { continue };
            let decl = &self.names.globals.equations[index];
            let Some(name) = decl.ast.name.parts.last() else { continue };
            let mut path = self.names.globals.path(decl.home).to_vec();
            path.push(name.name.clone());
            let module = self.names.views[view.0 as usize].module;
            self.program.equations.push(Equation { path, module, span: name.span });
        }
    }
}
