//! The interpreter on whole programs: what the language means.

use clickwork_prolac::interpret::{Limits, Machine, Operand, Outcome, Trap, TrapKind, Value};
use clickwork_prolac::program::{MethodId, Program, Target, Type};
use clickwork_prolac::{check, syntax};
use clickwork_source::{Diagnostics, Severity, Sources, render_human};

/// A checked program.
fn program_for(target: Target, source: &str) -> Program {
    let mut sources = Sources::new();
    let file = sources.add("test.pc", source);
    let mut diagnostics = Diagnostics::new();
    let syntax = syntax::parse(&mut sources, file, &mut diagnostics);
    let checked = check::check(&sources, &syntax, target);
    let mut errors =
        diagnostics.iter().chain(checked.diagnostics.iter()).filter(|d| d.severity == Severity::Error);
    assert!(
        errors.next().is_none(),
        "{}",
        checked.diagnostics.iter().map(|d| render_human(&sources, d, false)).collect::<String>()
    );
    checked.program
}

fn program(source: &str) -> Program {
    program_for(Target::named("x86_64").unwrap(), source)
}

fn method(program: &Program, name: &str) -> MethodId {
    program.method_ids().find(|&m| program.method_name(m) == name).unwrap_or_else(|| panic!("no {name}"))
}

fn call(machine: &mut Machine<'_>, program: &Program, name: &str, args: &[i64]) -> Result<Outcome, Trap> {
    let method = method(program, name);
    let locals = program[method].body.locals.iter().zip(args);
    let args: Vec<Value> = locals.map(|(local, &arg)| Value::int(local.ty.int().unwrap(), arg)).collect();
    machine.call(method, None, &args)
}

/// What `M.f` of one program gives: a number, `void`, `exception NAME` or a trap with its place.
fn run(source: &str, args: &[i64]) -> String {
    run_on(&program(source), source, args)
}

fn run_on(program: &Program, source: &str, args: &[i64]) -> String {
    let mut machine = Machine::new(program, Limits::default()).unwrap();
    match call(&mut machine, program, "M.f", args) {
        Ok(Outcome::Value(value)) => value.number().map_or("void".into(), |n| n.to_string()),
        Ok(Outcome::Exception(exception)) => format!("exception {}", program.exception_name(exception)),
        Err(trap) => format!("{trap}: {}", &source[trap.span.start as usize..trap.span.end as usize]),
    }
}

/// What an expression of type long gives inside a module with these members.
fn value(members: &str, expression: &str) -> String {
    run(&format!("module M {{ {members} static f :> long ::= {expression}; }} export M.f;"), &[])
}

#[test]
fn operands_are_evaluated_from_left_to_right() {
    let members = "static field s :> int; static put(n :> int) :> int ::= s = s * 10 + n, n;";
    assert_eq!(value(members, "put(1) + put(2) * put(3), s"), "123");
    assert_eq!(value(members, "let a = put(1), b = put(2) in s end"), "12");
    assert_eq!(value(members, "s + (s = 5) + s"), "10");
    assert_eq!(value(members, "s += (s = 5), s"), "5");
    assert_eq!(value(members, "max(put(2), put(1)), s"), "21");
}

#[test]
fn shown_implicit_methods_are_overridden_generations_down() {
    let source = "module St { field v :> int; closed :> bool ::= v == 0; }
        module Base has St { field st :> St using all; force ::= closed; go :> int ::= closed ==> 1 ||| 2; } show closed;
        module Mid :> Base { extra :> int ::= 7; }
        module Top :> Mid { closed :> bool ::= false; }
        module M has Top, Mid { static f :> int ::= let x :> Top in x.st.v = 0, x.go end; }";
    assert_eq!(run(source, &[]), "2");
    // An override below one that was found later is still the nearest.
    let source = "module D { get :> int ::= 1; }
        module P has D { field d :> D using all; t :> int ::= get; } show (get, other = get);
        module A :> P { get :> int ::= 2; } module B :> A { get :> int ::= 3; }
        module C :> A { other :> int ::= 4; }
        module M has B, C { static f :> int ::= let b :> B, c :> C in b.other * 100 + c.get * 10 + c.t end; }";
    assert_eq!(run(source, &[]), "344");
}

#[test]
fn super_is_what_the_parent_uses_under_every_name() {
    let source = "module P { a :> int ::= 1; } show (b = a); module C :> P { a :> int ::= 2; }
        module E :> C { c :> int ::= super.b; } module M has E { static f :> int ::= let e :> E in e.c end; }";
    assert_eq!(run(source, &[]), "2");
}

#[test]
fn integers_wrap() {
    assert_eq!(value("", "2147483647 + 1"), "-2147483648");
    assert_eq!(value("", "(uchar)300 + (char)200"), "-12");
    assert_eq!(value("static field c :> char;", "c = 127, c++, c"), "-128");
    assert_eq!(value("", "4294967290Q < 5Q ? 1 : 0"), "1");
}

#[test]
fn parts_that_decide_are_evaluated_only_if_needed() {
    let members = "static field s :> int; static put(n :> bool) :> bool ::= s++, n;";
    assert_eq!(value(members, "put(false) && put(true), put(true) || put(true), s"), "2");
    assert_eq!(value(members, "(put(false) ==> s = 100) ? 1 : s"), "1");
    assert_eq!(value(members, "put(true) ==> 7 ||| put(true) ==> 8 ||| 9"), "7");
}

const SHAPES: &str = "
module Shape { field n :> int; constructor(k :> int) ::= n = k; area :> int ::= 0; twice :> int ::= area * 2; }
module Square :> Shape { field c :> char; constructor(k :> int) ::= Shape(k), c = 7; area :> int ::= n * n; }
module Cube :> Square { area :> int ::= super.area * n; }
";

fn shapes(expression: &str) -> String {
    let body =
        format!("module M has Shape, Square, Cube {{ static f :> int ::= {expression}; }} export M.f;");
    run(&format!("{SHAPES}{body}"), &[])
}

#[test]
fn calls_reach_the_definition_of_the_run_time_type() {
    assert_eq!(shapes("let c = Cube(3) in c.twice end"), "54");
    assert_eq!(shapes("let c = Cube(3) in let p :> *Shape = &c in p->area end end"), "27");
}

#[test]
fn an_object_that_is_copied_becomes_one_of_the_static_type() {
    assert_eq!(
        shapes("let c = Cube(3) in let p :> *Square = &c in let s :> Square = *p in s.area end end end"),
        "9"
    );
}

#[test]
fn assignment_copies_fields_and_nothing_else() {
    let assign = |read: &str| {
        shapes(&format!("let c = Cube(3), s = Shape(5) in let p :> *Shape = &c in *p = s, {read} end end"))
    };
    assert_eq!(assign("p->area"), "125");
    assert_eq!(assign("c.c"), "7");
}

#[test]
fn an_object_is_what_it_is_before_its_constructors_run() {
    let source = "
        module A { field x :> int; constructor ::= x = kind; kind :> int ::= 1; }
        module B :> A { kind :> int ::= 2; }
        module M has A, B { static f :> int ::= let b = B() in b.x end; } export M.f;";
    assert_eq!(run(source, &[]), "2");
}

#[test]
fn a_static_object_has_its_type_from_the_start() {
    let source = "
        module A { field x :> int; kind :> int ::= 1; }
        module B :> A { kind :> int ::= 2; }
        module M has A, B { static field b :> B; static f :> int ::= let p :> *A = &b in p->kind * 10 + b.kind end; }
        export M.f;";
    assert_eq!(run(source, &[]), "22");
}

#[test]
fn an_object_in_foreign_memory_is_of_the_type_of_the_pointer() {
    let source = "
        module A { field x :> int; kind :> int ::= 1; }
        module B :> A { kind :> int ::= 2; all :> int ::= let p :> *A = &self in kind * 10 + p->kind end; }";
    let program = program(source);
    let mut machine = Machine::new(&program, Limits::default()).unwrap();
    let memory = machine.memory().allocate(64).unwrap();
    let result = machine.call(method(&program, "B.all"), Some(memory), &[]);
    assert_eq!(result, Ok(Outcome::Value(Value::int(clickwork_prolac::program::IntType::Int, 21))));
}

#[test]
fn handlers_chain() {
    let source = "module M {
        exception a; exception b; exception c; static field s :> int;
        static g(n :> int) :> bool ::= (n == 1 ==> a), (n == 2 ==> b), (n == 3 ==> c), s += 1000;
        static f(n :> int) :> int ::= (g(n) catch a ==> (s += 1, b) catch b ==> s += 10 catch all ==> s += 100), s;
    } export M.f;";
    let results: Vec<String> = (0..4).map(|n| run(source, &[n])).collect();
    assert_eq!(results, ["1000", "11", "10", "100"]);
}

#[test]
fn what_nobody_catches_leaves_the_method() {
    let source = "module M { exception oops; static f :> bool ::= true ==> oops; } export M.f;";
    assert_eq!(run(source, &[]), "exception M.oops");
}

#[test]
fn loops_of_calls_in_tail_position_run_long() {
    let source = "module M {
        static g(n :> int, sum :> long) :> long ::= n == 0 ==> sum ||| g(n - 1, sum + n);
        static h(n :> int, p :> *long) ::= n > 0 ==> (*p += 1, h(n - 1, p));
        static f(n :> int) :> long ::= let sum :> long = 0 in h(n, &sum), g(n, sum) end;
    } export M.f;";
    assert_eq!(run(source, &[300_000]), (300_000i64 * 300_001 / 2 + 300_000).to_string());
}

#[test]
fn a_variable_lives_until_the_calls_that_point_to_it_are_over() {
    let source = "module M {
        static g(n :> int, p :> *int) :> int ::= let x :> int = *p + 1 in n == 0 ? x : g(n - 1, &x) end;
        static f(n :> int) :> int ::= let x :> int = 0 in g(n, &x) end;
    } export M.f;";
    assert_eq!(run(source, &[50_000]), "50001");
}

#[test]
fn punned_fields_lie_where_they_are_said_to() {
    let source = "
        module Header { field port :> ushort @ 2; field seq :> uint @ 4; }
        module M has Header {
            static field raw :> uint[2];
            static f :> long ::= let h = (*Header)(*void)raw in h->port = 258, h->seq = 16909060,
                (long)*(*uchar)(*void)&h->port * 1000 + *(*uchar)(*void)&h->seq end;
        } export M.f;";
    let on = |name: &str| run_on(&program_for(Target::named(name).unwrap(), source), source, &[]);
    assert_eq!((on("x86_64"), on("powerpc64"), on("i386")), ("2004".into(), "1001".into(), "2004".into()));
}

#[test]
fn pointers_count_in_elements() {
    let members = "static field a :> int[4];";
    assert_eq!(value(members, "a[3] = 9, *(a + 3) + (&a[3] - &a[1])"), "11");
    assert_eq!(value(members, "let p :> *int = a in p++, *p = 5, a[1] end"), "5");
}

#[test]
fn strings_end_with_a_zero() {
    assert_eq!(value("", "let p = \"ab\" in p[1] * 1000 + p[2] end"), "98000");
}

#[test]
fn faults_say_where() {
    let fault = |members: &str, expression: &str| value(members, expression);
    let null = fault("field x :> int;", "let p :> *M = 0 in p->x end");
    assert_eq!(null, "a null pointer is used: p");
    assert_eq!(fault("", "let p = \"ab\" in *p = 'c' end").split(": ").nth(1), Some("*p"));
    assert_eq!(fault("", "let z :> int = 0 in 7 % z end"), "division by zero: 7 % z");
    assert!(fault("static field a :> int[4];", "a[4]").starts_with("nothing lies at the address"));
    assert_eq!(
        fault("static none :> int ::= ;", "none").split(':').next(),
        Some("the method that is called has no body")
    );
    assert!(
        fault("static g(n :> int) :> int ::= g(n) + 1;", "g(1)").starts_with("calls are nested too deeply")
    );
    assert_eq!(fault("", "{ puts(\"\"); }, 1").split(':').next(), Some("C code cannot be interpreted"));
}

#[test]
fn a_loop_without_end_ends() {
    let program = program("module M { static f(n :> int) :> int ::= f(n); } export M.f;");
    let limits = Limits { steps: 100_000, ..Limits::default() };
    let trap = call(&mut Machine::new(&program, limits).unwrap(), &program, "M.f", &[1]).unwrap_err();
    assert_eq!(trap.kind, TrapKind::OutOfSteps);
}

#[test]
fn a_pointer_to_what_is_gone_is_noticed() {
    let members = "static field p :> *int; static g :> int ::= let x :> int = 5 in p = &x, x end;";
    assert!(value(members, "g, *p").starts_with("nothing lies at the address"));
}

#[test]
fn c_code_is_left_to_the_host() {
    let source =
        "module M { static f(n :> int) :> int ::= let t :> int in { t = clock(n, 3); } t end; } export M.f;";
    let program = program(source);
    let mut machine = Machine::new(&program, Limits::default()).unwrap();
    machine.on_c_block(|c| {
        let [Operand::Place { address: t, size: 4 }, Operand::Place { address: n, size: 4 }] = c.operands[..]
        else {
            return Ok(false);
        };
        assert_eq!(c.text().trim(), "$0 = clock($1, 3);");
        let n = c.memory.read(n, 4)?[0];
        c.memory.write(t, &[n + 1, 0, 0, 0])?;
        Ok(true)
    });
    let result = call(&mut machine, &program, "M.f", &[41]);
    assert_eq!(result, Ok(Outcome::Value(Value::int(clickwork_prolac::program::IntType::Int, 42))));
}

#[test]
fn objects_can_be_made_and_looked_at_from_outside() {
    let program = program("module M { field n :> int; constructor(k :> int) ::= n = k; get :> int ::= n; }");
    let mut machine = Machine::new(&program, Limits::default()).unwrap();
    let module = program.module_ids().next().unwrap();
    let six = Value::int(clickwork_prolac::program::IntType::Int, 6);
    let Ok(Outcome::Value(Value::Pointer(object))) = machine.construct(module, std::slice::from_ref(&six))
    else {
        panic!()
    };
    assert_eq!(machine.call(method(&program, "M.get"), Some(object), &[]), Ok(Outcome::Value(six.clone())));
    assert_eq!(machine.load(object, &Type::INT), Ok(six));
    let trap = machine.call(method(&program, "M.get"), Some(0), &[]).unwrap_err();
    assert_eq!(trap.kind, TrapKind::NullPointer);
}
