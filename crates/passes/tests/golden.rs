//! Golden files of all passes: `tests/golden/PASS`, read by `common/golden.rs`, one test for each pass.

mod common;

use clickwork_elements::registry;
use clickwork_lang::archive::Archive;
use clickwork_lang::{Options, elaborate};
use clickwork_passes::combine::{Component, combine, spec::LinkSpec, uncombine};
use clickwork_passes::element_map::{ElementMap, FILE};
use clickwork_passes::xform::{Called, Patterns, shipped, xform};
use clickwork_passes::{Facts, Network, Unit, align::align, fastclassifier, types, undead::undead};
use clickwork_source::{Diagnostics, Severity, Sources, Span, render_click};
use common::devirtualize::devirtualize;
use common::golden::{Case, Outcome, check};
use std::fmt::Write;
use std::sync::Arc;

/// Messages as Click prints them, with remedies; notes are marked.
fn said(sources: &Sources, messages: &Diagnostics) -> String {
    let mut text = String::new();
    for message in messages {
        let kind = if message.severity == Severity::Note { "note: " } else { "" };
        text += &format!("{kind}{}", render_click(sources, message));
        message.hints.iter().for_each(|hint| writeln!(text, "    {hint}").unwrap());
    }
    text
}

/// Reads the section `config`. Sections `define NAME` are variables of the command line.
fn read(case: &Case) -> (Unit, Diagnostics) {
    let defines = case.all("define").map(|(name, value)| (name.to_string(), value.to_string())).collect();
    let expand_defines = !case.has("keep variables");
    let options = Options { defines, expand_defines, ..Options::any_class() };
    Unit::new("t.click", case.get("config").to_string(), Archive::default(), &options)
}

/// As [`read`], with the section `elementmap.xml` attached.
fn read_with_map(case: &Case) -> (Unit, Diagnostics) {
    let (mut unit, messages) = read(case);
    if case.has(FILE) {
        ElementMap::parse(case.get(FILE)).attach(&mut unit.files);
    }
    (unit, messages)
}

/// Runs a pass that changes a network and knows classes.
fn changed(case: &Case, pass: impl FnOnce(&mut Network, &Facts<'_>) -> Diagnostics) -> Outcome {
    let (mut unit, mut messages) = read(case);
    let registry = registry();
    if !messages.has_errors() {
        messages.extend(pass(&mut unit.network, &Facts::new(&registry, &unit.files)));
    }
    Outcome { result: unit.to_text(), messages: said(&unit.sources, &messages) }
}

#[test]
fn flatten_files() {
    check("flatten", 20, |case| {
        let (unit, messages) = read(case);
        let result = if messages.has_errors() { String::new() } else { unit.to_text() };
        Outcome { result, messages: said(&unit.sources, &messages) }
    });
}

#[test]
fn undead_files() {
    check("undead", 20, |case| changed(case, |network, facts| undead(network, facts, Span::NONE)));
}

#[test]
fn align_files() {
    check("align", 15, |case| changed(case, |network, facts| align(network, facts, Span::NONE)));
}

/// The section `elementmap.xml` is attached before. `no combine` and `no classes` are options, `again` runs the pass before
/// what is compared, and `reverse` the way back instead of it. `attached` wants the facts about classes, `source` their code.
#[test]
fn fastclassifier_files() {
    check("fastclassifier", 35, |case| {
        let (mut unit, mut messages) = read_with_map(case);
        if case.has("again") {
            fastclassified(case, &mut unit);
        }
        messages.extend(match case.has("reverse") {
            true => fastclassifier::reverse(&mut unit.network, &mut unit.files),
            false => fastclassified(case, &mut unit),
        });
        let attached = |section: &str, file| {
            let file = unit.files.get(file).filter(|_| case.has(section));
            file.map(|m| format!("--- {}\n{}", m.name, String::from_utf8_lossy(&m.data))).unwrap_or_default()
        };
        let files = attached("attached", FILE) + &attached("source", fastclassifier::SOURCE);
        Outcome { result: unit.to_text() + &files, messages: said(&unit.sources, &messages) }
    });
}

fn fastclassified(case: &Case, unit: &mut Unit) -> Diagnostics {
    let registry = Arc::new(registry());
    let facts = Facts::new(&registry, &unit.files);
    let options =
        fastclassifier::Options { combine: !case.has("no combine"), classes: !case.has("no classes") };
    // Instead of the code, which may become better, the steps it is made of.
    let diagrams = |alone: &_| {
        let mut diagrams = common::diagrams(alone, &registry);
        diagrams.values_mut().flatten().for_each(|d| d.code = d.code.as_ref().map(|_| d.steps.clone()));
        diagrams
    };
    fastclassifier::fastclassifier(&mut unit.network, &mut unit.files, &facts, options, diagrams)
}

/// A section `leave out` has names, `elementmap.xml` is attached before. The result says which elements share which class; with
/// a section `archive` it is the archive.
#[test]
fn devirtualize_files() {
    check("devirtualize", 20, |case| {
        let [(before, messages), (unit, _)] = [read_with_map(case), read_with_map(case)];
        let registry = registry();
        let after = devirtualize(unit, &registry, case.get("leave out"));
        after.check(&before, &registry);
        let result = match case.has("archive") {
            true => String::from_utf8(after.unit.wrap(after.unit.to_text())).unwrap(),
            false => after.listing(),
        };
        Outcome { result, messages: said(&before.sources, &messages) }
    });
}

/// Of messages the first line. The section `known` asks what is known of packets.
#[test]
fn types_files() {
    check("types", 30, |case| {
        let (unit, messages) = read(case);
        assert!(!messages.has_errors(), "{messages:?}");
        let (registry, none) = (registry(), Archive::default());
        let facts = Facts::new(&registry, &none);
        let first = |text: String| text.lines().next().unwrap_or_default().to_string() + "\n";
        let messages = types::check(&unit.network, &facts);
        let messages = messages.iter().map(|d| first(render_click(&unit.sources, d))).collect();
        let known = types::describe(&unit.network, &facts).join("\n");
        Outcome { result: if case.has("known") { known } else { String::new() }, messages }
    });
}

/// Sections `patterns` and `shipped NAME`, any number of times; `reverse`, perhaps. The result has line marks.
#[test]
fn xform_files() {
    check("xform", 15, |case| {
        let (mut unit, mut messages) = read(case);
        let registry = registry();
        let called = Called::new(&unit.network, &Facts::new(&registry, &unit.files));
        let patterns = patterns(case, &mut unit, &mut messages);
        if messages.has_errors() {
            return Outcome { result: String::new(), messages: said(&unit.sources, &messages) };
        }
        let (patterns, doubts) = patterns.prepare(&unit.sources);
        messages.extend(doubts);
        match xform(&mut unit.network, &mut unit.sources, &patterns) {
            Ok(replaced) => {
                messages.extend(called.warn(&unit.network, &replaced));
                let mut messages = said(&unit.sources, &messages);
                for r in replaced {
                    writeln!(messages, "{} ({}) for {}", r.compound, r.pattern, r.elements.join(", "))
                        .unwrap();
                }
                Outcome { result: String::from_utf8(unit.to_bytes()).unwrap(), messages }
            }
            Err(error) => {
                messages.push(error);
                Outcome { result: String::new(), messages: said(&unit.sources, &messages) }
            }
        }
    });
}

fn patterns(case: &Case, unit: &mut Unit, messages: &mut Diagnostics) -> Patterns {
    let mut patterns = Patterns::default();
    let mut read = |name: String, text: &str| {
        let file = unit.sources.add(name, text);
        messages.extend(patterns.read(&mut unit.sources, file, &Options::any_class()));
    };
    let mut count = 0;
    for (title, text) in case.sections() {
        if title == "patterns" {
            read(format!("p{count}.clickpat"), text);
            count += 1;
        } else if let Some(name) = title.strip_prefix("shipped ") {
            let shipped = shipped::find(name).unwrap();
            read(shipped.name.to_string(), shipped.text);
        }
    }
    if case.has("reverse") {
        patterns.reverse();
    }
    patterns
}

/// Sections `router NAME`, and `links` with one in a line. `undead` runs in between if there is a section of that name; the
/// result is the combination, or with a section `uncombine NAME` that router of it. Attached files stand behind it.
#[test]
fn combine_files() {
    check("combine", 20, |case| {
        let mut sources = Sources::new();
        let (result, messages) = combined(case, &mut sources);
        Outcome { result, messages: said(&sources, &messages) }
    });
}

fn combined(case: &Case, sources: &mut Sources) -> (String, Diagnostics) {
    let mut messages = Diagnostics::new();
    let mut routers = Vec::new();
    for (name, text) in case.all("router") {
        let file = sources.add(format!("{name}.click"), text);
        let (graph, found) = elaborate(sources, file, &Options::any_class());
        messages.extend(found);
        routers.push(Component { name: name.to_string(), graph, files: Archive::default() });
    }
    let links: Result<Vec<_>, _> = case.get("links").lines().map(LinkSpec::parse).collect();
    let place = sources.add("<click-combine>", "");
    let links = match links {
        Ok(links) => links,
        Err(e) => return (e, messages),
    };
    let (mut network, mut files) = match combine(&routers, &links, Span::new(place, 0, 0)) {
        Ok((network, files, more)) => {
            messages.extend(more);
            (network, files)
        }
        Err(errors) => {
            messages.extend(errors);
            return (String::new(), messages);
        }
    };
    if case.has("undead") {
        undead(&mut network, &Facts::new(&registry(), &files), Span::NONE);
    }
    for (name, _) in case.all("uncombine") {
        if let Err(errors) = uncombine(&mut network, &mut files, name, Span::NONE) {
            messages.extend(errors);
            return (String::new(), messages);
        }
    }
    let attached =
        files.members.iter().map(|m| format!("--- {}\n{}\n", m.name, String::from_utf8_lossy(&m.data)));
    let attached: String = attached.collect();
    (format!("{}{attached}", clickwork_lang::print(&network.into_graph())), messages)
}
