//! The inlined form of a call: variables for the arguments, then a copy of the body.
//!
//! In: a call's receiver and arguments, and a body. Out: `let` fresh variables (receiver first, so that evaluation stays
//! from left to right) around the copy, in which variables have new numbers and `self` is what the receiver points to.
//! An argument is put in place of its parameter, instead of into a variable, only if nobody can tell: it is a constant, a
//! variable that keeps its value, or an address made of such ([`is_lasting`]), and the body never changes the parameter.

use clickwork_source::Span;

use crate::Name;
use crate::analyze::effects::Usage;
use crate::program::tree::{Body, Expr, ExprKind, Local};
use crate::program::{LocalId, ModuleId, ModuleRef, Type};

use super::fold::is_constant;

/// What is copied.
pub struct Callee<'a> {
    /// The body.
    pub body: &'a Body,
    /// How the body uses its variables.
    pub usage: &'a Usage,
    /// The module of the method.
    pub module: ModuleId,
    /// How many of its variables are parameters.
    pub params: usize,
}

/// The variables of the body that is being inlined into.
pub struct Caller<'a> {
    /// The variables; fresh ones are added.
    pub locals: &'a mut Vec<Local>,
    /// How they are used, after inlining too.
    pub usage: &'a mut Usage,
}

/// A copy of a body, and the variables that must be bound around it.
pub struct Copy {
    /// Arguments that need variables, in order.
    pub bindings: Vec<(LocalId, Option<Expr>)>,
    /// The copy.
    pub body: Expr,
}

impl Copy {
    /// Both as one expression.
    pub fn close(self, span: Span) -> Expr {
        match self.bindings.is_empty() {
            true => self.body,
            false => {
                let ty = self.body.ty.clone();
                Expr::new(ty, span, ExprKind::Let(self.bindings, Box::new(self.body)))
            }
        }
    }
}

/// Copies a body for one call.
pub fn instantiate(
    caller: &mut Caller<'_>,
    callee: &Callee<'_>,
    receiver: Option<Expr>,
    args: Vec<Expr>,
) -> Copy {
    let mut bindings = Vec::new();
    let this = receiver.map(|receiver| bind_receiver(caller, callee, receiver, &mut bindings));
    let mut values = Vec::with_capacity(callee.body.locals.len());
    for (param, arg) in args.into_iter().enumerate() {
        values.push(bind_argument(caller, callee, param, arg, &mut bindings));
    }
    for local in callee.params..callee.body.locals.len() {
        let fresh = fresh_copy(caller, callee, local);
        values.push(read(caller, fresh, callee.body.locals[local].span));
    }
    let body = Copier { this, values }.expr(&callee.body.root);
    Copy { bindings, body }
}

/// Gives the place that stands for `self`.
fn bind_receiver(
    caller: &mut Caller<'_>,
    callee: &Callee<'_>,
    receiver: Expr,
    bindings: &mut Vec<(LocalId, Option<Expr>)>,
) -> Expr {
    let span = receiver.span;
    if is_lasting(&receiver, caller.usage) {
        return behind(of_module(receiver, callee.module));
    }
    // The variable has the type of the original pointer, so that C sees one type of object and not two.
    let receiver = unconverted(receiver);
    let local = Local { name: Name::new("self"), ty: receiver.ty.clone(), span };
    let fresh = add(caller, local, false);
    bindings.push((fresh, Some(receiver)));
    behind(of_module(read(caller, fresh, span), callee.module))
}

/// A pointer to an object before it was converted to one to an ancestor, or to a descendant.
fn unconverted(pointer: Expr) -> Expr {
    match pointer.kind {
        ExprKind::Convert(from) if from.ty.pointee().and_then(Type::module).is_some() => unconverted(*from),
        kind => Expr { kind, ..pointer },
    }
}

fn bind_argument(
    caller: &mut Caller<'_>,
    callee: &Callee<'_>,
    param: usize,
    arg: Expr,
    bindings: &mut Vec<(LocalId, Option<Expr>)>,
) -> Expr {
    if !callee.usage.changes[param] && is_lasting(&arg, caller.usage) {
        return arg;
    }
    let fresh = fresh_copy(caller, callee, param);
    let span = arg.span;
    bindings.push((fresh, Some(arg)));
    read(caller, fresh, span)
}

/// Whether an expression has the same value whenever it is evaluated, and is short.
pub fn is_lasting(expr: &Expr, usage: &Usage) -> bool {
    lasting(expr, usage, 6)
}

fn lasting(expr: &Expr, usage: &Usage, depth: u32) -> bool {
    match &expr.kind {
        _ if depth == 0 => false,
        ExprKind::Local(local) => usage.is_stable(*local),
        ExprKind::AddressOf(place) => lasting_place(place, usage, depth - 1),
        ExprKind::Convert(from) if expr.ty.pointee().is_some() && from.ty.pointee().is_some() => {
            lasting(from, usage, depth - 1)
        }
        _ => is_constant(expr),
    }
}

/// Whether a place is always at the same address.
fn lasting_place(place: &Expr, usage: &Usage, depth: u32) -> bool {
    match &place.kind {
        _ if depth == 0 => false,
        ExprKind::Local(_) | ExprKind::This | ExprKind::StaticField(_) => true,
        ExprKind::Field(object, _) => lasting_place(object, usage, depth - 1),
        ExprKind::Deref(pointer) => lasting(pointer, usage, depth - 1),
        _ => false,
    }
}

/// A pointer to an object as a pointer to an object of `module`.
fn of_module(pointer: Expr, module: ModuleId) -> Expr {
    match pointer.ty.pointee().and_then(Type::module) {
        Some(m) if m.module != module => {
            let ty = Type::pointer(Type::Module(ModuleRef { module, ..m }));
            Expr::new(ty, pointer.span, ExprKind::Convert(Box::new(pointer)))
        }
        _ => pointer,
    }
}

/// What a pointer points to.
fn behind(pointer: Expr) -> Expr {
    match pointer.kind {
        ExprKind::AddressOf(place) => *place,
        kind => {
            let ty = pointer.ty.pointee().cloned().unwrap_or(Type::Void);
            let span = pointer.span;
            Expr::new(ty, span, ExprKind::Deref(Box::new(Expr { kind, ..pointer })))
        }
    }
}

fn read(caller: &Caller<'_>, local: LocalId, span: Span) -> Expr {
    Expr::new(caller.locals[local.0 as usize].ty.clone(), span, ExprKind::Local(local))
}

fn fresh_copy(caller: &mut Caller<'_>, callee: &Callee<'_>, local: usize) -> LocalId {
    add(caller, callee.body.locals[local].clone(), callee.usage.changes[local])
}

fn add(caller: &mut Caller<'_>, local: Local, changes: bool) -> LocalId {
    caller.locals.push(local);
    caller.usage.changes.push(changes);
    caller.usage.uses.push(0);
    LocalId(caller.locals.len() as u32 - 1)
}

/// Copies expressions with replacements for variables and for `self`.
struct Copier {
    this: Option<Expr>,
    /// For each variable of the body.
    values: Vec<Expr>,
}

impl Copier {
    fn expr(&self, expr: &Expr) -> Expr {
        let mut copy = expr.clone();
        self.replace(&mut copy);
        copy
    }

    fn replace(&self, expr: &mut Expr) {
        match &mut expr.kind {
            ExprKind::Local(local) => self.value(*local, expr),
            ExprKind::This => {
                if let Some(this) = &self.this {
                    *expr = Expr { span: expr.span, ..this.clone() };
                }
            }
            ExprKind::Let(bindings, _) => {
                for (local, _) in bindings {
                    if let ExprKind::Local(new) = self.values[local.0 as usize].kind {
                        *local = new;
                    }
                }
                expr.for_each_child_mut(|part| self.replace(part));
            }
            _ => expr.for_each_child_mut(|part| self.replace(part)),
        }
    }

    fn value(&self, local: LocalId, expr: &mut Expr) {
        *expr = Expr { span: expr.span, ..self.values[local.0 as usize].clone() };
    }
}
