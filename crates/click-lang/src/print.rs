//! A flat graph as text, in the manner of `click -o-`: declarations, then connections in chains.
//!
//! What is printed parses back to the same graph.

use std::borrow::Cow;
use std::ops::Range;

use clickwork_source::{Sources, Span};

use crate::config;
use crate::graph::{Connection, Graph};
use crate::syntax::lexer;

/// What is to be printed, borrowed from where it is: a router prints itself without a copy of its graph.
#[derive(Debug)]
pub struct Parts<'a> {
    /// The elements.
    pub elements: Vec<PrintedElement<'a>>,
    /// How they are connected.
    pub connections: Cow<'a, [Connection]>,
    /// What is required.
    pub requirements: &'a [crate::Requirement],
    /// What is defined.
    pub defines: &'a [crate::Define],
}

/// An element to be printed.
#[derive(Debug)]
pub struct PrintedElement<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its class.
    pub class: &'a str,
    /// Its configuration string.
    pub config: Cow<'a, str>,
    /// Where it was declared.
    pub span: Span,
}

impl<'a> From<&'a Graph> for Parts<'a> {
    fn from(graph: &'a Graph) -> Parts<'a> {
        let element = |e: &'a crate::ElementDecl| PrintedElement {
            name: &e.name,
            class: &e.class,
            config: Cow::Borrowed(&e.config),
            span: e.span,
        };
        Parts {
            elements: graph.elements.iter().map(element).collect(),
            connections: Cow::Borrowed(&graph.connections),
            requirements: &graph.requirements,
            defines: &graph.defines,
        }
    }
}

/// Prints a graph.
pub fn print(graph: &Graph) -> String {
    print_with_places(&Parts::from(graph)).0
}

/// Prints what is in several places; with the place of each element's configuration string, as [`print_config`] prints it.
pub fn print_with_places(parts: &Parts<'_>) -> (String, Vec<Range<usize>>) {
    print_all(parts, &Marks { sources: None })
}

/// A configuration string between parentheses; nothing if it is empty.
pub fn print_config(config: &str) -> String {
    if config.is_empty() { String::new() } else { format!("({})", safe_config(config)) }
}

/// Prints a graph with line directives, so that messages about what is printed point to where it came from.
pub fn print_marked(graph: &Graph, sources: &Sources) -> String {
    print_all(&Parts::from(graph), &Marks { sources: Some(sources) }).0
}

fn print_all(graph: &Parts<'_>, marks: &Marks<'_>) -> (String, Vec<Range<usize>>) {
    let mut out = requirements(graph);
    let begin = |out: &mut String| {
        if !out.is_empty() {
            out.push('\n')
        }
    };
    let defines = defines(graph);
    if !defines.is_empty() {
        begin(&mut out);
        out.push_str(&defines);
    }
    if !graph.elements.is_empty() {
        begin(&mut out);
    }
    let places = declarations(graph, marks, &mut out);
    let connections = connections(graph, marks);
    if !connections.is_empty() {
        begin(&mut out);
        out.push_str(&connections);
    }
    (out, places)
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

fn requirements(graph: &Parts<'_>) -> String {
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

fn defines(graph: &Parts<'_>) -> String {
    let define = |d: &crate::Define| match d.value.is_empty() {
        true => format!("define(${});\n", d.name),
        false => format!("define(${} {});\n", d.name, one_argument(&d.value)),
    };
    graph.defines.iter().map(define).collect()
}

/// Prints declarations. Returns where the configuration strings stand.
fn declarations(graph: &Parts<'_>, marks: &Marks<'_>, out: &mut String) -> Vec<Range<usize>> {
    let mut places = Vec::with_capacity(graph.elements.len());
    for e in &graph.elements {
        out.push_str(&marks.directive(e.span));
        [e.name, " :: ", e.class].into_iter().for_each(|text| out.push_str(text));
        let start = out.len();
        if !e.config.is_empty() {
            out.push('(');
            out.push_str(&safe_config(&e.config));
            out.push(')');
        }
        places.push(start..out.len());
        out.push_str(";\n");
    }
    places
}

/// A value that can stand in a list: quoted if there is a comma in it that would end it.
fn one_argument(value: &str) -> String {
    match config::split_args(value).len() {
        0 | 1 => safe_config(value).into_owned(),
        _ => config::quote(value),
    }
}

/// A configuration string that can stand between parentheses: as it is, or, if a quote or a parenthesis in it is left
/// open, with the arguments quoted.
fn safe_config(config: &str) -> Cow<'_, str> {
    // What has none of these opens nothing.
    let opens =
        |b: u8| matches!(b, b'"' | b'\'' | b'\\' | b'(' | b')' | b'/' | b'*' | b'<' | b'>' | b'#' | b'\n');
    if !config.bytes().any(opens) || lexer::is_config(config) {
        return Cow::Borrowed(config);
    }
    let args = config::split_args(config);
    let quoted: Vec<String> = args.iter().map(|arg| config::quote_bytes(&config::unquote(arg))).collect();
    Cow::Owned(quoted.join(", "))
}

/// Connections in chains: each goes on from output 0 of an element entered at input 0, if there is such a connection.
fn connections(graph: &Parts<'_>, marks: &Marks<'_>) -> String {
    let connections = &graph.connections;
    let chains = Chains::new(connections, graph.elements.len());
    let mut printer = Printer { graph, marks, used: vec![false; connections.len()], out: String::new() };
    for start in (0..connections.len()).filter(|&c| chains.starts[c]) {
        printer.chain(start, &chains);
    }
    // What is left are circles, which start nowhere.
    for start in 0..connections.len() {
        printer.chain(start, &chains);
    }
    printer.out
}

struct Chains {
    next: Vec<Option<usize>>,
    starts: Vec<bool>,
}

impl Chains {
    fn new(connections: &[Connection], elements: usize) -> Self {
        let from_first = FromFirst::new(connections, elements);
        let mut chains = Chains { next: Vec::new(), starts: vec![true; connections.len()] };
        for (index, connection) in connections.iter().enumerate() {
            let onward = if connection.to.port == 0 { from_first.of(connection.to.element) } else { &[] };
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

/// The connections from output 0 of each element, in order.
struct FromFirst {
    /// Where those of each element begin, and where the last end.
    begin: Vec<usize>,
    connections: Vec<usize>,
}

impl FromFirst {
    fn new(connections: &[Connection], elements: usize) -> FromFirst {
        let first = || connections.iter().enumerate().filter(|(_, c)| c.from.port == 0);
        let mut begin = vec![0; elements + 1];
        first().for_each(|(_, c)| begin[c.from.element + 1] += 1);
        (0..elements).for_each(|e| begin[e + 1] += begin[e]);
        let (mut free, mut all) = (begin.clone(), vec![0; begin[elements]]);
        for (index, c) in first() {
            all[free[c.from.element]] = index;
            free[c.from.element] += 1;
        }
        FromFirst { begin, connections: all }
    }

    fn of(&self, element: usize) -> &[usize] {
        &self.connections[self.begin[element]..self.begin[element + 1]]
    }
}

struct Printer<'a> {
    graph: &'a Parts<'a>,
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
        self.out.push_str(self.graph.elements[from.element].name);
        if from.port > 0 {
            self.out.push_str(&format!(" [{}]", from.port));
        }
        let mut separator = Cow::Borrowed(" ");
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
            self.out.push_str(self.graph.elements[to.element].name);
            current = chains.next[index];
        }
        self.out.push_str(";\n");
    }

    /// What stands before the arrow of a connection that goes on with a chain: a new line, with a line directive if it
    /// comes from elsewhere than the connection before. What comes from the same line stays on one, since a new line would
    /// count as the next of the source.
    fn separator(&self, connection: usize, mark: &mut String) -> Cow<'static, str> {
        if self.marks.sources.is_none() {
            return Cow::Borrowed("\n    ");
        }
        let new = self.marks.directive(self.graph.connections[connection].span);
        if !new.is_empty() && new == *mark {
            return Cow::Borrowed(" ");
        }
        *mark = new;
        Cow::Owned(format!("\n{mark}    "))
    }
}
