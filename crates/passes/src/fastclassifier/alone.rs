//! The classifiers of a configuration without the rest of it: a small router that can be configured whatever else there is,
//! devices or classes that nobody knows.

use std::collections::BTreeMap;

use clickwork_lang::{Connection, ElementDecl, Graph, Port};
use clickwork_source::{Diagnostics, Severity, Sources, Span};

use super::CLASSES;
use crate::defines::expanded;
use crate::facts::Facts;
use crate::{ElementId, Network};

/// The element that the classifiers are connected to.
const IDLE: usize = 0;

/// The classifiers, and the elements that say what names in their arguments mean.
pub struct Alone {
    /// A router of them, with all ports connected to an Idle, and variables replaced as far as they are known.
    pub graph: Graph,
    /// What the places in it point into; every element has a place of its own.
    pub sources: Sources,
}

impl Alone {
    pub(super) fn new(network: &Network, facts: &Facts<'_>) -> Alone {
        let mut sources = Sources::new();
        let file = sources.add("<classifiers>", "");
        let span = |n: usize| Span::new(file, n as u32, n as u32 + 1);
        let mut graph = Graph::default();
        graph.elements.push(element("Idle@fastclassifier", "Idle", String::new(), span(IDLE)));
        for (id, e) in network.elements() {
            let class = facts.base(&e.class);
            let is_classifier = CLASSES.contains(&class);
            if !is_classifier && facts.of(class).family() != "info" {
                continue;
            }
            let place = graph.elements.len();
            let config = expanded(network, id).unwrap_or_else(|| e.config.clone());
            graph.elements.push(element(&e.name, class, config, span(place)));
            if is_classifier {
                connect(&mut graph, network, id, place);
            }
        }
        Alone { graph, sources }
    }

    /// What is wrong with elements, by name, among messages about this router.
    pub fn wrong(&self, messages: &Diagnostics) -> BTreeMap<String, String> {
        let errors = messages.iter().filter(|m| m.severity == Severity::Error);
        let about = errors.filter_map(|m| {
            let element = self.graph.elements.iter().find(|e| e.span == m.span())?;
            let what = m.message.split_once('\n').map_or(m.message.as_str(), |(_, what)| what.trim());
            Some((element.name.clone(), what.to_string()))
        });
        about.collect()
    }
}

fn element(name: &str, class: &str, config: String, span: Span) -> ElementDecl {
    ElementDecl { name: name.into(), class: class.into(), config, span, compounds: Vec::new() }
}

/// Connects a classifier as it is in the network, but to the Idle.
fn connect(graph: &mut Graph, network: &Network, id: ElementId, place: usize) {
    let port = |element, port| Port { element, port };
    let mut add = |from, to| graph.connections.push(Connection { from, to, span: Span::NONE });
    add(port(IDLE, place), port(place, 0));
    (0..network.output_count(id)).for_each(|output| add(port(place, output), port(IDLE, 0)));
}
