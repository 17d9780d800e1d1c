//! Chains of operators, cases and variables as long as a program that wrote them likes: they compile to C, run in the
//! interpreter and are laid out, in time in proportion to their length. `PROLAC_CHAIN=100000` makes them so long.

use clickwork_prolac::interpret::Value;
use clickwork_prolac::interpret::{Limits, Machine, Outcome};
use clickwork_prolac::program::IntType;
use clickwork_prolac::{Compilation, Options};
use clickwork_source::render_human;

/// As much stack as `prolacc` has.
const STACK: usize = 256 << 20;

fn length() -> usize {
    std::env::var("PROLAC_CHAIN").ok().and_then(|n| n.parse().ok()).unwrap_or(6000)
}

fn list(count: usize, between: &str, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(between)
}

/// A body of `f(a :> int) :> int`, and what it gives for an argument.
type Case = (&'static str, String, fn(usize, i64) -> i64);

fn cases(count: usize) -> Vec<Case> {
    vec![
        (
            "+",
            format!("a{}", list(count, "", |i| format!(" {} {i}", if i % 3 == 0 { '-' } else { '+' }))),
            |count, a| {
                (0..count as i64).fold(a, |sum, i| if i % 3 == 0 { sum - i } else { sum + i }) as i32 as i64
            },
        ),
        (
            "+ of several types",
            format!(
                "a{} & 65535",
                list(count, "", |i| {
                    format!(" + {}", if i == count / 2 { "1l".into() } else { i.to_string() })
                })
            ),
            |count, a| {
                (0..count as i64).fold(a, |sum, i| sum + if i == count as i64 / 2 { 1 } else { i }) & 65535
            },
        ),
        ("||", format!("({}) ? 1 : 2", list(count, " || ", |i| format!("a == {i}"))), |count, a| {
            if (0..count as i64).contains(&a) { 1 } else { 2 }
        }),
        ("&&", format!("({}) ? 1 : 2", list(count, " && ", |i| format!("a != {i}"))), |count, a| {
            if (0..count as i64).contains(&a) { 2 } else { 1 }
        }),
        (
            "||, asked in order",
            format!("n = 0, ({} || true), n", list(count, " || ", |i| format!("(n += 1, a == {i})"))),
            |count, a| {
                if (0..count as i64).contains(&a) { a + 1 } else { count as i64 }
            },
        ),
        (
            "|||",
            format!("{} ||| 0 - 1", list(count, " ||| ", |i| format!("a == {i} ==> {}", i * 2))),
            |count, a| {
                if (0..count as i64).contains(&a) { a * 2 } else { -1 }
            },
        ),
        (
            "||| with rows",
            format!("n = 0, ({} ||| n), n", list(count, " ||| ", |i| format!("(n += 1, a == {i} ==> n)"))),
            |count, a| {
                if (0..count as i64).contains(&a) { a + 1 } else { count as i64 }
            },
        ),
        (
            "elseif",
            format!("if {} else 0 - 1 end", list(count, " elseif ", |i| format!("a == {i} then {}", i * 2))),
            |count, a| {
                if (0..count as i64).contains(&a) { a * 2 } else { -1 }
            },
        ),
        (",", format!("{}, n + a", list(count, ", ", |i| format!("n = {i}"))), |count, a| {
            count as i64 - 1 + a
        }),
        (
            "let",
            format!(
                "let {} in {} end",
                list(count, ", ", |i| format!("v{i} = a")),
                list(count, " + ", |i| format!("v{i}"))
            ),
            |count, a| (count as i64 * a) as i32 as i64,
        ),
        (
            "|||, called last",
            format!(
                "a > 2000 ==> a ||| {} ||| f(a + {count})",
                list(count, " ||| ", |i| format!("a == {} ==> 7", 5000 + i))
            ),
            |count, a| {
                let count = count as i64;
                let mut a = a;
                while a <= 2000 {
                    a += count;
                }
                a
            },
        ),
    ]
}

fn program(body: &str) -> Compilation {
    let mut compilation = Compilation::new(Options::default());
    let text =
        format!("module M {{ static field n :> int; static f(a :> int) :> int ::= {body}; }} export M.f;");
    compilation.add("chain.pc", &text);
    compilation
}

fn try_case((name, body, expected): &Case, count: usize) {
    let mut compilation = program(body);
    let output = compilation.emit("chain.c", "chain.h");
    let wrong: Vec<String> = compilation.diagnostics.iter().take(1).map(|d| d.message.clone()).collect();
    assert!(output.is_some(), "{name}: {wrong:?}");
    let checked = compilation.program.as_ref().expect("a program");
    let optimized = &compilation.optimized.as_ref().expect("a program").0;
    for program in [checked, optimized] {
        let method = program.method_ids().find(|&m| program.method_name(m) == "M.f").expect("M.f");
        let mut machine = Machine::new(program, Limits::default()).expect("a layout");
        for a in [-1, 0, 5, count as i64 - 1, count as i64] {
            let got = match machine.call(method, None, &[Value::int(IntType::Int, a)]) {
                Ok(Outcome::Value(value)) => value.number(),
                other => panic!("{name}: {other:?}"),
            };
            assert_eq!(got, Some(expected(count, a)), "{name}, f({a})");
        }
    }
}

fn in_a_large_stack(work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(work);
    thread.expect("threads can be made").join().expect("no panic");
}

#[test]
fn chains_of_any_length_compile_and_run() {
    in_a_large_stack(|| {
        let count = length();
        cases(count).iter().for_each(|case| try_case(case, count));
    });
}

/// The border between nested and flat chains changes nothing.
#[test]
fn chains_of_every_short_length_compile_and_run() {
    in_a_large_stack(|| {
        for count in (2..10).chain(20..30).chain(46..52) {
            cases(count).iter().for_each(|case| try_case(case, count));
        }
    });
}

#[test]
fn long_chains_can_be_constants() {
    in_a_large_stack(|| {
        let sum = list(100, " + ", |i| if i == 50 { "half".into() } else { i.to_string() });
        let half = list(60, " + ", |_| "1".into());
        let cases = list(40, " ||| ", |i| format!("half == {i} ==> {i}"));
        let mut compilation = Compilation::new(Options::default());
        let text = format!(
            "module M {{ static half :> int ::= {half}; static chosen :> int ::= {cases} ||| 9; field data :> char[{sum}]; \
             field more :> char[chosen]; size :> bool ::= true; }} export M.size;"
        );
        compilation.add("constant.pc", &text);
        let header = compilation.emit("constant.c", "constant.h").map(|output| output.header);
        let sizes = format!("[{}]", (0..100).sum::<i32>() - 50 + 60);
        let header = header.unwrap_or_else(|| {
            compilation.diagnostics.iter().map(|d| render_human(&compilation.sources, d, false)).collect()
        });
        assert!(header.contains(&sizes) && header.contains("[9]"), "{header}");
    });
}

/// Mistakes in long chains have one message each, and the program goes on.
#[test]
fn mistakes_in_long_chains_are_found() {
    in_a_large_stack(|| {
        for (body, messages) in [
            (list(100, " + ", |i| if i == 70 { "gone".into() } else { i.to_string() }), 1),
            (
                format!(
                    "({}) ? 1 : 2",
                    list(100, " || ", |i| if i == 70 { "nothing".into() } else { "a == 1".into() })
                ),
                1,
            ),
            (
                format!(
                    "{} ||| 1",
                    list(100, " ||| ", |i| format!("{} ==> 1", if i == 70 { "gone" } else { "a == 1" }))
                ),
                1,
            ),
            (format!("{} ||| 1", list(100, " ||| ", |_| "odd ==> 1".into())), 0),
            (
                format!(
                    "({}) ? 1 : 2",
                    list(100, " && ", |i| if i == 70 { "odd".into() } else { "a == 1".into() })
                ),
                0,
            ),
        ] {
            let mut compilation = Compilation::new(Options::default());
            let text = format!(
                "module M {{ exception odd; static nothing ::= {{ ; }}; static f(a :> int) :> int ::= ({body}), 1; \
                 static g(a :> int) ::= f(a) catch odd; }} export M.g;"
            );
            compilation.add("wrong.pc", &text);
            compilation.check();
            let errors: Vec<&str> = compilation
                .diagnostics
                .iter()
                .filter(|d| d.severity == clickwork_source::Severity::Error)
                .map(|d| &*d.message)
                .filter(|message| !message.contains("can leave"))
                .collect();
            assert_eq!(errors.len(), messages, "{body}: {errors:?}");
        }
    });
}
