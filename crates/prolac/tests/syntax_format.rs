//! The formatter: what it makes of programs, and that it changes nothing but white space.

use clickwork_prolac::syntax::token::TokenKind;
use clickwork_prolac::syntax::{dump, format, parse, tokenize};
use clickwork_source::{Diagnostics, Sources};
use proptest::prelude::*;
use snapbox::{Data, assert_data_eq};

/// The programs without errors in `tests/syntax`, and some with comments.
const PROGRAMS: &[&str] = &[
    include_str!("syntax/modules.pc"),
    include_str!("syntax/precedence.pc"),
    include_str!("syntax/casts.pc"),
    include_str!("syntax/c-code.pc"),
    include_str!("syntax/lexical.pc"),
    include_str!("format/comments.pc"),
    include_str!("format/long.pc"),
];

fn formatted(text: &str) -> Option<String> {
    let mut sources = Sources::new();
    let file = sources.add("any.pc", text);
    format(&mut sources, file).ok()
}

/// The tree, and the comments in their order.
fn tree(text: &str) -> (String, Vec<String>) {
    let mut sources = Sources::new();
    let file = sources.add("any.pc", text);
    let program = parse(&mut sources, file, &mut Diagnostics::new());
    let tokens = tokenize(&sources, file).list;
    let comment = |kind: TokenKind| kind.is_trivia() && kind != TokenKind::Space;
    let comments = tokens.iter().filter(|t| comment(t.kind)).map(|t| t.text(text).trim_end().to_string());
    (dump(&program, &sources), comments.collect())
}

/// Formats, and checks that tree and comments stay and that formatting again changes nothing.
#[track_caller]
fn check(text: &str) -> Option<String> {
    let once = formatted(text)?;
    assert_eq!(tree(&once), tree(text), "from\n{text}\nto\n{once}");
    let twice = formatted(&once);
    assert_eq!(twice.as_deref(), Some(&*once), "from\n{text}");
    Some(once)
}

#[test]
fn programs_have_the_layout_expected() {
    for name in ["comments", "long"] {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/format");
        let text = std::fs::read_to_string(folder.join(name).with_extension("pc")).unwrap();
        let expected = Data::read_from(&folder.join(name).with_extension("formatted.pc"), None);
        assert_data_eq!(check(&text).expect("no errors"), expected.raw());
    }
}

#[test]
fn formatting_changes_white_space_only() {
    for program in PROGRAMS {
        check(program).expect("no errors");
    }
}

#[test]
fn lines_are_broken_where_possible() {
    for program in PROGRAMS {
        for line in formatted(program).unwrap().lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
}

#[test]
fn programs_with_errors_are_left_alone() {
    assert!(formatted("module M { f ::= ; ").is_none());
    assert!(formatted("module M { f ::= 1..2; }").is_none());
    assert_eq!(formatted("#include \"a.pc\"\nmodule M{}").unwrap(), "#include \"a.pc\"\nmodule M { }\n");
    assert_eq!(formatted("").unwrap(), "");
}

/// Texts that may stand between any two tokens.
const BETWEEN: &[&str] = &[
    "",
    "",
    "",
    "",
    " ",
    "\n",
    "\n\n\n",
    " // c\n",
    "\n// d\n",
    " /* e */ ",
    "\n/* f */\n",
    " /* g\n h */",
    "\n/* i */ ",
    "\n\n// j\n\n// k\n\n",
    "\n# 7 \"l\"\n",
    " /* m */ // n\n",
];

/// A program with something else between its tokens.
fn respaced(program: &str, between: &[&str]) -> String {
    let mut sources = Sources::new();
    let file = sources.add("any.pc", program);
    let tokens = tokenize(&sources, file).list;
    let mut text = String::new();
    let mut between = between.iter().cycle();
    for token in tokens {
        text.push_str(token.text(program));
        if !token.kind.is_trivia() || token.kind == TokenKind::LineComment {
            text.push_str(if token.kind == TokenKind::LineComment { "\n" } else { between.next().unwrap() });
        }
    }
    text
}

/// An expression, made of all forms there are.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "a",
        "some-longer-name",
        "self",
        "super.f",
        "1",
        "0xffQ",
        "'c'",
        "\"text\"",
        ".g",
        "true",
        "{ c(); }",
        "{\n  c();\n}",
        "M(a)",
        "p->f",
        "v.constructor(1, 2)",
        "noinline f(x)",
        "T hide (a, b) using all",
    ]);
    leaf.prop_map(String::from).prop_recursive(6, 60, 4, |inner| {
        let infix = prop::sample::select(vec![
            ", ", " ==> ", " ||| ", " = ", " += ", " min= ", " || ", " && ", "|", " ^", "& ", " == ", "<",
            " << ", " + ", " - ", " * ", " % ", ",",
        ]);
        let prefix = prop::sample::select(vec![
            "-",
            "+",
            "*",
            "&",
            "!",
            "~",
            "++",
            "- ",
            "outline ",
            "outline[3] ",
            "inline ",
            "inline[k] ",
            "(int)",
            "(*M)",
        ]);
        let postfix = prop::sample::select(vec![
            ".f",
            "->g(1)",
            "[i + 1]",
            "++",
            " :> int",
            " :> *T hide x",
            " catch all",
            " catch (a, b.c)",
            ",",
        ]);
        prop_oneof![
            (inner.clone(), infix, inner.clone()).prop_map(|(a, op, b)| format!("{a}{op}{b}")),
            (prefix, inner.clone()).prop_map(|(op, a)| format!("{op}{a}")),
            (inner.clone(), postfix).prop_map(|(a, op)| format!("({a}){op}")),
            inner.clone().prop_map(|a| format!("({a})")),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("{a} ? {b} : {c}")),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| format!("if {a} then {b} else {c} end")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("let v :> T = ({a}), w in {b} end")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("max(f(({a})), ({b}))")),
        ]
    })
}

proptest! {
    #[test]
    fn any_expression_keeps_its_tree(
        body in expression(),
        between in prop::collection::vec(prop::sample::select(BETWEEN), 1..20),
    ) {
        let program = format!("module M has T {{ f(v :> int) :> bool ::= {body}; }}");
        if check(&program).is_some() {
            check(&respaced(&program, &between)).expect("no errors");
        }
    }

    #[test]
    fn comments_may_stand_anywhere(
        program in prop::sample::select(PROGRAMS),
        between in prop::collection::vec(prop::sample::select(BETWEEN), 1..40),
    ) {
        check(&respaced(program, &between)).expect("no errors");
    }
}
