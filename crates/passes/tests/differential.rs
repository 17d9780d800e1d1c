//! Every pass, alone and in chains: random routers get the same random and adversarial frames before and after, and what
//! comes out, in which order, and the values of handlers must be the same.
//!
//! `RANDOM_ROUTERS=20000 cargo test --release -p clickwork-passes --test differential -- --nocapture` runs so many in each
//! test and says how many; `RANDOM_SEED` is where to begin.

mod common;

use clickwork_lang::Options as LangOptions;
use clickwork_passes::combine::{Component, combine, spec::LinkSpec, uncombine};
use clickwork_passes::fastclassifier::{Options, fastclassifier, reverse};
use clickwork_passes::xform::{Patterns, shipped, xform};
use clickwork_passes::{ElementId, Facts, Unit, align::align, undead::undead};
use clickwork_source::{Diagnostics, Span};
use common::devirtualize::{devirtualize, known};
use common::trial::{Trial, run, run_with};
use common::{Random, compounds, frames, model, seeds};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

/// A tool that does not change what a router does.
type Pass = fn(Unit, &mut Random) -> Unit;

const PASSES: [(&str, Pass); 9] = [
    ("flatten", |unit, _| unit),
    ("undead", |mut unit, _| {
        let registry = frames::registry();
        let facts = Facts::new(&registry, &unit.files);
        undead(&mut unit.network, &facts, Span::NONE);
        unit
    }),
    ("align", |mut unit, _| {
        let registry = frames::registry();
        let facts = Facts::new(&registry, &unit.files);
        align(&mut unit.network, &facts, Span::NONE);
        unit
    }),
    ("xform", |unit, random| {
        let text = pattern(&unit, random);
        replaced(unit, &text, random.below(3) == 0)
    }),
    ("xform with Nulls", |unit, random| match random.below(3) {
        0 => replaced(unit, PAINTS, false),
        way => replaced(unit, NULLS, way == 1),
    }),
    ("xform -p ip", |unit, _| replaced(unit, shipped::find("ip").unwrap().text, false)),
    ("fastclassifier", |mut unit, random| {
        let registry = Arc::new(frames::registry());
        let facts = Facts::new(&registry, &unit.files);
        let diagrams = |alone: &_| common::diagrams(alone, &registry);
        let options = Options { combine: true, classes: true };
        fastclassifier(&mut unit.network, &mut unit.files, &facts, options, diagrams);
        if random.below(6) == 0 {
            reverse(&mut unit.network, &mut unit.files);
        }
        unit
    }),
    ("devirtualize", |unit, random| {
        let names: Vec<_> =
            unit.network.elements().flat_map(|(_, e)| [e.name.clone(), e.class.clone()]).collect();
        let left_out: Vec<_> = names.iter().filter(|_| random.below(12) == 0).map(String::as_str).collect();
        devirtualize(unit, &frames::registry(), &left_out.join(" ")).unit
    }),
    ("combine, uncombine", combined_and_back),
];

/// Runs tools one after the other, with the configuration written and read in between.
fn chain(text: &str, passes: &[(&str, Pass)], random: &mut Random) -> Unit {
    let mut bytes = text.as_bytes().to_vec();
    let mut unit = Unit::default();
    for (name, pass) in [("", PASSES[0].1)].iter().chain(passes) {
        let (read, messages) = Unit::read("t.click", bytes, &LangOptions::any_class());
        assert!(messages.is_empty(), "before {name}: {messages:?}\n{text}");
        unit = pass(read, random);
        bytes = unit.to_bytes();
    }
    unit
}

/// Runs a router before and after some tools, in ordered and in batch mode. Gives the number of packets seen.
fn compare(before: &str, passes: &[(&str, Pass)], seed: u64) -> usize {
    let unit = chain(before, passes, &mut Random::new(seed));
    let (after, classes) = (unit.to_text(), known(&unit, &frames::registry()));
    let names: Vec<&str> = passes.iter().map(|(name, _)| *name).collect();
    // Interfaces that shared a CheckIPHeader get one each, so that it counts but a part of what it dropped.
    let mut silent = Vec::new();
    silent.extend(names.contains(&"xform -p ip").then_some("CheckIPHeader"));
    // Another program does the work of two.
    silent.extend(names.contains(&"fastclassifier").then_some("Classifier"));
    let mut seen = 0;
    for ordered in [true, false] {
        let order = |trial: Trial| if ordered { trial } else { trial.unordered() };
        let was = order(run(before, ordered, &silent));
        let is = order(run_with(&after, &classes, ordered, &silent));
        seen += was.seen();
        if let Some(difference) = was.difference(&is) {
            panic!("seed {seed}, {names:?}, ordered {ordered}: {difference}\n{before}\n---\n{after}");
        }
    }
    seen
}

/// A random router for some passes, sometimes with compounds.
fn router(seed: u64, passes: &[(&str, Pass)]) -> String {
    let mut random = Random::new(seed);
    // What pulls by the clock may do so at other moments without dead queues upstream.
    let timed = !passes.iter().any(|(name, _)| *name == "undead");
    let model = model::router(&mut random, timed);
    match random.below(2) {
        0 => model.text(|n| model.nodes[n].name.clone()),
        _ => compounds::write(&model, &mut random).nested,
    }
}

fn differential(name: &str, default: u64) {
    let pass = PASSES.iter().find(|(n, _)| *n == name).unwrap();
    let (seeds, mut seen) = (seeds(default), 0);
    let count = seeds.clone().count();
    for seed in seeds {
        seen += compare(&router(seed, &[*pass]), &[*pass], seed);
    }
    println!("{name}: {count} routers, {seen} packets");
    assert!(seen > count * 20, "only {seen} packets");
}

#[test]
fn undead_changes_nothing() {
    differential("undead", 150);
}

#[test]
fn align_changes_nothing() {
    differential("align", 80);
}

#[test]
fn xform_changes_nothing() {
    differential("xform", 80);
    differential("xform with Nulls", 40);
    differential("xform -p ip", 60);
}

#[test]
fn fastclassifier_changes_nothing() {
    differential("fastclassifier", 50);
}

#[test]
fn devirtualize_changes_nothing() {
    differential("devirtualize", 50);
}

#[test]
fn combine_and_uncombine_change_nothing() {
    differential("combine, uncombine", 40);
}

/// A compound, and what it should be without it.
#[test]
fn flatten_changes_nothing() {
    let seeds = seeds(100);
    let count = seeds.clone().count();
    for seed in seeds {
        let mut random = Random::new(seed);
        let model = model::router(&mut random, true);
        let written = compounds::write(&model, &mut random);
        let flattened = chain(&written.nested, &[], &mut random);
        assert_eq!(
            facts(&flattened),
            facts(&chain(&written.flat, &[], &mut random)),
            "seed {seed}\n{}",
            written.nested
        );
        // Tasks come in another order, and so do packets of the same moment.
        for ordered in [true, false] {
            let [was, is] = [&written.nested, &flattened.to_text()].map(|text| run(text, ordered, &[]));
            assert_eq!(was.difference(&is), None, "seed {seed}\n{}", written.nested);
        }
    }
    println!("flatten: {count} routers");
}

/// The elements and connections of a configuration, in any order.
fn facts(unit: &Unit) -> BTreeSet<String> {
    let graph = unit.graph();
    let elements = graph.elements.iter().map(|e| format!("{} :: {}({})", e.name, e.class, e.config));
    let name = |n: usize| &graph.elements[n].name;
    let connections = graph.connections.iter();
    let connections = connections.map(|c| {
        format!("{} [{}] -> [{}] {}", name(c.from.element), c.from.port, c.to.port, name(c.to.element))
    });
    elements.chain(connections).collect()
}

#[test]
fn chains_of_passes_change_nothing() {
    let seeds = seeds(100);
    let (count, mut passes, mut seen) = (seeds.clone().count(), 0, 0);
    for seed in seeds {
        let mut random = Random::new(seed ^ 0xc4a1);
        let chain: Vec<_> = (0..2 + random.below(5)).map(|_| PASSES[random.below(PASSES.len())]).collect();
        passes += chain.len();
        seen += compare(&router(seed, &chain), &chain, seed);
    }
    println!("chains: {count} routers, {passes} passes, {seen} packets");
}

/// Takes Nulls out, or puts them in.
const NULLS: &str = "elementclass One { input -> Counter -> Null -> output }
    elementclass One_Replacement { input -> Counter -> output }";
/// The last paint counts.
const PAINTS: &str = "elementclass Paints { input -> Paint($a) -> last :: Paint($b) -> output }
    elementclass Paints_Replacement { input -> last :: Paint($b) -> output }";

/// Makes replacements and counts nothing, since a pattern need not occur.
fn replaced(mut unit: Unit, text: &str, reverse: bool) -> Unit {
    let mut patterns = Patterns::default();
    let file = unit.sources.add("p.clickpat", text);
    let messages = patterns.read(&mut unit.sources, file, &LangOptions::any_class());
    assert!(!messages.has_errors(), "{messages:?}\n{text}");
    if reverse {
        patterns.reverse();
    }
    let (patterns, _) = patterns.prepare(&unit.sources);
    let before = unit.network.clone();
    if xform(&mut unit.network, &mut unit.sources, &patterns).is_err() {
        // To put in Nulls without end is refused.
        assert!(reverse, "{text}");
        unit.network = before;
    }
    unit
}

/// A pattern that occurs: a few elements of the network; its replacement is the same with Nulls in between.
fn pattern(unit: &Unit, random: &mut Random) -> String {
    let network = &unit.network;
    let all: Vec<ElementId> = network.elements().map(|(id, _)| id).collect();
    let Some(&first) = all.get(random.below(all.len())) else { return String::new() };
    let mut part = vec![first];
    for _ in 0..random.below(5) {
        let near = part.iter().flat_map(|&id| network.outputs(id).into_iter().chain(network.inputs(id)));
        let near: BTreeSet<ElementId> = near.flat_map(|c| [c.from.element, c.to.element]).collect();
        let near: Vec<ElementId> = near.into_iter().filter(|id| !part.contains(id)).collect();
        part.extend(near.get(random.below(near.len())));
    }
    let mut nulls = |_| random.below(2) == 0;
    format!(
        "elementclass P {{\n{}}}\nelementclass P_Replacement {{\n{}}}\n",
        class(unit, &part, |_| false),
        class(unit, &part, &mut nulls)
    )
}

/// Part of a network as the body of a compound class, with Nulls on some connections.
fn class(unit: &Unit, part: &[ElementId], mut null: impl FnMut(usize) -> bool) -> String {
    let (mut text, network) = (String::new(), &unit.network);
    for &id in part {
        let e = network.element(id).unwrap();
        writeln!(text, "n{id} :: {}({});", e.class, e.config).unwrap();
    }
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for (n, c) in network.connections().enumerate() {
        match [c.from, c.to].map(|end| part.contains(&end.element)) {
            [true, true] => {
                let middle = if null(n) { "-> Null " } else { "" };
                let [a, b] = [c.from, c.to];
                writeln!(text, "n{} [{}] {middle}-> [{}] n{};", a.element, a.port, b.port, b.element)
                    .unwrap();
            }
            [false, true] if !inputs.contains(&c.to) => inputs.push(c.to),
            [true, false] if !outputs.contains(&c.from) => outputs.push(c.from),
            _ => {}
        }
    }
    for (n, to) in inputs.iter().enumerate() {
        writeln!(text, "input [{n}] -> [{}] n{};", to.port, to.element).unwrap();
    }
    for (n, from) in outputs.iter().enumerate() {
        writeln!(text, "n{} [{}] -> [{n}] output;", from.element, from.port).unwrap();
    }
    text
}

/// Combines the router with another one, writes and reads that, and takes the router out again.
fn combined_and_back(mut unit: Unit, _: &mut Random) -> Unit {
    let (other, _) = Unit::read(
        "u.click",
        b"Idle -> Counter -> x :: Discard; x1 :: Idle -> x".to_vec(),
        &LangOptions::any_class(),
    );
    let component = |name: &str, unit: &Unit| Component {
        name: name.to_string(),
        graph: unit.graph(),
        files: unit.files.clone(),
    };
    let links: [LinkSpec; 0] = [];
    let components = [component("one", &other), component("two", &unit)];
    let (network, files, _) = combine(&components, &links, Span::NONE).unwrap_or_else(|e| panic!("{e:?}"));
    (unit.network, unit.files) = (network, files);
    let (mut unit, messages) = Unit::read("both.click", unit.to_bytes(), &LangOptions::any_class());
    assert!(messages.is_empty(), "{messages:?}");
    let taken: Result<(), Diagnostics> = uncombine(&mut unit.network, &mut unit.files, "two", Span::NONE);
    assert!(taken.is_ok(), "{taken:?}");
    unit
}
