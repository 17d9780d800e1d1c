//! Putting a replacement in place of a match.

use std::collections::HashMap;

use clickwork_lang::config::split_args;
use clickwork_lang::{CompoundClass, CompoundOrigin, Connection, ElementDecl, Port};
use clickwork_source::Span;

use super::pattern::Pattern;
use super::wildcard::Bindings;
use crate::matching::{Match, Side};
use crate::{ElementId, Network};

/// What the user wrote and a replacement stands for.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    /// Where the first of the elements was declared.
    pub span: Span,
    /// Its name.
    pub name: String,
    /// How many elements were replaced with it.
    pub others: usize,
}

/// A replacement to make.
pub(super) struct Replacement<'a> {
    pub pattern: &'a Pattern,
    pub found: &'a Match<Bindings>,
    /// The name in front of those of new elements.
    pub compound: &'a str,
    /// Gives the place of what the replacement's text declares.
    pub span_of: &'a dyn Fn(Span) -> Span,
}

/// What a replacement has changed.
pub(super) struct Made {
    /// The elements that are gone, in the order of the match.
    pub old: Vec<ElementDecl>,
    pub new: Vec<ElementId>,
}

impl Replacement<'_> {
    /// Replaces the match. New elements are called after the pattern; those that the pattern has under the same name, as
    /// the element whose place they take, and they are that element if class and configuration are the same too.
    pub fn carry_out(&self, network: &mut Network) -> Made {
        let old: Vec<ElementDecl> = self.found.elements.iter().filter_map(|&id| network.remove(id)).collect();
        let taken: HashMap<&str, &ElementDecl> =
            self.pattern.names.iter().map(String::as_str).zip(&old).collect();
        let elements = self.pattern.replacement.graph.elements.iter().skip(2);
        let new: Vec<ElementId> = elements
            .zip(&self.pattern.templates)
            .map(|(element, template)| {
                let config = template.fill(&self.found.bindings);
                network.add(self.element(element, config, taken.get(&*element.name).copied(), &old))
            })
            .collect();
        for connection in &self.pattern.replacement.graph.connections {
            self.connect(network, connection, &new);
        }
        Made { old, new }
    }

    fn element(
        &self,
        element: &ElementDecl,
        config: String,
        taken: Option<&ElementDecl>,
        old: &[ElementDecl],
    ) -> ElementDecl {
        let span = (self.span_of)(element.span);
        if let Some(taken) = taken {
            if taken.class == element.class && split_args(&taken.config) == split_args(&config) {
                return taken.clone();
            }
            let (name, compounds) = (taken.name.clone(), taken.compounds.clone());
            return ElementDecl { name, class: element.class.clone(), config, span, compounds };
        }
        let place = old.first().map_or(Span::NONE, |e| e.span);
        let (name, class) = (self.compound.to_string(), self.pattern.name.clone());
        let outer = CompoundOrigin { name, class, span: place };
        let inner =
            element.compounds.iter().map(|c| CompoundOrigin { name: self.under(&c.name), ..c.clone() });
        ElementDecl {
            name: self.under(&element.name),
            class: element.class.clone(),
            config,
            span,
            compounds: std::iter::once(outer).chain(inner).collect(),
        }
    }

    fn under(&self, name: &str) -> String {
        format!("{}/{name}", self.compound)
    }

    /// Makes a connection of the replacement; one across the border stands for all that the match has there.
    fn connect(&self, network: &mut Network, connection: &Connection, new: &[ElementId]) {
        let Connection { from, to, span } = *connection;
        let inner = |port: Port| vec![(Port { element: new[port.element - 2], ..port }, None)];
        let sources = match from.element {
            CompoundClass::INPUT => self.outside(Side::Input, from.port),
            _ => inner(from),
        };
        let targets = match to.element {
            CompoundClass::OUTPUT => self.outside(Side::Output, to.port),
            _ => inner(to),
        };
        for &(from, before) in &sources {
            for &(to, after) in &targets {
                let place = before.or(after).unwrap_or_else(|| (self.span_of)(span));
                network.connect(from, to, place);
            }
        }
    }

    /// The ports outside that belong to a port of the border, with the places of their connections.
    fn outside(&self, side: Side, end: usize) -> Vec<(Port, Option<Span>)> {
        let crossings = self.found.crossings[side as usize].iter().filter(|c| c.end == end);
        crossings.map(|c| (c.outside, Some(c.span))).collect()
    }
}
