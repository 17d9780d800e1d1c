//! RouterLinks: their configurations, and how they are put in.

use std::collections::BTreeMap;

use clickwork_lang::config::{quote, split_args, split_words, unquote_text};
use clickwork_lang::{ElementDecl, Port};
use clickwork_source::{Diagnostic, Diagnostics, Span};

use super::{Component, End, LINK};
use crate::{ElementId, Network};

/// What a port of a RouterLink stands for: an element of a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stand {
    pub component: String,
    pub element: String,
    pub class: String,
    pub config: String,
}

/// The configuration of a RouterLink: its inputs, then its outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Words(pub Vec<Stand>);

impl Words {
    /// Takes a configuration apart; nothing if it is not one of a RouterLink.
    pub(super) fn parse(config: &str) -> Option<Words> {
        let args = split_args(config);
        let (pairs, rest) = args.as_chunks::<2>();
        let stand = |[who, config]: &[String; 2]| {
            let [component, element, class] = <[String; 3]>::try_from(split_words(who)).ok()?;
            let plain = || unquote_text(config);
            let config = if config.starts_with('"') { plain() } else { config.clone() };
            Some(Stand { component, element, class, config })
        };
        let stands = pairs.iter().map(stand).collect::<Option<Vec<_>>>()?;
        (rest.is_empty() && !stands.is_empty()).then_some(Words(stands))
    }

    /// The configuration as text.
    pub(super) fn to_config(&self) -> String {
        let arguments =
            |s: &Stand| format!("{} {} {}, {}", s.component, s.element, s.class, one_argument(&s.config));
        self.0.iter().map(arguments).collect::<Vec<_>>().join(", ")
    }
}

/// A configuration as one argument: as it stands if it is one, else quoted.
fn one_argument(config: &str) -> String {
    let is_one = split_args(config) == [config] && !config.starts_with('"');
    if is_one { config.to_string() } else { quote(config) }
}

/// Puts a RouterLink in for each group of links that have ends in common.
pub(super) fn add(
    network: &mut Network,
    components: &[Component],
    links: &[(End, End)],
    place: Span,
    messages: &mut Diagnostics,
) {
    for (group, n) in groups(links).into_iter().zip(1..) {
        let from = distinct(group.iter().map(|&l| &links[l].0));
        let to = distinct(group.iter().map(|&l| &links[l].1));
        let name = |(c, element): &End| format!("{}/{element}", components[*c].name);
        let ids = |ends: &[&End]| ends.iter().filter_map(|&e| network.find(&name(e))).collect::<Vec<_>>();
        let (senders, receivers) = (ids(&from), ids(&to));
        let more = problems(network, &senders, &receivers);
        if more.has_errors() {
            messages.extend(more);
            continue;
        }
        let stands = from.iter().chain(&to).zip(senders.iter().chain(&receivers));
        let stands =
            stands.filter_map(|((c, e), id)| Some(stand(&components[*c].name, e, network.element(*id)?)));
        let config = Words(stands.collect()).to_config();
        let link = network.add_new(&format!("link{n}"), LINK, &config, place);
        let port = |element, port| Port { element, port };
        (0..).zip(&senders).for_each(|(p, &id)| network.redirect_inputs(port(id, 0), port(link, p)));
        (0..).zip(&receivers).for_each(|(p, &id)| network.redirect_outputs(port(id, 0), port(link, p)));
        senders.into_iter().chain(receivers).for_each(|id| drop(network.remove(id)));
    }
}

fn stand(component: &str, name: &str, element: &ElementDecl) -> Stand {
    Stand {
        component: component.to_string(),
        element: name.to_string(),
        class: element.class.clone(),
        config: element.config.clone(),
    }
}

/// Numbers of links, those that share ends together, in order.
fn groups(links: &[(End, End)]) -> Vec<Vec<usize>> {
    let mut group: Vec<usize> = (0..links.len()).collect();
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for i in 0..links.len() {
            for j in 0..i {
                if (links[i].0 == links[j].0 || links[i].1 == links[j].1) && group[i] != group[j] {
                    let least = group[i].min(group[j]);
                    (group[i], group[j]) = (least, least);
                    changed = true;
                }
            }
        }
    }
    let mut found: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    (0..links.len()).for_each(|l| found.entry(group[l]).or_default().push(l));
    found.into_values().collect()
}

fn distinct<'a>(ends: impl Iterator<Item = &'a End>) -> Vec<&'a End> {
    let mut seen = Vec::new();
    ends.for_each(|e| {
        if !seen.contains(&e) {
            seen.push(e)
        }
    });
    seen
}

/// Connections that a link would lose.
fn problems(network: &Network, senders: &[ElementId], receivers: &[ElementId]) -> Diagnostics {
    let is_first = |p: &Port| p.port == 0;
    let problem = |id: ElementId, is_sender: bool| {
        let element = network.element(id)?;
        let (inputs, outputs) = (network.inputs(id), network.outputs(id));
        let (used, other) = if is_sender { (inputs, outputs) } else { (outputs, inputs) };
        let ports: Vec<Port> = used.iter().map(|c| if is_sender { c.to } else { c.from }).collect();
        let side = if is_sender { "input" } else { "output" };
        let what = if ports.is_empty() {
            format!("nothing is connected to its {side}, so that there is nothing to link")
        } else if !other.is_empty() || !ports.iter().all(is_first) {
            format!("it has connections besides those of {side} 0, which a link would lose")
        } else {
            return None;
        };
        let message = format!("'{} :: {}' cannot be an end of a link: {what}", element.name, element.class);
        Some(Diagnostic::error(element.span, message))
    };
    let senders = senders.iter().filter_map(|&id| problem(id, true));
    senders.chain(receivers.iter().filter_map(|&id| problem(id, false))).collect()
}
