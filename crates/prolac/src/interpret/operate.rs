//! Arithmetic, conversions and stores. Numbers themselves are [`arith`]'s.

use super::machine::{At, Eval, Machine};
use super::{TrapKind, Value};
use crate::program::tree::{BinaryOp, Expr, ExprKind, UpdateOp};
use crate::program::{IntType, Type, arith};

impl<'p> Machine<'p> {
    pub(super) fn operate(&mut self, e: &'p Expr) -> Eval<Value> {
        match &e.kind {
            ExprKind::Convert(from) => self.convert(e, from),
            ExprKind::Unary(op, a) => {
                let value = self.eval(a)?.number().ok_or(TrapKind::BrokenTree).at(a.span)?;
                self.number(&e.ty, arith::unary(*op, number_type(&a.ty), value)).at(e.span)
            }
            ExprKind::Binary(op, a, b) => {
                let (left, right) = (self.eval(a)?, self.eval(b)?);
                self.binary(*op, (&a.ty, left), (&b.ty, right), &e.ty).at(e.span)
            }
            ExprKind::MinMax(which, a, b) => {
                let (left, right) = (self.eval(a)?, self.eval(b)?);
                self.combine(UpdateOp::MinMax(*which), (&a.ty, left), (&b.ty, right), &e.ty).at(e.span)
            }
            ExprKind::Assign(place, value) => self.assign(place, value),
            ExprKind::Update { op, place, value, compute } => self.update(*op, place, value, compute),
            ExprKind::Step { place, up, postfix } => self.step(place, *up, *postfix),
            _ => Err(TrapKind::BrokenTree).at(e.span),
        }
    }

    /// A bool, integer or pointer.
    pub(super) fn number(&self, ty: &Type, value: i64) -> Result<Value, TrapKind> {
        match ty {
            Type::Bool => Ok(Value::Bool(value != 0)),
            Type::Int(int) => Ok(Value::int(*int, value)),
            Type::Pointer(_) if self.program.target.pointer < 8 => Ok(Value::Pointer(value as u32 as u64)),
            Type::Pointer(_) => Ok(Value::Pointer(value as u64)),
            _ => Err(TrapKind::BrokenTree),
        }
    }

    fn convert(&mut self, e: &'p Expr, from: &'p Expr) -> Eval<Value> {
        match (&e.ty, &from.ty) {
            (Type::Void, _) => self.effect(from).map(|()| Value::Void),
            (Type::Pointer(_), Type::Array(..)) => self.place(from).map(Value::Pointer),
            (Type::Module(_), _) => self.eval(from),
            (to, _) => {
                let value = self.eval(from)?;
                self.as_type(to, &value).at(e.span)
            }
        }
    }

    /// A bool, integer or pointer as another type.
    fn as_type(&self, ty: &Type, value: &Value) -> Result<Value, TrapKind> {
        self.number(ty, value.number().ok_or(TrapKind::BrokenTree)?)
    }

    fn binary(
        &self,
        op: BinaryOp,
        a: (&Type, Value),
        b: (&Type, Value),
        ty: &Type,
    ) -> Result<Value, TrapKind> {
        let (Some(x), Some(y)) = (a.1.number(), b.1.number()) else { return Err(TrapKind::BrokenTree) };
        let size = |to: &Type| self.objects.size(to).min(1 << 40) as i64;
        let result = match (op, a.0, b.0) {
            (BinaryOp::Add, Type::Pointer(to), Type::Int(_)) => x.wrapping_add(y.wrapping_mul(size(to))),
            (BinaryOp::Add, Type::Int(_), Type::Pointer(to)) => y.wrapping_add(x.wrapping_mul(size(to))),
            (BinaryOp::Subtract, Type::Pointer(to), Type::Int(_)) => x.wrapping_sub(y.wrapping_mul(size(to))),
            (BinaryOp::Subtract, Type::Pointer(to), Type::Pointer(_)) => x.wrapping_sub(y) / size(to).max(1),
            _ => arith::binary(op, number_type(a.0), x, y).ok_or(TrapKind::DivisionByZero)?,
        };
        self.number(ty, result)
    }

    fn combine(
        &self,
        op: UpdateOp,
        a: (&Type, Value),
        b: (&Type, Value),
        ty: &Type,
    ) -> Result<Value, TrapKind> {
        match op {
            UpdateOp::Binary(op) => self.binary(op, a, b, ty),
            UpdateOp::MinMax(which) => {
                let (Some(x), Some(y)) = (a.1.number(), b.1.number()) else {
                    return Err(TrapKind::BrokenTree);
                };
                self.number(ty, arith::min_max(which, number_type(a.0), x, y))
            }
        }
    }

    fn assign(&mut self, place: &'p Expr, value: &'p Expr) -> Eval<Value> {
        let address = self.place(place)?;
        let value = self.eval(value)?;
        self.store_and_read(address, place, &value)
    }

    /// The place is found and read before the value is evaluated.
    fn update(&mut self, op: UpdateOp, place: &'p Expr, value: &'p Expr, compute: &'p Type) -> Eval<Value> {
        let address = self.place(place)?;
        let old = self.objects.load(&self.memory, address, &place.ty).at(place.span)?;
        let old = self.as_type(compute, &old).at(place.span)?;
        let operand = self.eval(value)?;
        let new = self.combine(op, (compute, old), (&value.ty, operand), compute).at(value.span)?;
        let new = self.as_type(&place.ty, &new).at(place.span)?;
        self.store_and_read(address, place, &new)
    }

    fn step(&mut self, place: &'p Expr, up: bool, postfix: bool) -> Eval<Value> {
        let address = self.place(place)?;
        let old = self.objects.load(&self.memory, address, &place.ty).at(place.span)?;
        let op = if up { BinaryOp::Add } else { BinaryOp::Subtract };
        let one = (&Type::INT, Value::int(IntType::Int, 1));
        let new = self.binary(op, (&place.ty, old.clone()), one, &place.ty).at(place.span)?;
        let new = self.store_and_read(address, place, &new)?;
        Ok(if postfix { old } else { new })
    }

    /// The new value of the place.
    fn store_and_read(&mut self, address: u64, place: &'p Expr, value: &Value) -> Eval<Value> {
        self.spend_on(self.objects.size(&place.ty)).at(place.span)?;
        self.objects.store(&mut self.memory, address, &place.ty, value).at(place.span)?;
        self.objects.load(&self.memory, address, &place.ty).at(place.span)
    }
}

/// The type whose arithmetic is used: a bool is an int, an address is unsigned.
fn number_type(ty: &Type) -> IntType {
    match ty {
        Type::Int(int) => *int,
        Type::Pointer(_) => IntType::Ulong,
        _ => IntType::Int,
    }
}
