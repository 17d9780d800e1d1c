//! Exports: the methods that C code can call, from which everything else is reached.

use clickwork_source::{Diagnostic, suggest};

use super::Builder;
use super::globals::{Global, GlobalId};
use super::space::{Entry, Feature, Space};
use crate::Name;
use crate::program::{MethodId, MethodKind, ModuleId};
use crate::syntax::ast::{self, Ident};

impl Builder<'_, '_> {
    pub(super) fn resolve_exports(&mut self) {
        for index in 0..self.names.globals.exports.len() {
            let (home, export) = self.names.globals.exports[index];
            for path in &export.names {
                self.export(home, path);
            }
        }
    }

    fn export(&mut self, home: GlobalId, path: &ast::Path) {
        let Some((module, rest)) = self.exported_module(home, path) else { return };
        let names: Vec<Name> = rest.iter().map(|part| part.name.clone()).collect();
        let Some((last, outer)) = names.split_last() else {
            let hint = "name a method of it, or all with `M.all`";
            self.report(
                Diagnostic::error(path.span, "a module cannot be exported, only its methods").hint(hint),
            );
            return;
        };
        let Some(space) = self.names.top(module).cloned() else { return };
        if *last == "all" {
            match space.at(outer) {
                Some(_) => self.export_all(module, outer),
                None => self.unknown_export(path, module, rest, &space),
            }
            return;
        }
        match space.find(&names).map(|entry| entry.feature.clone()) {
            Some(Feature::Method(method) | Feature::Constructor(method)) => self.add_export(method),
            Some(Feature::Space(inner, original)) => match inner.get(&original) {
                Some(Entry { feature: Feature::Method(method), .. }) => self.add_export(*method),
                _ => self.error(path.span, "this is a namespace; export its methods"),
            },
            Some(Feature::Implicit(_)) | None => self.unknown_export(path, module, rest, &space),
            Some(other) => {
                let message = format!("only methods can be exported, and this is {}", other.describe());
                self.error(path.span, message);
            }
        }
    }

    /// The module that a path begins with, and the rest of the path. `None` after a message.
    fn exported_module<'p>(
        &mut self,
        home: GlobalId,
        path: &'p ast::Path,
    ) -> Option<(ModuleId, &'p [Ident])> {
        for length in 1..=path.parts.len() {
            let start = ast::Path { parts: path.parts[..length].to_vec(), ..path.clone() };
            let module = match self.names.globals.find(home, &start) {
                Ok(Global::Space(_)) => continue,
                Ok(Global::Module(module)) => Some(module),
                Ok(Global::Equation(equation)) => {
                    self.target_module(super::headers::Target::Equation(equation))
                }
                Err(message) => {
                    self.report(*message);
                    None
                }
            };
            return Some((module?, &path.parts[length..]));
        }
        self.error(path.span, "this is a namespace outside of modules; export methods of its modules");
        None
    }

    /// Every method whose body the module itself supplies, in a namespace or everywhere.
    fn export_all(&mut self, module: ModuleId, space: &[Name]) {
        for method in self.program[module].methods.clone() {
            let m = &self.program[method];
            let written = matches!(m.kind, MethodKind::Plain | MethodKind::Constructor);
            if written && m.path.starts_with(space) && m.path.len() > space.len() {
                self.add_export(method);
            }
        }
    }

    fn add_export(&mut self, method: MethodId) {
        if !self.program.exports.contains(&method) {
            self.program.exports.push(method);
        }
    }

    fn unknown_export(&mut self, path: &ast::Path, module: ModuleId, rest: &[Ident], space: &Space) {
        let Some(last) = rest.last() else { return };
        if self.names.has_lost_parent(self.program, module) {
            return;
        }
        let message =
            format!("`{}` has no method `{}` to export", self.program.module_name(module), last.name);
        let mut message = Diagnostic::error(path.span, message);
        let methods = space.iter().filter(|(_, entry)| matches!(entry.feature, Feature::Method(_)));
        if let Some(near) = suggest(last.name.as_str(), methods.map(|(name, _)| name.as_str())) {
            message = message.hint(format!("did you mean `{near}`?"));
        }
        self.report(message);
    }
}
