//! The Rust text of segments: one function a path, named by the hash of what it does.
//!
//! A path goes on in one function until it divides or meets another. The hash covers the function's code and, by
//! their names, the functions that it calls, but no comments: functions that do the same are one, and compiled code can
//! be found again by what it does. A function returns the exit of its packet, counted from 0 at its first element.

use crate::hash::hash;
use clickwork_packet::SOURCES;
use clickwork_router::fast::FastCode;
use clickwork_router::router::Info;
use clickwork_router::segment::{Node, Segment, Way};
use clickwork_router::{Endpoint, Router};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
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
    hash(SOURCES.iter().flat_map(|(path, text)| [*path, *text]).chain([PRELUDE]))
}

/// Writes the code of segments of `router`.
pub fn write(router: &Router, segments: &[Segment]) -> Text {
    let mut writer = Writer::default();
    let symbols = writer.add(router, segments);
    Text { source: writer.finish(), symbols }
}

/// Functions in the order in which they were finished: callees first.
#[derive(Default)]
struct Functions {
    names: BTreeSet<String>,
    texts: Vec<String>,
}

/// Writes the code of segments of any number of routers.
#[derive(Default)]
pub struct Writer {
    /// By name.
    modules: BTreeMap<String, Cow<'static, str>>,
    constants: BTreeMap<String, String>,
    functions: Functions,
    /// By symbol: what makes the function one that the router calls.
    entries: BTreeMap<String, String>,
}

impl Writer {
    /// Adds segments; returns the name of each one's function.
    pub fn add(&mut self, router: &Router, segments: &[Segment]) -> Vec<String> {
        segments.iter().map(|segment| self.entry(router, segment)).collect()
    }

    fn entry(&mut self, router: &Router, segment: &Segment) -> String {
        let path = Paths { writer: self, router, segment }.path(0);
        let symbol = format!("segment_{path}");
        let way = if segment.is_pull { "are pulled" } else { "come in" };
        let first = &router.info(segment.nodes[0].element).name;
        let entry = || format!("// Packets {way} by {first}.\nsegment!({symbol}, {path});\n");
        self.entries.entry(symbol.clone()).or_insert_with(entry);
        symbol
    }

    /// The source of a library crate.
    pub fn finish(self) -> String {
        let mut out = PRELUDE.to_string();
        let _ = writeln!(out, "\n#[unsafe(no_mangle)]\nstatic {ABI_SYMBOL}: u64 = {:#018x};", abi());
        let functions = self.functions.texts.iter().rev();
        let items = self.entries.values().chain(functions).chain(self.constants.values());
        items.for_each(|text| out.extend(["\n", text]));
        for (name, source) in &self.modules {
            let _ = writeln!(out, "\nmod {name} {{\n{}}}", indented(source));
        }
        out
    }

    fn module(&mut self, code: &FastCode) -> String {
        let name = match code.source {
            Cow::Borrowed(_) => code.module.to_string(),
            Cow::Owned(_) => format!("{}_{:08x}", code.module, hash([&*code.source]) as u32),
        };
        self.modules.entry(name.clone()).or_insert_with(|| code.source.clone());
        name
    }

    /// The call of a fast path.
    fn action(&mut self, code: &FastCode) -> String {
        let module = self.module(code);
        let name = format!("{}_{:08x}", module.to_uppercase(), hash([code.constants.as_str()]) as u32);
        let value = || {
            let constants = &code.constants;
            format!("const {name}: {module}::Constants = {{\n    use {module}::*;\n    {constants}\n}};\n")
        };
        self.constants.entry(name.clone()).or_insert_with(value);
        format!("{module}::fast(&{name}, p)")
    }
}

/// The paths of one segment.
struct Paths<'a> {
    writer: &'a mut Writer,
    router: &'a Router,
    segment: &'a Segment,
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

impl Paths<'_> {
    /// Writes the function of the path that begins at a node, and returns its name.
    fn path(&mut self, first: usize) -> String {
        let mut body = Body::default();
        let node = &self.segment.nodes[first];
        let mut next = Some(first);
        while let Some(number) = next {
            next = self.step(number, node.exits.start, &mut body);
        }
        let name = format!("{}_{:016x}", node.code.module, hash([body.code.as_str()]));
        let functions = &mut self.writer.functions;
        if functions.names.insert(name.clone()) {
            let head = format!("#[inline]\nfn {name}(p: &mut Packet) -> u16 {{\n");
            functions.texts.push(format!("{head}{}}}\n", body.commented));
        }
        name
    }

    /// Writes what is done at one element of a path whose exits begin at `base`. Returns the element at which the function
    /// goes on.
    fn step(&mut self, number: usize, base: u16, body: &mut Body) -> Option<usize> {
        let node = &self.segment.nodes[number];
        body.comment(&describe(self.router.info(node.element)));
        let inner = self.goes_on(node);
        let action = self.writer.action(&node.code);
        let ask = node.exits.start - base;
        let arms: Vec<String> = node.ways.iter().map(|way| self.arm(way, base, inner)).collect();
        match (arms.as_slice(), inner) {
            ([arm], _) => {
                body.line(&format!("if {action} != Some(0) {{"));
                body.line(&format!("    return {ask};"));
                body.line("}");
                inner.is_none().then(|| body.line(arm));
            }
            (arms, None) => {
                body.line(&format!("match {action} {{"));
                arms.iter().enumerate().for_each(|(n, arm)| body.line(&format!("    Some({n}) => {arm},")));
                body.line(&format!("    _ => {ask},"));
                body.line("}");
            }
            (arms, Some(_)) => {
                body.line(&format!("match {action} {{"));
                for (n, arm) in arms.iter().enumerate() {
                    body.line(&match node.ways[n].node == inner {
                        true => format!("    Some({n}) => {{}}"),
                        false => format!("    Some({n}) => return {arm},"),
                    });
                }
                body.line(&format!("    _ => return {ask},"));
                body.line("}");
            }
        }
        inner
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

fn indented(text: &str) -> String {
    let line = |line: &str| if line.is_empty() { "\n".to_string() } else { format!("    {line}\n") };
    text.lines().map(line).collect()
}
