//! Fields, and making objects.

use clickwork_source::{Diagnostic, Span};

use super::calls::counted;
use super::names::{Found, Through};
use super::never::{cut_short, is_never};
use super::places::pointer_to;
use super::{BodyChecker, is_wrong, wrong};
use crate::Name;
use crate::names::Feature;
use crate::program::tree::{Expr, ExprKind};
use crate::program::{FieldId, MethodId, ModuleRef, Type};

impl BodyChecker<'_, '_> {
    /// The field that a name stands for.
    pub(super) fn field(&mut self, found: Found, field: FieldId) -> Expr {
        let ty = self.check.field_type(field);
        let span = found.span;
        if self.check.program[field].is_static {
            return match self.needs_no_object(&found) {
                Ok(()) => Expr::new(ty, span, ExprKind::StaticField(field)),
                Err(wrong) => wrong,
            };
        }
        let object = match self.object_of(found) {
            Ok(object) => object,
            Err(wrong) => return wrong,
        };
        if matches!(ty, Type::Array(..)) && !object.is_place() {
            let message = "an array in an object that is only a value cannot be used";
            return self.error(
                Diagnostic::error(span, message).hint("give the object a name: `let v = ... in ... end`"),
            );
        }
        Expr::new(ty, span, ExprKind::Field(Box::new(object), field))
    }

    /// The object that a dynamic feature is taken from. Parents' features belong to `self` too.
    pub(super) fn object_of(&mut self, found: Found) -> Result<Expr, Expr> {
        let span = found.span;
        match found.through {
            Through::Object(object) => Ok(object),
            Through::Own | Through::Super if !self.is_static => Ok(self.this(span)),
            Through::Module(module) if !self.is_static && self.is_own(module) => Ok(self.this(span)),
            Through::Module(module) => Err(self.no_object_for(&found.entry, &found.name, Some(module), span)),
            Through::Own | Through::Super => Err(self.no_object_for(&found.entry, &found.name, None, span)),
        }
    }

    /// Whether `module` is this module or an ancestor.
    fn is_own(&self, module: ModuleRef) -> bool {
        self.check.program.is_derived(self.module(), module.module)
    }

    /// A static feature must not be named through an object. `self` is let pass: what it has is the module's own.
    pub(super) fn needs_no_object(&mut self, found: &Found) -> Result<(), Expr> {
        let Through::Object(object) = &found.through else { return Ok(()) };
        if matches!(object.kind, ExprKind::This) {
            return Ok(());
        }
        let module = match &object.ty {
            Type::Module(module) => self.check.program.module_name(module.module),
            _ => String::new(),
        };
        let what = found.entry.feature.describe();
        let kind = what.strip_prefix("a ").unwrap_or(what);
        let text = format!("`{}` is a static {kind}: it belongs to the module, not to an object", found.name);
        let message = Diagnostic::error(found.span, text)
            .label(found.entry.span, "declared static here")
            .hint(format!("write `{module}.{}`", found.name));
        Err(self.error(message))
    }

    /// A new object, `M(args)`.
    pub(super) fn construct(&mut self, module: ModuleRef, args: Vec<Expr>, span: Span) -> Expr {
        let Some(constructor) = self.visible_constructor(module, span) else { return wrong(span) };
        match self.arguments(constructor, args, span) {
            Some(args) if args.iter().any(is_never) => cut_short(args, span),
            Some(args) => {
                Expr::new(Type::Module(module), span, ExprKind::Construct { module: module.module, args })
            }
            None => wrong(span),
        }
    }

    /// Constructs in the memory of a place: of an object, or of an array of them.
    pub(super) fn construct_at(
        &mut self,
        place: Expr,
        module: ModuleRef,
        args: Vec<Expr>,
        span: Span,
    ) -> Expr {
        let Some(constructor) = self.visible_constructor(module, span) else { return wrong(span) };
        match self.arguments(constructor, args, span) {
            Some(args) if args.iter().any(is_never) => {
                cut_short(std::iter::once(pointer_to(place)).chain(args), span)
            }
            Some(args) => {
                let kind = ExprKind::ConstructAt { place: Box::new(place), module: module.module, args };
                Expr::new(Type::Void, span, kind)
            }
            None => wrong(span),
        }
    }

    /// `e.constructor(args)` and `e->constructor(args)`.
    pub(super) fn constructor_call(&mut self, found: Found, args: Vec<Expr>) -> Expr {
        let span = found.span;
        let message = match found.through {
            Through::Object(object) if is_wrong(&object.ty) => return wrong(span),
            Through::Object(object) if matches!(object.kind, ExprKind::This) => {
                Diagnostic::error(span, "an object cannot construct itself again")
            }
            Through::Object(object) if !object.is_place() => Diagnostic::error(
                span,
                "this object is a value without a place, so that nothing can be constructed in it",
            ),
            Through::Object(object) => {
                let Some(module) = object.ty.module() else { return wrong(span) };
                return self.construct_at(object, module, args, span);
            }
            Through::Own => Diagnostic::error(span, "an object cannot construct itself again"),
            Through::Super => Diagnostic::error(
                span,
                "the parent can only be constructed at the beginning of a constructor's body, before a comma",
            ),
            Through::Module(module) => {
                let name = self.check.program.module_name(module.module);
                Diagnostic::error(span, "a constructor is called through an object")
                    .hint(format!("`{name}(args)` makes a new object"))
            }
        };
        self.error(message)
    }

    /// The constructor, if the view shows it; a message if not.
    pub(super) fn visible_constructor(&mut self, module: ModuleRef, span: Span) -> Option<MethodId> {
        let name = Name::new("constructor");
        if let Some(entry) = self.check.names.member(module.view, &name)
            && let Feature::Constructor(constructor) = entry.feature
        {
            return Some(constructor);
        }
        let own = self.check.program.module_name(module.module);
        let mut message = Diagnostic::error(
            span,
            format!("no object of `{own}` can be made here: its constructor is hidden"),
        );
        if let Some(hidden) = self.check.names.hidden(module.view, &name) {
            let operator = self.check.sources.slice(hidden.operator).to_owned();
            message = message.label(hidden.operator, format!("hidden here: `{operator}`"));
        }
        self.report(message);
        None
    }

    /// The arguments as the parameters want them; `None` after a message.
    pub(super) fn arguments(
        &mut self,
        method: MethodId,
        mut args: Vec<Expr>,
        span: Span,
    ) -> Option<Vec<Expr>> {
        let signature = self.check.signature(method);
        if args.len() != signature.params.len() {
            let message = self.wrong_count(method, &signature, args.len(), span);
            self.report(message);
            return None;
        }
        let name = self.callee_name(method);
        for (arg, (param, ty, declared)) in args.iter_mut().zip(signature.params.iter()) {
            let value = std::mem::replace(arg, wrong(span));
            let purpose = format!("for parameter `{param}` of `{name}`");
            *arg = self.convert_for(value, ty, &purpose, (*declared, "declared here".into()));
        }
        Some(args)
    }

    fn wrong_count(
        &self,
        method: MethodId,
        signature: &crate::check::Signature,
        given: usize,
        span: Span,
    ) -> Diagnostic {
        let wanted = signature.params.len();
        let name = self.callee_name(method);
        let arguments = if wanted == 0 { "no arguments".into() } else { counted(wanted, "argument") };
        let given = if given == 0 {
            "none is".into()
        } else {
            format!("{} {}", given, if given == 1 { "is" } else { "are" })
        };
        let params: Vec<String> = signature
            .params
            .iter()
            .map(|(name, ty, _)| format!("{name} :> {}", self.check.program.type_name(ty)))
            .collect();
        Diagnostic::error(span, format!("`{name}` takes {arguments}, but {given} given"))
            .label(self.check.program[method].span, format!("`{name}({})`", params.join(", ")))
    }

    /// What messages call a method; a constructor has its module's name.
    pub(super) fn callee_name(&self, method: MethodId) -> String {
        let program = &self.check.program;
        let entry = &program[method];
        if entry.kind.is_constructor() {
            return format!("{}.constructor", program.module_name(entry.module));
        }
        entry.path.last().map_or(String::new(), |name| name.as_str().to_owned())
    }
}
