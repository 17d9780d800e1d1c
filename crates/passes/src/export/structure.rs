//! Push and pull inside compound classes.
//!
//! A compound class gets a processing code and a flow code like any other, worked out from what it consists of; those who
//! use it then need to know no more. Ports that nothing inside decides are agnostic.

use std::collections::BTreeSet;

use clickwork_lang::{ClassRef, CompoundClass, DeclaredClass, Part, Port, Structure};
use clickwork_router::Processing;

use super::letter;
use crate::element_map::Entry;
use crate::kinds::Kinds;
use crate::{Facts, Network};

/// A part with the kinds of its ports.
pub struct Resolved {
    /// The elements and connections; the class of a compound element is called as [`class_name`] says.
    pub network: Network,
    /// The kinds.
    pub kinds: Kinds,
}

/// All parts of a structure: those of the classes in order, then the top.
pub fn resolve(structure: &Structure, facts: &mut Facts<'_>) -> Vec<Resolved> {
    let mut resolved = Vec::new();
    for (n, class) in structure.classes.iter().enumerate() {
        let part = resolve_part(&class.part, facts);
        let name = class_name(&ClassRef::Declared(n));
        let (processing, flow) = (processing(class, &part.kinds), flow(class, &part.network, facts));
        facts.add(Entry::new(&[("name", &name), ("processing", &processing), ("flowcode", &flow)]));
        resolved.push(part);
    }
    resolved.push(resolve_part(&structure.top, facts));
    resolved
}

/// A name for a class that no two have. That of a declared class can be in no configuration.
pub fn class_name(class: &ClassRef) -> String {
    match class {
        ClassRef::Primitive(name) => name.clone(),
        ClassRef::Declared(n) => format!("#{n}"),
    }
}

fn resolve_part(part: &Part, facts: &Facts<'_>) -> Resolved {
    let mut graph = part.graph.clone();
    for (element, class) in graph.elements.iter_mut().zip(&part.classes) {
        element.class = class_name(class);
    }
    let network = Network::new(graph);
    let kinds = Kinds::new(&network, facts, |_| None);
    Resolved { network, kinds }
}

fn processing(class: &DeclaredClass, kinds: &Kinds) -> String {
    let side = |count: usize, kind: &dyn Fn(usize) -> Option<Processing>| -> String {
        let letters: String =
            (0..count).map(|port| letter(kind(port).unwrap_or(Processing::Agnostic))).collect();
        if letters.is_empty() { "a".to_string() } else { letters }
    };
    let inputs =
        side(class.ports[0], &|port| kinds.decided(Port { element: CompoundClass::INPUT, port }, true));
    let outputs =
        side(class.ports[1], &|port| kinds.decided(Port { element: CompoundClass::OUTPUT, port }, false));
    format!("{inputs}/{outputs}")
}

/// Letters for inputs. One is left for outputs that no input leads to.
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXY";

fn flow(class: &DeclaredClass, network: &Network, facts: &Facts<'_>) -> String {
    let [inputs, outputs] = class.ports;
    if inputs == 0 || outputs == 0 || inputs > LETTERS.len() {
        return "x/x".to_string();
    }
    let reached: Vec<BTreeSet<usize>> = (0..inputs).map(|input| reached(input, network, facts)).collect();
    let output = |output| {
        let from = LETTERS.chars().zip(&reached).filter(|(_, reached)| reached.contains(&output));
        let letters: String = from.map(|(letter, _)| letter).collect();
        if letters.is_empty() { "Z".to_string() } else { format!("[{letters}]") }
    };
    format!("{}/{}", &LETTERS[..inputs], (0..outputs).map(output).collect::<String>())
}

/// The outputs of a class that packets from one of its inputs can get to.
fn reached(input: usize, network: &Network, facts: &Facts<'_>) -> BTreeSet<usize> {
    let mut seen = BTreeSet::new();
    let mut waiting = vec![Port { element: CompoundClass::INPUT, port: input }];
    while let Some(from) = waiting.pop() {
        for to in network.leaving(from).map(|c| c.to) {
            let Some(element) = network.element(to.element).filter(|_| seen.insert(to)) else { continue };
            let facts = facts.of(&element.class);
            let next = (0..network.output_count(to.element)).filter(|&output| facts.flows(to.port, output));
            waiting.extend(next.map(|port| Port { element: to.element, port }));
        }
    }
    seen.into_iter().filter(|p| p.element == CompoundClass::OUTPUT).map(|p| p.port).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use clickwork_lang::archive::Archive;
    use clickwork_lang::{Options, elaborate_structure};
    use clickwork_source::Sources;

    #[test]
    fn classes_have_the_codes_of_what_they_consist_of() {
        let text = "elementclass A { input -> Queue -> output; input [1] -> Null -> [1] output } \
                    elementclass B { input -> a :: A -> Null -> output; input [1] -> [1] a [1] -> Discard; Idle -> [1] output }";
        let mut sources = Sources::new();
        let file = sources.add("t", text);
        let (structure, _) = elaborate_structure(&mut sources, file, &Options::any_class());
        let mut registry = clickwork_router::Registry::new();
        for class in ["Queue", "Null", "Discard", "Idle"] {
            registry.add(clickwork_elements::registry().get(class));
        }
        let mut facts = Facts::new(&registry, &Archive::default());
        resolve(&structure, &mut facts);
        let codes = |name| (facts.of(name).processing.to_string(), facts.of(name).flow.to_string());
        assert_eq!(codes("#0"), ("ha/la".to_string(), "ab/[a][b]".to_string()));
        assert_eq!(codes("#1"), ("ha/la".to_string(), "ab/[a]Z".to_string()));
    }
}
