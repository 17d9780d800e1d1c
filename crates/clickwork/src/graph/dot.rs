//! The drawing as a graph for Graphviz, which then does the layout.

use super::model::{Mark, Model, Part, Port};
use std::fmt::Write;

/// Writes the graph.
pub fn write(model: &Model, title: &str) -> String {
    let mut out = format!(
        "digraph {} {{\n  node [shape=record fontname=\"Helvetica\" fontsize=11];\n  edge [arrowsize=0.7];\n",
        quoted(title)
    );
    scope(&mut out, model, None, 1);
    for wire in &model.wires {
        let ((a, i), (b, j)) = (wire.from, wire.to);
        let mark = if wire.missing { " [color=\"#d1480f\" penwidth=2.5]" } else { "" };
        let _ = writeln!(out, "  e{a}:o{i}:s -> e{b}:i{j}:n{mark};");
    }
    out.push_str("}\n");
    out
}

fn scope(out: &mut String, model: &Model, compound: Option<usize>, depth: usize) {
    let margin = "  ".repeat(depth);
    for (index, part) in model.parts.iter().enumerate().filter(|(_, p)| p.compound == compound) {
        let _ = writeln!(out, "{margin}e{index} [label=\"{}\"{}];", label(part), look(part));
    }
    for (index, inner) in model.compounds.iter().enumerate().filter(|(_, c)| c.parent == compound) {
        let _ =
            writeln!(out, "{margin}subgraph cluster{index} {{\n{margin}  label={};", quoted(&inner.title));
        scope(out, model, Some(index), depth + 1);
        let _ = writeln!(out, "{margin}}}");
    }
}

/// How the box is drawn, if not as others.
fn look(part: &Part) -> &'static str {
    match part.mark {
        _ if part.outside => " style=dashed color=gray50 fontcolor=gray50",
        Some(Mark::Missing) => " color=\"#d1480f\" penwidth=2.5",
        Some(Mark::Different) => " color=\"#1769c2\" penwidth=2.5",
        None => "",
    }
}

/// A record: inputs, then texts, then outputs.
fn label(part: &Part) -> String {
    let side = |ports: &[Port], letter: char, push: char, pull: char| {
        let cell = |(n, p): (usize, &Port)| format!("<{letter}{n}> {}", if p.push { push } else { pull });
        ports.iter().enumerate().map(cell).collect::<Vec<_>>().join("|")
    };
    let heading = format!("{}{}", part.prefix(), part.class);
    let small = part.small_lines().map(|(_, text, _)| text.to_string());
    let texts: Vec<String> = std::iter::once(heading).chain(small).map(|t| escaped(&t)).collect();
    let mut rows = Vec::new();
    if !part.inputs.is_empty() {
        rows.push(format!("{{{}}}", side(&part.inputs, 'i', '▼', '▽')));
    }
    rows.push(texts.join("\\n"));
    if !part.outputs.is_empty() {
        rows.push(format!("{{{}}}", side(&part.outputs, 'o', '■', '□')));
    }
    format!("{{{}}}", rows.join("|"))
}

/// Text in a record label, where brackets and bars have a meaning.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if matches!(c, '{' | '}' | '|' | '<' | '>' | '\\' | '"' | ' ') {
            out.push('\\');
        }
        out.push(if c.is_control() { ' ' } else { c });
    }
    out
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
