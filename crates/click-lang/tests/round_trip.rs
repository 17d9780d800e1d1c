//! Properties on random graphs and programs: what is printed parses back, formatting changes nothing but layout.

mod common;

use clickwork_lang::{Connection, ElementDecl, Graph, Options, Port, Requirement, print};
use clickwork_source::Span;
use common::{graph_with, outline};
use proptest::prelude::*;

/// Configuration strings with everything that can go wrong, all properly closed.
fn config() -> impl Strategy<Value = String> {
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
    let element = ("[a-z_][a-zA-Z0-9_]{0,3}(/[A-Z][a-z]{0,2}@[0-9])?", "[A-Z][a-zA-Z0-9]{0,4}", config());
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
    graph
}

/// Tools that know no class and replace no variables read anything that is printed.
fn reading() -> Options<'static> {
    Options { expand_defines: false, ..Options::any_class() }
}

proptest! {
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
