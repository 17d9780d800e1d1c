//! A class for each decision diagram: classifiers of one base class with as many outputs and the same diagram share one, named
//! after the first of them.

use clickwork_lang::archive::Archive;
use clickwork_source::{Diagnostic, Diagnostics, Span};

use super::{CLASSES, Diagrams, SOURCE, declaration, source};
use crate::element_map::{ElementMap, Entry};
use crate::facts::Facts;
use crate::{ElementId, Network};

/// A class made here, and what its elements have in common.
struct Specialised<'a> {
    name: String,
    base: String,
    outputs: usize,
    steps: &'a str,
}

struct Specialiser<'a> {
    facts: &'a Facts<'a>,
    map: ElementMap,
    classes: Vec<Specialised<'a>>,
    messages: Diagnostics,
}

/// Gives all classifiers classes of their own and attaches the facts about these, and their code.
pub fn specialise(
    network: &mut Network,
    files: &mut Archive,
    facts: &Facts<'_>,
    diagrams: &Diagrams,
) -> Diagnostics {
    let (map, classes, messages) = (ElementMap::of(files), Vec::new(), Diagnostics::new());
    let mut specialiser = Specialiser { facts, map, classes, messages };
    for id in classifiers(network) {
        match network.element(id).and_then(|e| diagrams.get(&e.name)) {
            Some(Ok(diagram)) => specialiser.give_class(network, id, &diagram.steps),
            Some(Err(why)) => specialiser.messages.push(left_alone(network, id, why)),
            None => {}
        }
    }
    specialiser.map.attach(files);
    source::attach(network, files, &specialiser.map, diagrams);
    specialiser.messages
}

fn classifiers(network: &Network) -> Vec<ElementId> {
    let is_classifier = |class: &str| CLASSES.contains(&class);
    network.elements().filter(|(_, e)| is_classifier(&e.class)).map(|(id, _)| id).collect()
}

impl<'a> Specialiser<'a> {
    /// Gives an element the class of those that do the same, or a new one.
    fn give_class(&mut self, network: &mut Network, id: ElementId, steps: &'a str) {
        let Some((name, base)) = network.element(id).map(|e| (&e.name, e.class.clone())) else { return };
        let outputs = network.output_count(id);
        let known = self.classes.iter().find(|c| (c.steps, c.outputs, &c.base) == (steps, outputs, &base));
        let class = match known {
            Some(known) => {
                self.messages.push(shares(network, id, &known.name));
                known.name.clone()
            }
            None => {
                let name = add_class(&mut self.map, self.facts, &base, outputs, name);
                self.classes.push(Specialised { name: name.clone(), base, outputs, steps });
                name
            }
        };
        if let Some(element) = network.element_mut(id) {
            element.class = class;
        }
    }
}

/// Puts a class into the element map. Its name is another if a class that was made of an earlier one has that in its chain of
/// bases, with other facts.
fn add_class(map: &mut ElementMap, facts: &Facts<'_>, base: &str, outputs: usize, element: &str) -> String {
    let stem = format!("Fast{base}@@{element}");
    let numbered = (2..).map(|n| format!("{stem}@{n}"));
    for name in std::iter::once(stem.clone()).chain(numbered) {
        let entry = entry(&name, facts, base, outputs);
        match map.get(&name) {
            Some(other) if *other != entry => continue,
            Some(_) => {}
            None => map.add(entry),
        }
        return name;
    }
    stem
}

/// The facts about a class. Those besides the base are for tools that do not know what a base is.
fn entry(name: &str, facts: &Facts<'_>, base: &str, outputs: usize) -> Entry {
    let of_base = facts.of(base);
    Entry::new(&[
        ("name", name),
        ("base", base),
        ("sourcefile", SOURCE),
        ("portcount", &format!("1/{outputs}")),
        ("processing", of_base.processing),
        ("flowcode", of_base.flow),
        ("flags", of_base.flags),
    ])
}

fn left_alone(network: &Network, id: ElementId, why: &str) -> Diagnostic {
    let message = format!("{} left alone: {why}", declaration(network, id));
    Diagnostic::warning(span(network, id), message)
}

fn shares(network: &Network, id: ElementId, class: &str) -> Diagnostic {
    let message = format!("{} has the same diagram as others: it shares {class}", declaration(network, id));
    Diagnostic::note(span(network, id), message)
}

fn span(network: &Network, id: ElementId) -> Span {
    network.element(id).map_or(Span::NONE, |e| e.span)
}
