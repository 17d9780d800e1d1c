//! Routers of odd shapes and with odd names: a plan is never much larger than its router, the compiler takes every text, and
//! what comes out does the same.

mod common;

use clickwork_compile::{Scope, Writer, link, plan, write};
use common::exercise::exercise;
use common::random::Random;
use common::{compiled, difference, start};
use std::fmt::Write;

/// Elements in a row.
fn row(count: usize) -> String {
    "in :: Null; Idle -> in".to_string() + &" -> Paint(1)".repeat(count) + " -> Print(end) -> Discard;"
}

/// A queue and elements in a row behind it.
fn pulled_row(count: usize) -> String {
    let row = " -> Paint(1)".repeat(count);
    format!("in :: Null; Idle -> in -> Queue{row} -> Unqueue -> Print(end) -> Discard;")
}

/// Elements that divide ways, which join again at the next: 2^count ways.
fn ladder(count: usize) -> String {
    let declared: String = (0..count).map(|n| format!("s{n} :: CheckPaint({});\n", n % 7)).collect();
    let mut text = format!("in :: Null; end :: Print(end) -> Discard;\n{declared}Idle -> in -> s0;\n");
    for n in 0..count {
        let next = if n + 1 == count { "end".to_string() } else { format!("s{}", n + 1) };
        let _ = writeln!(text, "s{n} [0] -> {next}; s{n} [1] -> {next};");
    }
    text
}

/// Classifiers with many outputs, each of which leads to the next classifier.
fn wide(outputs: usize, levels: usize) -> String {
    let patterns: Vec<String> = (0..outputs - 1).map(|n| format!("0/{n:04x}")).collect();
    let mut text = "in :: Null; end :: Print(end) -> Discard;\n".to_string();
    (0..levels).for_each(|level| _ = writeln!(text, "c{level} :: Classifier({}, -);", patterns.join(", ")));
    text += "Idle -> in -> c0;\n";
    for level in 0..levels {
        let next = if level + 1 == levels { "end".to_string() } else { format!("c{}", level + 1) };
        (0..outputs).for_each(|output| _ = writeln!(text, "c{level} [{output}] -> {next};"));
    }
    text
}

/// What stands in comments of what is generated.
const ODD: &[&str] = &[
    "*/ }",
    "/*",
    "// \\",
    "\u{202e}\u{2066}",
    "é漢\u{1f980}",
    "\u{2028}\u{85}\r",
    "\"#",
    "{}",
    "'",
    "\t\u{b}\u{c}",
];

fn odd_names(random: &mut Random) -> String {
    let mut text = "in :: Null; Idle -> in".to_string();
    for n in 0..4 {
        let odd: String = (0..4).map(|_| random.pick(ODD)).collect::<String>().replace("*/", "* /");
        let long = "x".repeat(if random.once_in(3) { 3000 } else { 3 });
        let _ = write!(text, " -> {long}{n}@_0 :: Strip(/* {odd} */ {n} // \"\n)");
    }
    text + " -> Print(end) -> Discard;"
}

/// Every shape, small enough to be compiled quickly.
fn shapes() -> Vec<String> {
    let mut shapes = vec![
        row(800),
        pulled_row(150),
        ladder(40),
        wide(500, 1),
        wide(30, 3),
        // An element that leads to itself, alone and on the way.
        "in :: Null; Idle -> in -> s :: CheckLength(20) -> Discard; s [1] -> Strip(4) -> s;".to_string(),
        "in :: Null; Idle -> in -> Discard; n :: Null -> n;".to_string(),
        "in :: CheckLength(30); Idle -> in -> Print(end) -> Discard; in [1] -> Strip(9) -> in;".to_string(),
        "in :: Switch(1); Idle -> in -> in; in [1] -> Print(end) -> Discard;".to_string(),
        "in :: Null; Idle -> in -> a :: CheckLength(9) -> Discard; a [1] -> Strip(1) -> b :: CheckLength(8) -> Discard; b [1] -> Null -> a;".to_string(),
    ];
    let mut random = Random::new(5);
    shapes.extend((0..6).map(|_| odd_names(&mut random)));
    shapes
}

#[test]
fn odd_routers_compile_and_do_the_same() {
    let (shapes, mut writer) = (shapes(), Writer::default());
    for text in &shapes {
        let running =
            start(text, false).unwrap_or_else(|e| panic!("{}", e.chars().take(500).collect::<String>()));
        writer.add(&running.router, &plan(&running.router, Scope::All));
    }
    let text = clickwork_compile::Text { source: writer.finish(), symbols: Vec::new() };
    let library = compiled("shapes", &text);
    for text in &shapes {
        for ordered in [false, true] {
            let (mut plain, mut compiled) =
                (start(text, ordered).expect("correct"), start(text, ordered).expect("correct"));
            let segments = plan(&compiled.router, Scope::All);
            let (count, text_of) = (segments.len(), write(&compiled.router, &segments));
            let linked = link(segments, &text_of, &library);
            assert_eq!(linked.len(), count, "all code is in the library");
            compiled.router.install(linked);
            exercise(&mut plain, text, 3, ordered);
            exercise(&mut compiled, text, 3, ordered);
            if let Some(difference) = difference(&plain.seen(), &compiled.seen()) {
                panic!("ordered {ordered}\n{}\n{difference}", text.chars().take(2000).collect::<String>());
            }
        }
    }
}

#[test]
fn code_loaded_from_memory_is_not_mistaken_for_other_code() {
    let configs = ["Paint(1)", "Paint(2)"].map(|paint| format!("in :: {paint}; Idle -> in -> Discard;"));
    let mut loaded = Vec::new();
    for (n, text) in configs.iter().enumerate() {
        let running = start(text, false).expect("correct");
        let text = write(&running.router, &plan(&running.router, Scope::All));
        loaded.push((compiled(&format!("memory-{n}"), &text), text.symbols[0].clone()));
    }
    for (n, (library, symbol)) in loaded.iter().enumerate() {
        assert!(library.function(symbol).is_some());
        assert!(library.function(&loaded[1 - n].1).is_none());
    }
}

#[test]
fn plans_and_texts_are_about_as_large_as_their_routers() {
    // More exits than numbers for them, more ways than anybody could count, more elements than fit in a segment.
    for text in [ladder(4000), wide(500, 3), wide(2000, 1), row(3000), pulled_row(1000)] {
        let running =
            start(&text, false).unwrap_or_else(|e| panic!("{}", e.chars().take(500).collect::<String>()));
        let segments = plan(&running.router, Scope::All);
        let nodes: usize = segments.iter().map(|segment| segment.nodes.len()).sum();
        let (elements, ports) = (running.router.len(), running.router.links().len());
        assert!(nodes <= 3000 + 9 * elements, "{nodes} for {elements}");
        let exits = segments.iter().map(|segment| segment.nodes[0].exits.len()).max().unwrap_or(0);
        assert!(exits <= 20_000, "{exits} exits");
        let source = write(&running.router, &segments).source;
        let configs: usize = running.router.ids().map(|id| running.router.info(id).config.len()).sum();
        assert!(source.len() <= 50_000 + 600 * ports + 100 * configs, "{} for {elements}", source.len());
        let covered: std::collections::BTreeSet<_> =
            segments.iter().flat_map(|segment| segment.nodes.iter().map(|node| node.element)).collect();
        assert!(covered.len() + 8 >= elements, "{} of {elements} elements are in segments", covered.len());
    }
}
