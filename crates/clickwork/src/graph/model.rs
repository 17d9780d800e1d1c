//! What is drawn: elements as boxes, their ports, connections, compound elements.
//!
//! A [`Model`] of a router has everything. Others then change it ([`super::group`], [`super::compare`], [`super::select`]),
//! and [`Model::finished`] gives the boxes their texts and sizes.

use super::live::Counts;
use super::measure;
use clickwork_router::args::hide_keys;
use clickwork_router::facts::processing_of;
use clickwork_router::{ElementId, Processing, Router};
use std::collections::HashMap;

/// Font size of names and classes.
pub const FONT: i64 = 13;
/// Font size of configurations and counts.
pub const SMALL: i64 = 11;
/// Width of a port, and its height.
pub const PORT: i64 = 10;
const PORT_PITCH: i64 = 18;
const LINE: i64 = 16;
const SMALL_LINE: i64 = 14;
const COLUMNS: usize = 28;
const MOST_LINES: usize = 3;

/// A port as it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// Push, or pull, as it was resolved.
    pub push: bool,
    /// Whether the class leaves it open.
    pub agnostic: bool,
    /// Distance from the box's left edge to the port's middle.
    pub at: i64,
}

/// How an element compares with another configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It is not there.
    Missing,
    /// It has another class or configuration there.
    Different,
}

/// An element.
#[derive(Clone, Debug)]
pub struct Part {
    /// What is written before the class: its name, if the configuration gave it one.
    pub name: Option<String>,
    /// Its full name, such as `a/b/Queue@3`.
    pub full_name: String,
    /// Its class.
    pub class: String,
    /// The family of the class.
    pub family: &'static str,
    /// The configuration, without comments and keys: what is shown.
    pub config: String,
    /// The same with keys: what is compared.
    pub whole: String,
    /// The part of it that is shown.
    pub lines: Vec<String>,
    /// Counts of a running router.
    pub counts: Option<String>,
    /// Inputs.
    pub inputs: Vec<Port>,
    /// Outputs.
    pub outputs: Vec<Port>,
    /// The compound it stands in.
    pub compound: Option<usize>,
    /// How it compares with another configuration.
    pub mark: Option<Mark>,
    /// Whether it only shows where connections go on that leave the drawing.
    pub outside: bool,
    /// Size.
    pub width: i64,
    /// Size.
    pub height: i64,
}

/// A compound element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compound {
    /// Its full name, such as `a/b`.
    pub name: String,
    /// What is written on its box.
    pub title: String,
    /// The compound it stands in itself.
    pub parent: Option<usize>,
}

/// A connection: element and output, element and input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    /// Where packets come from.
    pub from: (usize, usize),
    /// Where they go.
    pub to: (usize, usize),
    /// Whether another configuration, which this one is compared with, does not have it.
    pub missing: bool,
}

/// A router, ready to be laid out.
#[derive(Clone, Debug)]
pub struct Model {
    /// The elements, in order.
    pub parts: Vec<Part>,
    /// Compound elements; each stands behind the one that it is in.
    pub compounds: Vec<Compound>,
    /// The connections.
    pub wires: Vec<Wire>,
    /// What the configuration is called that this one is compared with.
    pub other: Option<String>,
}

impl Model {
    /// Of a router; with packet counts, if there are any.
    pub fn new(router: &Router, counts: Option<&Counts>) -> Model {
        let mut compounds = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut parts: Vec<Part> =
            router.ids().map(|id| part(router, id, counts, &mut compounds, &mut known)).collect();
        // Control sockets that the command line asked for stand last and are no part of the configuration.
        while parts.last().is_some_and(|p| p.full_name.starts_with("click_driver@@")) {
            parts.pop();
        }
        let end = |e: clickwork_router::Endpoint| (e.element.0 as usize, usize::from(e.port));
        let wires = router
            .links()
            .iter()
            .map(|l| Wire { from: end(l.from), to: end(l.to), missing: false })
            .collect();
        Model { parts, compounds, wires, other: None }
    }

    /// The model with the texts and sizes of its boxes, ready to be laid out.
    pub fn finished(mut self) -> Model {
        for part in &mut self.parts {
            part.name = name(&part.full_name, part.compound.map(|c| &*self.compounds[c].name));
            part.fit();
        }
        self
    }
}

fn part(
    router: &Router,
    id: ElementId,
    counts: Option<&Counts>,
    compounds: &mut Vec<Compound>,
    known: &mut HashMap<String, usize>,
) -> Part {
    let info = router.info(id);
    let mut compound = None;
    for origin in &info.compounds {
        compound = Some(*known.entry(origin.name.clone()).or_insert_with(|| {
            let (name, title) = (origin.name.clone(), title(&origin.name, &origin.class));
            compounds.push(Compound { name, title, parent: compound });
            compounds.len() - 1
        }));
    }
    let side = |kinds: &[Processing], is_output: bool| -> Vec<Port> {
        let port = |(n, &kind): (usize, &Processing)| Port {
            push: kind != Processing::Pull,
            agnostic: processing_of(info.class.processing, is_output, n) == Processing::Agnostic,
            at: 0,
        };
        kinds.iter().enumerate().map(port).collect()
    };
    // Without comments.
    let whole = super::compare::plain(&info.config);
    let config = hide_keys(info.class.args, &whole);
    let has_ports = !(info.inputs.is_empty() && info.outputs.is_empty());
    Part {
        name: None,
        full_name: info.name.clone(),
        class: info.class_name.clone(),
        family: info.class.family,
        lines: measure::abbreviate(&config, COLUMNS, MOST_LINES),
        config,
        whole,
        counts: counts.filter(|_| has_ports).map(|c| c.text(&info.name)),
        inputs: side(&info.inputs, false),
        outputs: side(&info.outputs, true),
        compound,
        mark: None,
        outside: false,
        width: 0,
        height: 0,
    }
}

/// The name of an element in a compound element, unless a machine made it up.
fn name(full_name: &str, compound: Option<&str>) -> Option<String> {
    let inside = compound.and_then(|c| full_name.strip_prefix(c)?.strip_prefix('/'));
    let name = inside.unwrap_or(full_name);
    let last = name.rsplit('/').next().unwrap_or(name);
    (!last.contains('@')).then(|| name.to_string())
}

/// `name :: Class`, without what a machine made up: the name of an anonymous compound, the class of a group.
fn title(name: &str, class: &str) -> String {
    let own = name.rsplit('/').next().unwrap_or(name);
    match (own.contains('@'), class.is_empty()) {
        (true, true) => String::new(),
        (true, false) => class.to_string(),
        (false, true) => own.to_string(),
        (false, false) => format!("{own} :: {class}"),
    }
}

impl Part {
    /// The text before the class on the first line.
    pub fn prefix(&self) -> String {
        self.name.as_ref().map_or_else(String::new, |n| format!("{n} :: "))
    }

    /// Width of the first line.
    pub fn heading_width(&self) -> i64 {
        measure::width(&self.prefix(), FONT, false) + measure::width(&self.class, FONT, true)
    }

    /// Makes the box as large as its texts and ports need, and spreads the ports.
    fn fit(&mut self) {
        let small = self.lines.iter().chain(&self.counts).map(|l| measure::width(l, SMALL, false)).max();
        let text = self.heading_width().max(small.unwrap_or(0));
        let ports = self.inputs.len().max(self.outputs.len()) as i64 * PORT_PITCH;
        self.width = (text + 20).max(ports + 12).max(64);
        let lines = self.lines.len() + self.counts.iter().len();
        self.height = 2 * (PORT + 4) + LINE + lines as i64 * SMALL_LINE;
        let width = self.width;
        for side in [&mut self.inputs, &mut self.outputs] {
            let count = side.len() as i64;
            for (port, n) in side.iter_mut().zip(0..) {
                port.at = width * (2 * n + 1) / (2 * count);
            }
        }
    }

    /// The small lines under the heading, each with its baseline, from the top of the box.
    pub fn small_lines(&self) -> impl Iterator<Item = (i64, &str, bool)> {
        let first = self.heading_baseline() + SMALL_LINE;
        let lines = self.lines.iter().map(|l| (l.as_str(), false));
        let all = lines.chain(self.counts.iter().map(|c| (c.as_str(), true)));
        all.zip(0..).map(move |((text, is_count), n)| (first + n * SMALL_LINE, text, is_count))
    }

    /// The baseline of the heading, from the top of the box.
    pub fn heading_baseline(&self) -> i64 {
        PORT + 4 + LINE - 4
    }
}
