//! The simple names that the methods of a module use and the module does not have.

use std::collections::{BTreeMap, HashMap};

use clickwork_source::Span;

use super::space::Space;
use crate::Name;
use crate::syntax::ast::{self, Expr, ExprKind, InlineLevel, Member};

/// The names, each with the first place that uses it. `space` is what the module has.
pub fn unresolved(module: &ast::Module, space: &Space) -> BTreeMap<Name, Span> {
    let mut walk = Walk { top: space, path: Vec::new(), locals: HashMap::new(), found: BTreeMap::new() };
    walk.members(&module.members);
    walk.found
}

struct Walk<'s> {
    top: &'s Space,
    /// Namespaces around the method.
    path: Vec<Name>,
    /// Parameters and variables in sight, and how many there are of each name.
    locals: HashMap<Name, u32>,
    found: BTreeMap<Name, Span>,
}

impl Walk<'_> {
    fn members(&mut self, members: &[Member]) {
        for member in members {
            match member {
                Member::Method(method) => self.method(method),
                Member::Namespace(inner) => {
                    let depth = self.path.len();
                    self.path.extend(inner.name.parts.iter().map(|part| part.name.clone()));
                    self.members(&inner.items);
                    self.path.truncate(depth);
                }
                Member::Field(_) | Member::Exception(_) | Member::Support(_) => {}
            }
        }
    }

    fn method(&mut self, method: &ast::Method) {
        let depth = self.path.len();
        let outer = method.name.parts.split_last().map_or(&[][..], |(_, outer)| outer);
        self.path.extend(outer.iter().map(|part| part.name.clone()));
        self.locals = method.params.iter().filter_map(|p| Some((p.name.as_ref()?.name.clone(), 1))).collect();
        if let Some(body) = &method.body {
            self.expr(body);
        }
        self.locals.clear();
        self.path.truncate(depth);
    }

    fn name(&mut self, name: &ast::Ident) {
        let known = self.locals.contains_key(&name.name)
            || (0..=self.path.len())
                .rev()
                .any(|depth| self.top.at(&self.path[..depth]).is_some_and(|s| s.get(&name.name).is_some()));
        if !known && name.name != "constructor" {
            self.found.entry(name.name.clone()).or_insert(name.span);
        }
    }

    fn expr(&mut self, expr: &Expr) {
        use ExprKind::*;
        match &expr.kind {
            Name { global: false, name } => self.name(name),
            Catch { body, names } => {
                self.expr(body);
                for path in names.iter().filter(|path| !path.global && path.parts[0].name != "all") {
                    self.name(&path.parts[0]);
                }
            }
            Let { bindings, body } => self.let_expr(bindings, body),
            Name { global: true, .. } | Int { .. } | Str(_) | Bool(_) | SelfRef | Super => {}
            Module(_) | CBlock(_) | Error => {}
            Member(e, _) | Arrow(e, _) | Unary(_, e) | Postfix(_, e) => self.expr(e),
            Cast(ty, e) | Assert(e, ty) => {
                self.sizes(ty);
                self.expr(e);
            }
            Inline(level, e) => {
                if let InlineLevel::Computed(level) = level {
                    self.expr(level);
                }
                self.expr(e);
            }
            Outline(level, e) => {
                level.iter().for_each(|level| self.expr(level));
                self.expr(e);
            }
            Comma(all) | CaseBar(all) => all.iter().for_each(|member| self.expr(member)),
            Chain(first, rest) => {
                self.expr(first);
                rest.iter().for_each(|(_, e)| self.expr(e));
            }
            Call(f, args) => {
                self.expr(f);
                args.iter().for_each(|arg| self.expr(arg));
            }
            Index(a, b) | Binary(_, a, b) | Assign(_, a, b) | MinMax(_, a, b) | Implies(a, b) => {
                self.expr(a);
                self.expr(b);
            }
            Conditional(a, b, c) => {
                self.expr(a);
                self.expr(b);
                self.expr(c);
            }
            If { arms, otherwise } => {
                for (condition, then) in arms {
                    self.expr(condition);
                    self.expr(then);
                }
                otherwise.iter().for_each(|e| self.expr(e));
            }
        }
    }

    /// The sizes of arrays in a type.
    fn sizes(&mut self, ty: &ast::Type) {
        match &ty.kind {
            ast::TypeKind::Array(of, size) => {
                self.sizes(of);
                self.expr(size);
            }
            ast::TypeKind::Pointer(of) => self.sizes(of),
            _ => {}
        }
    }

    fn let_expr(&mut self, bindings: &[ast::Binding], body: &Expr) {
        for binding in bindings {
            binding.ty.iter().for_each(|ty| self.sizes(ty));
            binding.args.iter().flatten().for_each(|arg| self.expr(arg));
            binding.value.iter().for_each(|value| self.expr(value));
        }
        for binding in bindings {
            *self.locals.entry(binding.name.name.clone()).or_default() += 1;
        }
        self.expr(body);
        for binding in bindings {
            if let Some(count) = self.locals.get_mut(&binding.name.name) {
                *count -= 1;
                if *count == 0 {
                    self.locals.remove(&binding.name.name);
                }
            }
        }
    }
}
