//! `--emit=callgraph`: who calls whom, for Graphviz.

use std::collections::{BTreeMap, BTreeSet};

use super::dotted;
use crate::optimize::{Fate, Report};
use crate::program::{MethodId, ModuleId, Program};

/// What an edge stands for. The order is the order of importance: two methods have one edge.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Edge {
    Dynamic,
    Direct,
    Inlined,
}

/// The methods that can run, grouped by module, and the calls between them: solid lines are calls, dashed ones dispatches,
/// dotted ones calls that were inlined. Exported methods have a double border.
pub fn callgraph(program: &Program, report: &Report) -> String {
    let mut edges: BTreeMap<(MethodId, MethodId), Edge> = BTreeMap::new();
    let mut nodes: BTreeSet<MethodId> = program.exports.iter().copied().collect();
    for site in &report.calls {
        for &target in &site.targets {
            let edge = match site.fate {
                Fate::Inlined => Edge::Inlined,
                Fate::Kept(_) if site.targets.len() > 1 => Edge::Dynamic,
                Fate::Kept(_) => Edge::Direct,
            };
            let known = edges.entry((site.caller, target)).or_insert(edge);
            *known = edge.min(*known);
            nodes.extend([site.caller, target]);
        }
    }
    let modules: BTreeSet<ModuleId> = nodes.iter().map(|&m| program[m].module).collect();
    let mut text = String::from("digraph calls {\n  rankdir=LR;\n  node [shape=box, fontname=monospace];\n");
    for module in modules {
        text.push_str(&cluster(program, module, &nodes));
    }
    for ((caller, target), edge) in edges {
        let style = match edge {
            Edge::Dynamic => " [style=dashed]",
            Edge::Direct => "",
            Edge::Inlined => " [style=dotted]",
        };
        text.push_str(&format!("  m{} -> m{}{style};\n", caller.0, target.0));
    }
    text + "}\n"
}

fn cluster(program: &Program, module: ModuleId, nodes: &BTreeSet<MethodId>) -> String {
    let name = program.module_name(module);
    let mut text = format!("  subgraph cluster{} {{\n    label=\"{name}\";\n", module.0);
    for &method in nodes.iter().filter(|&&m| program[m].module == module) {
        let border = if program.exports.contains(&method) { ", peripheries=2" } else { "" };
        text.push_str(&format!("    m{} [label=\"{}\"{border}];\n", method.0, dotted(&program[method].path)));
    }
    text + "  }\n"
}
