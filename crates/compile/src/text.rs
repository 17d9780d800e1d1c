//! The Rust text of segments: one function a path, named by the hash of what it does.
//!
//! A path goes on in one function until it divides or meets another. The hash covers the function's code, the fast paths
//! and constants that it uses and, by their names, the functions that it calls, but no comments and no names of constants:
//! functions that do the same are one, and compiled code can be found again by what it does. A function returns the exit
//! of its packet, counted from 0 at its first element.

use crate::names::{Call, Elements, FastPaths};
use clickwork_packet::SOURCES;
use clickwork_router::router::Info;
use clickwork_router::segment::{Node, Segment, Way};
use clickwork_router::{ElementId, Endpoint, Router};
use clickwork_toolchain::Hash;
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::LazyLock;

/// The symbol by which a library says of which packet sources it was made.
pub const ABI_SYMBOL: &str = "clickwork_packet_abi";

/// What stands before everything else that is generated.
const PRELUDE: &str = include_str!("prelude.rs");

/// The program of some segments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Rust source of a library crate that depends on `clickwork_packet` alone.
    pub source: String,
    /// The name of each segment's function, in the order of the segments.
    pub symbols: Vec<String>,
}

/// A number for the packet sources of this program.
pub fn abi() -> u64 {
    static ABI: LazyLock<u64> = LazyLock::new(hash_of_sources);
    *ABI
}

fn hash_of_sources() -> u64 {
    Hash::of(SOURCES.iter().flat_map(|(path, text)| [*path, *text]).chain([PRELUDE])).number()
}

/// Writes the code of segments of `router`.
pub fn write(router: &Router, segments: &[Segment]) -> Text {
    let mut writer = Writer::default();
    let symbols = writer.add(router, segments);
    Text { source: writer.finish(), symbols }
}

/// A function of a path, or what makes it one that the router calls.
struct Function {
    /// Its text; of an entry, what is said of packets there.
    text: String,
    /// The elements at which it begins.
    elements: Elements,
}

/// Functions in the order in which they were finished: callees first.
#[derive(Default)]
struct Functions {
    all: Vec<Function>,
    by_name: HashMap<String, usize>,
}

impl Functions {
    /// Adds a function that begins at an element, unless there is one that does the same.
    fn add(&mut self, name: &str, element: &str, text: impl FnOnce() -> String) {
        let number = *self.by_name.entry(name.to_string()).or_insert_with(|| {
            self.all.push(Function { text: text(), elements: Elements::default() });
            self.all.len() - 1
        });
        self.all[number].elements.add(element);
    }
}

/// Writes the code of segments of any number of routers.
#[derive(Default)]
pub struct Writer {
    fast_paths: FastPaths,
    functions: Functions,
    entries: Functions,
}

impl Writer {
    /// Adds segments; returns the name of each one's function.
    pub fn add(&mut self, router: &Router, segments: &[Segment]) -> Vec<String> {
        let mut calls = HashMap::new();
        segments.iter().map(|segment| self.entry(router, segment, &mut calls)).collect()
    }

    fn entry(&mut self, router: &Router, segment: &Segment, calls: &mut HashMap<ElementId, Call>) -> String {
        let path = Paths { writer: self, router, segment, calls }.path(0);
        let symbol = format!("segment_{path}");
        let way = if segment.is_pull { "are pulled" } else { "come in" };
        let first = &router.info(segment.nodes[0].element).name;
        self.entries.add(&symbol, first, || format!("segment!({symbol}, {path}); // packets {way}"));
        symbol
    }

    /// The source of a library crate.
    pub fn finish(self) -> String {
        let mut out = PRELUDE.to_string();
        let _ = writeln!(out, "\n#[unsafe(no_mangle)]\nstatic {ABI_SYMBOL}: u64 = {:#018x};\n", abi());
        for Function { text, elements } in &self.entries.all {
            let _ = writeln!(out, "{text} at {}", elements.list(0).unwrap_or_default());
        }
        for Function { text, elements } in self.functions.all.iter().rev() {
            let others = elements.list(1).map_or(String::new(), |list| format!("// The same from {list}.\n"));
            out.extend(["\n", &others, text]);
        }
        self.fast_paths.modules().for_each(|text| out.extend(["\n", &text]));
        out
    }
}

/// The paths of one segment.
struct Paths<'a> {
    writer: &'a mut Writer,
    router: &'a Router,
    segment: &'a Segment,
    /// How fast paths of elements are called.
    calls: &'a mut HashMap<ElementId, Call>,
}

/// A function being written: what it does, and its text with names and comments.
#[derive(Default)]
struct Body {
    identity: String,
    text: String,
}

impl Body {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.identity, "    {line}");
        let _ = writeln!(self.text, "    {line}");
    }

    /// A line with a comment behind it.
    fn remarked(&mut self, line: &str, remark: &str) {
        let _ = writeln!(self.identity, "    {line}");
        let _ = writeln!(self.text, "    {line} // {remark}");
    }

    fn call(&mut self, before: &str, call: &Call, after: &str) {
        let _ = writeln!(self.identity, "    {before}{}{after}", call.identity);
        let _ = writeln!(self.text, "    {before}{}{after}", call.text);
    }

    fn comment(&mut self, text: &str) {
        let _ = writeln!(self.text, "    // {text}");
    }
}

impl Paths<'_> {
    /// Writes the function of the path that begins at a node, and returns its name.
    fn path(&mut self, first: usize) -> String {
        let mut body = Body::default();
        let node = &self.segment.nodes[first];
        let mut next = Some(first);
        while let Some(number) = next {
            next = self.step(number, node.exits.start, &mut body);
        }
        let name = format!("{}_{}", node.code.module, Hash::of([body.identity.as_str()]).name());
        let text = || format!("#[inline]\nfn {name}(p: &mut Packet) -> u16 {{\n{}}}\n", body.text);
        self.writer.functions.add(&name, &self.router.info(node.element).name, text);
        name
    }

    /// The call of an element's fast path.
    fn action(&mut self, node: &Node) -> Call {
        let call = self.calls.entry(node.element);
        call.or_insert_with(|| self.writer.fast_paths.call(&node.code)).clone()
    }

    /// Writes what is done at one element of a path whose exits begin at `base`. Returns the element at which the function
    /// goes on.
    fn step(&mut self, number: usize, base: u16, body: &mut Body) -> Option<usize> {
        let node = &self.segment.nodes[number];
        body.comment(&describe(self.router.info(node.element)));
        let inner = self.goes_on(node);
        let action = self.action(node);
        let ask = node.exits.start - base;
        let arms: Vec<String> = node.ways.iter().map(|way| self.arm(way, base, inner)).collect();
        let name = &self.router.info(node.element).name;
        if let [arm] = arms.as_slice() {
            body.call("if ", &action, " != Some(0) {");
            body.remarked(&format!("    return {ask};"), &format!("ask {name}"));
            body.line("}");
            inner.is_none().then(|| self.line(node, 0, arm, body));
            return inner;
        }
        let leave = if inner.is_some() { "return " } else { "" };
        body.call("match ", &action, " {");
        for (n, arm) in arms.iter().enumerate() {
            match inner.is_some() && node.ways[n].node == inner {
                true => body.line(&format!("    Some({n}) => {{}}")),
                false => self.line(node, n, &format!("    Some({n}) => {leave}{arm},"), body),
            }
        }
        body.remarked(&format!("    _ => {leave}{ask},"), &format!("ask {name}"));
        body.line("}");
        inner
    }

    /// Writes a line about packets that go by an output; it says where to, if that is out of the segment.
    fn line(&self, node: &Node, output: usize, line: &str, body: &mut Body) {
        let from = Endpoint { element: node.element, port: output as u16 };
        match self.router.targets(from).first().filter(|_| node.ways[output].node.is_none()) {
            Some(to) => body.remarked(line, &format!("to {}", self.router.info(to.element).name)),
            None => body.line(line),
        }
    }

    /// The exit of a packet that goes that way.
    fn arm(&mut self, way: &Way, base: u16, inner: Option<usize>) -> String {
        let first = way.exits.start - base;
        match way.node.filter(|&next| Some(next) != inner) {
            Some(next) => format!("{first} + {}(p)", self.path(next)),
            None => first.to_string(),
        }
    }

    /// The next element, if there is only one, to which no other way leads.
    fn goes_on(&self, node: &Node) -> Option<usize> {
        let mut nexts = node.ways.iter().filter_map(|way| way.node);
        let (next, others) = (nexts.next()?, nexts.next());
        let to = Endpoint { element: self.segment.nodes[next].element, port: 0 };
        (others.is_none() && self.router.sources(to).len() == 1).then_some(next)
    }
}

/// An element as its configuration declares it, on one line.
fn describe(info: &Info) -> String {
    let mut config = info.config.split_whitespace().collect::<Vec<_>>().join(" ");
    if config.chars().count() > 80 {
        config = config.chars().take(77).chain("...".chars()).collect();
    }
    match config.is_empty() {
        true => format!("{} :: {}", info.name, info.class_name),
        false => format!("{} :: {}({config})", info.name, info.class_name),
    }
}
