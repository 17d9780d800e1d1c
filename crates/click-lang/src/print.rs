//! A flat graph as text, in the manner of `click -o-`: declarations, then connections in chains.
//!
//! What is printed parses back to the same graph.

use clickwork_source::{Sources, Span};

use crate::config;
use crate::graph::{Connection, Graph, Port};
use crate::syntax::lexer;

/// Prints a graph.
pub fn print(graph: &Graph) -> String {
    print_with(graph, &Marks { sources: None })
}

/// Prints a graph with line directives, so that messages about what is printed point to where it came from.
pub fn print_marked(graph: &Graph, sources: &Sources) -> String {
    print_with(graph, &Marks { sources: Some(sources) })
}

fn print_with(graph: &Graph, marks: &Marks<'_>) -> String {
    let mut out = String::new();
    let sections =
        [requirements(graph), defines(graph), declarations(graph, marks), connections(graph, marks)];
    for section in sections {
        if !section.is_empty() && !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&section);
    }
    out
}

/// Where the things printed come from, if that is wanted.
struct Marks<'a> {
    sources: Option<&'a Sources>,
}

impl Marks<'_> {
    /// The line directive for a place, with its end of line.
    fn directive(&self, span: Span) -> String {
        let Some((file, line)) = self.sources.and_then(|sources| sources.marked_line(span)) else {
            return String::new();
        };
        format!("# {line} {}\n", config::quote(file))
    }
}

fn requirements(graph: &Graph) -> String {
    let line = |r: &crate::Requirement| match r.kind.as_str() {
        "provide" => format!("provide({});\n", word(&r.value)),
        kind if r.value.is_empty() => format!("require({kind});\n"),
        kind => format!("require({kind} {});\n", word(&r.value)),
    };
    graph.requirements.iter().map(line).collect()
}

/// A value as one word: quoted unless it is plain.
fn word(value: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-' | b':' | b'@');
    let keyword = matches!(value, "package" | "library" | "compact_config");
    let bare = !value.is_empty() && !keyword && value.bytes().all(plain);
    if bare { value.to_owned() } else { config::quote(value) }
}

fn defines(graph: &Graph) -> String {
    let define = |d: &crate::Define| match d.value.is_empty() {
        true => format!("define(${});\n", d.name),
        false => format!("define(${} {});\n", d.name, one_argument(&d.value)),
    };
    graph.defines.iter().map(define).collect()
}

fn declarations(graph: &Graph, marks: &Marks<'_>) -> String {
    let declaration = |e: &crate::ElementDecl| {
        let mark = marks.directive(e.span);
        match e.config.is_empty() {
            true => format!("{mark}{} :: {};\n", e.name, e.class),
            false => format!("{mark}{} :: {}({});\n", e.name, e.class, safe_config(&e.config)),
        }
    };
    graph.elements.iter().map(declaration).collect()
}

/// A value that can stand in a list: quoted if there is a comma in it that would end it.
fn one_argument(value: &str) -> String {
    match config::split_args(value).len() {
        0 | 1 => safe_config(value),
        _ => config::quote(value),
    }
}

/// A configuration string that can stand between parentheses: as it is, or, if a quote or a parenthesis in it is left
/// open, with the arguments quoted.
fn safe_config(config: &str) -> String {
    if lexer::is_config(config) {
        return config.to_owned();
    }
    let args = config::split_args(config);
    args.iter().map(|arg| config::quote_bytes(&config::unquote(arg))).collect::<Vec<_>>().join(", ")
}

/// Connections in chains: each goes on from output 0 of an element entered at input 0, if there is such a connection.
fn connections(graph: &Graph, marks: &Marks<'_>) -> String {
    let chains = Chains::new(&graph.connections);
    let mut printer =
        Printer { graph, marks, used: vec![false; graph.connections.len()], out: String::new() };
    for start in (0..graph.connections.len()).filter(|&c| chains.starts[c]) {
        printer.chain(start, &chains);
    }
    // What is left are circles, which start nowhere.
    for start in 0..graph.connections.len() {
        printer.chain(start, &chains);
    }
    printer.out
}

struct Chains {
    next: Vec<Option<usize>>,
    starts: Vec<bool>,
}

impl Chains {
    fn new(connections: &[Connection]) -> Self {
        let mut from: std::collections::HashMap<Port, Vec<usize>> = Default::default();
        for (index, connection) in connections.iter().enumerate() {
            from.entry(connection.from).or_default().push(index);
        }
        let mut chains = Chains { next: Vec::new(), starts: vec![true; connections.len()] };
        for (index, connection) in connections.iter().enumerate() {
            let onward =
                from.get(&connection.to).filter(|_| connection.to.port == 0).map_or(&[][..], Vec::as_slice);
            let candidates = || onward.iter().copied().filter(|&c| c != index);
            let next =
                candidates().find(|&c| connections[c].to.port == 0).or_else(|| candidates().next_back());
            if let Some(next) = next {
                chains.starts[next] = false;
            }
            chains.next.push(next);
        }
        chains
    }
}

struct Printer<'a> {
    graph: &'a Graph,
    marks: &'a Marks<'a>,
    used: Vec<bool>,
    out: String,
}

impl Printer<'_> {
    /// Prints the chain that starts with a connection, up to the first connection that is printed already.
    fn chain(&mut self, start: usize, chains: &Chains) {
        if self.used[start] {
            return;
        }
        let from = self.graph.connections[start].from;
        let mut mark = self.marks.directive(self.graph.connections[start].span);
        self.out.push_str(&mark);
        self.out.push_str(&self.graph.elements[from.element].name);
        if from.port > 0 {
            self.out.push_str(&format!(" [{}]", from.port));
        }
        let mut separator = " ".to_string();
        let mut current = Some(start);
        while let Some(index) = current.filter(|&c| !std::mem::replace(&mut self.used[c], true)) {
            let to = self.graph.connections[index].to;
            if index != start {
                separator = self.separator(index, &mut mark);
            }
            self.out.push_str(&separator);
            self.out.push_str("-> ");
            if to.port > 0 {
                self.out.push_str(&format!("[{}] ", to.port));
            }
            self.out.push_str(&self.graph.elements[to.element].name);
            current = chains.next[index];
        }
        self.out.push_str(";\n");
    }

    /// What stands before the arrow of a connection that goes on with a chain: a new line, with a line directive if it
    /// comes from elsewhere than the connection before. What comes from the same line stays on one, since a new line would
    /// count as the next of the source.
    fn separator(&self, connection: usize, mark: &mut String) -> String {
        let new = self.marks.directive(self.graph.connections[connection].span);
        if !new.is_empty() && new == *mark {
            return " ".to_string();
        }
        *mark = new;
        format!("\n{mark}    ")
    }
}
