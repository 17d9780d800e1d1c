//! The Rust text of segments: one function a path, named by the hash of what it does.
//!
//! A path goes on in one function until it divides or meets another. The hash covers the function's code and, by
//! their names, the functions that it calls, but no comments: functions that do the same are one, and compiled code can
//! be found again by what it does. A function returns the exit of its packet, counted from 0 at its first element.

use crate::hash::hash;
use clickwork_packet::SOURCES;
use clickwork_router::fast::FastCode;
use clickwork_router::segment::{Node, Segment};
use clickwork_router::{Endpoint, Router};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

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
    hash(SOURCES.iter().flat_map(|(path, text)| [*path, *text]).chain([PRELUDE]))
}

/// Writes the code of segments of `router`.
pub fn write(router: &Router, segments: &[Segment]) -> Text {
    let mut writer = Writer {
        router,
        modules: BTreeMap::new(),
        constants: BTreeMap::new(),
        functions: Functions::default(),
    };
    let paths: Vec<String> = segments.iter().map(|segment| writer.path(segment, 0)).collect();
    let symbols = paths.iter().map(|path| format!("segment_{path}")).collect();
    Text { source: writer.finish(segments, &paths), symbols }
}

/// Functions in the order in which they were finished: callees first.
#[derive(Default)]
struct Functions {
    names: BTreeSet<String>,
    texts: Vec<String>,
}

struct Writer<'a> {
    router: &'a Router,
    /// By name.
    modules: BTreeMap<String, Cow<'static, str>>,
    constants: BTreeMap<String, String>,
    functions: Functions,
}

/// A function being written: its code, and the same with comments.
#[derive(Default)]
struct Body {
    code: String,
    commented: String,
}

impl Body {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.code, "    {line}");
        let _ = writeln!(self.commented, "    {line}");
    }

    fn comment(&mut self, text: &str) {
        let _ = writeln!(self.commented, "    // {text}");
    }
}

impl Writer<'_> {
    /// Writes the function of the path that begins at a node, and returns its name.
    fn path(&mut self, segment: &Segment, first: usize) -> String {
        let mut body = Body::default();
        let base = segment.nodes[first].exits.start;
        let mut next = Some(first);
        while let Some(number) = next {
            next = self.step(segment, number, base, &mut body);
        }
        let name = format!("{}_{:016x}", segment.nodes[first].code.module, hash([body.code.as_str()]));
        if self.functions.names.insert(name.clone()) {
            let head = format!("#[inline]\nfn {name}(p: &mut Packet) -> u16 {{\n");
            self.functions.texts.push(format!("{head}{}}}\n", body.commented));
        }
        name
    }

    /// Writes what is done at one element. Returns the element at which the function goes on.
    fn step(&mut self, segment: &Segment, number: usize, base: u16, body: &mut Body) -> Option<usize> {
        let node = &segment.nodes[number];
        body.comment(&self.describe(node));
        let inner = self.goes_on(segment, node);
        let action = self.action(node);
        let ask = node.exits.start - base;
        let arms: Vec<String> =
            (0..node.ways.len()).map(|output| self.arm(segment, node, output, base, inner)).collect();
        if let [arm] = arms.as_slice() {
            body.line(&format!("if {action} != Some(0) {{"));
            body.line(&format!("    return {ask};"));
            body.line("}");
            if inner.is_none() {
                body.line(arm);
            }
            return inner;
        }
        body.line(&format!("match {action} {{"));
        for (output, arm) in arms.iter().enumerate() {
            body.line(&match inner {
                Some(next) if node.ways[output].node == Some(next) => format!("    Some({output}) => {{}}"),
                Some(_) => format!("    Some({output}) => return {arm},"),
                None => format!("    Some({output}) => {arm},"),
            });
        }
        body.line(&format!("    _ => {}{ask},", if inner.is_some() { "return " } else { "" }));
        body.line("}");
        inner
    }

    /// The exit of a packet that goes by an output.
    fn arm(
        &mut self,
        segment: &Segment,
        node: &Node,
        output: usize,
        base: u16,
        inner: Option<usize>,
    ) -> String {
        let way = &node.ways[output];
        let first = way.exits.start - base;
        match way.node.filter(|&next| Some(next) != inner) {
            Some(next) => format!("{first} + {}(p)", self.path(segment, next)),
            None => first.to_string(),
        }
    }

    /// The next element, if there is only one, to which no other way leads.
    fn goes_on(&self, segment: &Segment, node: &Node) -> Option<usize> {
        let mut nexts = node.ways.iter().filter_map(|way| way.node);
        let (next, others) = (nexts.next()?, nexts.next());
        let sources = self.router.sources(Endpoint { element: segment.nodes[next].element, port: 0 });
        (others.is_none() && sources.len() == 1).then_some(next)
    }

    /// The call of an element's fast path.
    fn action(&mut self, node: &Node) -> String {
        let module = self.module(&node.code);
        let name = format!("{}_{:08x}", module.to_uppercase(), hash([node.code.constants.as_str()]) as u32);
        let value = format!(
            "const {name}: {module}::Constants = {{\n    use {module}::*;\n    {}\n}};\n",
            node.code.constants
        );
        self.constants.entry(name.clone()).or_insert(value);
        format!("{module}::fast(&{name}, p)")
    }

    fn module(&mut self, code: &FastCode) -> String {
        let name = match code.source {
            Cow::Borrowed(_) => code.module.to_string(),
            Cow::Owned(_) => format!("{}_{:08x}", code.module, hash([&*code.source]) as u32),
        };
        self.modules.entry(name.clone()).or_insert_with(|| code.source.clone());
        name
    }

    fn describe(&self, node: &Node) -> String {
        let info = self.router.info(node.element);
        let mut config = info.config.split_whitespace().collect::<Vec<_>>().join(" ");
        if config.chars().count() > 80 {
            config = config.chars().take(77).chain("...".chars()).collect();
        }
        match config.is_empty() {
            true => format!("{} :: {}", info.name, info.class_name),
            false => format!("{} :: {}({config})", info.name, info.class_name),
        }
    }

    fn finish(self, segments: &[Segment], paths: &[String]) -> String {
        let mut out = PRELUDE.to_string();
        let _ = writeln!(out, "\n#[unsafe(no_mangle)]\nstatic {ABI_SYMBOL}: u64 = {:#018x};", abi());
        let mut written = BTreeSet::new();
        for (segment, path) in segments.iter().zip(paths) {
            let entry = &self.router.info(segment.nodes[0].element).name;
            if written.insert(path) {
                let way = if segment.is_pull { "are pulled" } else { "come in" };
                let _ = writeln!(out, "\n// Packets {way} by {entry}.\nsegment!(segment_{path}, {path});");
            }
        }
        let functions = self.functions.texts.iter().rev();
        functions.chain(self.constants.values()).for_each(|text| out.extend(["\n", text]));
        for (name, source) in &self.modules {
            let _ = writeln!(out, "\nmod {name} {{\n{}}}", indented(source));
        }
        out
    }
}

fn indented(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for line in text.lines() {
        let line = if line.is_empty() { line.to_string() } else { format!("    {line}") };
        let _ = writeln!(out, "{line}");
    }
    out
}
