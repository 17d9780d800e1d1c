//! Configurations as JSON. `docs/tools/export.md` describes the form; [`VERSION`] grows when something in it changes its meaning or
//! goes away, not when something is added.

use std::collections::BTreeSet;

use clickwork_lang::config::split_args;
use clickwork_lang::{Connection, ElementDecl, Port};
use clickwork_router::Processing;
use clickwork_source::{Sources, Span};

use super::place;
use crate::kinds::Kinds;
use crate::{ElementId, Facts, Unit};

/// What the member `format` says.
pub const FORMAT: &str = "clickwork-configuration";
/// What the member `version` says.
pub const VERSION: u32 = 1;

/// A configuration without compound elements, with the facts about its classes. `name` is what messages call it.
pub fn write(name: &str, unit: &Unit, facts: &Facts<'_>) -> String {
    let kinds = Kinds::new(&unit.network, facts, |_| None);
    let graph = Exporter { unit, facts, kinds };
    let sections = [
        ("elements", graph.elements()),
        ("compounds", graph.compounds()),
        ("connections", unit.network.connections().map(|c| graph.connection(c)).collect()),
        ("requirements", graph.requirements()),
        ("variables", graph.variables()),
        ("classes", graph.classes()),
    ];
    let mut out = format!(
        "{{\n  \"format\": {},\n  \"version\": {VERSION},\n  \"name\": {}",
        string(FORMAT),
        string(name)
    );
    for (title, items) in sections {
        out += &format!(",\n  {}: {}", string(title), lines(&items));
    }
    out + "\n}\n"
}

struct Exporter<'a> {
    unit: &'a Unit,
    facts: &'a Facts<'a>,
    kinds: Kinds,
}

impl Exporter<'_> {
    fn elements(&self) -> Vec<String> {
        self.unit.network.elements().map(|(id, e)| self.element(id, e)).collect()
    }

    fn element(&self, id: ElementId, e: &ElementDecl) -> String {
        let network = &self.unit.network;
        let side = |count: usize, is_output| {
            let port = |port| self.kind(Port { element: id, port }, is_output);
            list((0..count).map(port))
        };
        let mut members = vec![
            ("name", string(&e.name)),
            ("class", string(&e.class)),
            ("config", string(&e.config)),
            ("arguments", list(split_args(&e.config).iter().map(|a| string(a)))),
            ("inputs", side(network.input_count(id), false)),
            ("outputs", side(network.output_count(id), true)),
            ("compound", e.compounds.last().map_or(NULL.to_string(), |c| string(&c.name))),
        ];
        members.extend(landmark(&self.unit.sources, e.span));
        object(&members)
    }

    fn kind(&self, port: Port, is_output: bool) -> String {
        match self.kinds.resolved(&self.unit.network, self.facts, port, is_output) {
            Processing::Pull => string("pull"),
            _ => string("push"),
        }
    }

    /// The compound elements, each behind the one that it stands in.
    fn compounds(&self) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let mut items = Vec::new();
        for (_, e) in self.unit.network.elements() {
            let mut outer = NULL.to_string();
            for c in &e.compounds {
                if seen.insert(&c.name) {
                    let mut members =
                        vec![("name", string(&c.name)), ("class", string(&c.class)), ("compound", outer)];
                    members.extend(landmark(&self.unit.sources, c.span));
                    items.push(object(&members));
                }
                outer = string(&c.name);
            }
        }
        items
    }

    fn connection(&self, c: &Connection) -> String {
        let name = |port: Port| {
            self.unit.network.element(port.element).map_or(NULL.to_string(), |e| string(&e.name))
        };
        let mut members = vec![
            ("from", name(c.from)),
            ("output", c.from.port.to_string()),
            ("to", name(c.to)),
            ("input", c.to.port.to_string()),
            ("processing", self.kind(c.from, true)),
        ];
        members.extend(landmark(&self.unit.sources, c.span));
        object(&members)
    }

    fn requirements(&self) -> Vec<String> {
        let requirements = self.unit.network.requirements.iter();
        requirements.map(|r| object(&[("kind", string(&r.kind)), ("value", string(&r.value))])).collect()
    }

    fn variables(&self) -> Vec<String> {
        let defines = self.unit.network.defines.iter();
        defines.map(|d| object(&[("name", string(&d.name)), ("value", string(&d.value))])).collect()
    }

    fn classes(&self) -> Vec<String> {
        let names: BTreeSet<&str> = self.unit.network.elements().map(|(_, e)| e.class.as_str()).collect();
        names.into_iter().map(|name| self.class(name)).collect()
    }

    fn class(&self, name: &str) -> String {
        let facts = self.facts.of(name);
        let known = |fact: fn(&clickwork_router::Class) -> &'static str| {
            facts.class.map_or(NULL.to_string(), |class| string(fact(class)))
        };
        object(&[
            ("name", string(name)),
            ("known", facts.class.is_some().to_string()),
            ("ports", known(|c| c.ports)),
            ("processing", string(facts.processing)),
            ("flow", string(facts.flow)),
            ("flags", string(facts.flags)),
            ("packets", known(|c| c.packets)),
            ("family", known(|c| c.family)),
            ("help", known(|c| c.help)),
        ])
    }
}

const NULL: &str = "null";

fn landmark(sources: &Sources, span: Span) -> [(&'static str, String); 2] {
    match place(sources, span) {
        Some((file, line)) => [("file", string(file)), ("line", line.to_string())],
        None => [("file", NULL.to_string()), ("line", NULL.to_string())],
    }
}

fn object(members: &[(&str, String)]) -> String {
    let members: Vec<String> = members.iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
    format!("{{{}}}", members.join(", "))
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// A list with an item a line.
fn lines(items: &[String]) -> String {
    match items {
        [] => "[]".to_string(),
        items => format!("[\n    {}\n  ]", items.join(",\n    ")),
    }
}

fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => out += &format!("\\u{:04x}", u32::from(c)),
            c => out.push(c),
        }
    }
    out + "\""
}
