//! The machine on trees made by hand. What whole programs do is tested from their source.

use std::collections::BTreeSet;
use std::thread;

use super::*;
use crate::Name;
use crate::program::tree::{BinaryOp, Call, Dispatch, Expr, ExprKind, Local};
use crate::program::*;

const NOWHERE: Span = Span::NONE;

fn int(value: i64) -> Expr {
    Expr::new(Type::INT, NOWHERE, ExprKind::Int(value))
}

fn local(id: u32) -> Expr {
    Expr::new(Type::INT, NOWHERE, ExprKind::Local(LocalId(id)))
}

fn binary(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    let ty = if op.is_comparison() { Type::Bool } else { Type::INT };
    Expr::new(ty, NOWHERE, ExprKind::Binary(op, Box::new(a), Box::new(b)))
}

fn choice(condition: Expr, a: Expr, b: Expr) -> Expr {
    Expr::new(a.ty.clone(), NOWHERE, ExprKind::Conditional(Box::new(condition), Box::new(a), Box::new(b)))
}

fn call(method: u32, args: Vec<Expr>) -> Expr {
    let call =
        Call { method: MethodId(method), receiver: None, args, dispatch: Dispatch::Exact, level: None };
    Expr::new(Type::INT, NOWHERE, ExprKind::Call(Box::new(call)))
}

fn method(number: u32, name: &str, params: u32, root: Expr) -> Method {
    let variable = |_| tree::Local { name: Name::new("n"), ty: Type::INT, span: NOWHERE };
    Method {
        path: vec![Name::new(name)],
        module: ModuleId(0),
        kind: MethodKind::Plain,
        is_static: true,
        params,
        returns: root.ty.clone(),
        overrides: None,
        slot: MethodId(number),
        throws: BTreeSet::new(),
        body: Body { locals: (0..params).map(variable).collect::<Vec<Local>>(), root },
        span: NOWHERE,
    }
}

/// One module with these static methods of int parameters.
fn program(methods: impl IntoIterator<Item = (u32, Expr)>) -> Program {
    let methods: Vec<Method> =
        methods.into_iter().zip(0..).map(|((params, root), i)| method(i, "f", params, root)).collect();
    let module = Module {
        path: vec![Name::new("M")],
        parent: None,
        children: Vec::new(),
        fields: Vec::new(),
        methods: (0..methods.len() as u32).map(MethodId).collect(),
        table: crate::Map::default(),
        constructor: MethodId(0),
        span: NOWHERE,
    };
    Program { modules: vec![module], methods, ..Program::default() }
}

fn run(program: &Program, limits: Limits, arg: i64) -> Result<Outcome, TrapKind> {
    let mut machine = Machine::new(program, limits).unwrap();
    machine.call(MethodId(0), None, &[Value::int(IntType::Int, arg)]).map_err(|trap| trap.kind)
}

/// `f(n) ::= n == 0 ? 0 : f(n - 1) + 1`
fn counts_down() -> Program {
    let again = call(0, vec![binary(BinaryOp::Subtract, local(0), int(1))]);
    let more = binary(BinaryOp::Add, again, int(1));
    program([(1, choice(binary(BinaryOp::Equal, local(0), int(0)), int(0), more))])
}

#[test]
fn a_level_fits_its_part_of_the_stack() {
    let depth = 2000;
    let run = move || run(&counts_down(), Limits { depth, ..Limits::default() }, 1_000_000);
    let stack = depth as usize * Limits::LEVEL_BYTES;
    let result = thread::Builder::new().stack_size(stack).spawn(run).unwrap().join().unwrap();
    assert_eq!(result, Err(TrapKind::OutOfStack));
}

#[test]
fn calls_return() {
    assert_eq!(run(&counts_down(), Limits::default(), 50), Ok(Outcome::Value(Value::int(IntType::Int, 50))));
}

#[test]
fn calls_in_tail_position_need_no_room() {
    let next = |method| call(method, vec![binary(BinaryOp::Subtract, local(0), int(1))]);
    let body = |method| choice(binary(BinaryOp::Equal, local(0), int(0)), int(7), next(method));
    let program = program([(1, body(1)), (1, body(0))]);
    let limits = Limits { memory: 4096, ..Limits::default() };
    assert_eq!(run(&program, limits, 300_001), Ok(Outcome::Value(Value::int(IntType::Int, 7))));
}

#[test]
fn steps_end() {
    let forever = program([(1, call(0, vec![local(0)]))]);
    let limits = Limits { steps: 10_000, ..Limits::default() };
    assert_eq!(run(&forever, limits, 1), Err(TrapKind::OutOfSteps));
}

#[test]
fn division_by_zero_says_where() {
    let program = program([(1, binary(BinaryOp::Divide, int(1), local(0)))]);
    assert_eq!(run(&program, Limits::default(), 0), Err(TrapKind::DivisionByZero));
}

#[test]
fn arguments_from_outside_are_checked() {
    let program = counts_down();
    let mut machine = Machine::new(&program, Limits::default()).unwrap();
    for args in [vec![], vec![Value::Bool(true)], vec![Value::Int(IntType::Int, 1 << 40)]] {
        let trap = machine.call(MethodId(0), None, &args).unwrap_err();
        assert_eq!(trap.kind, TrapKind::WrongArguments);
    }
}
