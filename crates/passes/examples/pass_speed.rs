//! How long each pass takes on networks of growing size: IP routers with many interfaces, and one element with all the ports.
//!
//! `cargo run --release -p clickwork-passes --example pass_speed [ELEMENTS]...`

use clickwork_elements::registry;
use clickwork_lang::Options;
use clickwork_passes::combine::{Component, combine, spec::LinkSpec, uncombine};
use clickwork_passes::devirtualize::{Choices, Sharing, specialise};
use clickwork_passes::xform::{Patterns, shipped, xform};
use clickwork_passes::{Facts, Unit, align::align, types, undead::undead};
use clickwork_source::Span;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Instant;

/// A router with as many interfaces as make so many elements. All share a lookup and, with `wide`, a Tee and a scheduler.
fn router(elements: usize, wide: bool) -> String {
    let mut text = "rt :: RadixIPLookup(0/0 0); rt -> out :: Discard;\n".to_string();
    if wide {
        text.push_str("t :: Tee; InfiniteSource -> t; r :: RoundRobinSched -> Discard;\n");
    }
    for n in 0..elements / 16 {
        let _ = writeln!(
            text,
            "f{n} :: FromDevice(e{n}) -> c{n} :: Classifier(12/0806 20/0002, 12/0800, -) -> Discard; c{n} [2] -> Discard;
             c{n} [1] -> Paint(1) -> Strip(14) -> CheckIPHeader -> GetIPAddress(16) -> s{n} :: StaticSwitch(0) -> rt;
             s{n} [1] -> Null -> Discard; rt [{port}] -> Null -> q{n} :: Queue -> Unqueue -> ToDump(/dev/null);",
            port = n + 1
        );
        if wide {
            let _ = writeln!(text, "t [{n}] -> Queue -> [{n}] r;");
        }
    }
    text
}

fn timed<T>(name: &str, job: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = job();
    println!("  {name:<14} {:>9.1} ms", start.elapsed().as_secs_f64() * 1e3);
    result
}

fn main() {
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|n| n.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![5_000, 50_000] } else { sizes };
    let registry = registry();
    for (size, wide) in sizes.iter().flat_map(|&size| [(size, false), (size, true)]) {
        let text = router(size, wide);
        let read = |text: &str| Unit::read("a.click", text.as_bytes().to_vec(), &Options::any_class()).0;
        let unit = timed("flatten, read", || read(&text));
        println!(
            "{} elements{}",
            unit.network.elements().count(),
            if wide { ", two of them wide" } else { "" }
        );
        let bytes = timed("write", || unit.to_bytes());
        timed("read again", || Unit::read("b.click", bytes, &Options::any_class()));
        let facts = Facts::new(&registry, &unit.files);
        let mut one = read(&text);
        timed("undead", || undead(&mut one.network, &facts, Span::NONE));
        let mut one = read(&text);
        timed("align", || align(&mut one.network, &facts, Span::NONE));
        timed("types", || types::check(&unit.network, &facts));
        let mut one = read(&text);
        let mut patterns = Patterns::default();
        let file = one.sources.add("ip", shipped::find("ip").map_or("", |s| s.text));
        patterns.read(&mut one.sources, file, &Options::any_class());
        let (patterns, _) = patterns.prepare(&one.sources);
        let count = timed("xform -p ip", || {
            xform(&mut one.network, &mut one.sources, &patterns).map_or(0, |r| r.len())
        });
        println!("  ({count} replacements)");
        let mut one = read(&text);
        timed("devirtualize", || {
            let choices = Choices { left_out: BTreeSet::new(), code: &|e| Some(e.config.clone()) };
            let sharing = Sharing::new(&one.network, &facts, &choices);
            specialise(&mut one, &facts, &sharing)
        });
        let component =
            |name: &str| Component { name: name.into(), graph: unit.graph(), files: unit.files.clone() };
        let links: Vec<LinkSpec> = Vec::new();
        let both = timed("combine", || combine(&[component("a"), component("b")], &links, Span::NONE));
        if let Ok((mut network, mut files, _)) = both {
            let _ = timed("uncombine", || uncombine(&mut network, &mut files, "a", Span::NONE));
        }
    }
}
