//! What must hold for any bytes taken as a Click configuration. The fuzz target runs it on made-up bytes, the tests of
//! `click-lang` on the seeds.

use clickwork_lang::{Graph, Options, elaborate, format, parse, print};
use clickwork_source::{Diagnostics, Sources, render_click, render_human};

/// Parses, elaborates, prints, formats; panics if any of them goes wrong.
pub fn check(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut sources = Sources::new();
    let file = sources.add("fuzz.click", &*text);
    let (tree, _) = parse(&mut sources, file);
    assert_eq!(tree.root().text().to_string(), text, "the tree must hold every byte");
    elaborated(&text, true);
    let (graph, diagnostics) = elaborated(&text, false);
    if !diagnostics.has_errors() {
        check_print(&graph);
    }
    check_format(&text, &graph, &diagnostics);
}

/// Elaborates for tools that know no class, and renders the first messages.
fn elaborated(text: &str, expand_defines: bool) -> (Graph, Diagnostics) {
    let mut sources = Sources::new();
    let file = sources.add("fuzz.click", text);
    let options = Options { expand_defines, ..Options::any_class() };
    let (graph, diagnostics) = elaborate(&mut sources, file, &options);
    for diagnostic in diagnostics.iter().take(20) {
        render_click(&sources, diagnostic);
        render_human(&sources, diagnostic, false);
    }
    (graph, diagnostics)
}

/// What is printed parses back.
fn check_print(graph: &Graph) {
    let text = print(graph);
    let (again, diagnostics) = elaborated(&text, false);
    assert!(!diagnostics.has_errors(), "{text}\n{diagnostics:?}");
    assert_eq!(outline(&again), outline(graph), "{text}");
}

/// What is formatted means the same and is formatted already.
fn check_format(text: &str, graph: &Graph, diagnostics: &Diagnostics) {
    let Ok(formatted) = format(text) else { return };
    assert_eq!(format(&formatted).as_deref(), Ok(&*formatted), "formatting is not stable");
    let (again, messages) = elaborated(&formatted, false);
    assert_eq!(outline(&again), outline(graph), "{formatted}");
    assert_eq!(messages.len(), diagnostics.len(), "{formatted}");
}

/// A graph without the places.
fn outline(graph: &Graph) -> Vec<String> {
    let elements = graph.elements.iter().map(|e| format!("{} :: {}({})", e.name, e.class, e.config));
    let connections = graph.connections.iter().map(|c| format!("{:?} -> {:?}", c.from, c.to));
    let requirements = graph.requirements.iter().map(|r| format!("{} {}", r.kind, r.value));
    let defines = graph.defines.iter().map(|d| format!("${} {}", d.name, d.value));
    elements.chain(connections).chain(requirements).chain(defines).collect()
}
