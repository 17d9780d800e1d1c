//! The front of the compiler on texts that are no programs, and on the seeds of its fuzz target: it must neither panic nor lose a byte, and
//! places must fit.

use clickwork_prolac::syntax::MAX_DEPTH;
use clickwork_prolac::syntax::ast::{Expr, ExprKind, Member, Program, TopItem};
use clickwork_source::{Diagnostics, Sources, Span};
use proptest::prelude::*;

#[path = "../../../fuzz/checks/prolac.rs"]
mod prolac;

/// Parses, and checks what must hold for any text.
fn check(text: &str) -> (Program, Diagnostics) {
    let (sources, program, diagnostics) = prolac::check_text(text);
    let unclosed = diagnostics.has_errors();
    bodies(&program).into_iter().for_each(|body| check_spans(body, body.span, &sources, unclosed));
    (program, diagnostics)
}

/// The bodies of methods that stand in modules.
fn bodies(program: &Program) -> Vec<&Expr> {
    let modules = program.items.iter().filter_map(|item| match item {
        TopItem::Module(module) => Some(&module.members),
        _ => None,
    });
    let members = modules.flatten();
    let body = members.filter_map(|member| match member {
        Member::Method(method) => method.body.as_ref(),
        _ => None,
    });
    body.collect()
}

/// Every expression lies in the one around it, and covers text that does not begin in white space, nor end in it,
/// unless it may be `unclosed`.
fn check_spans(expr: &Expr, around: Span, sources: &Sources, unclosed: bool) {
    let text = sources.slice(expr.span);
    assert!(around.start <= expr.span.start && expr.span.end <= around.end, "{text:?} {expr:?}");
    assert_eq!(text, if unclosed { text.trim_start() } else { text.trim() }, "{expr:?}");
    assert!(!text.is_empty() || expr.kind == ExprKind::Error, "{expr:?}");
    children(expr).into_iter().for_each(|child| check_spans(child, expr.span, sources, unclosed));
}

fn children(expr: &Expr) -> Vec<&Expr> {
    use ExprKind::*;
    match &expr.kind {
        Member(a, _) | Arrow(a, _) | Cast(_, a) | Assert(a, _) | Unary(_, a) | Postfix(_, a) => vec![a],
        Inline(_, a) | Catch { body: a, .. } => vec![a],
        Index(a, b) | Binary(_, a, b) | Assign(_, a, b) | MinMax(_, a, b) => vec![a, b],
        Implies(a, b) => vec![a, b],
        Comma(all) | CaseBar(all) => all.iter().collect(),
        Chain(first, rest) => std::iter::once(&**first).chain(rest.iter().map(|(_, e)| e)).collect(),
        Conditional(a, b, c) => vec![a, b, c],
        Call(f, args) => std::iter::once(&**f).chain(args).collect(),
        Outline(k, a) => k.iter().chain([a]).map(|e| &**e).collect(),
        If { arms, otherwise } => arms.iter().flat_map(|(c, e)| [c, e]).chain(otherwise.as_deref()).collect(),
        Let { bindings, body } => {
            let parts = bindings.iter().flat_map(|b| b.args.iter().flatten().chain(&b.value));
            parts.chain([&**body]).collect()
        }
        Name { .. } | Int { .. } | Str(_) | Bool(_) | SelfRef | Super | Module(_) | CBlock(_) | Error => {
            Vec::new()
        }
    }
}

#[test]
fn every_seed_of_the_fuzz_target_passes() {
    let seeds = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/parse_prolac");
    let mut count = 0;
    for entry in std::fs::read_dir(seeds).expect("the seeds are part of the repository") {
        prolac::check(&std::fs::read(entry.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count >= 10, "only {count} seeds");
}

/// The only messages that a text too deep may give.
fn assert_too_deep(text: &str) {
    let (_, diagnostics) = check(text);
    let messages: Vec<_> = diagnostics.iter().map(|d| &*d.message).collect();
    let start = &text[..text.len().min(100)];
    assert!(messages.iter().any(|m| m.contains("nested more than")), "{start}: {messages:?}");
    assert!(messages.len() < 5, "{start}: {messages:?}");
}

fn assert_fine(text: &str) {
    let (_, diagnostics) = check(text);
    assert!(diagnostics.is_empty(), "{text}: {diagnostics:?}");
}

fn method(body: &str) -> String {
    format!("module M {{ f ::= {body}; }}")
}

fn wrapped(count: usize, open: &str, middle: &str, close: &str) -> String {
    format!("{}{middle}{}", open.repeat(count), close.repeat(count))
}

#[test]
fn depth_has_a_limit_and_no_less() {
    let limit = MAX_DEPTH as usize;
    let nests = [
        ("(", "x", ")"),
        ("f(", "x", ")"),
        ("- ", "x", ""),
        ("(int)", "x", ""),
        ("(*M)", "x", ""),
        ("a = ", "x", ""),
        ("a ==> ", "x", ""),
        ("a ? b : ", "x", ""),
        ("outline ", "x", ""),
        ("inline ", "x", ""),
        ("let a = ", "x", " in a end"),
        ("if a then ", "x", " end"),
        ("a[", "x", "]"),
        ("", "x", ".x"),
        ("", "x", " :> int"),
        ("", "x", " catch x"),
        ("x :> int[", "x", "]"),
        ("M inline[", "x", "] a"),
        ("(", "*x", ")"),
    ];
    for (open, middle, close) in nests {
        assert_fine(&method(&wrapped(limit / 3, open, middle, close)));
        assert_too_deep(&method(&wrapped(limit + 1, open, middle, close)));
        assert_too_deep(&method(&wrapped(4_000, open, middle, close)));
    }
    let types = [("*", "int", ""), ("(", "int", ")"), ("", "int", "[1]"), ("int[x :> ", "int", "]")];
    for (open, middle, close) in types {
        let field = |n| format!("module M {{ field f :> {}; }}", wrapped(n, open, middle, close));
        assert_fine(&field(limit / 3));
        assert_too_deep(&field(4_000));
    }
    for (open, close) in [("n { ", "}"), ("module M { ", "}"), ("module M { a { ", "} }"), ("a.", "b { }")] {
        let (_, few) = check(&wrapped(limit / 3, open, "", close));
        assert!(!few.iter().any(|d| d.message.contains("nested more than")));
        check(&wrapped(4_000, open, "", close));
    }
    assert_too_deep(&wrapped(4_000, "n { ", "", "}"));
}

#[test]
fn rows_are_as_long_as_you_like() {
    for (middle, more) in [("x", ", x"), ("{ }", " { }"), ("x", ", { } x"), ("x", " + x"), ("x", " ||| x")] {
        assert_fine(&method(&wrapped(10_000, "", middle, more)));
    }
}

#[test]
fn unbalanced_nests_are_no_worse() {
    for piece in
        ["(", "[", "{", "n {", "module M {", "module M { f ::= {", "(*", "let a = ", "if ", "%{", "f ::= ("]
    {
        check(&piece.repeat(4_000));
        check(&method(&piece.repeat(4_000)));
        check(&format!("module M {{ f ::= {}", piece.repeat(4_000)));
    }
    for piece in [")", "]", "}", "%}", "end ", "; ", "f ::= { ; ::=", "{ ; f ::= "] {
        check(&piece.repeat(4_000));
        check(&format!("module M {{ {}", piece.repeat(4_000)));
    }
}

const PIECES: &[&str] = &[
    "module ",
    "M ",
    "class N ",
    "{ ",
    "} ",
    "} ",
    "; ",
    "; ",
    ":> ",
    "::= ",
    "::= ",
    "has ",
    "hide ",
    "show ",
    "(",
    ")",
    "(",
    ")",
    "[",
    "]",
    ", ",
    "a ",
    "b-c ",
    ".",
    "->",
    "f",
    "static ",
    "field ",
    "exception ",
    "export ",
    "all ",
    "using ",
    "rename ",
    "inline ",
    "outline ",
    "noinline ",
    "let ",
    "in ",
    "end ",
    "end ",
    "if ",
    "then ",
    "else ",
    "elseif ",
    "catch ",
    "==> ",
    "||| ",
    "? ",
    ": ",
    "= ",
    "+= ",
    "min= ",
    "min",
    "max",
    "* ",
    "& ",
    "+ ",
    "- ",
    "++ ",
    "-- ",
    "! ",
    "&& ",
    "|| ",
    "== ",
    "< ",
    "int ",
    "*",
    "seqint ",
    "1 ",
    "0x1Q ",
    "'c' ",
    "\"s\" ",
    "self",
    "super.",
    "true ",
    "@ ",
    "%{ c %}",
    "{ c; } ",
    "/* c */",
    "// c\n",
    "\n",
    "\n# 3 \"f\"\n",
    "\"",
    "'",
    "%{",
    "/*",
    "#",
    "$",
    "é",
    "constructor",
];

proptest! {
    #[test]
    fn bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        check(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn characters_do_no_harm(text in "[ -~\n\t\0é€]{0,200}") {
        check(&text);
        check(&method(&text));
    }

    #[test]
    fn token_soup_does_no_harm(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..120)) {
        check(&pieces.concat());
    }

    #[test]
    fn expression_soup_does_no_harm(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..40)) {
        check(&method(&pieces.concat()));
    }

    #[test]
    fn cut_programs_do_no_harm(at in 0usize..2000, length in 0usize..40) {
        let program = concat!(include_str!("syntax/modules.pc"), include_str!("syntax/c-code.pc"));
        let start = program.floor_char_boundary(at);
        let end = program.floor_char_boundary((at + length).min(program.len()).max(start));
        check(&format!("{}{}", &program[..start], &program[end..]));
    }
}
