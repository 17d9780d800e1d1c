//! Elements that others call by name: what a Script reads, what PokeHandlers writes, what a ScheduleInfo is about.
//!
//! A tool that removes elements must leave these alone. The answer is on the safe side: an argument that merely looks
//! like a name counts as one.

use std::collections::BTreeMap;

use clickwork_lang::ElementDecl;
use clickwork_router::args::ArgType;

use crate::facts::Facts;
use crate::{ElementId, Network};

/// The elements that are called by name, each with one that does so.
pub fn mentions(network: &Network, facts: &Facts<'_>) -> BTreeMap<ElementId, ElementId> {
    mentions_except(network, facts, &[])
}

/// As [`mentions`], but what elements of some classes say does not count.
pub fn mentions_except(
    network: &Network,
    facts: &Facts<'_>,
    classes: &[&str],
) -> BTreeMap<ElementId, ElementId> {
    let mut mentioned = BTreeMap::new();
    let counts = |e: &ElementDecl| !classes.contains(&e.class.as_str());
    for (id, element) in network.elements().filter(|(id, e)| counts(e) && may_mention(network, facts, *id, e))
    {
        for word in element.config.split(|c: char| !is_name_char(c)) {
            for target in resolve(network, &element.name, word).filter(|&target| target != id) {
                mentioned.entry(target).or_insert(id);
            }
        }
    }
    mentioned
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '@' | '/' | '.')
}

/// Whether the arguments of an element can be names: the class says so, or it is there for nothing but its arguments.
fn may_mention(network: &Network, facts: &Facts<'_>, id: ElementId, element: &ElementDecl) -> bool {
    let facts = facts.of(&element.class);
    let names = |ty| match ty {
        ArgType::Element | ArgType::HandlerCall => true,
        ArgType::Other(form) => form.contains("HANDLER"),
        _ => false,
    };
    let is_apart = network.inputs(id).is_empty() && network.outputs(id).is_empty();
    is_apart || facts.family() == "control" || facts.class.is_none_or(|c| c.args.iter().any(|a| names(a.ty)))
}

/// The elements that a word in the configuration of the element `from` may mean: `name` or `name.handler`, sought in the
/// compound element that `from` stands in, then in those around it.
fn resolve<'n>(network: &'n Network, from: &str, word: &str) -> impl Iterator<Item = ElementId> + 'n {
    let name = word.split('.').next().unwrap_or_default().to_string();
    let scopes = from.rmatch_indices('/').map(|(at, _)| from[..=at].to_string()).chain([String::new()]);
    let scopes: Vec<String> = if name.is_empty() { Vec::new() } else { scopes.collect() };
    scopes.into_iter().find_map(move |scope| network.find(&format!("{scope}{name}"))).into_iter()
}
