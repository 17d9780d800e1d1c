//! What each form of expression does.

use super::machine::{At, Eval, Invocation, Machine, Operand, Stop};
use super::{TrapKind, Value};
use crate::program::tree::{CBlock, CPiece, Call, Dispatch, Expr, ExprKind};
use crate::program::{ExceptionId, LocalId, ModuleId, Type};
use clickwork_source::Span;

impl<'p> Machine<'p> {
    /// Evaluates an expression.
    pub(super) fn eval(&mut self, e: &'p Expr) -> Eval<Value> {
        self.enter(e.span)?;
        let value = self.eval_form(e);
        self.leave();
        value
    }

    fn eval_form(&mut self, e: &'p Expr) -> Eval<Value> {
        use ExprKind::*;
        match &e.kind {
            Nothing => Ok(Value::Void),
            Int(value) => self.number(&e.ty, *value).at(e.span),
            Null => Ok(Value::Pointer(0)),
            Str(text) => self.string(text).map(Value::Pointer).at(e.span),
            Local(_) | This | StaticField(_) | Deref(_) => self.load_place(e),
            Field(object, _) if object.is_place() => self.load_place(e),
            Field(object, field) => self.field_of_value(object, *field),
            AddressOf(place) => self.place(place).map(Value::Pointer),
            Convert(..) | Unary(..) | Binary(..) | MinMax(..) | Assign(..) | Update { .. } | Step { .. } => {
                self.operate(e)
            }
            And(..) | Or(..) | Implies(..) | Conditional(..) | Sequence(_) | Let(..) | Outline(..)
            | Catch(..) => self.control(e),
            Call(call) => self.call_method(call, e.span),
            Construct { module, args } => self.construct_value(*module, args, e),
            ConstructAt { place, module, args } => self.construct_place(place, *module, args),
            Raise(exception) => Err(Stop::Exception(*exception)),
            CBlock(block) => self.c_block(block, e.span),
            Missing => Err(TrapKind::MissingBody).at(e.span),
        }
    }

    /// What decides which parts are evaluated, and in which order.
    fn control(&mut self, e: &'p Expr) -> Eval<Value> {
        match &e.kind {
            ExprKind::And(a, b) => Ok(Value::Bool(self.condition(a)? && self.condition(b)?)),
            ExprKind::Or(a, b) => Ok(Value::Bool(self.condition(a)? || self.condition(b)?)),
            ExprKind::Implies(a, b) => {
                let holds = self.condition(a)?;
                if holds {
                    self.effect(b)?;
                }
                Ok(Value::Bool(holds))
            }
            ExprKind::Conditional(condition, a, b) => {
                let chosen = if self.condition(condition)? { a } else { b };
                self.eval(chosen)
            }
            ExprKind::Sequence(all) => all.iter().try_fold(Value::Void, |_, part| self.eval(part)),
            ExprKind::Let(bindings, body) => {
                self.bind(bindings)?;
                self.eval(body)
            }
            ExprKind::Outline(_, inner) => self.eval(inner),
            ExprKind::Catch(body, caught) => self.catch(body, caught.as_deref()),
            _ => Err(TrapKind::BrokenTree).at(e.span),
        }
    }

    /// Evaluates an expression whose value nobody uses. A place is found but not read.
    pub(super) fn effect(&mut self, e: &'p Expr) -> Eval<()> {
        if e.is_place() { self.place(e).map(drop) } else { self.eval(e).map(drop) }
    }

    /// Evaluates a bool.
    pub(super) fn condition(&mut self, e: &'p Expr) -> Eval<bool> {
        match self.eval(e)? {
            Value::Bool(value) => Ok(value),
            _ => Err(TrapKind::BrokenTree).at(e.span),
        }
    }

    /// Evaluates a pointer.
    pub(super) fn pointer(&mut self, e: &'p Expr) -> Eval<u64> {
        match self.eval(e)? {
            Value::Pointer(address) => Ok(address),
            _ => Err(TrapKind::BrokenTree).at(e.span),
        }
    }

    /// Gives the variables of a `let` their initial values.
    pub(super) fn bind(&mut self, bindings: &'p [(LocalId, Option<Expr>)]) -> Eval<()> {
        for (local, value) in bindings {
            let span = value.as_ref().map_or(Span::NONE, |e| e.span);
            let value = value.as_ref().map(|e| self.eval(e)).transpose()?;
            self.bind_one(*local, value).at(span)?;
        }
        Ok(())
    }

    fn bind_one(&mut self, local: LocalId, value: Option<Value>) -> Result<(), TrapKind> {
        let address = self.local(local)?;
        let ty = self.local_type(local)?;
        self.spend_on(self.objects.size(ty))?;
        match value {
            Some(value) => self.objects.init(&mut self.memory, address, ty, &value),
            None => self.undefine(address, ty),
        }
    }

    fn catch(&mut self, body: &'p Expr, caught: Option<&[ExceptionId]>) -> Eval<Value> {
        let mark = self.memory.mark();
        match self.effect(body) {
            Ok(()) => Ok(Value::Bool(false)),
            Err(Stop::Exception(exception)) if caught.is_none_or(|list| list.contains(&exception)) => {
                self.memory.release(mark);
                Ok(Value::Bool(true))
            }
            Err(stop) => Err(stop),
        }
    }

    fn call_method(&mut self, call: &'p Call, span: Span) -> Eval<Value> {
        let call = self.prepare(call, span)?;
        self.invoke(call)
    }

    /// Evaluates the receiver and the arguments, then finds the definition.
    pub(super) fn prepare(&mut self, call: &'p Call, span: Span) -> Eval<Invocation> {
        let this = call.receiver.as_ref().map_or(Ok(0), |receiver| self.pointer(receiver))?;
        let args = self.values(&call.args)?;
        let method = match call.dispatch {
            Dispatch::Exact => call.method,
            Dispatch::Dynamic => self.objects.dispatch(&self.memory, this, call.method).at(span)?,
        };
        Ok(Invocation { method, this, args, span })
    }

    fn values(&mut self, all: &'p [Expr]) -> Eval<Vec<Value>> {
        all.iter().map(|e| self.eval(e)).collect()
    }

    fn construct_value(&mut self, module: ModuleId, args: &'p [Expr], e: &'p Expr) -> Eval<Value> {
        let args = self.values(args)?;
        let mark = self.memory.mark();
        let value = self.construct_temporary(module, args, e);
        self.memory.release(mark);
        value
    }

    fn construct_temporary(&mut self, module: ModuleId, args: Vec<Value>, e: &'p Expr) -> Eval<Value> {
        let address = self.memory.push(self.objects.module_size(module)).at(e.span)?;
        self.undefine(address, &e.ty).at(e.span)?;
        self.construct_at(address, module, args, e.span)?;
        self.objects.load(&self.memory, address, &e.ty).at(e.span)
    }

    fn construct_place(&mut self, place: &'p Expr, module: ModuleId, args: &'p [Expr]) -> Eval<Value> {
        let address = self.place(place)?;
        let args = self.values(args)?;
        let size = self.objects.module_size(module);
        for i in 0..elements(&place.ty) {
            self.spend_on(64).at(place.span)?;
            self.construct_at(address.wrapping_add(i.wrapping_mul(size)), module, args.clone(), place.span)?;
        }
        Ok(Value::Void)
    }

    fn c_block(&mut self, block: &'p CBlock, span: Span) -> Eval<Value> {
        let mut operands = Vec::new();
        for piece in &block.pieces {
            if let CPiece::Value(e) = piece {
                operands.push(self.operand(e)?);
            }
        }
        self.c_code(block, operands).at(span)?;
        Ok(Value::Bool(true))
    }

    fn operand(&mut self, e: &'p Expr) -> Eval<Operand> {
        if !e.is_place() {
            return self.eval(e).map(Operand::Value);
        }
        Ok(Operand::Place { address: self.place(e)?, size: self.objects.size(&e.ty) })
    }
}

/// How many objects lie in a place: those of arrays in arrays too.
fn elements(ty: &Type) -> u64 {
    match ty {
        Type::Array(of, count) => elements(of).saturating_mul(*count),
        _ => 1,
    }
}
