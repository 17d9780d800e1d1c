//! Properties on random graphs and programs: what is printed parses back, formatting changes nothing but layout.

mod common;

use clickwork_lang::{
    Connection, Define, ElementDecl, Graph, Options, Port, Requirement, config, format, parse, print,
};
use clickwork_source::{Sources, Span};
use common::{graph_with, outline, run};
use proptest::prelude::*;

/// Configuration strings with everything that can go wrong, all properly closed.
fn config_string() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z0-9 ,.$-]{0,6}",
        "\"[^\"\\\\]{0,5}\"".prop_map(|s| s),
        "'[^']{0,5}'".prop_map(|s| s),
        Just("(a, (b))".to_owned()),
        Just("/* ) \" */".to_owned()),
        Just("// ) '\n".to_owned()),
        Just("\\<00 ff /* > */>".to_owned()),
        Just("\"\\\"\\\\ )\"".to_owned()),
        Just("${x-1} $(y z)".to_owned()),
        Just("é—\t".to_owned()),
        Just("#\n //\n".to_owned()),
    ];
    prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.join(" "))
}

fn random_graph() -> impl Strategy<Value = Graph> {
    let element =
        ("[a-z_][a-zA-Z0-9_]{0,3}(/[A-Z][a-z]{0,2}@[0-9])?", "[A-Z][a-zA-Z0-9]{0,4}", config_string());
    let elements = prop::collection::vec(element, 1..8);
    let ends = prop::collection::vec((0..8usize, 0..4usize, 0..8usize, 0..4usize), 0..12);
    let packages = prop::collection::vec("[a-z\" $.]{1,5}", 0..3);
    (elements, ends, packages).prop_map(|(elements, ends, packages)| assemble(elements, ends, packages))
}

fn assemble(
    elements: Vec<(String, String, String)>,
    ends: Vec<(usize, usize, usize, usize)>,
    packages: Vec<String>,
) -> Graph {
    let mut graph = Graph::default();
    for (index, (name, class, config)) in elements.into_iter().enumerate() {
        let name = format!("{name}{index}");
        graph.elements.push(ElementDecl { name, class, config, span: Span::NONE, compounds: Vec::new() });
    }
    let count = graph.elements.len();
    let port = |element: usize, port: usize| Port { element: element % count, port };
    graph.connections = ends
        .into_iter()
        .map(|(e, p, f, q)| Connection { from: port(e, p), to: port(f, q), span: Span::NONE })
        .collect();
    graph.connections.sort_by_key(|c| (c.to, c.from));
    graph.connections.dedup_by_key(|c| (c.to, c.from));
    graph.requirements = packages
        .into_iter()
        .map(|value| Requirement { kind: "package".into(), value, span: Span::NONE })
        .collect();
    // A variable's value is one argument, as `define` reads it, which a comma in parentheses would end.
    let values = graph.elements.iter().filter_map(|e| config::split_args(&e.config).into_iter().next());
    let values = values.filter(|value| !value.contains(['(', ')']));
    graph.defines = values.enumerate().map(|(i, value)| Define { name: format!("v{i}"), value }).collect();
    graph
}

/// Tools that know no class and replace no variables read anything that is printed.
fn reading() -> Options<'static> {
    Options { expand_defines: false, ..Options::any_class() }
}

/// White space and comments that may stand between tokens.
fn gap() -> BoxedStrategy<String> {
    prop_oneof![
        6 => Just(" "),
        2 => Just("\n"),
        1 => Just("\r\n\n\n  "),
        1 => Just("/* c */"),
        1 => Just(" // d\n"),
        1 => Just("\n// own line\n\n/* e\n f */ "),
    ]
    .prop_map(str::to_owned)
    .boxed()
}

/// Joins pieces with gaps.
fn spread(pieces: Vec<(String, String)>) -> String {
    pieces.into_iter().map(|(piece, gap)| piece + &gap).collect()
}

fn ports() -> BoxedStrategy<String> {
    prop_oneof![4 => Just(""), 1 => Just("[0]"), 1 => Just("[1 , 0-2]"), 1 => Just("[]"), 1 => Just("[2,]")]
        .prop_map(str::to_owned)
        .boxed()
}

/// An element that contains no others.
fn leaf() -> BoxedStrategy<String> {
    let name = prop_oneof![
        "[a-c]",
        "[A-C]",
        "[a-c] ?:: ?[A-C]",
        ("[A-C]", config_string()).prop_map(|(class, config)| format!("{class}({config})")),
        ("[a-c] ::\n?[A-C]", config_string()).prop_map(|(class, config)| format!("{class}({config})")),
        Just("input".to_owned()),
        Just("output".to_owned()),
        "[a-z]{30,40}",
    ];
    (ports(), gap(), name, gap(), ports()).prop_map(|(i, g, n, h, o)| format!("{i}{g}{n}{h}{o}")).boxed()
}

/// Statements, in which some elements are compounds and groups of other statements.
fn program() -> impl Strategy<Value = String> {
    statements(leaf()).prop_recursive(3, 40, 4, |inner| {
        let compound = (gap(), inner.clone(), gap()).prop_map(|(g, body, h)| format!("{{{g}{body}{h}}}")).boxed();
        let group = (ports(), inner.clone()).prop_map(|(ports, body)| format!("({body}){ports}")).boxed();
        let formals = (inner.clone(), inner, gap()).prop_map(|(a, b, g)| format!("{{ $x,{g}K $y | {a}||{g}$z |{b}|| ...}}"));
        let element = prop_oneof![3 => leaf(), 1 => compound.clone(), 1 => group, 1 => compound.prop_map(|c| format!("x :: {c}"))];
        prop_oneof![
            4 => statements(element.boxed()),
            1 => ("[A-C]", formals).prop_map(|(name, body)| format!("elementclass {name} {body}")),
        ]
        .boxed()
    })
}

fn statements(element: BoxedStrategy<String>) -> BoxedStrategy<String> {
    let arrow = prop_oneof![3 => Just("->"), 1 => Just("=>"), 1 => Just(",")].prop_map(str::to_owned);
    let link = (gap(), arrow, gap(), element.clone()).prop_map(|(g, a, h, e)| format!("{g}{a}{h}{e}"));
    let chain = (element, prop::collection::vec(link, 0..4)).prop_map(|(first, rest)| first + &rest.concat());
    let statement = prop_oneof![
        6 => chain,
        1 => config_string().prop_map(|c| format!("define($v {c})")),
        1 => Just("elementclass D E".to_owned()),
        1 => Just("require(package p)".to_owned()),
        1 => Just(String::new()),
    ];
    let end = (gap(), prop_oneof![Just(";"), Just(";;"), Just("\n")], gap()).prop_map(|(g, e, h)| g + e + &h);
    prop::collection::vec((statement, end), 0..4).prop_map(spread).boxed()
}

/// The comments of a text, in order.
fn comments(text: &str) -> Vec<String> {
    let mut sources = Sources::new();
    let file = sources.add("", text);
    let (tree, _) = parse(&mut sources, file);
    let tokens = tree.root().descendants_with_tokens().filter_map(|e| e.into_token());
    tokens
        .filter(|t| t.kind() == clickwork_lang::syntax::SyntaxKind::Comment)
        .map(|t| t.text().to_owned())
        .collect()
}

/// Graph and messages, without places.
fn meaning(text: &str) -> (Vec<String>, Vec<String>) {
    let (graph, diagnostics, _) = run(text, &reading());
    let mut messages: Vec<String> = diagnostics.iter().map(|d| d.message.clone()).collect();
    messages.sort();
    (outline(&graph), messages)
}

proptest! {
    #[test]
    fn formatting_changes_only_layout(text in program()) {
        if let Ok(formatted) = format(&text) {
            prop_assert_eq!(format(&formatted).unwrap(), &*formatted, "not stable: {}", text);
            prop_assert_eq!(comments(&formatted), comments(&text), "{}", formatted);
            prop_assert_eq!(meaning(&formatted), meaning(&text), "{}", formatted);
        }
    }

    #[test]
    fn the_tree_holds_every_byte(text in "(?s).{0,60}|[-a-z0-9{}()|$:;,.#/*\"\n\\[\\] >=]{0,60}") {
        let mut sources = Sources::new();
        let file = sources.add("", text.as_str());
        let (tree, _) = parse(&mut sources, file);
        prop_assert_eq!(tree.root().text().to_string(), text);
    }

    #[test]
    fn a_printed_graph_parses_back(graph in random_graph()) {
        let text = print(&graph);
        prop_assert_eq!(outline(&graph_with(&text, &reading())), outline(&graph), "{}", text);
    }

    #[test]
    fn a_graph_with_broken_configurations_still_prints_as_a_configuration(
        mut graph in random_graph(),
        broken in "[)(\"'\\\\</*#\n,a]{1,12}",
    ) {
        graph.elements[0].config = broken;
        let again = graph_with(&print(&graph), &reading());
        prop_assert_eq!(outline(&again)[1..].to_vec(), outline(&graph)[1..].to_vec());
    }
}
