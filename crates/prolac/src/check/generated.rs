//! Bodies of methods that nobody wrote: forwarders and constructors.

use clickwork_source::Span;

use super::Checker;
use crate::names::{Forward, Via};
use crate::program::tree::{Call, Dispatch, Expr, ExprKind, Local, LocalId};
use crate::program::{Body, FieldId, MethodId, Type};

impl Checker<'_> {
    /// The body of a forwarder or of a constructor that is not written.
    pub(super) fn generated_body(&mut self, method: MethodId) -> Body {
        let params = self.signature(method).params;
        let locals: Vec<Local> = params
            .iter()
            .map(|(name, ty, span)| Local { name: name.clone(), ty: ty.clone(), span: *span })
            .collect();
        let span = self.program[method].span;
        let args = locals
            .iter()
            .enumerate()
            .map(|(i, local)| Expr::new(local.ty.clone(), span, ExprKind::Local(LocalId(i as u32))));
        let args: Vec<Expr> = args.collect();
        let root = match self.names.forward(method) {
            Some(forward) => self.forward(forward, args, span),
            None => self.default_construction(method, args),
        };
        Body { locals, root }
    }

    fn forward(&mut self, forward: Forward, args: Vec<Expr>, span: Span) -> Expr {
        let (receiver, dispatch) = match forward.via {
            Via::Import(_) => (None, Dispatch::Exact),
            Via::Field(field) => {
                let (receiver, dispatch) = self.field_receiver(field, span);
                (Some(receiver), dispatch)
            }
        };
        let level = forward.level.map(|level| self.names.level(level));
        let returns = self.signature(forward.method).returns;
        let call = Call { method: forward.method, receiver, args, dispatch, level };
        Expr::new(returns, span, ExprKind::Call(Box::new(call)))
    }

    /// The address of the object that a field is or points to, and how its methods are called.
    fn field_receiver(&mut self, field: FieldId, span: Span) -> (Expr, Dispatch) {
        let ty = self.field_type(field);
        let kind = match self.program[field].is_static {
            true => ExprKind::StaticField(field),
            false => ExprKind::Field(Box::new(self.this(field, span)), field),
        };
        let place = Expr::new(ty.clone(), span, kind);
        match ty {
            Type::Pointer(_) => (place, Dispatch::Dynamic),
            ty => (Expr::new(Type::pointer(ty), span, ExprKind::AddressOf(Box::new(place))), Dispatch::Exact),
        }
    }

    /// The object itself, as one of the module that declares the field.
    fn this(&self, field: FieldId, span: Span) -> Expr {
        let module = self.program[field].module;
        let view = self.names.original_view(module);
        let ty = Type::Module(crate::program::ModuleRef { module, view });
        Expr::new(ty, span, ExprKind::This)
    }
}
