//! Constructors: what constructs the parts of an object, before the ordinary body runs (section 9).
//!
//! A constructor's body begins with calls of its parts' constructors, each followed by a comma: `Parent(args)`,
//! `super.constructor(args)`, `field.constructor(args)`. Parts without a call are constructed without arguments. Whatever
//! the order written, the parent comes first and then the module's own fields in the order declared; the arguments of a
//! call are evaluated where its part is constructed.

use clickwork_source::{Diagnostic, Span};

use super::BodyChecker;
use super::control::{in_a_row, members};
use super::convert::discard;
use super::lets::array_of_modules;
use super::names::{Meaning, Through};
use super::never::{cut_short, is_never};
use super::places::pointer_to;
use crate::check::Checker;
use crate::names::Feature;
use crate::program::tree::{Call, Dispatch, Expr, ExprKind};
use crate::program::{FieldId, MethodId, ModuleId, Type};
use crate::syntax::ast;

/// A part of an object that has a constructor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Parent(ModuleId),
    Field(FieldId),
}

/// The call of a part's constructor as it was written.
struct Given<'a> {
    part: Part,
    args: &'a [ast::Expr],
    span: Span,
}

impl<'a> Checker<'a> {
    /// The body of a constructor that nobody wrote: `args` go to the parent's constructor.
    pub fn default_construction(&mut self, method: MethodId, args: Vec<Expr>) -> Expr {
        let span = self.program[method].span;
        let mut checker = BodyChecker::of_method(self, method);
        let mut steps = Vec::new();
        for part in checker.all_parts() {
            steps.push(match part {
                Part::Parent(parent) => checker.construct_parent(parent, args.clone(), span),
                Part::Field(field) => checker.construct_field(field, Vec::new(), span),
            });
        }
        discard(in_a_row(steps, span))
    }
}

impl<'a> BodyChecker<'_, 'a> {
    /// The body of a written constructor. An empty one does nothing beyond constructing the parts.
    pub(super) fn constructor(&mut self, method: &'a ast::Method) -> Expr {
        let given = method.body.as_ref().map_or_else(Vec::new, |body| self.given_parts(body));
        let span = method.name.span;
        let mut steps = Vec::new();
        for part in self.all_parts() {
            steps.push(match given.iter().find(|call| call.part == part) {
                Some(call) => {
                    let args = self.all(call.args);
                    self.construct_part(part, args, call.span)
                }
                None => self.construct_part(part, Vec::new(), span),
            });
        }
        if let Some(body) = &method.body
            && !self.is_part(body)
        {
            let value = self.expr(body);
            self.warn_lost_object(&value);
            steps.push(discard(value));
        }
        discard(in_a_row(steps, span))
    }

    /// The parent, and the module's own fields that are objects.
    fn all_parts(&mut self) -> Vec<Part> {
        let module = self.module();
        let parent = self.check.program[module].parent.map(Part::Parent);
        let fields = self.check.program[module].fields.clone();
        let fields = fields.into_iter().filter(|&field| {
            let ty = self.check.field_type(field);
            let object = ty.module().is_some() || array_of_modules(&ty).is_some();
            object && !self.check.program[field].is_static
        });
        parent.into_iter().chain(fields.map(Part::Field)).collect()
    }

    fn construct_part(&mut self, part: Part, args: Vec<Expr>, span: Span) -> Expr {
        match part {
            Part::Field(field) => self.construct_field(field, args, span),
            Part::Parent(parent) => {
                let constructor = self.check.program[parent].constructor;
                if args.is_empty() && self.lacks_arguments(constructor, part, span) {
                    return super::wrong(span);
                }
                match self.arguments(constructor, args, span) {
                    Some(args) if args.iter().any(is_never) => cut_short(args, span),
                    Some(args) => self.construct_parent(parent, args, span),
                    None => super::wrong(span),
                }
            }
        }
    }

    /// A parent's constructor may be hidden: that forbids making objects of the parent alone.
    fn construct_parent(&mut self, parent: ModuleId, args: Vec<Expr>, span: Span) -> Expr {
        let receiver = Some(pointer_to(self.this(span)));
        let method = self.check.program[parent].constructor;
        let call = Call { method, receiver, args, dispatch: Dispatch::Exact, level: None };
        Expr::new(Type::Void, span, ExprKind::Call(Box::new(call)))
    }

    fn construct_field(&mut self, field: FieldId, args: Vec<Expr>, span: Span) -> Expr {
        let ty = self.check.field_type(field);
        let declared = self.check.program[field].span;
        let Some(module) = ty.module().or_else(|| array_of_modules(&ty)) else { return super::wrong(span) };
        if let (Type::Array(..), Some(first)) = (&ty, args.first()) {
            let message = "the elements of an array are constructed without arguments";
            return self.error(Diagnostic::error(first.span, message));
        }
        let Some(constructor) = self.visible_constructor(module, declared) else { return super::wrong(span) };
        if args.is_empty() && self.lacks_arguments(constructor, Part::Field(field), span) {
            return super::wrong(span);
        }
        let object = self.this(span);
        let place = Expr::new(ty, span, ExprKind::Field(Box::new(object), field));
        self.construct_at(place, module, args, span)
    }

    /// Whether a part cannot be constructed without arguments: then there was a message.
    fn lacks_arguments(&mut self, constructor: MethodId, part: Part, span: Span) -> bool {
        let signature = self.check.signature(constructor);
        if signature.params.is_empty() {
            return false;
        }
        let names: Vec<String> = signature.params.iter().map(|(name, ..)| name.to_string()).collect();
        let (called, names) = (self.callee_name(constructor), names.join(", "));
        let message = match part {
            Part::Parent(parent) => {
                let parent = self.check.program.module_name(parent);
                Diagnostic::error(span, format!("the parent `{parent}` needs arguments to be constructed"))
                    .hint(format!("begin the constructor's body with `{parent}({names}),`"))
            }
            Part::Field(field) => self.needy_field(field, &names, span),
        };
        self.report(message.label(self.check.program[constructor].span, format!("`{called}({names})`")));
        true
    }

    fn needy_field(&self, field: FieldId, names: &str, span: Span) -> Diagnostic {
        let field = &self.check.program[field];
        let name = field.path.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(".");
        let message = Diagnostic::error(span, format!("field `{name}` needs arguments to be constructed"))
            .label(field.span, "the field");
        match field.ty {
            Type::Array(..) => message.hint("elements of an array get none: make it an array of pointers"),
            _ => message.hint(format!("begin the constructor's body with `{name}.constructor({names}),`")),
        }
    }

    /// The calls for parts at the beginning of a body; they are taken out of it.
    fn given_parts(&mut self, body: &'a ast::Expr) -> Vec<Given<'a>> {
        let mut given: Vec<Given<'a>> = Vec::new();
        for item in first_items(body) {
            let Some(call) = self.given_part(item) else { break };
            if let Some(first) = given.iter().find(|other| other.part == call.part) {
                self.report(
                    Diagnostic::error(call.span, "this part is constructed twice")
                        .label(first.span, "first constructed here"),
                );
            } else {
                given.push(call);
            }
            self.parts.push(item);
        }
        given
    }

    fn is_part(&self, e: &'a ast::Expr) -> bool {
        self.parts.iter().any(|part| std::ptr::eq(*part, e))
            || matches!(&e.kind, ast::ExprKind::Comma(all) if all.iter().all(|member| self.is_part(member)))
    }

    /// A call for a part, if the expression is one.
    fn given_part(&mut self, e: &'a ast::Expr) -> Option<Given<'a>> {
        let (callee, args) = match &e.kind {
            ast::ExprKind::Call(callee, args) => (&**callee, &args[..]),
            ast::ExprKind::Member(_, name) if name.name == "constructor" => (e, &[][..]),
            _ => return None,
        };
        if !may_name_part(callee) {
            return None;
        }
        let parent = self.check.program[self.module()].parent;
        if let (ast::ExprKind::Member(base, _), Some(parent)) = (&callee.kind, parent)
            && matches!(base.kind, ast::ExprKind::Super)
        {
            return Some(Given { part: Part::Parent(parent), args, span: e.span });
        }
        // Whatever is wrong with the name is said when the expression is typed as an ordinary one.
        let heard = std::mem::take(&mut self.check.diagnostics);
        let meaning = self.meaning(callee);
        self.check.diagnostics = heard;
        let part = match meaning {
            Meaning::Module(module, _) if Some(module.module) == parent => Part::Parent(module.module),
            Meaning::Found(found) if matches!(found.entry.feature, Feature::Constructor(_)) => {
                self.part_reached(&found.through)?
            }
            _ => return None,
        };
        Some(Given { part, args, span: e.span })
    }

    fn part_reached(&self, through: &Through) -> Option<Part> {
        let module = self.module();
        let parent = self.check.program[module].parent;
        match through {
            Through::Module(named) if Some(named.module) == parent => parent.map(Part::Parent),
            Through::Object(object) => match &object.kind {
                ExprKind::Field(of, field)
                    if matches!(of.kind, ExprKind::This) && self.check.program[*field].module == module =>
                {
                    Some(Part::Field(*field))
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// `M`, `super.constructor`, `f.constructor`, `self.f.constructor` and the like.
fn may_name_part(callee: &ast::Expr) -> bool {
    match &callee.kind {
        ast::ExprKind::Name { .. } => true,
        ast::ExprKind::Member(base, name) => name.name == "constructor" && is_name(base),
        _ => false,
    }
}

fn is_name(e: &ast::Expr) -> bool {
    match &e.kind {
        ast::ExprKind::Name { .. } | ast::ExprKind::SelfRef | ast::ExprKind::Super => true,
        ast::ExprKind::Member(base, _) => is_name(base),
        _ => false,
    }
}

/// What stands before the first commas of a body, and the body itself if it is but one call. `a, b ==> c` is read
/// `(a, b) ==> c`, so that the beginning is looked for on the left.
fn first_items(body: &ast::Expr) -> Vec<&ast::Expr> {
    let mut rest = body;
    let mut whole = true;
    loop {
        match &rest.kind {
            ast::ExprKind::Implies(a, _) => rest = a,
            ast::ExprKind::CaseBar(all) => rest = &all[0],
            ast::ExprKind::Catch { body, .. } => rest = body,
            _ => break,
        }
        whole = false;
    }
    let mut items = members(rest);
    if !whole {
        items.pop();
    }
    items
}
