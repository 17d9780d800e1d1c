//! Random patterns on random configurations: work ends, in a correct configuration where no pattern occurs any more, or
//! with an error.
#![allow(missing_docs)]

use clickwork_lang::{ElementDecl, Options, Port, elaborate_classes};
use clickwork_passes::matching::{Accept, Fragment, Index, Search};
use clickwork_passes::xform::{Patterns, shipped, xform};
use clickwork_passes::{ElementId, Unit};
use clickwork_source::{render_click, render_human};
use proptest::prelude::*;
use std::fmt::Write;
use std::ops::ControlFlow;

/// Any configuration.
struct Anything;

impl Accept for Anything {
    type Bindings = ();

    fn accept(&self, _: usize, _: &ElementDecl, (): &()) -> Option<()> {
        Some(())
    }
}

const CLASSES: [&str; 3] = ["A", "B", "C"];

/// Elements, of which some are connected with the next, and more connections, each from one to another, with ports.
fn configuration(elements: &[(usize, bool)], more: &[[usize; 4]]) -> String {
    let mut text = String::new();
    let count = elements.len();
    for (n, (class, _)) in elements.iter().enumerate() {
        let _ = writeln!(text, "e{n} :: {};", CLASSES[*class]);
    }
    for (n, (_, connected)) in elements.iter().enumerate() {
        if *connected {
            let _ = writeln!(text, "e{n} -> e{};", (n + 1) % count);
        }
    }
    for [a, p, b, q] in more {
        let _ = writeln!(text, "e{} [{p}] -> [{q}] e{};", a % count, b % count);
    }
    text
}

/// A chain of elements, perhaps with a second input to its last; names begin with `prefix`.
fn class(name: &str, prefix: &str, chain: &[usize], second: bool) -> String {
    let mut text = format!("elementclass {name} {{ input ");
    for (n, &class) in chain.iter().enumerate() {
        let _ = write!(text, "-> {prefix}{n} :: {} ", CLASSES[class]);
    }
    let last =
        if chain.is_empty() { "[1] output".to_string() } else { format!("{prefix}{}", chain.len() - 1) };
    match (second, chain.is_empty()) {
        (true, true) => text + "-> output; input [1] -> output }\n",
        (true, false) => text + &format!("-> output; input [1] -> {last} }}\n"),
        (false, _) => text + "-> output }\n",
    }
}

fn chain(least: usize) -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..CLASSES.len(), least..4)
}

/// Name and port.
type End = (String, usize);

/// The elements and connections of a configuration, sorted.
fn parts(unit: &Unit) -> (Vec<[String; 2]>, Vec<[End; 2]>) {
    let graph = unit.graph();
    let mut elements: Vec<_> = graph.elements.iter().map(|e| [e.name.clone(), e.class.clone()]).collect();
    let end = |p: Port| (graph.elements[p.element].name.clone(), p.port);
    let mut connections: Vec<_> = graph.connections.iter().map(|c| [end(c.from), end(c.to)]).collect();
    elements.sort();
    connections.sort();
    (elements, connections)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn no_pattern_is_left(
        elements in prop::collection::vec((0..CLASSES.len(), prop::bool::weighted(0.8)), 1..14),
        more in prop::collection::vec([0..14usize, 0..2, 0..14, 0..2], 0..4),
        pairs in prop::collection::vec((chain(1), chain(0), prop::bool::weighted(0.2)), 1..4),
    ) {
        let options = Options::any_class();
        let (mut unit, _) = Unit::read("t.click", configuration(&elements, &more).into_bytes(), &options);
        let mut text = String::new();
        for (n, (from, to, second)) in pairs.iter().enumerate() {
            text += &class(&format!("P{n}"), "old", from, *second);
            text += &class(&format!("P{n}_Replacement"), "new", to, *second);
        }
        let file = unit.sources.add("p.clickpat", text.clone());
        let mut patterns = Patterns::default();
        let messages = patterns.read(&mut unit.sources, file, &options);
        prop_assert!(!messages.has_errors(), "{:?}", messages);
        let (patterns, _) = patterns.prepare(&unit.sources);
        if xform(&mut unit.network, &mut unit.sources, &patterns).is_err() {
            return Ok(());
        }
        let (again, messages) = Unit::read("<stdin>", unit.to_bytes(), &options);
        prop_assert!(messages.is_empty(), "{:?}", messages);
        prop_assert_eq!(parts(&again), parts(&unit));
        let (classes, _) = elaborate_classes(&mut unit.sources, file, &options);
        for (n, class) in classes.iter().step_by(2).enumerate() {
            let own = format!("replaced by p.clickpat:{}", 2 * n + 2);
            let made = |id: &ElementId| {
                unit.network.element(*id).is_some_and(|e| unit.sources.landmark(e.span).ends_with(&own))
            };
            let (fragment, index) = (Fragment::new(class), Index::new(&unit.network));
            let search = Search { fragment: &fragment, network: &unit.network, index: &index, accept: &Anything };
            for root in index.of_class(fragment.root_class()) {
                let mut left = None;
                search.at(root, &mut 1_000_000, |found| {
                    left = Some(found.elements).filter(|elements| !elements.iter().all(made));
                    if left.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                });
                prop_assert!(left.is_none(), "P{}: {:?}\n{}{}", n, left, text, unit.to_text());
            }
        }
    }
}

/// Text that is almost a pattern file: the one for IP routers with pieces cut out, doubled and put elsewhere.
fn damaged() -> impl Strategy<Value = String> {
    let cuts = prop::collection::vec((0..1000usize, 0..1000usize, 0..3usize), 1..6);
    let junk = prop::collection::vec(
        prop::sample::select(vec!["{", "}", "$", "||", "(", "é", "...", "\"", "|"]),
        0..3,
    );
    (cuts, junk).prop_map(|(cuts, junk)| {
        let mut text: Vec<char> = shipped::find("ip").unwrap().text.chars().collect();
        for (from, len, way) in cuts {
            let start = from * text.len() / 1000;
            let end = (start + len).min(text.len());
            let piece: Vec<char> = text[start..end].to_vec();
            match way {
                0 => drop(text.drain(start..end)),
                1 => drop(text.splice(start..start, piece)),
                _ => text.extend(piece),
            }
        }
        for (n, junk) in junk.iter().enumerate() {
            let at = (n * 7919) % (text.len() + 1);
            drop(text.splice(at..at, junk.chars()));
        }
        text.into_iter().collect()
    })
}

proptest! {
    #[test]
    fn damaged_pattern_files_do_no_harm(text in damaged()) {
        let options = Options::any_class();
        let config = "Idle -> Paint(1) -> s :: Strip(14) -> CheckIPHeader -> GetIPAddress(16) -> Discard; Idle -> s;";
        let (mut unit, _) = Unit::read("t.click", config.into(), &options);
        let file = unit.sources.add("p.clickpat", text);
        let mut patterns = Patterns::default();
        let mut messages = patterns.read(&mut unit.sources, file, &options);
        patterns.reverse();
        patterns.reverse();
        let (patterns, doubts) = patterns.prepare(&unit.sources);
        messages.extend(doubts);
        for message in &messages {
            prop_assert!(!render_click(&unit.sources, message).is_empty());
        }
        if let Err(error) = xform(&mut unit.network, &mut unit.sources, &patterns) {
            render_human(&unit.sources, &error, false);
        }
        unit.to_bytes();
    }
}
