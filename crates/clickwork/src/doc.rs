//! `clickwork doc`: the manual of an element class, made from its facts.

use crate::output;
use crate::packages::{self, PackageOptions};
use crate::report::Report;
use clickwork_router::args::{ArgKind, ArgSpec};
use clickwork_router::facts::{Processing, port_range, processing_of};
use clickwork_router::{Class, Handler, Registry, standard_handlers};
use clickwork_source::suggest;
use std::io::IsTerminal;
use std::process::ExitCode;

/// Print the manual of an element class
///
/// What it does, its ports, arguments and handlers, the packets that it expects, and an example.
#[derive(clap::Args, Debug)]
#[command(after_help = "Example:\n  clickwork doc Queue | less        'clickwork list' names them all")]
pub struct Doc {
    /// The class, such as Queue
    #[arg(value_name = "ELEMENT")]
    class: String,
    #[command(flatten)]
    packages: PackageOptions,
}

/// Runs the subcommand.
pub fn main(args: &Doc) -> ExitCode {
    if let Err(e) = packages::ensure_named(&args.packages, &Report::human()) {
        return output::fail(&e);
    }
    let registry = crate::classes::registry();
    match registry.get(&args.class) {
        Some(class) => {
            let color = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            output::print(&manual(&args.class, class, &Page { width: width(), color }));
            ExitCode::SUCCESS
        }
        None => output::fail(&unknown(&args.class, &registry)),
    }
}

fn unknown(name: &str, registry: &Registry) -> String {
    let names = || registry.iter().map(|(name, _)| name);
    if let Some(near) = suggest(name, names()) {
        return format!("no element class '{name}': did you mean '{near}'?");
    }
    let lower = name.to_lowercase();
    let like: Vec<&str> = names().filter(|n| n.to_lowercase().contains(&lower)).collect();
    match like.is_empty() {
        true => format!("no element class '{name}': 'clickwork list' names them all"),
        false => format!("no element class '{name}': there are {}", like.join(", ")),
    }
}

/// Columns of the terminal, within what is good to read.
fn width() -> usize {
    let columns =
        rustix::termios::tcgetwinsize(std::io::stdout()).map_or(80, |size| usize::from(size.ws_col));
    columns.clamp(60, 100)
}

/// How the manual is laid out.
struct Page {
    width: usize,
    color: bool,
}

const INDENT: usize = 4;

impl Page {
    fn section(&self, title: &str, body: &str) -> String {
        match (body.is_empty(), self.color) {
            (true, _) => String::new(),
            (false, true) => format!("\x1b[1m{title}\x1b[0m\n{body}"),
            (false, false) => format!("{title}\n{body}"),
        }
    }

    /// Words filled into lines, the first indented by `first` columns, the others by `rest`.
    fn fill(&self, text: &str, first: &str, rest: usize) -> String {
        let mut out = first.to_string();
        let mut column = first.chars().count();
        let mut fresh = true;
        for word in text.split_whitespace() {
            let length = word.chars().count();
            if !fresh && column + 1 + length > self.width {
                out.push('\n');
                out.push_str(&" ".repeat(rest));
                column = rest;
            } else if !fresh {
                out.push(' ');
                column += 1;
            }
            out.push_str(word);
            column += length;
            fresh = false;
        }
        out.push('\n');
        out
    }

    fn paragraph(&self, text: &str) -> String {
        self.fill(text, &" ".repeat(INDENT), INDENT)
    }

    /// A list of terms with explanations; the terms stand in a column of their own.
    fn terms(&self, items: &[(String, String)]) -> String {
        let column = items.iter().map(|(term, _)| term.chars().count()).max().unwrap_or(0).min(24);
        let margin = INDENT + column + 2;
        let item = |(term, text): &(String, String)| {
            if term.chars().count() > column {
                format!("{:INDENT$}{term}\n{}", "", self.fill(text, &" ".repeat(margin), margin))
            } else {
                self.fill(text, &format!("{:INDENT$}{term:column$}  ", ""), margin)
            }
        };
        items.iter().map(item).collect()
    }
}

/// A piece of a manual.
pub enum Block {
    /// How the class is written.
    Synopsis(String),
    /// A paragraph.
    Text(String),
    /// Terms with explanations.
    Terms(Vec<(String, String)>),
    /// A configuration.
    Code(String),
}

/// The manual of a class by sections, those without content left out.
pub fn sections(name: &str, class: &Class) -> Vec<(&'static str, Vec<Block>)> {
    let title = match name == class.name {
        true => format!("{name}: {}", class.help),
        false => format!("{name}, another name of {}: {}", class.name, class.help),
    };
    let text = |text: &str| Block::Text(text.to_string());
    let paragraphs = |text: &str| {
        text.split("\n\n").filter(|p| !p.trim().is_empty()).map(|p| Block::Text(p.to_string())).collect()
    };
    let mut sections = vec![
        ("NAME", vec![Block::Text(title)]),
        ("SYNOPSIS", vec![Block::Synopsis(synopsis(class))]),
        ("PORTS", vec![Block::Terms(ports(class))]),
        ("DESCRIPTION", paragraphs(class.manual)),
        ("ARGUMENTS", terms(class.args.iter().map(argument).collect())),
        ("HANDLERS", handlers(class)),
        (
            "EXAMPLE",
            if class.example.is_empty() { Vec::new() } else { vec![Block::Code(example(class.example))] },
        ),
        ("FAMILY", vec![text(class.family)]),
    ];
    sections.retain(|(_, blocks)| !blocks.is_empty());
    sections
}

fn terms(items: Vec<(String, String)>) -> Vec<Block> {
    if items.is_empty() { Vec::new() } else { vec![Block::Terms(items)] }
}

fn manual(name: &str, class: &Class, page: &Page) -> String {
    let margin = " ".repeat(INDENT);
    let block = |block: &Block| match block {
        Block::Synopsis(text) => page.fill(text, &margin, INDENT + name.len() + 1),
        Block::Text(text) => page.paragraph(text),
        Block::Terms(items) => page.terms(items),
        Block::Code(text) => text.lines().map(|line| format!("{margin}{line}\n")).collect(),
    };
    let section = |(title, blocks): &(&str, Vec<Block>)| {
        page.section(title, &blocks.iter().map(block).collect::<Vec<_>>().join("\n"))
    };
    let sections: Vec<String> = sections(name, class).iter().map(section).collect();
    format!("{}\n", sections.join("\n").trim_end())
}

fn synopsis(class: &Class) -> String {
    let one = |a: &ArgSpec| match a.kind {
        ArgKind::Required => a.name.to_string(),
        ArgKind::Positional => format!("[{}]", a.name),
        ArgKind::RequiredKeyword => format!("{} value", a.name),
        ArgKind::Keyword => format!("[{} value]", a.name),
        ArgKind::Rest => format!("{}...", a.name),
    };
    match class.args {
        [] => class.name.to_string(),
        args => format!("{}({})", class.name, args.iter().map(one).collect::<Vec<_>>().join(", ")),
    }
}

fn argument(a: &ArgSpec) -> (String, String) {
    let how = match a.kind {
        ArgKind::Keyword | ArgKind::RequiredKeyword => "; keyword",
        ArgKind::Rest => "; any number of them",
        ArgKind::Required | ArgKind::Positional => "",
    };
    let default = match (a.is_mandatory(), a.default) {
        (true, _) => "; required".to_string(),
        (false, "") => String::new(),
        (false, value) => format!("; default {value}"),
    };
    let older = match a.aliases {
        [] => String::new(),
        names => format!("; formerly {}", names.join(", ")),
    };
    (a.name.to_string(), format!("{} ({}{how}{default}{older})", a.help, a.ty.name()))
}

fn ports(class: &Class) -> Vec<(String, String)> {
    let (inputs, outputs) = class.ports.split_once('/').unwrap_or((class.ports, class.ports));
    let mut items = vec![
        ("inputs".to_string(), side(class, inputs, "inputs", false)),
        ("outputs".to_string(), side(class, outputs, "outputs", true)),
    ];
    if class.packets != "any/same" && !class.packets.is_empty() {
        items.push(("packets".to_string(), class.packets.to_string()));
    }
    items
}

/// How many ports there are on one side, and of which kind: `1 or 2: first agnostic, others push`.
fn side(class: &Class, code: &str, what: &str, is_output: bool) -> String {
    if let Some(more) = code.strip_prefix('=') {
        let extra = if more.is_empty() { String::new() } else { format!(", and {} more", more.len()) };
        return format!("as many as inputs{extra}: {}", kinds(class, usize::MAX, is_output));
    }
    match port_range(code) {
        (0, 0) => "none".to_string(),
        (low, high) if low == high => format!("{low}: {}", kinds(class, high, is_output)),
        (0, usize::MAX) => format!("any number of {what}: {}", kinds(class, usize::MAX, is_output)),
        (low, usize::MAX) => format!("{low} or more: {}", kinds(class, usize::MAX, is_output)),
        (low, high) => {
            let to = if high == low + 1 { "or" } else { "to" };
            format!("{low} {to} {high}: {}", kinds(class, high, is_output))
        }
    }
}

fn kinds(class: &Class, ports: usize, is_output: bool) -> String {
    if class.processing.is_empty() {
        return "as the configuration says".to_string();
    }
    let kind = |port| match processing_of(class.processing, is_output, port) {
        Processing::Agnostic => "push or pull",
        Processing::Push => "push",
        Processing::Pull => "pull",
    };
    match (kind(0), kind(1)) {
        (first, other) if ports < 2 || first == other => first.to_string(),
        (first, other) => format!("the first {first}, others {other}"),
    }
}

fn handlers(class: &Class) -> Vec<Block> {
    let standard: Vec<&str> = standard_handlers().iter().map(|h| h.name).collect();
    let every = format!("Every element also has: {}.", standard.join(", "));
    let mut blocks = terms(class.handlers.iter().map(handler).collect());
    blocks.push(Block::Text(every));
    blocks
}

fn handler(h: &Handler) -> (String, String) {
    let name = if h.numbered { format!("{}0, {0}1, ...", h.name) } else { h.name.to_string() };
    let how = match (h.read.is_some(), h.write.is_some(), h.parameter) {
        (true, true, _) => "read and write",
        (true, false, true) => "read, with a parameter",
        (true, false, false) => "read",
        (false, _, _) => "write",
    };
    (name, format!("{} ({how})", h.help))
}

/// The example, a statement a line.
fn example(text: &str) -> String {
    clickwork_lang::format(text).unwrap_or_else(|_| text.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_a_manual_within_the_width() {
        let page = Page { width: 80, color: false };
        for (name, class) in crate::classes::registry().iter() {
            let text = manual(name, class, &page);
            let before_example = text.split("EXAMPLE").next().unwrap();
            for line in before_example.lines().filter(|l| l.trim().contains(' ')) {
                assert!(line.chars().count() <= 80, "{name}: {line}");
            }
            assert!(text.contains("PORTS"), "{name}");
        }
    }

    #[test]
    fn ports_are_told_in_words() {
        let registry = crate::classes::registry();
        let text = |name| side(registry.get(name).unwrap(), "1-2", "outputs", true);
        assert_eq!(text("Queue"), "1 or 2: the first pull, others push");
        assert_eq!(text("Null"), "1 or 2: push or pull");
    }

    #[test]
    fn a_slip_gets_a_suggestion() {
        let registry = crate::classes::registry();
        assert!(unknown("Quene", &registry).contains("did you mean 'Queue'?"));
        assert!(unknown("Zzzzzzzz", &registry).contains("clickwork list"));
    }
}
