//! Several routers as one configuration, so that tools see the whole network; and back.
//!
//! In the combination the elements of router `a` are called `a/...`. Where a packet that leaves `a` through its
//! ToDevice(eth0) arrives at `b` through its FromDevice(eth1), one RouterLink stands for both: as many inputs as there are
//! senders, as many outputs as receivers. Its configuration says what it stands for, two arguments for each port:
//! `a name ToDevice, eth0, b name FromDevice, eth1`. To Click's drivers RouterLink is unknown, a thing of tools; ours run
//! it as the wire that it stands for, so that a combination is also a simulation of the network.
//!
//! Otherwise than Click's tools: a router without a name is called `router1`, `router2` and so on (there `1`, `2`, which no
//! element can be called); a link may be written with `->`; what a link would lose, and attached files that would take
//! each other's place, are errors; what other tools add to a combination is shared out when it is taken apart.
//!
//! The file `componentmap` in the archive names the routers. A combination can be a router of another; then its routers are
//! called `c/a`.
//!
//! [`combine`] makes a combination, [`uncombine`] takes a router out of one. [`spec`] reads what users say about links.

mod link;
pub mod spec;
mod uncombine;

use clickwork_lang::archive::{Archive, Member};
use clickwork_lang::{ElementDecl, Graph, Port};
use clickwork_source::{Diagnostic, Diagnostics, Span};

use crate::Network;
use crate::element_map::{self, ElementMap, Entry};
use link::Words;
use spec::LinkSpec;
pub use uncombine::{components, uncombine};

/// The member of an archive that names the routers in it.
const COMPONENTS: &str = "componentmap";
/// The class that stands for a link.
const LINK: &str = "RouterLink";

/// A router that becomes part of a combination.
#[derive(Clone, Debug)]
pub struct Component {
    /// What it is called there.
    pub name: String,
    /// Its configuration, with global variables replaced: another router may mean something else by them.
    pub graph: Graph,
    /// What is attached to it.
    pub files: Archive,
}

/// One end of a link: a component, by number, and an element in it.
type End = (usize, String);

/// Combines routers and connects them by links, which have `place`. Gives the configuration and what is attached to it, with
/// warnings.
///
/// # Errors
/// Routers of the same name, links between what there is not, files that would take each other's place.
pub fn combine(
    components: &[Component],
    links: &[LinkSpec],
    place: Span,
) -> Result<(Network, Archive, Diagnostics), Diagnostics> {
    let mut messages = different_names(components);
    if links.is_empty() {
        messages.push(Diagnostic::warning(Span::NONE, "no links between routers"));
    }
    let ends: Vec<(End, End)> =
        links.iter().filter_map(|l| spec::find(l, components, &mut messages)).collect();
    for (from, _) in ends.iter().filter(|(from, _)| ends.iter().any(|(_, to)| to == from)) {
        let message = format!(
            "router '{}' element '{}' used as both source and destination",
            components[from.0].name, from.1
        );
        messages.push(Diagnostic::error(Span::NONE, message));
    }
    let files = attached(components, !links.is_empty(), &mut messages);
    let mut network = union(components);
    if !messages.has_errors() {
        link::add(&mut network, components, &ends, place, &mut messages);
    }
    if messages.has_errors() { Err(messages) } else { Ok((network, files, messages)) }
}

fn different_names(components: &[Component]) -> Diagnostics {
    let mut messages = Diagnostics::new();
    for (n, Component { name, .. }) in components.iter().enumerate() {
        let is_clean = name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '@' | '/'));
        // No element can have a name with a part of digits alone, or an empty one.
        let is_number = |part: &str| part.chars().all(|c| c.is_ascii_digit());
        if !is_clean || name.split('/').any(is_number) {
            let message = format!("router name '{name}' is not a legal Click identifier");
            messages.push(Diagnostic::error(Span::NONE, message));
        }
        if components[..n].iter().any(|other| other.name == *name) {
            messages.push(Diagnostic::error(Span::NONE, format!("two routers named '{name}'")));
        }
    }
    messages
}

/// All elements under their new names, with all connections.
fn union(components: &[Component]) -> Network {
    let mut network = Network::default();
    for Component { name, graph, .. } in components {
        let ids: Vec<_> = graph.elements.iter().map(|e| network.add(renamed(e, name))).collect();
        let port = |p: Port| Port { element: ids[p.element], port: p.port };
        graph.connections.iter().for_each(|c| network.connect(port(c.from), port(c.to), c.span));
        network.require(&graph.requirements);
    }
    network
}

/// An element of a component. A link between routers of a combination calls them by their new names.
fn renamed(element: &ElementDecl, component: &str) -> ElementDecl {
    let mut element = ElementDecl { name: format!("{component}/{}", element.name), ..element.clone() };
    if element.class == LINK
        && let Some(mut words) = Words::parse(&element.config)
    {
        words.0.iter_mut().for_each(|end| end.component = format!("{component}/{}", end.component));
        element.config = words.to_config();
    }
    element
}

/// The files of all components, and what the tools need to know about the combination.
fn attached(components: &[Component], has_links: bool, messages: &mut Diagnostics) -> Archive {
    let mut files = Archive::default();
    let mut map = ElementMap::default();
    if has_links {
        let facts = [("name", LINK), ("processing", "l/h"), ("flowcode", "x/x"), ("flags", "S3")];
        map.add(Entry::new(&facts));
    }
    for c in components {
        map.merge(ElementMap::of(&c.files));
        let others =
            c.files.members.iter().filter(|m| ![element_map::FILE, COMPONENTS].contains(&m.name.as_str()));
        for member in others {
            match files.get(&member.name) {
                Some(other) if other.data != member.data => {
                    messages.push(different_files(&c.name, &member.name))
                }
                _ => files.set(member.clone()),
            }
        }
    }
    map.attach(&mut files);
    let names = components.iter().flat_map(|c| {
        let inner = uncombine::components(&c.files).unwrap_or_default();
        std::iter::once(c.name.clone()).chain(inner.into_iter().map(move |n| format!("{}/{n}", c.name)))
    });
    set_components(&mut files, names);
    files
}

/// Writes the names of the routers in an archive; without any the list is left out.
fn set_components(files: &mut Archive, names: impl Iterator<Item = String>) {
    let text: String = names.map(|name| name + "\n").collect();
    match text.is_empty() {
        true => drop(files.remove(COMPONENTS)),
        false => files.set(Member {
            name: COMPONENTS.into(),
            modified: 0,
            mode: 0o600,
            data: clickwork_source::text::into_bytes(text),
        }),
    }
}

fn different_files(router: &str, file: &str) -> Diagnostic {
    let message = format!("router '{router}' brings another file '{file}' than a router before it");
    Diagnostic::error(Span::NONE, message)
        .hint("combine the routers first; then run the tool that attached the files")
}
