//! Classifiers merged and specialised: random routers that do the same before and after with the same packets, random ones, such
//! as nearly match, and such as are too short.

mod common;

use clickwork_compile::{Scope, plan};
use clickwork_elements::registry;
use clickwork_lang::{Options as LangOptions, archive::Archive};
use clickwork_passes::element_map::ElementMap;
use clickwork_passes::fastclassifier::{Options, fastclassifier, reverse};
use clickwork_passes::{Facts, Unit};
use clickwork_router::Driver;
use clickwork_source::Severity;
use common::{Random, diagrams, start};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

const ALL: Options = Options { combine: true, classes: true };

fn read(text: &str) -> Unit {
    let (unit, messages) =
        Unit::new("t.click", text.to_string(), Archive::default(), &LangOptions::any_class());
    assert!(messages.is_empty(), "{messages:?}\n{text}");
    unit
}

/// Runs the pass. How many merges and how many refusals it told of.
fn transform(unit: &mut Unit, options: Options) -> [usize; 2] {
    let registry = Arc::new(registry());
    let facts = Facts::new(&registry, &unit.files);
    let read = |alone: &_| diagrams(alone, &registry);
    let messages = fastclassifier(&mut unit.network, &mut unit.files, &facts, options, read);
    assert!(messages.iter().all(|m| m.severity == Severity::Note), "{messages:?}");
    ["' merged into", " not merged into"]
        .map(|what| messages.iter().filter(|m| m.message.contains(what)).count())
}

/// Elements and connections, in no order.
fn shape(unit: &Unit) -> (BTreeSet<String>, BTreeSet<String>) {
    let name = |id| unit.network.element(id).map_or("", |e| e.name.as_str());
    let elements = unit.network.elements().map(|(_, e)| format!("{} {} {}", e.name, e.class, e.config));
    let connections = unit
        .network
        .connections()
        .map(|c| format!("{} {} {} {}", name(c.from.element), c.from.port, c.to.port, name(c.to.element)));
    (elements.collect(), connections.collect())
}

/// What a router did.
#[derive(Debug, Default, PartialEq, Eq)]
struct Deeds {
    /// The lines that each Print printed, in order.
    printed: BTreeMap<String, Vec<String>>,
    /// `element.handler` and value, of elements that no pass changes.
    values: BTreeMap<String, String>,
    /// The packets that Classifiers dropped.
    dropped: u64,
}

/// Runs a configuration, with the classes that its element map makes of others. In ordered mode the code of these takes packets
/// along paths, as if it were compiled.
fn run(unit: &Unit, ordered: bool) -> Deeds {
    let (map, mut classes) = (ElementMap::of(&unit.files), registry());
    map.add_to(&mut classes);
    let (mut router, graph, log) = start(&unit.to_text(), ordered, &Arc::new(classes));
    if ordered {
        router.install(plan(&router, Scope::Specialised));
    }
    Driver::default().run_for(&mut router, Duration::from_secs(10));
    let mut deeds = Deeds::default();
    for line in log.taken().lines() {
        let label = line.split(':').next().unwrap_or_default();
        deeds.printed.entry(label.to_string()).or_default().push(line.to_string());
    }
    let mut read = |element: &str, handler: &str| {
        router.read(&format!("{element}.{handler}"), "").map(|v| v.text()).unwrap_or_default()
    };
    for e in &graph.elements {
        let handlers: &[&str] = match map.base(&e.class) {
            "Classifier" => {
                let reasons = read(&e.name, "drop_reasons");
                let numbers = reasons.lines().filter_map(|line| line.split('\t').next()?.parse::<u64>().ok());
                deeds.dropped += numbers.sum::<u64>();
                &[]
            }
            "Counter" => &["count", "byte_count"],
            "IPClassifier" | "IPFilter" => &["program", "drop_reasons", "config"],
            _ => &[],
        };
        for handler in handlers {
            deeds.values.insert(format!("{}.{handler}", e.name), read(&e.name, handler));
        }
    }
    deeds
}

/// How many random routers are compared, unless `RANDOM_ROUTERS` says how many.
const ROUTERS: u64 = 150;
/// How many packets each gets.
const PACKETS: usize = 60;

#[test]
fn random_routers_do_the_same_before_and_after() {
    let routers = std::env::var("RANDOM_ROUTERS").ok().and_then(|n| n.parse().ok()).unwrap_or(ROUTERS);
    let (mut merged, mut refused, mut dropped, mut arrived) = (0, 0, 0, 0);
    for seed in 0..routers {
        let before = read(&Generator::new(seed).router());
        let mut after = read(&before.to_text());
        let [m, r] = transform(&mut after, ALL);
        (merged, refused) = (merged + m, refused + r);
        for ordered in [true, false] {
            let [mut was, mut is] = [&before, &after].map(|unit| run(unit, ordered));
            if !ordered {
                // Which of two outputs is served first depends on how many elements the batch was split by.
                let lines = [&mut was, &mut is].into_iter().flat_map(|d| d.printed.values_mut());
                lines.for_each(|lines| lines.sort());
            }
            assert_eq!(
                was,
                is,
                "seed {seed}, ordered {ordered}\n{}\n---\n{}",
                before.to_text(),
                after.to_text()
            );
            let lines = was.printed.values().map(Vec::len).sum::<usize>();
            (dropped, arrived) = (dropped + was.dropped, arrived + lines as u64);
        }
    }
    println!("{routers} routers, {merged} merged, {refused} refused, {dropped} dropped, {arrived} arrived");
    assert!(merged as u64 > 2 * routers && refused as u64 > routers / 2);
    assert!(dropped > 10 * routers && arrived > 60 * routers);
}

#[test]
fn a_second_time_nothing_changes_and_a_reversal_leaves_the_merged() {
    for seed in 0..40 {
        let mut once = read(&Generator::new(seed).router());
        let mut merged = read(&once.to_text());
        transform(&mut once, ALL);
        let (shape_once, files) = (shape(&once), once.files.clone());
        let [merges, _] = transform(&mut once, ALL);
        assert_eq!((merges, shape(&once), &once.files), (0, shape_once, &files), "seed {seed}");
        transform(&mut merged, Options { combine: true, classes: false });
        assert!(reverse(&mut once.network, &mut once.files).is_empty());
        assert_eq!((shape(&once), &once.files), (shape(&merged), &Archive::default()), "seed {seed}");
    }
}

/// Random routers, correct by construction: outputs that wait for a connection are kept in a list. All packets come out of one
/// queue, in bursts, so that batches are split; every output ends in a Print of its own.
struct Generator {
    random: Random,
    text: String,
    count: usize,
    /// Outputs, and whether they are of Classifiers.
    open: Vec<(String, bool)>,
    classifiers: Vec<String>,
}

/// Clauses that contradict each other, hold together, follow from each other, ask for more bytes than there may be, or ask nothing.
const CLAUSES: [&str; 18] = [
    "0/01",
    "0/02",
    "0/0?",
    "!0/01",
    "1/01",
    "1/0102",
    "2/02%03",
    "!2/01",
    "3/01020102",
    "4/01",
    "!4/0101",
    "5/02",
    "0/0101",
    "6/01",
    "6/02%0f",
    "!7/??02",
    "8/00%00",
    "3/01",
];
/// Expressions for the IP classes.
const EXPRESSIONS: [&str; 6] =
    ["ip[0] & 0x0f = 1", "src 1.1.1.1", "ip[1] = 2", "not ip[1] = 1", "proto 1", "ip vers 0"];

impl Generator {
    fn new(seed: u64) -> Generator {
        let random = Random::new(seed);
        Generator { random, text: String::new(), count: 0, open: Vec::new(), classifiers: Vec::new() }
    }

    fn router(mut self) -> String {
        let burst = 1 + self.random.below(40);
        self.text.push_str(&format!("q :: Queue({PACKETS}) -> u :: Unqueue({burst});\n"));
        for _ in 0..PACKETS {
            let packet = self.packet();
            self.text.push_str(&format!("InfiniteSource(DATA \\<{packet}>, LIMIT 1) -> q;\n"));
        }
        self.open.push(("u".to_string(), false));
        for _ in 0..3 + self.random.below(16) {
            self.step();
        }
        for (output, _) in std::mem::take(&mut self.open) {
            let n = self.number();
            self.text.push_str(&format!("{output} -> Print(k{n}, -1) -> Counter -> Discard;\n"));
        }
        if self.random.below(5) == 0 && !self.classifiers.is_empty() {
            let called = self.classifiers.swap_remove(self.random.below(self.classifiers.len()));
            self.text.push_str(&format!("Script(wait 5s, read {called}.drop_reasons);\n"));
        }
        self.text
    }

    fn number(&mut self) -> usize {
        self.count += 1;
        self.count
    }

    /// Up to a dozen small bytes in hexadecimal.
    fn packet(&mut self) -> String {
        let length = self.random.below(12);
        (0..length).map(|_| self.random.pick(&["01", "01", "02", "02", "00", "03", "11"])).collect()
    }

    /// An output that waits, most often of a Classifier.
    fn take(&mut self) -> String {
        let after: Vec<usize> = (0..self.open.len()).filter(|&n| self.open[n].1).collect();
        let at = match after.is_empty() || self.random.below(5) == 0 {
            true => self.random.below(self.open.len()),
            false => after[self.random.below(after.len())],
        };
        self.open.swap_remove(at).0
    }

    fn step(&mut self) {
        let from = self.take();
        match self.random.below(10) {
            0 => self.single(&from, "Counter"),
            1 => self.single(&from, "Queue -> Unqueue(7)"),
            2 => self.ip(&from),
            3 => self.compound(&from),
            _ => self.classifier(&from),
        }
    }

    fn single(&mut self, from: &str, element: &str) {
        let n = self.number();
        self.text.push_str(&format!("{from} -> {element} -> x{n} :: Null;\n"));
        self.open.push((format!("x{n}"), false));
    }

    /// Patterns of one or two clauses; often the last is for the rest, sometimes one in the middle.
    fn patterns(&mut self) -> Vec<String> {
        let count = 1 + self.random.below(3);
        let mut patterns: Vec<String> = (0..count).map(|_| self.pattern()).collect();
        if self.random.below(3) > 0 {
            patterns.push("-".to_string());
        }
        patterns
    }

    fn pattern(&mut self) -> String {
        match self.random.below(12) {
            0 => "-".to_string(),
            1..6 => format!("{} {}", self.random.pick(&CLAUSES), self.random.pick(&CLAUSES)),
            _ => self.random.pick(&CLAUSES).to_string(),
        }
    }

    /// A Classifier, sometimes with packets from elsewhere too.
    fn classifier(&mut self, from: &str) {
        let (n, patterns) = (self.number(), self.patterns());
        self.text.push_str(&format!("{from} -> x{n} :: Classifier({});\n", patterns.join(", ")));
        for _ in 0..self.random.below(3) {
            if self.random.below(3) == 0 && !self.open.is_empty() {
                let other = self.take();
                self.text.push_str(&format!("{other} -> x{n};\n"));
            }
        }
        self.open.extend((0..patterns.len()).map(|port| (format!("x{n} [{port}]"), true)));
        self.classifiers.push(format!("x{n}"));
    }

    fn compound(&mut self, from: &str) {
        let (n, patterns) = (self.number(), self.patterns());
        let inside = format!("input -> c :: Classifier({});", patterns.join(", "));
        let outputs: String =
            (0..patterns.len()).map(|port| format!(" c [{port}] -> [{port}] output;")).collect();
        self.text.push_str(&format!("{from} -> x{n} :: {{ {inside}{outputs} }};\n"));
        self.open.extend((0..patterns.len()).map(|port| (format!("x{n} [{port}]"), true)));
    }

    /// One of the IP classes.
    fn ip(&mut self, from: &str) {
        let (n, a, b) = (self.number(), self.random.pick(&EXPRESSIONS), self.random.pick(&EXPRESSIONS));
        let element = match self.random.below(3) {
            0 => format!("IPFilter(allow {a}, 1 {b}, deny all)"),
            1 => format!("IPClassifier({a}, {b})"),
            _ => format!("IPClassifier({a}, -)"),
        };
        self.text.push_str(&format!("{from} -> MarkIPHeader -> x{n} :: {element};\n"));
        self.open.extend((0..2).map(|port| (format!("x{n} [{port}]"), false)));
    }
}
