//! What must hold for any bytes that are given to the tools: a configuration or an archive with one, and behind a line
//! `== patterns`, if there is one, a pattern file. No tool panics or goes on forever, and what a tool makes of a correct
//! configuration is a correct configuration, archive and all.

use clickwork_elements::registry;
use clickwork_lang::Options;
use clickwork_passes::combine::{Component, combine, components, spec::LinkSpec, uncombine};
use clickwork_passes::devirtualize::{Choices, Sharing, specialise, undo};
use clickwork_passes::element_map::ElementMap;
use clickwork_passes::xform::{Called, Patterns, shipped, xform};
use clickwork_passes::{Facts, Unit, align::align, export::json, fastclassifier, types, undead::undead};
use clickwork_router::Registry;
use clickwork_source::{Diagnostics, Span, render_click, render_human};
use std::collections::BTreeSet;

/// More than this takes too long in a fuzz target.
const LONGEST: usize = 1 << 16;

/// Runs all tools; panics if one of them goes wrong.
pub fn check(data: &[u8]) {
    let data = &data[..data.len().min(LONGEST)];
    let mark = b"\n== patterns\n";
    let at = data.windows(mark.len()).position(|w| w == mark);
    let (config, patterns) = at.map_or((data, &b""[..]), |at| (&data[..at], &data[at + mark.len()..]));
    let (unit, messages) = read(config);
    say(&unit, &messages);
    ElementMap::of(&unit.files);
    let is_correct = !messages.has_errors();
    let registry = registry();
    let patterns = String::from_utf8_lossy(patterns).into_owned();
    let texts = if patterns.is_empty() { shipped_patterns(&unit) } else { vec![&*patterns] };
    let mut all = vec![read(config).0];
    all.push(after(config, &registry, |unit, facts| undead(&mut unit.network, facts, Span::NONE)));
    all.push(after(config, &registry, |unit, facts| align(&mut unit.network, facts, Span::NONE)));
    all.extend(
        texts.into_iter().map(|text| after(config, &registry, |unit, facts| replaced(unit, facts, text))),
    );
    all.push(after(config, &registry, specialised));
    all.push(after(config, &registry, |unit, _| {
        fastclassifier::reverse(&mut unit.network, &mut unit.files);
        undo(unit);
        Diagnostics::new()
    }));
    all.extend(combined(config));
    let facts = Facts::new(&registry, &unit.files);
    say(&unit, &types::check(&unit.network, &facts));
    types::describe(&unit.network, &facts);
    json::write("fuzz.click", &unit, &facts);
    if is_correct && !has_names_of_classes(&unit, &registry) {
        all.iter().for_each(is_read_again);
    }
}

/// The patterns that come with the program, those that could match: to read them takes longer than all tools.
fn shipped_patterns(unit: &Unit) -> Vec<&'static str> {
    let texts = ["ip", "arp"].map(|name| shipped::find(name).unwrap().text);
    let could_match = |text: &&str| unit.network.elements().any(|(_, e)| text.contains(&e.class));
    texts.into_iter().filter(could_match).collect()
}

fn read(config: &[u8]) -> (Unit, Diagnostics) {
    Unit::read("fuzz.click", config.to_vec(), &Options::any_class())
}

/// A configuration after a pass, with the pass's messages rendered.
fn after(
    config: &[u8],
    registry: &Registry,
    pass: impl FnOnce(&mut Unit, &Facts<'_>) -> Diagnostics,
) -> Unit {
    let mut unit = read(config).0;
    let facts = Facts::new(registry, &unit.files);
    let messages = pass(&mut unit, &facts);
    say(&unit, &messages);
    unit
}

fn say(unit: &Unit, messages: &Diagnostics) {
    for message in messages.iter().take(20) {
        render_click(&unit.sources, message);
        render_human(&unit.sources, message, false);
    }
}

fn replaced(unit: &mut Unit, facts: &Facts<'_>, text: &str) -> Diagnostics {
    let called = Called::new(&unit.network, facts);
    let file = unit.sources.add("fuzz.clickpat", text);
    let mut patterns = Patterns::default();
    let mut messages = patterns.read(&mut unit.sources, file, &Options::any_class());
    let (patterns, doubts) = patterns.prepare(&unit.sources);
    messages.extend(doubts);
    if messages.has_errors() {
        return messages;
    }
    let before = unit.network.clone();
    match xform(&mut unit.network, &mut unit.sources, &patterns) {
        Ok(replaced) => messages.extend(called.warn(&unit.network, &replaced)),
        Err(error) => {
            unit.network = before;
            messages.push(error);
        }
    }
    messages
}

/// Elements with the same configuration share a class.
fn specialised(unit: &mut Unit, facts: &Facts<'_>) -> Diagnostics {
    undo(unit);
    let choices = Choices { left_out: BTreeSet::new(), code: &|e| Some(e.config.clone()) };
    let sharing = Sharing::new(&unit.network, facts, &choices);
    specialise(unit, facts, &sharing);
    Diagnostics::new()
}

/// The configuration as a router of a combination, that taken out again, and each router that it has itself.
fn combined(config: &[u8]) -> Vec<Unit> {
    let unit = read(config).0;
    let names = components(&unit.files).unwrap_or_default();
    let own = names.iter().take(8).filter_map(|name| {
        let mut own = read(config).0;
        uncombine(&mut own.network, &mut own.files, name, Span::NONE).ok().map(|()| own)
    });
    let mut all: Vec<Unit> = own.collect();
    let component =
        |name: &str| Component { name: name.to_string(), graph: unit.graph(), files: unit.files.clone() };
    let links: Vec<LinkSpec> =
        ["a.eth0 -> b.eth0", "b.eth0 -> a.eth0"].iter().filter_map(|l| LinkSpec::parse(l).ok()).collect();
    for links in [&links[..], &[]] {
        let Ok((network, files, _)) = combine(&[component("a"), component("b")], links, Span::NONE) else {
            continue;
        };
        let [mut both, mut alone] = [read(config).0, read(config).0];
        (alone.network, alone.files) = (network.clone(), files.clone());
        (both.network, both.files) = (network, files);
        let taken = uncombine(&mut alone.network, &mut alone.files, "b", Span::NONE);
        // A link that is damaged may have been one of any router.
        let has_links = unit.network.elements().any(|(_, e)| e.class == "RouterLink");
        assert!(taken.is_ok() || has_links, "{taken:?}");
        all.extend([both, alone]);
    }
    all
}

/// Whether an element is called as a class is. Routers refuse that. Tools, which know no classes, allow it as long as the
/// element is declared before the class is used, so that a tool which orders elements anew may spoil it, with an error at the
/// right place.
fn has_names_of_classes(unit: &Unit, registry: &Registry) -> bool {
    let is_class = |name: &str| registry.get(name).is_some();
    unit.network.elements().any(|(_, e)| unit.network.find(&e.class).is_some() || is_class(&e.name))
}

/// What a tool writes is read again as it is, by the next tool.
fn is_read_again(unit: &Unit) {
    let (again, messages) = Unit::read("<stdin>", unit.to_bytes(), &Options::any_class());
    assert!(!messages.has_errors(), "{messages:?}\n{}", unit.to_text());
    assert_eq!(outline(&again), outline(unit));
    assert_eq!(again.files.members.len(), unit.files.members.len());
}

/// Elements and connections, in any order.
fn outline(unit: &Unit) -> BTreeSet<String> {
    let graph = unit.graph();
    let name = |n: usize| &graph.elements[n].name;
    let elements = graph.elements.iter().map(|e| format!("{} :: {}", e.name, e.class));
    let connections = graph.connections.iter();
    let connections = connections.map(|c| {
        format!("{} [{}] -> [{}] {}", name(c.from.element), c.from.port, c.to.port, name(c.to.element))
    });
    elements.chain(connections).collect()
}
