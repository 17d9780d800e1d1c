//! What a name stands for where it is used, and the value it has there (sections 3 and 7).
//!
//! A name leads to a feature *through* something: nothing at all (then `self` is the object), an object, a module or
//! `super`. The feature with the way to it is a [`Found`]; [`BodyChecker::value`] makes it a value: a field is read, a
//! method called without arguments, an exception raised, and a namespace `n` stands for `n.n` in it, one level only.

use clickwork_source::{Diagnostic, Span};

use super::convert::decay;
use super::places::pointed;
use super::{BodyChecker, fits_all, is_wrong, wrong};
use crate::Name;
use crate::names::{Entry, Feature, Space};
use crate::program::tree::{Expr, ExprKind};
use crate::program::{ExceptionId, ModuleRef, Type};
use crate::syntax::ast;

/// What an expression stands for.
pub(super) enum Meaning {
    /// A value; also what could not be understood, with an unknown type.
    Value(Expr),
    /// A module.
    Module(ModuleRef, Span),
    /// Any other feature.
    Found(Box<Found>),
}

/// A feature that is no module, and how it was reached.
pub(super) struct Found {
    pub entry: Entry,
    pub through: Through,
    /// The name that led to it.
    pub name: Name,
    /// All of the expression.
    pub span: Span,
}

/// Through what a feature was reached.
pub(super) enum Through {
    /// A simple name: `self`, if an object is needed.
    Own,
    /// `e.f` and `e->f`: this object.
    Object(Expr),
    /// `M.f`
    Module(ModuleRef),
    /// `super.f`
    Super,
}

impl<'a> BodyChecker<'_, 'a> {
    /// `called` says that arguments follow.
    pub(super) fn simple_name(&mut self, global: bool, name: &ast::Ident, called: bool) -> Meaning {
        let local = if global { None } else { self.local(&name.name) };
        if let Some(local) = local {
            self.used[local.0 as usize] = true;
            return Meaning::Value(self.local_expr(local, name.span));
        }
        match self.entry(global, &name.name) {
            Some(entry) => self.found(entry, Through::Own, name, name.span),
            None if self.check.names.is_lost(&self.check.program, self.module(), &name.name) => {
                Meaning::Value(wrong(name.span))
            }
            None => {
                let message = self.undeclared(name, called);
                Meaning::Value(self.error(message))
            }
        }
    }

    /// What the module has under a simple name.
    pub(super) fn entry(&self, global: bool, name: &Name) -> Option<Entry> {
        let names = &self.check.names;
        let entry =
            if global { names.lookup_top(self.module(), name) } else { names.lookup(&self.scope, name) };
        entry.cloned()
    }

    /// An implicit name stands for what was found for it; a message about one for which nothing fits was given before.
    fn found(&mut self, entry: Entry, through: Through, name: &ast::Ident, span: Span) -> Meaning {
        match entry.feature {
            Feature::Implicit(id) => match self.check.names.implicit(id).cloned() {
                Some(target) => {
                    let entry = Entry { level: entry.level.or(target.level), ..target };
                    Meaning::Found(Box::new(Found { entry, through, name: name.name.clone(), span }))
                }
                None => Meaning::Value(wrong(span)),
            },
            Feature::Module(link) => {
                Meaning::Module(ModuleRef { module: link.module, view: link.view }, span)
            }
            _ => Meaning::Found(Box::new(Found { entry, through, name: name.name.clone(), span })),
        }
    }

    /// `base.name`
    pub(super) fn member_name(&mut self, base: &'a ast::Expr, name: &ast::Ident, span: Span) -> Meaning {
        if matches!(base.kind, ast::ExprKind::Super) {
            return self.super_name(base.span, name, span);
        }
        match self.meaning(base) {
            Meaning::Module(module, _) => self.module_member(module, name, span),
            Meaning::Found(found) => match &found.entry.feature {
                Feature::Space(space, _) => {
                    let space = space.clone();
                    self.space_member(&space, *found, name, span)
                }
                _ => {
                    let value = self.value(Meaning::Found(found));
                    self.object_member(value, name, span)
                }
            },
            Meaning::Value(value) => self.object_member(value, name, span),
        }
    }

    fn module_member(&mut self, module: ModuleRef, name: &ast::Ident, span: Span) -> Meaning {
        match self.check.names.member(module.view, &name.name).cloned() {
            Some(entry) if !matches!(entry.feature, Feature::Module(_)) => {
                self.found(entry, Through::Module(module), name, span)
            }
            _ => self.without_member(module, name),
        }
    }

    /// A name in a namespace inside a module, reached through the same as the namespace.
    fn space_member(&mut self, space: &Space, outer: Found, name: &ast::Ident, span: Span) -> Meaning {
        match space.get(&name.name).cloned() {
            Some(entry) => self.found(entry, outer.through, name, span),
            None => {
                let message = self.no_such_in(space, &outer, name);
                Meaning::Value(self.error(message))
            }
        }
    }

    /// A message about a name that a module lacks, unless its header had one.
    fn without_member(&mut self, module: ModuleRef, name: &ast::Ident) -> Meaning {
        let names = &self.check.names;
        let lost = names.view(module.view).lost.contains(&name.name);
        if lost || names.has_lost_parent(&self.check.program, module.module) {
            return Meaning::Value(wrong(name.span));
        }
        let message = self.no_member(module, name);
        Meaning::Value(self.error(message))
    }

    /// `super.name`, looked up in what the header shows of the parent.
    fn super_name(&mut self, at: Span, name: &ast::Ident, span: Span) -> Meaning {
        let Some(parent) = self.parent_view() else {
            if self.check.names.has_lost_parent(&self.check.program, self.module()) {
                return Meaning::Value(wrong(span));
            }
            let module = self.check.program.module_name(self.module());
            let message = format!("`super` means nothing here: module `{module}` has no parent");
            return Meaning::Value(self.error(Diagnostic::error(at, message)));
        };
        match self.check.names.member(parent.view, &name.name).cloned() {
            Some(entry) if !matches!(entry.feature, Feature::Module(_)) => {
                self.found(entry, Through::Super, name, span)
            }
            _ => self.without_member(parent, name),
        }
    }

    /// The parent as the header shows it.
    pub(super) fn parent_view(&self) -> Option<ModuleRef> {
        let module = self.module();
        let parent = self.check.program[module].parent?;
        let links = self.check.names.links(module);
        let link = links.into_iter().map(|(_, link)| link).find(|link| link.module == parent)?;
        Some(ModuleRef { module: parent, view: link.view })
    }

    /// `base->name`
    pub(super) fn arrow_name(&mut self, base: &'a ast::Expr, name: &ast::Ident, span: Span) -> Meaning {
        let pointer = decay(self.expr(base));
        match pointer.ty.pointee() {
            Some(Type::Module(module)) => {
                let (ty, at) = (Type::Module(*module), pointer.span);
                let object = pointed(pointer, ty, at);
                self.object_member(object, name, span)
            }
            _ if fits_all(&pointer.ty) => Meaning::Value(pointer),
            _ => {
                let message = self.no_pointer_to_object(&pointer, base.span, name);
                Meaning::Value(self.error(message))
            }
        }
    }

    /// A feature of an object.
    fn object_member(&mut self, object: Expr, name: &ast::Ident, span: Span) -> Meaning {
        let module = match &object.ty {
            Type::Module(module) => *module,
            Type::Error => return Meaning::Value(wrong(span)),
            Type::Never => return Meaning::Value(object),
            _ => {
                let message = self.no_object(&object, name);
                return Meaning::Value(self.error(message));
            }
        };
        match self.check.names.member(module.view, &name.name).cloned() {
            Some(entry) if !matches!(entry.feature, Feature::Module(_)) => {
                self.found(entry, Through::Object(object), name, span)
            }
            _ => self.without_member(module, name),
        }
    }

    /// A module with operators, as in `(M show constructor)(1)`.
    pub(super) fn module_name(&mut self, module: &'a ast::ModuleExpr) -> Meaning {
        let check = &mut *self.check;
        let found = check.names.module_expr_view(&check.program, &self.scope, module, &mut check.diagnostics);
        match found {
            Some((id, view)) => Meaning::Module(ModuleRef { module: id, view }, module.span),
            None => Meaning::Value(wrong(module.span)),
        }
    }

    /// What a name is worth where a value is expected.
    pub(super) fn value(&mut self, meaning: Meaning) -> Expr {
        let found = match meaning {
            Meaning::Value(value) => return value,
            Meaning::Module(module, span) => return self.type_as_value(module, span),
            Meaning::Found(found) => *found,
        };
        match self.callable(found) {
            Ok(found) => self.feature_value(found),
            Err(wrong) => wrong,
        }
    }

    /// For a namespace, the member that has the namespace's own name; all else stays what it is.
    pub(super) fn callable(&mut self, found: Found) -> Result<Found, Expr> {
        let Feature::Space(space, original) = &found.entry.feature else { return Ok(found) };
        let (space, original) = (space.clone(), original.clone());
        let name = ast::Ident { name: original.clone(), span: found.span };
        match space.get(&original).cloned().filter(|entry| !matches!(entry.feature, Feature::Space(..))) {
            Some(entry) => match self.found(entry, found.through, &name, found.span) {
                Meaning::Found(found) => Ok(*found),
                other => Err(self.value(other)),
            },
            None => {
                let message = format!("`{}` is a namespace and has no value", found.name);
                let hint = format!("it would have one if it had a member `{original}` of its own name");
                Err(self.error(Diagnostic::error(found.span, message).hint(hint)))
            }
        }
    }

    fn feature_value(&mut self, found: Found) -> Expr {
        match found.entry.feature {
            Feature::Method(method) => self.call(found, method, Vec::new()),
            Feature::Field(field) => self.field(found, field),
            Feature::Exception(exception) => Expr::new(Type::Never, found.span, ExprKind::Raise(exception)),
            Feature::Constructor(_) => self.constructor_call(found, Vec::new()),
            Feature::Space(..) | Feature::Module(_) | Feature::Implicit(_) => wrong(found.span),
        }
    }

    fn type_as_value(&mut self, module: ModuleRef, span: Span) -> Expr {
        let name = self.check.program.module_name(module.module);
        self.error(
            Diagnostic::error(span, format!("`{name}` is a module, not a value"))
                .label(self.check.program[module.module].span, "defined here")
                .hint(format!("`{}()` makes an object of it", self.check.sources.slice(span))),
        )
    }

    /// An exception in the list of a `catch`; `None` after a message.
    pub(super) fn exception(&mut self, path: &'a ast::Path) -> Option<ExceptionId> {
        let (first, rest) = path.parts.split_first()?;
        let mut meaning = self.simple_name(path.global, first, false);
        for name in rest {
            let span = first.span.join(name.span);
            meaning = match meaning {
                Meaning::Module(module, _) => self.module_member(module, name, span),
                Meaning::Found(found) => match &found.entry.feature {
                    Feature::Space(space, _) => {
                        let space = space.clone();
                        self.space_member(&space, *found, name, span)
                    }
                    _ => Meaning::Found(found),
                },
                Meaning::Value(value) => self.object_member(value, name, span),
            };
        }
        self.as_exception(meaning, path.span)
    }

    fn as_exception(&mut self, meaning: Meaning, span: Span) -> Option<ExceptionId> {
        let what = match meaning {
            Meaning::Value(value) if is_wrong(&value.ty) => return None,
            Meaning::Value(_) => "a variable",
            Meaning::Module(..) => "a module",
            Meaning::Found(found) => match self.callable(*found).ok()?.entry.feature {
                Feature::Exception(exception) => return Some(exception),
                other => other.describe(),
            },
        };
        self.report(Diagnostic::error(span, format!("only exceptions can be caught, and this is {what}")));
        None
    }
}
