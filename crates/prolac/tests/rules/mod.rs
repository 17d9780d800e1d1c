//! The rules that every typed tree keeps, as the head of `program/tree.rs` states them, applied to a program.

use clickwork_prolac::program::tree::{BinaryOp, CPiece, Call, Expr, ExprKind, UnaryOp, UpdateOp};
use clickwork_prolac::program::{Body, MethodId, Program, Type, print_expr};

/// What breaks the rules in the bodies of a program, one line for each place.
pub fn broken(program: &Program) -> Vec<String> {
    let mut found = Vec::new();
    for method in program.method_ids() {
        let Body { root, locals } = &program[method].body;
        let mut check = |holds: bool, e: &Expr, rule: &str| {
            if !holds {
                let text = print_expr(program, method, e);
                found.push(format!("{}: {rule}: {text}", program.method_name(method)));
            }
        };
        check(never(root) || root.ty == program[method].returns, root, "the body has the return type");
        check(locals.iter().all(|local| is_value(&local.ty)), root, "variables have values");
        root.walk(&mut |e| expression(program, method, e, &mut check));
    }
    found
}

type Check<'c> = &'c mut dyn FnMut(bool, &Expr, &str);

fn expression(program: &Program, method: MethodId, e: &Expr, check: Check<'_>) {
    use ExprKind::*;
    check(e.ty != Type::Error, e, "no error is left");
    check(e.is_place() || !matches!(e.ty, Type::Array(..)), e, "arrays are places");
    match &e.kind {
        Local(id) => {
            let local = program[method].body.locals.get(id.0 as usize);
            check(local.is_some_and(|local| local.ty == e.ty), e, "a variable has its type");
        }
        Field(object, field) => {
            let module = object.ty.module().map(|m| m.module);
            let declared = program[*field].module;
            check(module.is_some_and(|m| program.is_derived(m, declared)), e, "the object has the field");
            check(program[*field].ty == e.ty && !program[*field].is_static, e, "a field has its type");
        }
        StaticField(field) => check(program[*field].ty == e.ty, e, "a field has its type"),
        Deref(pointer) => check(pointer.ty.pointee() == Some(&e.ty), e, "a pointer leads to its type"),
        AddressOf(place) => {
            check(place.is_place() && e.ty.pointee() == Some(&place.ty), e, "a place has an address");
        }
        Convert(from) => check(converts(&from.ty, &e.ty), e, "this converts"),
        Unary(UnaryOp::Not, a) => check(a.ty == Type::Bool && e.ty == Type::Bool, e, "`!` is of bool"),
        Unary(_, a) => check(a.ty.is_int() && a.ty == e.ty, e, "the sign of an integer"),
        Binary(op, a, b) => check(binary(*op, a, b, &e.ty), e, "operands have one type"),
        MinMax(_, a, b) => check(a.ty.is_int() && a.ty == b.ty && a.ty == e.ty, e, "operands have one type"),
        And(a, b) | Or(a, b) => {
            check(a.ty == Type::Bool && (b.ty == Type::Bool || never(b)), e, "bool operands")
        }
        Implies(a, b) => check(a.ty == Type::Bool && b.ty.is_void(), e, "bool ==> void"),
        Conditional(c, a, b) => {
            check(c.ty == Type::Bool && [a, b].iter().all(|x| never(x) || x.ty == e.ty), e, "branches agree");
        }
        Sequence(all) => {
            let (last, before) = all.split_last().expect("a row is not empty");
            check(
                last.ty == e.ty && before.iter().all(|x| x.ty.is_void()),
                e,
                "rows are void before the end",
            );
        }
        Let(bindings, body) => {
            let locals = &program[method].body.locals;
            let fits = |(id, value): &(_, Option<Expr>)| {
                value.as_ref().is_none_or(|value| value.ty == local_type(locals, *id))
            };
            check(
                body.ty == e.ty && bindings.iter().all(fits),
                e,
                "initial values have the variables' types",
            );
        }
        Assign(place, value) => {
            check(
                place.is_place() && value.ty == place.ty && e.ty == place.ty,
                e,
                "the value has the place's type",
            );
        }
        Update { op, place, value, compute } => {
            check(place.is_place() && e.ty == place.ty, e, "a place is updated");
            check(update(*op, value, compute), e, "the value has the type of the computation");
        }
        Step { place, .. } => {
            let steps = matches!(place.ty, Type::Int(_) | Type::Pointer(_));
            check(place.is_place() && steps && e.ty == place.ty, e, "a place is stepped");
        }
        Call(inner) => call(program, inner, e, check),
        Construct { module, args } => {
            check(e.ty.module().is_some_and(|m| m.module == *module), e, "an object has its type");
            arguments(program, program[*module].constructor, args, e, check);
        }
        ConstructAt { place, module, args } => {
            check(place.is_place() && element(&place.ty) == Some(*module), e, "a place is constructed");
            arguments(program, program[*module].constructor, args, e, check);
        }
        Raise(_) => check(never(e), e, "raising never ends"),
        Catch(body, _) => check(body.ty.is_void() && e.ty == Type::Bool, e, "void is tried"),
        CBlock(block) => block.pieces.iter().for_each(|piece| {
            if let CPiece::Value(value) = piece {
                check(value.is_place() || matches!(value.kind, Int(_)), value, "C has places and constants");
            }
        }),
        Outline(level, a) => check(*level <= 10 && a.ty == e.ty, e, "outline keeps the type"),
        Nothing => check(e.ty == Type::Void, e, "nothing is void"),
        Int(_) => check(matches!(e.ty, Type::Int(_) | Type::Bool), e, "constants are integers or bools"),
        Null | Str(_) => check(matches!(e.ty, Type::Pointer(_)), e, "this is a pointer"),
        This => check(!program[method].is_static, e, "static methods have no self"),
        Missing => {}
    }
}

fn call(program: &Program, call: &Call, e: &Expr, check: Check<'_>) {
    let callee = &program[call.method];
    let receiver = call.receiver.as_ref().and_then(|r| r.ty.pointee()?.module());
    match receiver {
        Some(m) => {
            check(!callee.is_static && program.is_derived(m.module, callee.module), e, "the receiver fits")
        }
        None => check(callee.is_static, e, "a dynamic method has a receiver"),
    }
    check(callee.returns == e.ty, e, "a call has the return type");
    arguments(program, call.method, &call.args, e, check);
}

fn arguments(program: &Program, method: MethodId, args: &[Expr], e: &Expr, check: Check<'_>) {
    let callee = &program[method];
    check(args.len() == callee.params as usize, e, "as many arguments as parameters");
    let fit = args.iter().zip(&callee.body.locals).all(|(arg, local)| arg.ty == local.ty);
    check(fit, e, "arguments have the parameters' types");
}

fn binary(op: BinaryOp, a: &Expr, b: &Expr, ty: &Type) -> bool {
    let pointer = matches!(a.ty, Type::Pointer(_));
    match op {
        BinaryOp::Add if pointer => b.ty.is_int() && *ty == a.ty,
        BinaryOp::Subtract if pointer => {
            (b.ty.is_int() && *ty == a.ty)
                || (b.ty == a.ty && *ty == Type::Int(clickwork_prolac::program::IntType::Long))
        }
        _ if op.is_shift() => a.ty.is_int() && b.ty.is_int() && *ty == a.ty,
        _ if op.is_comparison() => {
            a.ty == b.ty && *ty == Type::Bool && (pointer || a.ty.is_int() || a.ty == Type::Bool)
        }
        _ => a.ty.is_int() && a.ty == b.ty && *ty == a.ty,
    }
}

fn update(op: UpdateOp, value: &Expr, compute: &Type) -> bool {
    match op {
        UpdateOp::Binary(op) if op.is_shift() || matches!(compute, Type::Pointer(_)) => value.ty.is_int(),
        _ => value.ty == *compute && compute.is_int(),
    }
}

fn converts(from: &Type, to: &Type) -> bool {
    from != to
        && match (from, to) {
            (Type::Never | Type::Error, _) => false,
            (_, Type::Void)
            | (Type::Int(_), Type::Int(_) | Type::Bool)
            | (Type::Pointer(_), Type::Bool | Type::Pointer(_))
            | (Type::Bool, Type::Int(_)) => true,
            (Type::Array(of, _), Type::Pointer(to)) => of == to,
            _ => false,
        }
}

fn element(ty: &Type) -> Option<clickwork_prolac::program::ModuleId> {
    match ty {
        Type::Array(of, _) => element(of),
        _ => ty.module().map(|m| m.module),
    }
}

fn local_type(
    locals: &[clickwork_prolac::program::tree::Local],
    id: clickwork_prolac::program::LocalId,
) -> Type {
    locals.get(id.0 as usize).map_or(Type::Error, |local| local.ty.clone())
}

fn is_value(ty: &Type) -> bool {
    !matches!(ty, Type::Void | Type::Never | Type::Error)
}

fn never(e: &Expr) -> bool {
    e.ty == Type::Never
}
