//! Shared by the tests: a small set of element classes and short ways to elaborate.
#![allow(dead_code)] // each test program uses its part

use clickwork_lang::{ClassNames, Graph, Options, elaborate};
use clickwork_source::{Diagnostics, Sources, render_click};

pub struct Classes;

const CLASSES: [&str; 10] =
    ["Idle", "Discard", "Null", "Queue", "Paint", "Print", "Tee", "Counter", "Classifier", "Unqueue"];

impl ClassNames for Classes {
    fn contains(&self, name: &str) -> bool {
        CLASSES.contains(&name)
    }
    fn names(&self) -> Vec<String> {
        CLASSES.map(str::to_owned).to_vec()
    }
}

/// Elaborates a text as the file `config.click`.
pub fn run(text: &str, options: &Options<'_>) -> (Graph, Diagnostics, Sources) {
    let mut sources = Sources::new();
    let file = sources.add("config.click", text);
    let (graph, diagnostics) = elaborate(&mut sources, file, options);
    (graph, diagnostics, sources)
}

/// The messages of a text, in Click's form.
pub fn messages(text: &str) -> String {
    let (_, diagnostics, sources) = run(text, &Options::new(&Classes));
    diagnostics.iter().map(|d| render_click(&sources, d)).collect()
}

/// The graph of a text that must be right.
pub fn graph(text: &str) -> Graph {
    graph_with(text, &Options::new(&Classes))
}

pub fn graph_with(text: &str, options: &Options<'_>) -> Graph {
    let (graph, diagnostics, sources) = run(text, options);
    let messages: String = diagnostics.iter().map(|d| render_click(&sources, d)).collect();
    assert_eq!(messages, "", "in\n{text}");
    graph
}

/// Everything in a graph but the places: elements, then connections by name.
pub fn outline(graph: &Graph) -> Vec<String> {
    let name = |element: usize| &graph.elements[element].name;
    let elements = graph.elements.iter().map(|e| format!("{} :: {}({})", e.name, e.class, e.config));
    let connections = graph.connections.iter();
    let connections = connections.map(|c| {
        format!("{}[{}] -> [{}]{}", name(c.from.element), c.from.port, c.to.port, name(c.to.element))
    });
    let requirements = graph.requirements.iter().map(|r| format!("{} {}", r.kind, r.value));
    let defines = graph.defines.iter().map(|d| format!("${} {}", d.name, d.value));
    elements.chain(connections).chain(requirements).chain(defines).collect()
}
