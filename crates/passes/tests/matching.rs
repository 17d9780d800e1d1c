//! Matching against a matcher that tries all mappings and follows the definition to the letter.
#![allow(missing_docs)]

use clickwork_lang::{CompoundClass, Connection, ElementDecl, Graph, Port};
use clickwork_passes::matching::{Accept, Fragment, Index, Search};
use clickwork_passes::{ElementId, Network};
use clickwork_source::Span;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// Any configuration that begins as the node says.
struct SameConfig(Vec<String>);

impl Accept for SameConfig {
    type Bindings = ();

    fn accept(&self, node: usize, element: &ElementDecl, (): &()) -> Option<()> {
        (self.0[node].is_empty() || self.0[node] == element.config).then_some(())
    }
}

/// A connection across the border: side, port of the border, port outside.
type Used = (usize, usize, Port);

/// The element of each node, and what crosses the border.
type Found = (Vec<ElementId>, Vec<Used>);

/// Ports, each an element and a number.
type Wire = ((usize, usize), (usize, usize));

fn element(number: usize, class: usize, config: usize) -> ElementDecl {
    ElementDecl {
        name: format!("e{number}"),
        class: ["A", "B", "C"][class].to_string(),
        config: ["", "1"][config].to_string(),
        span: Span::NONE,
        compounds: Vec::new(),
    }
}

fn connection(&(from, to): &Wire) -> Connection {
    let port = |(element, port)| Port { element, port };
    Connection { from: port(from), to: port(to), span: Span::NONE }
}

fn network(elements: &[(usize, usize)], wires: &[Wire]) -> Network {
    let elements: Vec<_> =
        elements.iter().enumerate().map(|(n, &(class, config))| element(n, class, config)).collect();
    Network::new(Graph { elements, connections: wires.iter().map(connection).collect(), ..Graph::default() })
}

/// A part of a network as a compound class: what crosses its border goes to ports of `input` and `output`, those of one
/// port outside to one port.
fn cut(network: &Network, part: &[ElementId]) -> CompoundClass {
    let node = |id| part.iter().position(|&p| p == id).map(|n| n + 2);
    let mut graph = Graph::default();
    for name in ["input", "output"] {
        graph.elements.push(ElementDecl { name: name.into(), class: name.into(), ..element(0, 0, 0) });
    }
    graph.elements.extend(part.iter().filter_map(|&id| network.element(id).cloned()));
    let mut outside: [Vec<Port>; 2] = Default::default();
    let mut number = |side: usize, port: Port| {
        let known: &mut Vec<Port> = &mut outside[side];
        known.iter().position(|&p| p == port).unwrap_or_else(|| {
            known.push(port);
            known.len() - 1
        })
    };
    for c in network.connections() {
        let (from, to) = match (node(c.from.element), node(c.to.element)) {
            (None, None) => continue,
            (Some(from), Some(to)) => ((from, c.from.port), (to, c.to.port)),
            (None, Some(to)) => ((0, number(0, c.from)), (to, c.to.port)),
            (Some(from), None) => ((from, c.from.port), (1, number(1, c.to))),
        };
        graph.connections.push(connection(&(from, to)));
    }
    let ports = [outside[0].len(), outside[1].len()];
    CompoundClass { name: "P".into(), span: Span::NONE, formals: Vec::new(), graph, ports }
}

/// All occurrences by the definition, as mappings with the ports of the border that connections belong to.
fn naive(class: &CompoundClass, network: &Network) -> BTreeSet<Found> {
    let ids: Vec<ElementId> = network.elements().map(|(id, _)| id).collect();
    let mut mappings = vec![Vec::new()];
    for pattern in &class.graph.elements[2..] {
        let fits = |id: &ElementId| {
            let e = network.element(*id).unwrap();
            e.class == pattern.class && (pattern.config.is_empty() || pattern.config == e.config)
        };
        let longer = |m: Vec<ElementId>| {
            let free: Vec<ElementId> = ids.iter().copied().filter(|id| fits(id) && !m.contains(id)).collect();
            free.into_iter().map(move |id| [m.clone(), vec![id]].concat())
        };
        mappings = mappings.into_iter().flat_map(longer).collect();
    }
    mappings.into_iter().filter_map(|m| Some((m.clone(), border(class, network, &m)?))).collect()
}

fn border(class: &CompoundClass, network: &Network, map: &[ElementId]) -> Option<Vec<Used>> {
    let image = |p: Port| Port { element: map[p.element - 2], ..p };
    let wires: Vec<(Port, Port)> = class.graph.connections.iter().map(|c| (c.from, c.to)).collect();
    let has = |from, to| network.connections().any(|c| (c.from, c.to) == (from, to));
    for &(from, to) in wires.iter().filter(|(from, to)| from.element > 1 && to.element > 1) {
        if !has(image(from), image(to)) {
            return None;
        }
    }
    let node = |p: Port| map.iter().position(|&id| id == p.element).map(|n| Port { element: n + 2, ..p });
    let mut used = BTreeSet::new();
    for c in network.connections() {
        match (node(c.from), node(c.to)) {
            (None, None) => {}
            (Some(from), Some(to)) => {
                wires.contains(&(from, to)).then_some(())?;
            }
            (None, Some(to)) => {
                let all = |i| wires.iter().filter(|w| w.0 == i).all(|w| has(c.from, image(w.1)));
                let mut ports = (0..class.ports[0]).map(|port| Port { element: 0, port });
                let port = ports.find(|&i| wires.contains(&(i, to)) && all(i))?;
                used.insert((0, port.port, c.from));
            }
            (Some(from), None) => {
                let all = |o| wires.iter().filter(|w| w.1 == o).all(|w| has(image(w.0), c.to));
                let mut ports = (0..class.ports[1]).map(|port| Port { element: 1, port });
                let port = ports.find(|&o| wires.contains(&(from, o)) && all(o))?;
                used.insert((1, port.port, c.to));
            }
        }
    }
    let complete = |side: usize| (0..class.ports[side]).all(|p| used.iter().any(|u| (u.0, u.1) == (side, p)));
    (complete(0) && complete(1)).then(|| used.into_iter().collect())
}

/// What the library finds from one element.
fn found_at(class: &CompoundClass, network: &Network, roots: &BTreeSet<ElementId>) -> Vec<Found> {
    let accept = SameConfig(class.graph.elements[2..].iter().map(|e| e.config.clone()).collect());
    let (fragment, index) = (Fragment::new(class), Index::new(network));
    let search = Search { fragment: &fragment, network, index: &index, accept: &accept };
    let mut all = Vec::new();
    for &root in roots {
        search.at(root, &mut 1_000_000, |m| {
            let sides = m.crossings.iter().enumerate();
            let used = sides.flat_map(|(side, list)| list.iter().map(move |c| (side, c.end, c.outside)));
            all.push((m.elements, used.collect()));
            ControlFlow::Continue(())
        });
    }
    all
}

fn found(class: &CompoundClass, network: &Network) -> Vec<Found> {
    let index = Index::new(network);
    found_at(class, network, &index.of_class(Fragment::new(class).root_class()).collect())
}

const SIZE: usize = 7;

fn graphs() -> impl Strategy<Value = (Vec<(usize, usize)>, Vec<Wire>)> {
    let elements = prop::collection::vec((0..3usize, 0..2usize), 1..=SIZE);
    elements.prop_flat_map(|elements| {
        let end = (0..elements.len(), 0..2usize);
        let wires = prop::collection::vec((end.clone(), end), 0..12);
        (Just(elements), wires)
    })
}

fn check(class: &CompoundClass, network: &Network) -> Result<usize, TestCaseError> {
    let list = found(class, network);
    let set: BTreeSet<_> = list.iter().cloned().collect();
    prop_assert_eq!(set.len(), list.len(), "each is found once");
    let expected = if class.graph.elements.len() == 2 { BTreeSet::new() } else { naive(class, network) };
    prop_assert_eq!(&set, &expected);
    Ok(list.len())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// A part of a network is found there, and nothing that the definition does not allow.
    #[test]
    fn parts_are_found((elements, wires) in graphs(), part in prop::collection::btree_set(0..SIZE, 1..5)) {
        let network = network(&elements, &wires);
        let part: Vec<ElementId> = part.into_iter().filter(|&n| n < elements.len()).collect();
        let class = cut(&network, &part);
        let count = check(&class, &network)?;
        prop_assert!(part.is_empty() || count > 0 || border(&class, &network, &part).is_none());
    }

    /// Parts of one network in another, with connections left out and ports of the border joined.
    #[test]
    fn other_patterns_are_found_where_they_are(
        (elements, wires) in graphs(),
        (other, other_wires) in graphs(),
        part in prop::collection::vec(0..SIZE, 1..4),
        joined in 1..3usize,
    ) {
        let part: BTreeSet<usize> = part.into_iter().filter(|&n| n < other.len()).collect();
        let mut class = cut(&network(&other, &other_wires), &part.into_iter().collect::<Vec<_>>());
        for c in &mut class.graph.connections {
            if c.from.element == 0 { c.from.port %= joined; }
            if c.to.element == 1 { c.to.port %= joined; }
        }
        class.graph.connections.sort_by_key(|c| (c.from, c.to));
        class.graph.connections.dedup_by_key(|c| (c.from, c.to));
        class.ports = class.ports.map(|ports| ports.min(joined));
        check(&class, &network(&elements, &wires))?;
    }

    /// After a change, all new occurrences begin where `roots_near` says.
    #[test]
    fn new_matches_are_near_the_change(
        (elements, wires) in graphs(),
        part in prop::collection::btree_set(0..SIZE, 1..5),
        removed in prop::collection::vec(((0..SIZE, 0..2usize), (0..SIZE, 0..2usize)), 1..3),
    ) {
        let end = |&(element, _): &(usize, usize)| element < elements.len();
        let removed: Vec<Connection> = removed.iter().filter(|(a, b)| end(a) && end(b)).map(connection).collect();
        let after = network(&elements, &wires);
        let mut before = after.clone();
        for c in &removed {
            match before.is_connected(c.from, c.to) {
                true => before.disconnect(c.from, c.to),
                false => before.connect(c.from, c.to, Span::NONE),
            }
        }
        let part: Vec<ElementId> = part.into_iter().filter(|&n| n < elements.len()).collect();
        let class = cut(&after, &part);
        let old: BTreeSet<_> = found(&class, &before).into_iter().collect();
        let changed: Vec<ElementId> = removed.iter().flat_map(|c| [c.from.element, c.to.element]).collect();
        let roots = Fragment::new(&class).roots_near(&after, &Index::new(&after), &changed);
        let seen: BTreeSet<_> = found_at(&class, &after, &roots).into_iter().collect();
        let new: BTreeSet<_> = found(&class, &after).into_iter().collect();
        prop_assert!(new.difference(&old).all(|m| seen.contains(m)));
    }
}
