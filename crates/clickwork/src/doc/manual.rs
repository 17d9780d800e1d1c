//! What a manual says: the facts of a class, by sections.

use clickwork_router::args::{ArgKind, ArgSpec};
use clickwork_router::facts::{Processing, port_range, processing_of};
use clickwork_router::{Class, Handler, standard_handlers};

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
    let name = if h.numbered.is_some() { format!("{}0, {0}1, ...", h.name) } else { h.name.to_string() };
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
    fn ports_are_told_in_words() {
        let registry = crate::classes::registry();
        let text = |name| side(registry.get(name).unwrap(), "1-2", "outputs", true);
        assert_eq!(text("Queue"), "1 or 2: the first pull, others push");
        assert_eq!(text("Null"), "1 or 2: push or pull");
    }
}
