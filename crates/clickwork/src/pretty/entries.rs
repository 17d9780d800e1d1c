//! The tag `<~elements>`: elements and classes, each written as an attribute of the tag says.

use super::html::{escape, link};
use super::page::Page;
use super::subject::ROW;
use super::tag::{Tag, next_tag};
use clickwork_lang::Port;
use clickwork_passes::ElementId;
use clickwork_router::Processing;
use std::cell::RefCell;
use std::cmp::Ordering;

/// Writes entries.
pub struct Entries<'a> {
    pub page: &'a Page<'a>,
    pub tag: &'a Tag,
    /// The attributes of the tag that are being filled in, one inside the other.
    pub inside: RefCell<Vec<String>>,
}

/// Whether a comparison that came out so holds.
type Holds = fn(Ordering) -> bool;

/// What an entry is about.
#[derive(Clone, Copy)]
struct About<'a> {
    name: &'a str,
    class: &'a str,
    element: Option<ElementId>,
    /// The number of a port, and whether it is an output.
    port: Option<(usize, bool)>,
}

impl<'a> Entries<'a> {
    /// The entries, sorted by name, or those of one column.
    pub fn write(&self) -> String {
        let mut entries: Vec<(About<'a>, &str)> = Vec::new();
        if let Some(text) = self.tag.get("entry") {
            entries.extend(self.elements().into_iter().map(|about| (about, text)));
        }
        if let Some(text) = self.tag.get("typeentry") {
            let class = |&class: &&'a str| About { name: class, class, element: None, port: None };
            entries.extend(self.page.used.iter().map(class).map(|about| (about, text)));
        }
        entries.sort_by_key(|(about, _)| about.name);
        let entries = &entries[self.column(entries.len())];
        let texts = entries.iter().map(|(about, text)| self.fill(text, *about));
        texts.collect::<Vec<_>>().join(self.tag.get("sep").unwrap_or(""))
    }

    fn elements(&self) -> Vec<About<'a>> {
        let elements = self.page.subject.network.elements();
        elements
            .map(|(id, e)| About { name: &e.name, class: &e.class, element: Some(id), port: None })
            .collect()
    }

    /// Which of `count` entries are in the column that the tag asks for, as in `column="1/2"`.
    fn column(&self, count: usize) -> std::ops::Range<usize> {
        let asked = self.tag.get("column").and_then(|text| text.split_once('/'));
        let numbers = asked
            .and_then(|(n, of)| Some((n.trim().parse::<usize>().ok()?, of.trim().parse::<usize>().ok()?)));
        match numbers.filter(|&(n, of)| (1..=of).contains(&n)) {
            Some((n, of)) => {
                let each = count.div_ceil(of);
                (each.saturating_mul(n - 1)).min(count)..each.saturating_mul(n).min(count)
            }
            None => 0..count,
        }
    }

    fn fill(&self, mut rest: &str, about: About<'_>) -> String {
        let mut out = String::new();
        while let Some((before, tag, after)) = next_tag(rest) {
            out.push_str(before);
            out.push_str(&self.part(&tag, about));
            rest = after;
        }
        out + rest
    }

    /// A tag inside an entry.
    fn part(&self, tag: &Tag, about: About<'_>) -> String {
        let network = &self.page.subject.network;
        let words = |count: usize, what: &str| match (tag.get("english"), count) {
            (Some(_), 1) => format!("1 {what}"),
            (Some(_), n) => format!("{n} {what}s"),
            (None, n) => n.to_string(),
        };
        match (tag.name.as_str(), about.element, about.port) {
            ("name", _, _) => self.name(tag, about),
            ("type", _, _) => self.class(about.class, tag.get("link").is_some()),
            ("typerefs", _, _) => {
                let same = self.elements().into_iter().filter(|e| e.class == about.class).collect();
                self.list(tag, "entry", "typeref", same)
            }
            ("config", Some(id), _) => self.config(tag, id),
            ("configlink", Some(_), _) => {
                let text = self.list(tag, "text", "configlink", vec![about]);
                match text.is_empty() {
                    true => text,
                    false => format!(
                        "<a href=\"#{ROW}{}\">{text}</a>{}",
                        escape(about.name),
                        tag.get("sep").unwrap_or("")
                    ),
                }
            }
            ("ninputs", Some(id), _) => words(network.input_count(id), "input"),
            ("noutputs", Some(id), _) => words(network.output_count(id), "output"),
            ("inputs", Some(id), _) => self.ports(tag, about, network.input_count(id), false),
            ("outputs", Some(id), _) => self.ports(tag, about, network.output_count(id), true),
            ("port", _, Some((port, _))) => port.to_string(),
            ("processing", Some(element), Some((port, is_output))) => {
                let port = Port { element, port };
                match self.page.kinds.resolved(network, self.page.facts, port, is_output) {
                    Processing::Pull => "pull".to_string(),
                    _ => "push".to_string(),
                }
            }
            ("inputconnections", Some(element), Some((port, false))) => {
                let ends = network.entering(Port { element, port }).map(|c| (c.from, true));
                self.connections(tag, about, "input", ends)
            }
            ("outputconnections", Some(element), Some((port, true))) => {
                let ends = network.leaving(Port { element, port }).map(|c| (c.to, false));
                self.connections(tag, about, "output", ends)
            }
            ("if", _, _) => self.choose(tag, about),
            _ => String::new(),
        }
    }

    fn name(&self, tag: &Tag, about: About<'_>) -> String {
        match (tag.get("link"), about.element) {
            (None, _) => escape(about.name),
            (Some("type"), _) | (Some(_), None) => match self.page.class(about.class) {
                Some((href, _)) => link(&href, about.name),
                None => escape(about.name),
            },
            (Some(_), Some(_)) => link(&format!("#{ROW}{}", about.name), about.name),
        }
    }

    fn class(&self, class: &str, is_link: bool) -> String {
        match self.page.class(class).filter(|_| is_link) {
            Some((href, _)) => link(&href, class),
            None => escape(class),
        }
    }

    fn config(&self, tag: &Tag, id: ElementId) -> String {
        let config = self.page.subject.network.element(id).map_or("", |e| &e.config);
        let limit = tag.get("limit").and_then(|n| n.parse().ok()).unwrap_or(usize::MAX);
        let text = match config.char_indices().nth(limit) {
            Some((at, _)) => format!("{}...", &config[..at]),
            None => config.to_string(),
        };
        match tag.get("parens").is_some() && !text.is_empty() {
            true => format!("({})", escape(&text)),
            false => escape(&text),
        }
    }

    /// Entries written as the attribute `own` of the tag says, or else `general` of `<~elements>`, which is nothing inside
    /// itself, as it would never end.
    fn list(&self, tag: &Tag, own: &str, general: &str, items: Vec<About<'_>>) -> String {
        let is_own = tag.get(own).is_some();
        if !is_own && self.inside.borrow().iter().any(|outer| outer == general) {
            return String::new();
        }
        let text = tag.get(own).or(self.tag.get(general)).unwrap_or("");
        self.inside.borrow_mut().push(if is_own { String::new() } else { general.to_string() });
        let items: Vec<String> = items.into_iter().map(|about| self.fill(text, about)).collect();
        self.inside.borrow_mut().pop();
        items.join(tag.get("sep").unwrap_or(""))
    }

    fn ports(&self, tag: &Tag, about: About<'_>, count: usize, is_output: bool) -> String {
        let side = if is_output { "output" } else { "input" };
        match count {
            0 => self.list(tag, "noentry", &format!("no{side}entry"), vec![about]),
            _ => {
                let port = |port| About { port: Some((port, is_output)), ..about };
                self.list(tag, "entry", &format!("{side}entry"), (0..count).map(port).collect())
            }
        }
    }

    fn connections(
        &self,
        tag: &Tag,
        about: About<'_>,
        side: &str,
        ends: impl Iterator<Item = (Port, bool)>,
    ) -> String {
        let network = &self.page.subject.network;
        let end = |(port, is_output): (Port, bool)| {
            let e = network.element(port.element)?;
            let port_of = Some((port.port, is_output));
            Some(About { name: &e.name, class: &e.class, element: Some(port.element), port: port_of })
        };
        let mut ends: Vec<About<'_>> = ends.filter_map(end).collect();
        ends.sort_by_key(|about| (about.name, about.port));
        match ends.is_empty() {
            true => self.list(tag, "noentry", &format!("no{side}connection"), vec![about]),
            false => self.list(tag, "entry", &format!("{side}connection"), ends),
        }
    }

    fn choose(&self, tag: &Tag, about: About<'_>) -> String {
        let value = |attribute| tag.get(attribute).map(|text| self.fill(text, about));
        let test = value("test").unwrap_or_default();
        let order = |other: &str| match (test.parse::<i64>(), other.parse::<i64>()) {
            (Ok(a), Ok(b)) => a.cmp(&b),
            _ => test.as_str().cmp(other),
        };
        let comparisons: [(&str, Holds); 6] = [
            ("eq", |o| o.is_eq()),
            ("ne", |o| o.is_ne()),
            ("gt", |o| o.is_gt()),
            ("lt", |o| o.is_lt()),
            ("ge", |o| o.is_ge()),
            ("le", |o| o.is_le()),
        ];
        let asked = comparisons.into_iter().find_map(|(name, holds)| Some(holds(order(&value(name)?))));
        let holds = asked.unwrap_or(!test.is_empty());
        value(if holds { "then" } else { "else" }).unwrap_or_default()
    }
}
