//! What names mean, tested on small programs.

use clickwork_source::{Diagnostics, Sources, render_human};

use super::{Feature, Names, Space, Using};
use crate::Name;
use crate::program::{Program, Target};
use crate::syntax::{ast, parse};

/// What the module called `of` shows by default, one `name` or `name=origin` a word, and the messages.
fn shown(source: &str, of: &str) -> (String, String) {
    with_names(source, |names, program| {
        let module = program.module_ids().find(|&m| program.module_name(m) == of).expect("the module exists");
        names.default_view(module).map_or_else(String::new, |view| list(&names.view(view).space))
    })
}

/// What module `of` sees of its import or parent `link`.
fn linked(source: &str, of: &str, link: &str) -> (String, String) {
    with_names(source, |names, program| {
        let module = program.module_ids().find(|&m| program.module_name(m) == of).expect("the module exists");
        let (_, link) =
            names.links(module).into_iter().find(|(name, _)| *name == link).expect("the link exists");
        list(&names.view(link.view).space)
    })
}

fn with_names(source: &str, f: impl FnOnce(&Names<'_>, &Program) -> String) -> (String, String) {
    let mut sources = Sources::new();
    let file = sources.add("t.pc", source);
    let mut diagnostics = Diagnostics::new();
    let ast: ast::Program = parse(&mut sources, file, &mut diagnostics);
    let mut program = Program { target: Target::host(), ..Program::default() };
    let names = Names::build(&ast, &mut program, &mut diagnostics);
    let text = f(&names, &program);
    (text, diagnostics.iter().map(|d| render_human(&sources, d, false)).collect())
}

/// Names but for the constructor; `+` after those that are open for implicit search, members of namespaces in braces.
fn list(space: &Space) -> String {
    let words = space.iter().filter(|(name, _)| **name != "constructor").map(|(name, entry)| {
        let using = if entry.using == Using::Open { "+" } else { "" };
        match &entry.feature {
            Feature::Space(inner, _) => format!("{name}{using}{{{}}}", list(inner)),
            _ => format!("{name}{using}"),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

fn messages(source: &str) -> String {
    with_names(source, |_, _| String::new()).1
}

#[test]
fn operators_change_the_view() {
    let base = "module M { a ::= 1; static b ::= 2; n { c ::= 3; d ::= 4; } exception e; field f :> int; }";
    for (operators, expected) in [
        ("", "a b e f n{c d}"),
        ("hide a", "b e f n{c d}"),
        ("hide (a, n.c)", "b e f n{d}"),
        ("hide n.all", "a b e f"),
        ("hide n", "a b e f"),
        ("hide all show (b, n.d)", "b n{d}"),
        ("hide M.all", ""),
        ("hide \"[a-b]\"", "e f n{c d}"),
        ("hide a show a", "a b e f n{c d}"),
        ("show (x = a)", "a b e f n{c d} x"),
        ("rename (x = a)", "b e f n{c d} x"),
        ("rename (x = a, a = b)", "a e f n{c d} x"),
        ("using a", "a+ b e f n{c d}"),
        ("using all", "a+ b+ e+ f+ n{c+ d+}"),
        ("using allstatic", "a b+ e+ f n{c d}"),
        ("using all notusing (a, e)", "a b+ e f+ n{c+ d+}"),
        ("using all notusing all", "a b e f n{c d}"),
        ("hide (a, b) show all", "a b e f n{c d}"),
        ("hide n.c show all", "a b e f n{c d}"),
        ("hide (n.c, n.d)", "a b e f"),
        ("rename (c = n.c, d = n.d)", "a b c d e f"),
        ("hide \"n*\"", "a b e f"),
        ("hide \"[c-e]\"", "a b f n{c d}"),
        ("using all hide n.c show all", "a+ b+ e+ f+ n{c d+}"),
        ("using n", "a b e f n{c+ d+}"),
        ("using all show a", "a b+ e+ f+ n{c+ d+}"),
    ] {
        let (view, messages) = linked(&format!("{base} module U has M {operators} {{}}"), "U", "M");
        assert_eq!((view.as_str(), messages.as_str()), (expected, ""), "M {operators}");
        let (view, messages) =
            linked(&format!("{base} module V ::= M {operators}; module U has V {{}}"), "U", "V");
        assert_eq!((view.as_str(), messages.as_str()), (expected, ""), "V ::= M {operators}");
        let (view, messages) = shown(&format!("{base} {operators}"), "M");
        if operators.contains("show all") {
            assert!(messages.contains("`show all` has nothing to show"), "}} {operators}: {messages}");
        } else {
            assert_eq!((view.as_str(), messages.as_str()), (expected, ""), "}} {operators}");
        }
    }
}

#[test]
fn operators_report_what_they_cannot_do() {
    let base = "module M { alpha ::= 1; static beta ::= 2; } hide beta;";
    for (operators, expected) in [
        ("show gamma", "`M` has no feature `gamma`"),
        ("show alpah", "did you mean `alpha`?"),
        ("hide gamma", "nothing of this name is visible here"),
        ("show (beta = alpha) show beta", "this view already shows another `beta`"),
        ("show all", "show it by its name: `show beta`"),
        ("rename (x = beta)", "hidden here"),
        ("rename (constructor = alpha)", "already shows another `constructor`"),
        ("rename (x = constructor)", "the constructor cannot be renamed"),
        ("rename alpha", "`rename` needs a new name and an old one"),
        ("hide (x = alpha)", "expected `)`, found `=`"),
        ("using gamma", "has no feature `gamma`"),
        ("notusing allstatic", "`notusing allstatic` does not exist"),
        ("inline[7] alpha", "inline levels go from 0 to 3"),
        ("hide Other.alpha", "`Other` is no namespace or ancestor"),
    ] {
        let text = messages(&format!("{base} module U has M {operators} {{}}"));
        assert!(text.contains(expected), "M {operators}: {text}");
    }
}

#[test]
fn children_inherit_what_the_parent_expression_shows() {
    let base = "module P { a ::= 1; b ::= 2; } hide b; module Q { static s ::= 1; }";
    let child = |header: &str| shown(&format!("{base} module C :> {header}"), "C");
    assert_eq!(child("P { c ::= 1; }"), ("a c".into(), String::new()));
    assert_eq!(child("P show b { }"), ("a b".into(), String::new()));
    assert_eq!(child("P hide a has Q { a ::= 1; }"), ("a".into(), String::new()));
    assert_eq!(child("P { b ::= 1; }"), ("a b".into(), String::new()));
    assert!(child("P { static a ::= 1; }").1.contains("a static method cannot override a dynamic one"));
    assert!(child("P rename (a2 = b, a = a) { }").1.contains("shows no `b`"));
    assert!(child("P show (x = a) { a ::= 1; x ::= 2; }").1.contains("overridden twice"));
    assert!(child("P has Q { Q ::= 1; }").1.contains("`Q` is the name of a module in the header"));
    assert!(child("P, Q { }").1.contains("a module has one parent"));
    assert!(child("C { }").1.contains("derived from itself"));
    assert!(messages("module A :> B { } module B :> A { }").contains("derived from itself"));
}

#[test]
fn redundant_ancestors_apply_their_operators_again() {
    let source = "module A { a ::= 1; b ::= 2; } module B :> A hide b { } module C :> B, A using all { }";
    assert_eq!(shown(source, "C"), ("a+ b+".into(), String::new()));
}

#[test]
fn equations_can_come_first_but_not_go_in_circles() {
    let source = "module N ::= M; module M { a ::= 1; } module U has N { }";
    assert_eq!(linked(source, "U", "N"), ("a".into(), String::new()));
    assert!(messages("module A ::= B; module B ::= A;").contains("leads back to itself"));
    assert!(messages("module A ::= B hide x;").contains("no module or namespace is called `B`"));
}

#[test]
fn chains_extend_in_the_order_of_the_text() {
    let source = "module X ::= Base.X; module Base.X { f ::= 1; }
        module E1.X :> super.X { g ::= 1; } module E2.X :> super.X { h ::= 1; } module U has .X { }";
    assert_eq!(linked(source, "U", "X"), ("f g h".into(), String::new()));
    let text = with_names(source, |names, program| {
        let _ = names;
        program
            .module_ids()
            .map(|m| program[m].parent.map_or("-".into(), |p| program.module_name(p)))
            .collect::<Vec<_>>()
            .join(" ")
    });
    assert_eq!(text, ("- Base.X E1.X -".into(), String::new()));
    let import = source.replace("E1.X :> super.X {", "E1.X :> super.X has .X { field last :> *X;");
    assert_eq!(linked(&import, "E1.X", "X"), ("f g h last".into(), String::new()));
    assert_eq!(linked(&import, "E2.X", "super"), ("f g last".into(), String::new()));
    assert!(
        messages("module M { } module E.M :> super.M { }").contains("needs the name of a module equation")
    );
}

#[test]
fn implicit_names_find_one_target_in_the_nearest_generation() {
    let base = "module D { get ::= 1; static make ::= 2; exception oops; }";
    let find = |rest: &str| {
        with_names(&format!("{base} {rest}"), |_, program| {
            let forwarders =
                program.method_ids().filter(|&m| program[m].kind == crate::program::MethodKind::Forwarder);
            forwarders.map(|m| program.method_name(m)).collect::<Vec<_>>().join(" ")
        })
    };
    assert_eq!(
        find("module M has D { field d :> *D using all; t ::= get, x; }"),
        ("M.get".into(), String::new())
    );
    assert_eq!(find("module M has D using all { t ::= make, get, oops; }"), ("M.make".into(), String::new()));
    assert_eq!(find("module P has D using all { field d :> D; } module M :> P { t ::= get; }").0, "M.get");
    assert_eq!(
        find("module P has D using all { field d :> D; } module M :> P notusing all { t ::= get; }").0,
        ""
    );
    let two = find("module M has D { field d :> D using all; field e :> *D using all; t ::= get; }");
    assert!(two.1.contains("two fields match: `d.get` and `e.get`"), "{}", two.1);
}

#[test]
fn features_that_implicit_search_passes_by_are_known() {
    let miss = |name: &str, rest: &str| {
        let base = "module D { get ::= 1; static make ::= 2; field f :> int; }";
        let source = format!("{base} module M has D {{ field d :> *D {rest}; field e :> D; t ::= {name}; }}");
        with_names(&source, |names, program| {
            let m = program.module_ids().last().expect("a module");
            names
                .near_miss(program, m, &Name::new(name))
                .map_or(String::new(), |miss| miss.path + ": " + miss.reason)
        })
        .0
    };
    assert!(miss("get", "").starts_with("d->get: it is not open"));
    assert!(miss("f", "using all").starts_with("d->f: implicit search finds methods"));
    assert!(miss("make", "using all").starts_with("D.make: it is not open"));
    assert_eq!(miss("gone", "using all"), "");
}

#[test]
fn shown_implicit_names_can_be_overridden() {
    let source = "module D { get ::= 1; } module P has D { field d :> D using all; t ::= get; } show get;
        module C :> P { get ::= 2; }";
    let (text, messages) = with_names(source, |_, program| {
        let c = program.module_ids().last().expect("a module");
        let overriding = program.method_ids().find(|&m| program.method_name(m) == "C.get").expect("C.get");
        let slot = program[overriding].slot;
        format!("{} {}", program.method_name(slot), program.method_name(program.definition_in(c, slot)))
    });
    assert_eq!((text.as_str(), messages.as_str()), ("P.get C.get", ""));
}

const SHOWN: &str = "module D { get ::= 1; static make ::= 2; exception oops; }
    module P has D using allstatic { field d :> *D using all; t ::= get, make, oops; } show (get, make, oops);";

#[test]
fn shown_implicit_names_stay_shown_in_derived_modules() {
    let shown = |rest: &str, of: &str| {
        let (names, messages) = shown(&format!("{SHOWN} {rest}"), of);
        assert_eq!(messages, "");
        names
    };
    assert_eq!(shown("module C :> P { }", "C"), "d get make oops t");
    assert_eq!(shown("module C :> P { } module E :> C { u ::= get; }", "E"), "d get make oops t u");
    assert_eq!(shown("module C :> P { } hide get; module E :> C { }", "E"), "d make oops t");
    assert_eq!(shown("module Q :> P hide get { } module C :> Q, P { }", "C"), "d get make oops t");
    // What a module itself uses is still its own matter.
    assert_eq!(shown("module C has D using all { t ::= make; }", "C"), "t");
}

#[test]
fn implicit_names_stand_for_shown_implicit_names_in_any_order() {
    let outer = "module M has P { field p :> *P using all; u ::= get; } module N has P using allstatic { u ::= make; v() ::= oops; }";
    for source in [format!("{outer} {SHOWN}"), format!("{SHOWN} {outer}")] {
        let (text, messages) = with_names(&source, |_, program| {
            let forwarders =
                program.method_ids().filter(|&m| program[m].kind == crate::program::MethodKind::Forwarder);
            let mut names: Vec<_> = forwarders.map(|m| program.method_name(m)).collect();
            names.sort();
            names.join(" ")
        });
        assert_eq!((text.as_str(), messages.as_str()), ("M.get N.make P.get P.make", ""));
    }
}

#[test]
fn implicit_names_may_not_lead_back_to_themselves() {
    let source = "module A has B { field b :> *B using all; t ::= get; } show get;
        module B has A { field a :> *A using all; t ::= get; } show get;";
    let text = messages(source);
    assert_eq!(text.matches("`get` leads back to itself").count(), 2, "{text}");
    // A module that points to more of its kind is none.
    let own = "module D { get ::= 1; } module A has D { field next :> *A using all; field d :> *D using all; t ::= get; }";
    assert_eq!(messages(own), "");
}

#[test]
fn the_member_of_a_namespace_is_what_is_open() {
    let find = |operators: &str| {
        let source = format!(
            "module D {{ get {{ get ::= 1; set ::= 2; }} }} module M has D {{ field d :> *D {operators}; t ::= get; }}"
        );
        with_names(&source, |_, program| {
            program
                .method_ids()
                .filter(|&m| program[m].kind == crate::program::MethodKind::Forwarder)
                .count()
                .to_string()
        })
    };
    for (operators, found) in [
        ("using all", "1"),
        ("using get", "1"),
        ("using get.get", "1"),
        ("using get.set", "0"),
        ("using all notusing get.get", "0"),
    ] {
        assert_eq!(find(operators), (found.to_string(), String::new()), "{operators}");
    }
}

#[test]
fn further_ancestors_show_what_the_parent_uses() {
    let source = "module A { n { c ::= 1; d ::= 2; } static s ::= 3; } module B :> A hide n.c { static s ::= 4; } hide s;
        module C :> B, A using n { }";
    assert_eq!(shown(source, "C"), ("n{c+ d+} s".into(), String::new()));
    let (text, _) = with_names(source, |names, program| {
        let module = program.module_ids().last().expect("a module");
        match names.lookup_top(module, &Name::new("s")).map(|entry| &entry.feature) {
            Some(Feature::Method(method)) => program.method_name(*method),
            other => format!("{other:?}"),
        }
    });
    assert_eq!(text, "B.s");
    let closed = "module D { get ::= 1; } module A { } module B :> A has D { field d :> *D using all; }
        module C :> B, A notusing all { t ::= get; }";
    let (text, _) = with_names(closed, |_, program| program.methods.len().to_string());
    let (open, _) =
        with_names(&closed.replace("notusing all", ""), |_, program| program.methods.len().to_string());
    assert_eq!(text, open, "the search ends below A, and looks into B");
}

#[test]
fn clashes_of_views_are_found() {
    let text = messages("module M { n { a ::= 1; } m { a ::= 2; } } module U has M show (n = m) { }");
    assert!(text.contains("this view already shows another `n`"), "{text}");
    let text = messages(&format!("{SHOWN} module C :> P show (x = get) {{ get ::= 1; x ::= 2; }}"));
    assert!(text.contains("`P.get` is overridden twice in this module"), "{text}");
    let text = messages(&format!("{SHOWN} module C :> P {{ static oops ::= 1; }}"));
    assert!(text.contains("`oops` is a method here, but an exception is inherited"), "{text}");
    let text = messages(&format!("{SHOWN} module C :> P {{ static get ::= 1; }}"));
    assert!(text.contains("a static method cannot override a dynamic one"), "{text}");
}

#[test]
fn exports_name_methods() {
    let base = "Pack { module M { f ::= 1; n { n ::= 2; g ::= 3; } field x :> int; } }";
    let exports = |text: &str| {
        with_names(&format!("{base} export {text};"), |_, program| {
            program.exports.iter().map(|&m| program.method_name(m)).collect::<Vec<_>>().join(" ")
        })
    };
    assert_eq!(exports("Pack.M.f, Pack.M.n.g").0, "Pack.M.f Pack.M.n.g");
    assert_eq!(exports("Pack.M.n").0, "Pack.M.n.n");
    assert_eq!(
        exports("Pack.M.all").0,
        "Pack.M.f Pack.M.n.g Pack.M.n.n"
            .split(' ')
            .collect::<Vec<_>>()
            .join(" ")
            .replace("Pack.M.n.g Pack.M.n.n", "Pack.M.n.n Pack.M.n.g")
    );
    assert_eq!(exports("Pack.M.constructor").0, "Pack.M.constructor");
    for (text, expected) in [
        ("Pack.M.x", "only methods can be exported, and this is a field"),
        ("Pack.M.ff", "has no method `ff` to export"),
        ("Pack.M", "a module cannot be exported"),
        ("Pack", "a namespace outside of modules"),
        ("Pack.N.f", "namespace `Pack` has no `N`"),
    ] {
        assert!(exports(text).1.contains(expected), "{text}: {}", exports(text).1);
    }
}

#[test]
fn redefinitions_name_the_first_place() {
    for source in [
        "module M { f ::= 1; f(a :> int) ::= 2; }",
        "module M { f ::= 1; field f :> int; }",
        "module M { n { f ::= 1; } n ::= 2; }",
        "module M { exception f; f { g ::= 1; } }",
    ] {
        let text = messages(source);
        assert!(text.contains("is defined twice") && text.contains("first defined here"), "{source}: {text}");
    }
    assert!(messages("module M { } module M { }").contains("it is defined already"));
    assert!(messages("N { module M { } } N { module M { } }").contains("it is defined already"));
    assert_eq!(messages("N { module M { } } N { module L { } }"), "");
    assert!(messages("module M { constructor :> int ::= 1; }").contains("no return type"));
    assert!(Name::new("a-b") == Name::new("a_b"));
}
