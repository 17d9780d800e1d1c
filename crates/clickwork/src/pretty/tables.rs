//! The elements of a router in tables, one for each compound element, and the manuals of their classes.

use super::html::{attribute, escape, link};
use super::listing::Links;
use super::manual::manual_sections;
use super::subject::{EXPANSION, ROW, Subject};
use crate::doc;
use clickwork_lang::{CompoundOrigin, ElementDecl, Port};
use clickwork_passes::kinds::Kinds;
use clickwork_passes::{ElementId, Facts};
use clickwork_router::{Processing, Registry};
use clickwork_source::Span;
use std::collections::{BTreeMap, BTreeSet};

/// Writes tables.
pub struct Tables<'a> {
    pub subject: &'a Subject,
    pub facts: &'a Facts<'a>,
    pub kinds: &'a Kinds,
    pub links: &'a dyn Links,
    /// The id of the line that a place is in, if the text is shown.
    pub line: &'a dyn Fn(Span) -> Option<String>,
}

impl Tables<'_> {
    /// The table of the elements outside of compounds, then those of the compounds.
    pub fn elements(&self) -> String {
        let mut groups: BTreeMap<&str, (Option<&CompoundOrigin>, Vec<ElementId>)> = BTreeMap::new();
        for (id, e) in self.subject.network.elements() {
            for c in &e.compounds {
                groups.entry(&c.name).or_default().0 = Some(c);
            }
            let compound = e.compounds.last().map_or("", |c| &c.name);
            groups.entry(compound).or_default().1.push(id);
        }
        let tables = groups.iter().map(|(name, (compound, ids))| self.group(name, *compound, ids));
        match groups.is_empty() {
            true => "<p>There are no elements.</p>\n".to_string(),
            false => tables.collect(),
        }
    }

    fn group(&self, name: &str, compound: Option<&CompoundOrigin>, ids: &[ElementId]) -> String {
        let Some(compound) = compound else { return self.table("The elements outside of compounds", ids) };
        let class = if compound.class.is_empty() { "{ ... }" } else { &compound.class };
        let declared = self.declared(compound.span, "as written");
        let heading = format!(
            "<h3 id=\"{EXPANSION}{}\">{} :: {}</h3>\n<p>A compound element, {declared}.</p>\n",
            attribute(name),
            escape(name),
            escape(class)
        );
        match ids {
            [] => heading + "<p>It consists of other compound elements.</p>\n",
            ids => heading + &self.table(&format!("What {name} consists of"), ids),
        }
    }

    /// A link to where something is written.
    fn declared(&self, span: Span, text: &str) -> String {
        let line = self.subject.sources.line_col(span).0;
        match (self.line)(span) {
            Some(id) => format!("<a href=\"#{}\">{} in line {line}</a>", attribute(&id), escape(text)),
            None => escape(text),
        }
    }

    fn table(&self, caption: &str, ids: &[ElementId]) -> String {
        let rows: String =
            ids.iter().filter_map(|&id| Some(self.row(id, self.subject.network.element(id)?))).collect();
        format!(
            "<div class=\"k-scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\n<table>\n<caption>{}</caption>\n\
             <thead><tr><th scope=\"col\">Element</th><th scope=\"col\">Class</th><th scope=\"col\">Configuration</th>\
             <th scope=\"col\">Inputs</th><th scope=\"col\">Outputs</th><th scope=\"col\">Line</th></tr></thead>\n\
             <tbody>\n{rows}</tbody>\n</table>\n</div>\n",
            attribute(caption),
            escape(caption)
        )
    }

    fn row(&self, id: ElementId, e: &ElementDecl) -> String {
        let line = match (self.line)(e.span) {
            Some(anchor) => link(&format!("#{anchor}"), &self.subject.sources.line_col(e.span).0.to_string()),
            None => String::new(),
        };
        let class = match self.links.class(&e.class) {
            Some((href, _)) => link(&href, &e.class),
            None => escape(&e.class),
        };
        format!(
            "<tr id=\"{ROW}{}\"><th scope=\"row\">{}</th><td>{class}</td><td class=\"k-config\">{}</td><td>{}</td><td>{}</td>\
             <td>{line}</td></tr>\n",
            attribute(&e.name),
            escape(&e.name),
            escape(&clickwork_lang::config::split_args(&e.config).join(", ")),
            self.side(id, false),
            self.side(id, true)
        )
    }

    fn side(&self, id: ElementId, is_output: bool) -> String {
        let network = &self.subject.network;
        let count = if is_output { network.output_count(id) } else { network.input_count(id) };
        let port = |port| self.port(Port { element: id, port }, is_output);
        match count {
            0 => "none".to_string(),
            _ => format!("<ul>{}</ul>", (0..count).map(port).collect::<String>()),
        }
    }

    /// A port: its number, its kind, and what it is connected to.
    fn port(&self, port: Port, is_output: bool) -> String {
        let network = &self.subject.network;
        let kind = match self.kinds.resolved(network, self.facts, port, is_output) {
            Processing::Pull => "pull",
            _ => "push",
        };
        let ends: Vec<Port> = match is_output {
            true => network.leaving(port).map(|c| c.to).collect(),
            false => network.entering(port).map(|c| c.from).collect(),
        };
        let arrow = if is_output { "to" } else { "from" };
        let ends: Vec<String> = ends.iter().filter_map(|end| self.end(*end, is_output)).collect();
        match ends.is_empty() {
            true => format!("<li>{} {kind}, not connected</li>", port.port),
            false => format!("<li>{} {kind} {arrow} {}</li>", port.port, ends.join(", ")),
        }
    }

    fn end(&self, port: Port, is_input: bool) -> Option<String> {
        let name = &self.subject.network.element(port.element)?.name;
        let link = link(&format!("#{ROW}{name}"), name);
        Some(match (port.port, is_input) {
            (0, _) => link,
            (n, true) => format!("[{n}]&nbsp;{link}"),
            (n, false) => format!("{link}&nbsp;[{n}]"),
        })
    }

    /// The classes used, with their elements.
    pub fn classes(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut classes: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (_, e) in self.subject.network.elements() {
            classes.entry(&e.class).or_default().push(&e.name);
        }
        classes
    }
}

/// The id of the manual of a class.
pub fn manual_id(class: &str) -> String {
    format!("class-{class}")
}

/// The manuals of the classes there are among those used.
pub fn manuals(classes: &BTreeMap<&str, Vec<&str>>, registry: &Registry, links: &dyn Links) -> String {
    let used = classes.iter().map(|(class, elements)| manual(class, elements, registry, links));
    used.collect()
}

fn manual(name: &str, elements: &[&str], registry: &Registry, links: &dyn Links) -> String {
    let used: BTreeSet<&str> = elements.iter().copied().collect();
    let used: Vec<String> = used.iter().map(|e| link(&format!("#{ROW}{e}"), e)).collect();
    let sections = match registry.get(name) {
        Some(class) => manual_sections(&doc::manual::sections(name, class), links),
        None => "<p>Not one of the classes that Clickwork has.</p>\n".to_string(),
    };
    format!(
        "<section class=\"k-manual\" id=\"{}\">\n<h3>{}</h3>\n{sections}<p class=\"k-used\">Used by {}.</p>\n</section>\n",
        attribute(&manual_id(name)),
        escape(name),
        used.join(", ")
    )
}
