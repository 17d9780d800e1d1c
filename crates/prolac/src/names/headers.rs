//! Which modules the parents and imports of a header are.

use std::collections::BTreeMap;

use clickwork_source::{Diagnostic, Span};

use super::globals::Global;
use super::{Builder, EquationId, Names};
use crate::Name;
use crate::program::ModuleId;
use crate::syntax::ast;

/// The parents and imports of one module.
#[derive(Clone, Default)]
pub struct Header<'a> {
    pub parents: Vec<Part<'a>>,
    pub imports: Vec<Part<'a>>,
}

/// One parent or import.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    pub ast: &'a ast::ModuleExpr,
    pub target: Target,
}

/// What a parent or import is derived from: a name that was resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Module(ModuleId),
    Equation(EquationId),
    /// The value that the equation was written with, before any module extended it.
    Written(EquationId),
}

impl Part<'_> {
    /// What it is called inside the module. A parent written `super.N` has no name but `super`, so that N can be
    /// imported: then it is the end of the chain.
    pub fn name(&self) -> Name {
        if self.ast.previous {
            return Name::new("super");
        }
        self.ast.name.parts.last().map_or_else(|| Name::new(""), |part| part.name.clone())
    }
}

impl<'a> Builder<'a, '_> {
    /// Resolves all headers. Modules that extend a chain (`:> super.N`) do so in the order of the text.
    pub(super) fn resolve_headers(&mut self) {
        for index in 0..self.names.modules.len() {
            let (ast, home) = (self.names.modules[index].ast, self.names.modules[index].home);
            let parents = ast.parents.iter().filter_map(|expr| self.part(home, expr, ModuleId(index as u32)));
            let parents = parents.collect();
            let imports = ast.imports.iter().filter_map(|expr| self.part(home, expr, ModuleId(index as u32)));
            let imports = imports.collect();
            self.names.modules[index].header = Header { parents, imports };
            self.check_unique(index);
        }
        (0..self.names.modules.len()).for_each(|index| self.find_lost(index));
    }

    /// Remembers the parents and imports that lead to no module.
    fn find_lost(&mut self, index: usize) {
        let decl = &self.names.modules[index];
        let leads = |parts: &[Part<'_>], ast: &ast::ModuleExpr| {
            let part = parts.iter().find(|part| std::ptr::eq(part.ast, ast));
            part.is_some_and(|part| self.target_module(part.target).is_some())
        };
        let parents = decl.ast.parents.iter().filter(|ast| !leads(&decl.header.parents, ast));
        let imports = decl.ast.imports.iter().filter(|ast| !leads(&decl.header.imports, ast));
        let lost_parent = parents.clone().next().is_some();
        let names = parents.chain(imports).filter_map(|ast| Some(ast.name.parts.last()?.name.clone()));
        let lost = names.collect();
        let decl = &mut self.names.modules[index];
        (decl.lost, decl.lost_parent) = (lost, lost_parent);
    }

    fn part(
        &mut self,
        home: super::GlobalId,
        ast: &'a ast::ModuleExpr,
        module: ModuleId,
    ) -> Option<Part<'a>> {
        if ast.previous {
            let equation = self.names.globals.find_equation(home, &ast.name);
            let target = match equation {
                Some(equation) => self.extend_chain(equation, module),
                None => return self.no_chain(home, ast),
            };
            return Some(Part { ast, target });
        }
        let target = match self.resolve_path(home, &ast.name)? {
            Global::Module(module) => Target::Module(module),
            Global::Equation(equation) => Target::Equation(equation),
            Global::Space(_) => {
                self.error(ast.name.span, "this is a namespace; a module is needed here");
                return None;
            }
        };
        Some(Part { ast, target })
    }

    fn no_chain(&mut self, home: super::GlobalId, ast: &'a ast::ModuleExpr) -> Option<Part<'a>> {
        self.resolve_path(home, &ast.name)?;
        self.report(
            Diagnostic::error(ast.span, "`super.` needs the name of a module equation")
                .hint("the chain begins with an equation outside: `module N ::= Base.N;`"),
        );
        None
    }

    /// `module M :> super.N`: derives from what N stands for so far; from now on N stands for M.
    fn extend_chain(&mut self, equation: EquationId, module: ModuleId) -> Target {
        let end = &mut self.names.globals.equations[equation.0 as usize].end;
        match end.replace(module) {
            Some(before) => Target::Module(before),
            None => Target::Written(equation),
        }
    }

    /// Last name components of a header are unique.
    fn check_unique(&mut self, index: usize) {
        let header = &self.names.modules[index].header;
        let mut seen: BTreeMap<Name, Span> = BTreeMap::new();
        let mut clashes = Vec::new();
        for part in header.parents.iter().chain(&header.imports) {
            if let Some(first) = seen.insert(part.name(), part.ast.name.span) {
                clashes.push((part.name(), first, part.ast.name.span));
            }
        }
        for (name, first, second) in clashes {
            self.report(
                Diagnostic::error(
                    second,
                    format!("two modules of this header would both be called `{name}`"),
                )
                .label(first, "the other one")
                .hint(format!("give one of them another name outside: `module Other ::= ...{name};`")),
            );
        }
    }

    /// The module that a target is in the end; `None` after a message.
    pub(super) fn target_module(&self, target: Target) -> Option<ModuleId> {
        self.names.module_of(target)
    }
}

impl Names<'_> {
    /// The module that a target is in the end; `None` if it is none.
    pub(super) fn module_of(&self, target: Target) -> Option<ModuleId> {
        match target {
            Target::Module(module) => Some(module),
            Target::Equation(equation) => self.equation_module(equation, &mut Vec::new()),
            Target::Written(equation) => self.written_module(equation, &mut Vec::new()),
        }
    }

    fn equation_module(&self, id: EquationId, open: &mut Vec<EquationId>) -> Option<ModuleId> {
        match self.globals.equations[id.0 as usize].end {
            Some(module) => Some(module),
            None => self.written_module(id, open),
        }
    }

    /// The module an equation was written with. An equation that leads back to itself has none.
    fn written_module(&self, id: EquationId, open: &mut Vec<EquationId>) -> Option<ModuleId> {
        if open.contains(&id) {
            return None;
        }
        open.push(id);
        let decl = &self.globals.equations[id.0 as usize];
        let (home, value) = (decl.home, &decl.ast.value);
        // A message about an equation's own value is given once, where its view is made.
        let module = match self.globals.find(home, &value.name) {
            Ok(Global::Module(module)) => Some(module),
            Ok(Global::Equation(other)) => self.equation_module(other, open),
            Ok(Global::Space(_)) | Err(_) => None,
        };
        open.pop();
        module
    }
}
