//! Routers interpreted and compiled do the same: every configuration of the repository that runs anywhere, and random ones.
//!
//! The segments of all routers are put into one text, which the Rust compiler is called on once.

mod common;

use clickwork_compile::{Library, Scope, Text, Writer, plan};
use clickwork_packet::{Batch, Packet};
use clickwork_router::segment::{Code, Exit, Segment};
use clickwork_router::{Driver, ElementId, Endpoint, Processing, Router};
use common::exercise::exercise;
use common::random::{Random, configuration};
use common::subjects::{self, Folder, Subject};
use common::{Running, compiled, difference, packets, start};
use std::time::Duration;

/// Code that was compiled for a test.
struct Compiled {
    library: Library,
}

impl Compiled {
    fn new(name: &str, text: &Text) -> Compiled {
        Compiled { library: compiled(name, text) }
    }

    /// Lets a router run compiled as far as there is code.
    fn install(&self, router: &mut Router) {
        let segments = plan(router, Scope::All);
        let text = clickwork_compile::write(router, &segments);
        router.install(clickwork_compile::link(segments, &text, &self.library));
    }
}

/// The code of all segments of some configurations.
fn text_of<'a>(configurations: impl IntoIterator<Item = &'a str>) -> Text {
    let mut writer = Writer::default();
    let mut symbols = Vec::new();
    for text in configurations {
        let Ok(Running { mut router, .. }) = start(text, false) else { continue };
        symbols.extend(writer.add(&router, &plan(&router, Scope::All)));
        router.cleanup();
    }
    Text { source: writer.finish(), symbols }
}

/// What is seen of a configuration when packets are pushed into each of its elements and it then runs for a while.
fn run(
    subject: &Subject,
    ordered: bool,
    prepare: impl FnOnce(&mut Router),
    folder: &Folder,
) -> (String, usize) {
    let Ok(mut running) = start(&subject.text, ordered) else { return (String::new(), 0) };
    prepare(&mut running.router);
    let compiled = running.router.elements_in_segments();
    let mut random = Random::new(3);
    let may_circle = has_circle(&running.router);
    for id in running.router.ids().filter(|_| !may_circle) {
        for port in pushed_inputs(&running.router, id) {
            let count = if ordered { 1 } else { 1 + random.below(20) };
            let batch: Batch = (0..count).map(|_| packets::packet(&mut random)).collect();
            running.router.push(Endpoint { element: id, port }, batch);
        }
    }
    Driver::default().run_for(&mut running.router, Duration::from_millis(200));
    let mut seen = running.seen();
    running.router.cleanup();
    seen += &running.log.taken();
    (seen + &folder.written(), compiled)
}

/// Whether it is a correct configuration. Those of the tools' tests in which packets can go round would go on for ever.
fn can_run(subject: &Subject) -> bool {
    let is_test = subject.name.starts_with("crates/passes");
    start(&subject.text, false).is_ok_and(|running| !is_test || !has_circle(&running.router))
}

/// Whether packets pushed into the router could go round for ever.
fn has_circle(router: &Router) -> bool {
    let pushes: Vec<_> = router.links().iter().filter(|link| is_push(router, link.to)).collect();
    let mut left: Vec<ElementId> = router.ids().collect();
    loop {
        let goes_on = |id: &ElementId| {
            pushes.iter().any(|link| link.from.element == *id && left.contains(&link.to.element))
        };
        let next: Vec<ElementId> = left.iter().copied().filter(goes_on).collect();
        if next.len() == left.len() {
            return !left.is_empty();
        }
        left = next;
    }
}

fn is_push(router: &Router, to: Endpoint) -> bool {
    router.info(to.element).inputs.get(usize::from(to.port)) == Some(&Processing::Push)
}

fn pushed_inputs(router: &Router, id: ElementId) -> Vec<u16> {
    let inputs = router.info(id).inputs.iter().zip(0..);
    inputs.filter(|(input, _)| **input == Processing::Push).map(|(_, port)| port).collect()
}

#[test]
fn the_configurations_of_the_repository_do_the_same_compiled() {
    let folder = Folder::enter("both-ways");
    let mut subjects = subjects::all();
    subjects.retain(can_run);
    let text = text_of(subjects.iter().map(|subject| subject.text.as_str()));
    folder.written();
    let code = Compiled::new("both-ways", &text);
    let (mut elements, mut differences) = (0, Vec::new());
    for subject in &subjects {
        for ordered in [false, true] {
            let (plain, _) = run(subject, ordered, |_| {}, &folder);
            let (compiled, count) = run(subject, ordered, |router| code.install(router), &folder);
            elements += count;
            let Some(difference) = difference(&plain, &compiled) else { continue };
            differences.push(format!("{}, ordered {ordered}\n{difference}", subject.name));
        }
    }
    println!("{} configurations, {elements} elements compiled", subjects.len());
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
    let examples = subjects.iter().filter(|subject| subject.name.starts_with("examples/")).count();
    assert!(examples >= 8 && subjects.len() > 200 && elements > 800, "{examples} examples");
}

#[test]
fn random_routers_do_the_same_compiled() {
    let texts: Vec<String> = common::seeds(60).map(|seed| configuration(&mut Random::new(seed))).collect();
    let code = Compiled::new("random", &text_of(texts.iter().map(String::as_str)));
    let mut elements = 0;
    for (text, seed) in texts.iter().zip(common::seeds(60)) {
        for ordered in [false, true] {
            let mut plain = start(text, ordered).expect("it is correct");
            let mut compiled = start(text, ordered).expect("it is correct");
            code.install(&mut compiled.router);
            elements += compiled.router.elements_in_segments();
            exercise(&mut plain, text, seed, ordered);
            exercise(&mut compiled, text, seed, ordered);
            if let Some(difference) = difference(&plain.seen(), &compiled.seen()) {
                panic!("seed {seed}, ordered {ordered}\n{text}\n{difference}");
            }
        }
    }
    println!("{} random configurations, {elements} elements compiled", texts.len());
}

/// How a packet comes out of a segment, by the fast paths of the elements themselves.
fn exit(router: &mut Router, segment: &Segment, p: &mut Packet) -> Exit {
    let mut node = &segment.nodes[0];
    loop {
        let fast = router.info(node.element).class.fast.expect("elements in segments have fast paths");
        let output = router.with_element(node.element, |element, _| fast.run(element, p)).flatten();
        let Some(way) = output.and_then(|output| node.ways.get(usize::from(output))) else {
            return node.exits.start;
        };
        match way.node {
            Some(next) => node = &segment.nodes[next],
            None => return way.exits.start,
        }
    }
}

/// The same packets twice, some of them shared with a third one.
fn twice(random: &mut Random, count: usize) -> (Vec<Packet>, Vec<Packet>, Vec<Packet>) {
    let (mut one, mut other, mut shared) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..count {
        let seed = random.below(1 << 30) as u64;
        let (a, b) = (packets::packet(&mut Random::new(seed)), packets::packet(&mut Random::new(seed)));
        if random.once_in(4) {
            shared.extend([a.clone(), b.clone()]);
        }
        one.push(a);
        other.push(b);
    }
    (one, other, shared)
}

#[test]
fn compiled_code_does_what_fast_paths_do_to_every_packet() {
    let texts: Vec<String> = (5000..5080).map(|seed| configuration(&mut Random::new(seed))).collect();
    let text = text_of(texts.iter().map(String::as_str));
    let code = Compiled::new("exits", &text);
    let mut random = Random::new(11);
    let mut taken = std::collections::BTreeSet::new();
    for (number, text) in texts.iter().enumerate() {
        let Running { mut router, .. } = start(text, false).expect("it is correct");
        let segments = plan(&router, Scope::All);
        let symbols = clickwork_compile::write(&router, &segments).symbols;
        for (segment, symbol) in segments.iter().zip(&symbols) {
            let Some(Code::Function(function)) = code.library.function(symbol) else {
                panic!("{symbol} is not in the library\n{text}");
            };
            let (mut expected, mut found, _shared) = twice(&mut random, 40);
            let exits: Vec<Exit> = expected.iter_mut().map(|p| exit(&mut router, segment, p)).collect();
            let mut compiled = vec![0; found.len()];
            let differ = function(&mut found, &mut compiled);
            assert_eq!(compiled, exits, "{symbol}\n{text}");
            assert_eq!(differ, exits.iter().any(|exit| *exit != exits[0]), "{symbol}\n{text}");
            for (n, (a, b)) in expected.iter().zip(&found).enumerate() {
                assert_eq!(packets::look(b), packets::look(a), "packet {n}, {symbol}\n{text}");
            }
            taken.extend(exits.iter().map(|exit| (number, symbol.clone(), *exit)));
        }
    }
    assert!(taken.len() > 1000, "{} exits were taken", taken.len());
}

#[test]
fn a_text_is_the_same_for_the_same_router_and_its_functions_whatever_elements_are_called() {
    let config =
        "in :: Null; Idle -> in -> a :: Strip(14) -> b :: CheckLength(60) -> Discard; b [1] -> Discard;";
    let text = |config: &str| text_of([config]);
    assert_eq!(text(config), text(config));
    let renamed = text(&config.replace("a ::", "/* Strip(9) */ other ::"));
    assert_eq!(text(config).symbols, renamed.symbols);
    assert_ne!(text(config).source, renamed.source);
    let changed = text(&config.replace("60", "61"));
    assert_ne!(text(config).symbols, changed.symbols);
}
