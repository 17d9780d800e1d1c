//! What the tests of passes share: running a pass on a text, and running configurations to compare what they do.
#![allow(dead_code)] // no test uses everything

pub mod compounds;
pub mod devirtualize;
pub mod frames;
pub mod golden;
pub mod model;
pub mod trial;

use clickwork_elements::registry;
use clickwork_lang::{Graph, Options as LangOptions, archive::Archive, elaborate};
use clickwork_packet::Timestamp;
use clickwork_passes::fastclassifier::alone::Alone;
use clickwork_passes::fastclassifier::{Diagram, Diagrams};
use clickwork_passes::{Facts, Network, Unit};
use clickwork_router::{Clock, Driver, Log, Options, Registry, Router, build, check};
use clickwork_source::{Diagnostics, Sources, render_click};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// What a router did: the lines that each Print printed, in order, and the values of handlers.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Deeds {
    /// Lines by label, which is what stands before the colon.
    pub printed: BTreeMap<String, Vec<String>>,
    /// `element.handler` and value.
    pub counts: BTreeMap<String, String>,
}

/// Runs a pass on the text of a configuration: the new text, and the messages as Click would print them.
pub fn transform(text: &str, pass: impl FnOnce(&mut Network, &Facts<'_>) -> Diagnostics) -> (String, String) {
    let (mut unit, messages) =
        Unit::new("t.click", text.to_string(), Archive::default(), &LangOptions::any_class());
    assert!(messages.is_empty(), "{messages:?}\n{text}");
    let registry = registry();
    let messages = pass(&mut unit.network, &Facts::new(&registry, &unit.files));
    (unit.to_text(), messages.iter().map(|d| render_click(&unit.sources, d)).collect())
}

/// Makes a router of a configuration that must be correct. What it says and prints goes into the log.
pub fn start(text: &str, ordered: bool, registry: &Arc<Registry>) -> (Router, Graph, Log) {
    let mut sources = Sources::default();
    let file = sources.add("t.click", text);
    let (graph, messages) = elaborate(&mut sources, file, &LangOptions::new(&**registry));
    assert!(!messages.has_errors(), "{messages:?}\n{text}");
    let log = Log::buffer();
    let clock = Clock::simulated(Timestamp::new(1_000_000_000, 0));
    let options = Options {
        ordered,
        clock,
        log: log.clone(),
        output: log.clone(),
        seed: Some(1),
        ..Options::default()
    };
    let (router, _) = build(&graph, &sources, registry, options).unwrap_or_else(|errors| {
        let errors: String = errors.iter().map(|d| render_click(&sources, d)).collect();
        panic!("{errors}\n{text}")
    });
    (router, graph, log)
}

/// Runs a configuration for ten simulated seconds. Of elements of the classes in `counted` the handler `count` is read.
pub fn run(text: &str, ordered: bool, counted: &[&str]) -> Deeds {
    let (mut router, graph, log) = start(text, ordered, &Arc::new(registry()));
    Driver::default().run_for(&mut router, Duration::from_secs(10));
    let mut deeds = Deeds::default();
    for line in log.taken().lines() {
        let label = line.split(':').next().unwrap_or_default();
        deeds.printed.entry(label.to_string()).or_default().push(line.to_string());
    }
    for e in graph.elements.iter().filter(|e| counted.contains(&e.class.as_str())) {
        let value =
            router.read(&format!("{}.count", e.name), "").map_or_else(|e| e.to_string(), |v| v.text());
        deeds.counts.insert(e.name.clone(), value);
    }
    deeds
}

/// The diagrams of classifiers, as the command reads them.
pub fn diagrams(alone: &Alone, registry: &Arc<Registry>) -> Diagrams {
    let options = Options { log: Log::buffer(), ..Options::default() };
    let (router, messages) = check(&alone.graph, &alone.sources, registry, options);
    let mut router = router.expect("all classes are known");
    let wrong = alone.wrong(&messages);
    let mut diagrams = Diagrams::new();
    for id in router.ids() {
        let Ok(steps) = router.read_handler(id, "program", "") else { continue };
        let code = router.fast_code(id).map(|code| code.source.into_owned());
        let name = router.info(id).name.clone();
        let diagram = Diagram { steps: steps.text(), code };
        diagrams.insert(name.clone(), wrong.get(&name).map_or(Ok(diagram), |why| Err(why.clone())));
    }
    diagrams
}

/// The seeds of random routers: so many, unless RANDOM_ROUTERS says how many, from RANDOM_SEED on.
pub fn seeds(default: u64) -> std::ops::Range<u64> {
    let number = |name, default| std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default);
    let first = number("RANDOM_SEED", 0);
    first..first + number("RANDOM_ROUTERS", default)
}

/// Numbers that look random and are the same for the same seed.
pub struct Random(u64);

impl Random {
    /// The numbers of a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % n.max(1)
    }

    /// One of some things.
    pub fn pick<'a, T: ?Sized>(&mut self, things: &[&'a T]) -> &'a T {
        things[self.below(things.len())]
    }
}
