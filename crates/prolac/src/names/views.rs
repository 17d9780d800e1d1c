//! Views: a module and what is visible of it.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use clickwork_source::{Diagnostic, Diagnostics, Span};

use super::globals::Global;
use super::headers::{Part, Target};
use super::space::{Feature, LinkKind, Space};
use super::{Builder, EquationId, Names, Scope, State, operators};
use crate::Name;
use crate::program::{ModuleId, Program, ViewId};
use crate::syntax::ast;

/// A module as it is seen from somewhere.
#[derive(Clone, Debug)]
pub struct View {
    /// The module.
    pub module: ModuleId,
    /// What it shows.
    pub space: Space,
    /// Names that an operator took away, with the operator's place.
    pub hidden: Rc<BTreeMap<Name, Span>>,
    /// Names that an operator was to bind, but could not; a message was given.
    pub lost: Rc<BTreeSet<Name>>,
}

impl View {
    pub(super) fn new(module: ModuleId, space: Space) -> Self {
        View { module, space, hidden: Rc::default(), lost: Rc::default() }
    }
}

impl Builder<'_, '_> {
    pub(super) fn add_view(&mut self, view: View) -> ViewId {
        self.names.add_view(view)
    }

    /// What a module sees of one of its parents or imports. `None` after a message, or if that module has an error.
    pub(super) fn part_view(&mut self, part: Part<'_>) -> Option<ViewId> {
        let base = self.target_view(part.target)?;
        Some(self.apply(base, &part.ast.operators))
    }

    fn apply(&mut self, base: ViewId, operators: &[ast::ModuleOperator]) -> ViewId {
        operators::apply_all(&mut self.names, self.program, base, operators, self.diagnostics)
    }

    fn target_view(&mut self, target: Target) -> Option<ViewId> {
        match target {
            Target::Module(module) => self.default_view(module),
            Target::Equation(equation) => self.equation_view(equation, &mut Vec::new()),
            Target::Written(equation) => self.written_view(equation, &mut Vec::new()),
        }
    }

    /// What a module shows without operators: everything but its links and its own implicit names, then the operators
    /// after its closing brace. An implicit name that it inherited was shown on the way, and stays so.
    pub(super) fn default_view(&mut self, module: ModuleId) -> Option<ViewId> {
        let decl = &self.names.modules[module.0 as usize];
        if decl.default.is_some() {
            return decl.default;
        }
        let State::Done(original) = decl.original else { return None };
        let operators = &decl.ast.operators;
        let mut space = self.names.view(original).space.clone();
        space.retain(&mut |_, entry| match entry.feature {
            Feature::Module(_) => false,
            Feature::Implicit(_) => entry.origin != module,
            _ => true,
        });
        let plain = self.add_view(View::new(module, space));
        let view = self.apply(plain, operators);
        self.names.modules[module.0 as usize].default = Some(view);
        Some(view)
    }

    pub(super) fn equation_view(&mut self, id: EquationId, open: &mut Vec<EquationId>) -> Option<ViewId> {
        match self.names.globals.equations[id.0 as usize].end {
            Some(module) => {
                let view = self.default_view(module)?;
                self.names.equation_views.insert(id, view);
                Some(view)
            }
            None => self.written_view(id, open),
        }
    }

    /// The view that an equation was written with.
    fn written_view(&mut self, id: EquationId, open: &mut Vec<EquationId>) -> Option<ViewId> {
        let decl = &self.names.globals.equations[id.0 as usize];
        let (ast, home, extended) = (decl.ast, decl.home, decl.end.is_some());
        if !extended && let Some(&view) = self.names.equation_views.get(&id) {
            return Some(view);
        }
        if open.contains(&id) {
            self.error(ast.name.span, "this equation leads back to itself");
            return None;
        }
        open.push(id);
        let base = match self.resolve_path(home, &ast.value.name)? {
            Global::Module(module) => self.default_view(module),
            Global::Equation(other) => self.equation_view(other, open),
            Global::Space(_) => {
                self.error(ast.value.name.span, "this is a namespace; a module is needed here");
                None
            }
        };
        open.pop();
        let view = self.apply(base?, &ast.value.operators);
        if !extended {
            self.names.equation_views.insert(id, view);
        }
        Some(view)
    }

    /// Makes the views that nobody has asked for, so that their mistakes are found.
    pub(super) fn complete_views(&mut self) {
        for index in 0..self.names.modules.len() {
            self.default_view(ModuleId(index as u32));
        }
        for index in 0..self.names.globals.equations.len() {
            self.equation_view(EquationId(index as u32), &mut Vec::new());
        }
    }
}

impl Names<'_> {
    pub(super) fn add_view(&mut self, view: View) -> ViewId {
        self.views.push(view);
        ViewId(self.views.len() as u32 - 1)
    }

    /// The module that an expression inside of a module names, and its view. `None` after a message.
    pub fn module_expr_view(
        &mut self,
        program: &Program,
        scope: &Scope,
        expr: &ast::ModuleExpr,
        diagnostics: &mut Diagnostics,
    ) -> Option<(ModuleId, ViewId)> {
        match self.find_link(scope, &expr.name) {
            Ok((module, base)) => {
                let view = operators::apply_all(self, program, base, &expr.operators, diagnostics);
                Some((module, view))
            }
            Err(message) => {
                let lost = &self.modules[scope.module.0 as usize].lost;
                if !expr.name.parts.first().is_some_and(|first| lost.contains(&first.name)) {
                    diagnostics.push(*message);
                }
                None
            }
        }
    }

    /// What a name of a module inside a module leads to.
    fn find_link(&self, scope: &Scope, path: &ast::Path) -> Result<(ModuleId, ViewId), Box<Diagnostic>> {
        let Some((first, rest)) = path.parts.split_first() else {
            return Err(Box::new(Diagnostic::error(path.span, "a name is missing here")));
        };
        let entry = match path.global {
            true => self.lookup_top(scope.module, &first.name),
            false => self.lookup(scope, &first.name),
        };
        match entry.map(|entry| &entry.feature) {
            Some(Feature::Module(link)) if rest.is_empty() => Ok((link.module, link.view)),
            Some(Feature::Module(link)) => {
                let what = if link.kind == LinkKind::Import { "an imported module" } else { "a module" };
                let message =
                    format!("`{}` is {what}; the modules it knows cannot be reached through it", first.name);
                Err(Box::new(
                    Diagnostic::error(path.span, message).hint("import the module itself with `has`"),
                ))
            }
            Some(other) => {
                let message = format!("`{}` is {}, not a module", first.name, other.describe());
                Err(Box::new(Diagnostic::error(path.span, message)))
            }
            None => Err(Box::new(self.unlisted_module(scope, path))),
        }
    }

    /// A module that the header does not name.
    fn unlisted_module(&self, scope: &Scope, path: &ast::Path) -> Diagnostic {
        let written = path.parts.iter().map(|part| part.name.as_str()).collect::<Vec<_>>().join(".");
        let message = Diagnostic::error(path.span, format!("no module `{written}` is known in this module"));
        let home = self.modules[scope.module.0 as usize].home;
        let header = self.modules[scope.module.0 as usize].ast.name.span;
        match self.globals.find(home, path) {
            Ok(Global::Module(_) | Global::Equation(_)) => message
                .label(header, "this module sees only what its header lists")
                .hint(format!("add `has {written}` to the header")),
            _ => message,
        }
    }
}
