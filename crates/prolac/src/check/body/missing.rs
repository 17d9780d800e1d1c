//! Messages about names that lead nowhere, with what was probably meant.

use clickwork_source::{Diagnostic, Span, suggest};

use super::BodyChecker;
use super::names::{Found, Through};
use crate::Name;
use crate::names::{Feature, Space};
use crate::program::tree::Expr;
use crate::program::{ModuleRef, Type};
use crate::syntax::{ast, statement_hint};

/// Names with more hyphens are not taken apart.
const MOST_HYPHENS: usize = 8;

/// More messages than anybody reads: after them no hints are looked for, which takes time in proportion to the program.
const MANY: usize = 50;

impl BodyChecker<'_, '_> {
    /// A simple name that stands for nothing.
    pub(super) fn undeclared(&self, name: &ast::Ident, called: bool) -> Diagnostic {
        let message = Diagnostic::error(name.span, format!("`{}` is not declared", name.name));
        if self.check.diagnostics.len() >= MANY {
            return message;
        }
        if self.beginning.contains(&name.name) {
            return message.hint(
                "initial values see no variable of their own `let`: put a second `let` inside the first",
            );
        }
        if let Some(hint) = statement_hint(name.name.as_str()) {
            return message.hint(hint);
        }
        if let Some(word) = of_other_languages(name.name.as_str()) {
            return message.hint(format!("in Prolac this is `{word}`"));
        }
        if let Some(difference) = self.as_difference(name.name.as_str()) {
            return message
                .hint(format!("`{}` is one identifier in Prolac: write `{difference}`", name.name));
        }
        if let Some(message) = self.hidden_by_parent(&message, &name.name) {
            return message;
        }
        if let Some(message) = self.not_in_header(&message, &name.name) {
            return message;
        }
        let miss = self.check.names.near_miss(&self.check.program, self.module(), &name.name);
        let message = match (miss, self.near(&name.name)) {
            (Some(miss), _) => message
                .label(miss.span, format!("`{}` exists, but {}", miss.path, miss.reason))
                .hint(format!("did you mean `{}`?", miss.path)),
            (None, Some(near)) => message.hint(format!("did you mean `{near}`?")),
            (None, None) => message,
        };
        let in_c = || format!("functions of C are called in C blocks: `{{ {}(...); }}`", name.name.to_c());
        if called { message.hint(in_c()) } else { message }
    }

    fn hidden_by_parent(&self, message: &Diagnostic, name: &Name) -> Option<Diagnostic> {
        let parent = self.parent_view()?;
        let hidden = self.check.names.hidden(parent.view, name)?;
        let module = self.check.program.module_name(parent.module);
        let operator = self.check.sources.slice(hidden.operator);
        Some(
            message
                .clone()
                .label(hidden.operator, format!("hidden here: `{operator}`"))
                .hint(format!("to inherit it, write `:> {module} show {name}` in the header")),
        )
    }

    /// A module that exists but that the header does not list; of several, the one with the shortest name.
    fn not_in_header(&self, message: &Diagnostic, name: &Name) -> Option<Diagnostic> {
        let program = &self.check.program;
        let modules = program.modules.iter().map(|module| (&module.path, module.span));
        let equations = program.equations.iter().map(|equation| (&equation.path, equation.span));
        let called = modules.chain(equations).filter(|(path, _)| path.last() == Some(name));
        let (path, span) = called.min_by_key(|(path, _)| path.len())?;
        let full: Vec<&str> = path.iter().map(Name::as_str).collect();
        Some(
            message
                .clone()
                .label(span, "a module of this name is defined here")
                .hint(format!("a module sees only what its header lists: add `has {}`", full.join("."))),
        )
    }

    /// The nearest name that can be used here.
    fn near(&self, name: &Name) -> Option<String> {
        let mut locals: Vec<Name> = self.visible.keys().cloned().collect();
        locals.sort();
        let view = self.check.names.original_view(self.module());
        let own = &self.check.names.view(view).space;
        let known = std::iter::successors(Some(self.scope.space.len()), |depth| depth.checked_sub(1))
            .filter_map(|depth| own.at(&self.scope.space[..depth]))
            .flat_map(names_in);
        let all: Vec<Name> = locals.into_iter().chain(known).collect();
        let known = all.iter().filter(|known| *known != name && self.exists(known));
        suggest(name.as_str(), known).map(str::to_owned)
    }

    /// Whether a simple name stands for anything: names used without being declared are in the tables, too.
    fn exists(&self, name: &Name) -> bool {
        self.local(name).is_some() || self.entry(false, name).is_some()
    }

    /// `n-1` taken apart at its hyphens, if all the parts are numbers or names known here: `n - 1`.
    fn as_difference(&self, text: &str) -> Option<String> {
        let parts: Vec<&str> = text.split('-').collect();
        if parts.len() < 2 || parts.len() > MOST_HYPHENS {
            return None;
        }
        self.difference_of(&parts)
    }

    fn difference_of(&self, parts: &[&str]) -> Option<String> {
        (1..=parts.len()).rev().find_map(|count| {
            let first = parts[..count].join("-");
            let known = first.bytes().all(|b| b.is_ascii_digit()) || self.exists(&Name::new(&first));
            match (known, count == parts.len()) {
                (false, _) => None,
                (true, true) => Some(first),
                (true, false) => Some(format!("{first} - {}", self.difference_of(&parts[count..])?)),
            }
        })
    }

    /// A name that a view of a module does not show.
    pub(super) fn no_member(&self, module: ModuleRef, name: &ast::Ident) -> Diagnostic {
        let names = &self.check.names;
        let called = self.check.program.module_name(module.module);
        if let Some(hidden) = names.hidden(module.view, &name.name) {
            let operator = self.check.sources.slice(hidden.operator);
            return Diagnostic::error(
                name.span,
                format!("`{}` of module `{called}` is hidden here", name.name),
            )
            .label(hidden.operator, format!("hidden here: `{operator}`"))
            .hint(format!("to use it, write `{called} show {}` in the header", name.name));
        }
        let message =
            Diagnostic::error(name.span, format!("module `{called}` has no feature `{}`", name.name));
        let space = &names.view(module.view).space;
        if let Some(entry) = space.get(&name.name)
            && matches!(entry.feature, Feature::Module(_))
        {
            return message.hint(format!("`{}` is a module: name it alone", name.name));
        }
        let known = names_in(space);
        match suggest(name.name.as_str(), known.iter().filter(|known| **known != name.name)) {
            Some(near) => message.hint(format!("did you mean `{near}`?")),
            None => {
                message.label(self.check.program[module.module].span, format!("`{called}` is defined here"))
            }
        }
    }

    /// A name that a namespace inside a module lacks.
    pub(super) fn no_such_in(&self, space: &Space, outer: &Found, name: &ast::Ident) -> Diagnostic {
        let called = &outer.name;
        let module = match &outer.through {
            Through::Module(module) => Some(*module),
            Through::Object(object) => object.ty.module(),
            Through::Super => self.parent_view(),
            Through::Own => None,
        };
        if let Some(hidden) = module.and_then(|module| self.check.names.hidden(module.view, &name.name)) {
            let operator = self.check.sources.slice(hidden.operator);
            let text = format!("`{}` of namespace `{called}` is hidden here", name.name);
            return Diagnostic::error(name.span, text)
                .label(hidden.operator, format!("hidden here: `{operator}`"));
        }
        let message = Diagnostic::error(name.span, format!("namespace `{called}` has no `{}`", name.name));
        match suggest(name.name.as_str(), &names_in(space)) {
            Some(near) => message.hint(format!("did you mean `{near}`?")),
            None => message,
        }
    }

    /// `e.name` where `e` is no object.
    pub(super) fn no_object(&self, e: &Expr, name: &ast::Ident) -> Diagnostic {
        let text = format!("`.{}` needs an object, and this is {}", name.name, self.quoted(&e.ty));
        let message = Diagnostic::error(e.span, text);
        match e.ty.pointee() {
            Some(Type::Module(_)) => {
                let pointer = self.check.sources.slice(e.span);
                message.hint(format!("`{pointer}` is a pointer: write `{pointer}->{}`", name.name))
            }
            _ => message,
        }
    }

    /// `e->name` where `e` is no pointer to an object.
    pub(super) fn no_pointer_to_object(&self, e: &Expr, span: Span, name: &ast::Ident) -> Diagnostic {
        let text =
            format!("`->{}` needs a pointer to an object, and this is {}", name.name, self.quoted(&e.ty));
        let message = Diagnostic::error(span, text);
        match &e.ty {
            Type::Module(_) => {
                let object = self.check.sources.slice(span);
                message.hint(format!("`{object}` is an object: write `{object}.{}`", name.name))
            }
            Type::Pointer(to) if **to == Type::Void => message.hint("cast it first: `((*M)p)->f`"),
            _ => message,
        }
    }
}

/// What Prolac calls a thing that other languages call so.
fn of_other_languages(word: &str) -> Option<&'static str> {
    Some(match word {
        "this" => "self",
        "NULL" | "null" | "nil" | "nullptr" => "0",
        "TRUE" | "True" => "true",
        "FALSE" | "False" => "false",
        _ => return None,
    })
}

fn names_in(space: &Space) -> Vec<Name> {
    space.iter().map(|(name, _)| name.clone()).collect()
}
