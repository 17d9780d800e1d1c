//! What the body of each module defines.

use std::rc::Rc;

use clickwork_source::{Diagnostic, Span};

use super::space::{Entry, Feature, Space, Using};
use super::{Builder, MethodDecl};
use crate::Name;
use crate::program::tree::Expr;
use crate::program::{
    Body, Exception, ExceptionId, Field, FieldId, Method, MethodId, MethodKind, ModuleId, Type,
};
use crate::syntax::ast::{self, Ident, Member};

impl<'a> Builder<'a, '_> {
    /// Enters the methods, fields and exceptions that modules declare.
    pub(super) fn declare_members(&mut self) {
        for index in 0..self.names.modules.len() {
            let module = ModuleId(index as u32);
            let mut body = Space::default();
            self.declare_all(module, &self.names.modules[index].ast.members, &Rc::from([]), &mut body);
            self.names.modules[index].body = body;
        }
    }

    fn declare_all(&mut self, module: ModuleId, members: &'a [Member], space: &Rc<[Name]>, body: &mut Space) {
        for member in members {
            match member {
                Member::Method(method) => self.declare_method(module, method, space, body),
                Member::Field(field) => self.declare_field(module, field, space, body),
                Member::Exception(name) => self.declare_exception(module, name, space, body),
                Member::Namespace(inner) => {
                    if let Some(space) = self.open_inside(module, space, &inner.name.parts, body) {
                        self.declare_all(module, &inner.items, &space, body);
                    }
                }
                Member::Support(_) => {}
            }
        }
    }

    /// Opens the namespaces `names` inside `space`; their full path. `None` after a message.
    fn open_inside(
        &mut self,
        module: ModuleId,
        space: &Rc<[Name]>,
        names: &[Ident],
        body: &mut Space,
    ) -> Option<Rc<[Name]>> {
        let mut path = space.to_vec();
        for name in names {
            let here = body.at_mut(&path)?;
            match here.get(&name.name) {
                None => {
                    let feature = Feature::Space(Space::default(), name.name.clone());
                    here.insert(name.name.clone(), entry(feature, module, name.span));
                }
                Some(Entry { feature: Feature::Space(..), .. }) => {}
                Some(other) => {
                    let message = redefinition(name, other);
                    self.report(message);
                    return None;
                }
            }
            path.push(name.name.clone());
        }
        Some(path.into())
    }

    /// Binds the last part of `path` in its namespace. The namespace's path; `None` after a message.
    fn bind_member(
        &mut self,
        module: ModuleId,
        space: &Rc<[Name]>,
        path: &'a ast::Path,
        feature: Feature,
        body: &mut Space,
    ) -> Option<Rc<[Name]>> {
        if path.global {
            self.error(path.span, "a definition cannot begin with a dot");
        }
        let (last, outer) = path.parts.split_last()?;
        let space = self.open_inside(module, space, outer, body)?;
        let here = body.at_mut(&space)?;
        if let Some(other) = here.get(&last.name) {
            let message = redefinition(last, other);
            self.report(message);
            return None;
        }
        here.insert(last.name.clone(), entry(feature, module, last.span));
        Some(space)
    }

    fn declare_method(
        &mut self,
        module: ModuleId,
        ast: &'a ast::Method,
        space: &Rc<[Name]>,
        body: &mut Space,
    ) {
        let Some(name) = ast.name.parts.last() else { return };
        let id = MethodId(self.program.methods.len() as u32);
        let kind = if name.name == "constructor" { MethodKind::Constructor } else { MethodKind::Plain };
        let feature = match kind {
            MethodKind::Constructor => Feature::Constructor(id),
            _ => Feature::Method(id),
        };
        if kind == MethodKind::Constructor && !self.check_constructor(ast, space) {
            return;
        }
        let Some(space) = self.bind_member(module, space, &ast.name, feature, body) else { return };
        let mut path = space.to_vec();
        path.push(name.name.clone());
        self.add_method(module, path, kind, ast.is_static, name.span);
        self.program[id].params = ast.params.len() as u32;
        self.names.methods[id.0 as usize] = MethodDecl { ast: Some(ast), space, forward: None };
    }

    /// What the head of a constructor must be like.
    fn check_constructor(&mut self, ast: &ast::Method, space: &Rc<[Name]>) -> bool {
        if ast.is_static || !space.is_empty() || ast.name.parts.len() > 1 {
            let message = "a constructor is dynamic and stands at the top level of its module";
            self.error(ast.name.span, message);
            return false;
        }
        if let Some(ty) = &ast.returns {
            self.report(
                Diagnostic::error(ty.span, "a constructor has no return type")
                    .hint("leave out `:>` and the type"),
            );
        }
        true
    }

    /// A method with an empty body, in the tables of program and names.
    pub(super) fn add_method(
        &mut self,
        module: ModuleId,
        path: Vec<Name>,
        kind: MethodKind,
        is_static: bool,
        span: Span,
    ) -> MethodId {
        let id = MethodId(self.program.methods.len() as u32);
        self.program.methods.push(Method {
            path,
            module,
            kind,
            is_static,
            params: 0,
            returns: Type::Void,
            overrides: None,
            slot: id,
            throws: Default::default(),
            body: Body { locals: Vec::new(), root: Expr::nothing(span) },
            span,
        });
        self.names.methods.push(MethodDecl { ast: None, space: Rc::from([]), forward: None });
        self.program[module].methods.push(id);
        id
    }

    fn declare_field(&mut self, module: ModuleId, ast: &'a ast::Field, space: &Rc<[Name]>, body: &mut Space) {
        let Some(name) = ast.name.parts.last() else { return };
        let id = FieldId(self.program.fields.len() as u32);
        let Some(space) = self.bind_member(module, space, &ast.name, Feature::Field(id), body) else {
            return;
        };
        let mut path = space.to_vec();
        path.push(name.name.clone());
        self.program.fields.push(Field {
            path,
            module,
            is_static: ast.is_static,
            ty: Type::Error,
            offset: None,
            span: name.span,
        });
        self.names.fields.push((ast, space));
        self.program[module].fields.push(id);
    }

    fn declare_exception(&mut self, module: ModuleId, name: &'a Ident, space: &Rc<[Name]>, body: &mut Space) {
        let id = ExceptionId(self.program.exceptions.len() as u32);
        let Some(here) = body.at_mut(space) else { return };
        if let Some(other) = here.get(&name.name) {
            let message = redefinition(name, other);
            self.report(message);
            return;
        }
        here.insert(name.name.clone(), entry(Feature::Exception(id), module, name.span));
        let mut path = space.to_vec();
        path.push(name.name.clone());
        self.program.exceptions.push(Exception { path, module, span: name.span });
    }
}

/// An entry that nothing is said about yet.
pub(super) fn entry(feature: Feature, origin: ModuleId, span: Span) -> Entry {
    Entry { feature, using: Using::Closed, level: None, origin, span }
}

fn redefinition(name: &Ident, first: &Entry) -> Diagnostic {
    let mut message =
        Diagnostic::error(name.span, format!("`{}` is defined twice in this module", name.name))
            .label(first.span, format!("first defined here, as {}", first.feature.describe()));
    if matches!(first.feature, Feature::Method(_)) {
        message = message.hint("Prolac has no overloading: give one of the methods another name");
    }
    message
}
