//! Measures `click-xform` on a large configuration: 300 replacements among 5,000 elements.
//!
//!    cargo run --release -p clickwork-passes --example xform_speed
//!
//! The configuration has 300 interfaces, each with the output path of an IP router, which all send to one queue, and
//! chains that only look like it. The patterns are those of `patterns/ip.clickpat`.

use clickwork_lang::Options;
use clickwork_passes::Unit;
use clickwork_passes::xform::{Patterns, shipped, xform};
use std::fmt::Write;
use std::time::Instant;

const ELEMENTS: usize = 5_000;
const INTERFACES: usize = 300;

fn configuration() -> String {
    let mut text = String::from("in :: Idle; errors :: Discard; out :: Queue -> Discard;\n");
    for n in 0..INTERFACES {
        let _ = writeln!(
            text,
            "in -> DropBroadcasts -> cp{n} :: PaintTee({}) -> gw{n} :: IPGWOptions(10.0.0.1) -> FixIPSrc(10.0.0.1)
                -> dt{n} :: DecIPTTL -> fr{n} :: IPFragmenter(1500) -> out;
             cp{n} [1] -> errors; gw{n} [1] -> errors; dt{n} [1] -> errors; fr{n} [1] -> errors;",
            n % 200
        );
    }
    // Like an output path up to the end, where one connection is missing.
    for n in 0..(ELEMENTS - 4 - 6 * INTERFACES) / 6 {
        let _ = writeln!(
            text,
            "in -> DropBroadcasts -> cq{n} :: PaintTee(1) -> gx{n} :: IPGWOptions(10.0.0.1) -> FixIPSrc(10.0.0.1)
                -> du{n} :: DecIPTTL -> IPFragmenter(1500) -> out;
             cq{n} [1] -> errors; gx{n} [1] -> errors; du{n} [1] -> errors;",
        );
    }
    text
}

fn main() {
    let options = Options::any_class();
    let (mut unit, messages) = Unit::read("large.click", configuration().into_bytes(), &options);
    assert!(messages.is_empty());
    let elements = unit.network.elements().count();
    let mut patterns = Patterns::default();
    for file in shipped::SHIPPED {
        let file = unit.sources.add(file.name, file.text);
        assert!(patterns.read(&mut unit.sources, file, &options).is_empty());
    }
    let (patterns, _) = patterns.prepare(&unit.sources);
    let start = Instant::now();
    let replaced = xform(&mut unit.network, &mut unit.sources, &patterns).map_or(0, |list| list.len());
    println!("{replaced} replacements among {elements} elements: {:.1?}", start.elapsed());
}
