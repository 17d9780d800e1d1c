//! Configurations as XML, in the form of Click's `click2xml`: compound classes stand before the elements that use them, and
//! are referred to by number.

use std::fmt::Write;

use clickwork_lang::{ClassRef, CompoundClass, DeclaredClass, ElementDecl, Part, Port, Structure};
use clickwork_source::{Sources, Span};

use super::structure::{Resolved, resolve};
use super::{letter, place};
use crate::{Facts, Unit};

const HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>
<!DOCTYPE configuration SYSTEM \"http://www.pdos.lcs.mit.edu/click/clickconfig.dtd\">
<configuration xmlns=\"http://www.lcdf.org/click/xml/\">
";

/// A configuration with its compound classes.
pub fn nested(structure: &Structure, sources: &Sources, mut facts: Facts<'_>) -> String {
    let parts = resolve(structure, &mut facts);
    let mut writer = Writer { sources, facts: &facts, out: HEAD.to_string() };
    for (n, (class, resolved)) in structure.classes.iter().zip(&parts).enumerate() {
        writer.class(n, class, resolved);
    }
    if let Some(top) = parts.last() {
        writer.part(&structure.top, top, "");
    }
    writer.out + "</configuration>\n"
}

/// A configuration without compound elements.
pub fn flat(unit: &Unit, facts: Facts<'_>) -> String {
    let graph = unit.graph();
    let classes = graph.elements.iter().map(|e| ClassRef::Primitive(e.class.clone())).collect();
    let structure = Structure { top: Part { graph, classes }, ..Structure::default() };
    nested(&structure, &unit.sources, facts)
}

struct Writer<'a> {
    sources: &'a Sources,
    facts: &'a Facts<'a>,
    out: String,
}

impl Writer<'_> {
    fn line(&mut self, indent: &str, text: &str) {
        let _ = writeln!(self.out, "{indent}{text}");
    }

    fn class(&mut self, n: usize, class: &DeclaredClass, resolved: &Resolved) {
        let name = match class.name.as_str() {
            "" => String::new(),
            name => format!(" classname=\"{}\"", escape(name)),
        };
        let id = reference(&ClassRef::Declared(n), "");
        let landmark = self.landmark(class.span);
        self.line("", &format!("<elementclass{name} {id}{landmark}>"));
        let overloads =
            class.overloads.as_ref().map_or(String::new(), |c| format!(" {}", reference(c, "overload")));
        let [inputs, outputs] = class.ports;
        let formals = class.formals.len();
        self.line(
            "  ",
            &format!(
                "<compound{overloads} ninputs=\"{inputs}\" noutputs=\"{outputs}\" nformals=\"{formals}\">"
            ),
        );
        for (number, (name, key)) in class.formals.iter().enumerate() {
            let key = if key.is_empty() { String::new() } else { format!(" key=\"{}\"", escape(key)) };
            self.line("    ", &format!("<formal number=\"{number}\" name=\"{}\"{key} />", escape(name)));
        }
        self.part(&class.part, resolved, "    ");
        self.line("  ", "</compound>");
        self.line("", "</elementclass>");
    }

    fn part(&mut self, part: &Part, resolved: &Resolved, indent: &str) {
        for (id, (element, class)) in part.graph.elements.iter().zip(&part.classes).enumerate() {
            let pseudo = !indent.is_empty() && (id == CompoundClass::INPUT || id == CompoundClass::OUTPUT);
            if !pseudo {
                let text = self.element(element, class, id, resolved);
                self.line(indent, &text);
            }
        }
        for c in &part.graph.connections {
            let name = |port: Port| escape(&part.graph.elements[port.element].name);
            let kind = self.letter(resolved, c.from, true);
            let text = format!(
                "<connection from=\"{}\" fromport=\"{}\" to=\"{}\" toport=\"{}\" processing=\"{kind}\" />",
                name(c.from),
                c.from.port,
                name(c.to),
                c.to.port
            );
            self.line(indent, &text);
        }
    }

    fn element(&self, e: &ElementDecl, class: &ClassRef, id: usize, resolved: &Resolved) -> String {
        let (inputs, outputs) = (resolved.network.input_count(id), resolved.network.output_count(id));
        let mut text = format!(
            "<element name=\"{}\" {}{} ninputs=\"{inputs}\" noutputs=\"{outputs}\"",
            escape(&e.name),
            reference(class, ""),
            self.landmark(e.span)
        );
        if inputs + outputs > 0 {
            let side = |count, is_output| -> String {
                (0..count).map(|port| self.letter(resolved, Port { element: id, port }, is_output)).collect()
            };
            let _ = write!(text, " processing=\"{}/{}\"", side(inputs, false), side(outputs, true));
        }
        if !e.config.is_empty() {
            let _ = write!(text, " config=\"{}\"", escape(&e.config));
        }
        text + " />"
    }

    fn letter(&self, resolved: &Resolved, port: Port, is_output: bool) -> char {
        letter(resolved.kinds.resolved(&resolved.network, self.facts, port, is_output))
    }

    fn landmark(&self, span: Span) -> String {
        place(self.sources, span)
            .map_or(String::new(), |(file, line)| format!(" file=\"{}\" line=\"{line}\"", escape(file)))
    }
}

fn reference(class: &ClassRef, prefix: &str) -> String {
    match class {
        ClassRef::Primitive(name) => format!("{prefix}classname=\"{}\"", escape(name)),
        ClassRef::Declared(n) => format!("{prefix}classid=\"c{n}\""),
    }
}

/// Text as it stands in an attribute. Line breaks are kept; what XML has no place for is replaced.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            '\t' => out.push_str("&#9;"),
            '\u{0}'..'\u{20}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
