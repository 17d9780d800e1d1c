//! Arguments as Click reads them: which there are, which must be given, which by position, and what may be left empty.
#![allow(missing_docs)]

use clickwork_elements::registry;
use clickwork_lang::{Options as LangOptions, elaborate};
use clickwork_packet::Timestamp;
use clickwork_router::args::{ArgKind, ArgSpec};
use clickwork_router::{Class, Clock, Log, Options, check};
use clickwork_source::{Diagnostics, Sources, render_click};
use std::sync::Arc;

/// What is wrong with a configuration.
fn errors(config: &str) -> String {
    let registry = Arc::new(registry());
    let mut sources = Sources::default();
    let file = sources.add("config", config);
    let (graph, diagnostics) = elaborate(&mut sources, file, &LangOptions::new(&*registry));
    let render = |d: &Diagnostics| d.iter().map(|d| render_click(&sources, d)).collect::<String>();
    if diagnostics.has_errors() {
        return render(&diagnostics);
    }
    let clock = Clock::simulated(Timestamp::new(1_000_000_000, 0));
    let options =
        Options { clock, log: Log::buffer(), click_errors: true, seed: Some(1), ..Options::default() };
    render(&check(&graph, &sources, &registry, options).1)
}

/// A configuration with one element and the connections that it needs to be configured.
fn wired(class: &Class, arguments: &str) -> String {
    let (inputs, outputs) = class.ports.split_once('/').unwrap_or((class.ports, class.ports));
    let least = |side: &str| {
        side.split(|c: char| !c.is_ascii_digit()).next().and_then(|n| n.parse().ok()).unwrap_or(1u32)
    };
    let inputs = (0..least(inputs)).map(|port| format!("Idle -> [{port}] x;"));
    let outputs = (0..least(outputs)).map(|port| format!("x [{port}] -> Idle;"));
    let wires: String = inputs.chain(outputs).collect();
    format!("x :: {}({arguments}); {wires}", class.name)
}

/// What is wrong with the arguments of an element.
fn said(class: &Class, arguments: &str) -> String {
    errors(&wired(class, arguments))
}

/// The class of an element, and its arguments.
fn parsed(element: &str) -> (&'static Class, &str) {
    let (name, arguments) = element.split_once('(').unwrap_or((element, ")"));
    let class = classes().into_iter().find(|c| c.name == name).expect("there is such a class");
    (class, &arguments[..arguments.len() - 1])
}

fn classes() -> Vec<&'static Class> {
    let registry = registry();
    registry.iter().filter(|(name, class)| *name == class.name).map(|(_, class)| class).collect()
}

/// The arguments that may be given by position, in order.
fn positional(class: &Class) -> Vec<&'static ArgSpec> {
    class.args.iter().filter(|a| a.is_positional()).collect()
}

/// The classes of Click with their arguments, mandatory ones with `!`. Words inside an argument (Clipboard's
/// `OFFSET/LENGTH`, KernelFilter's `drop dev DEVNAME`) are none.
const CLICK: &str = include_str!("arguments/click.txt");

/// Arguments that are mandatory in Click and not in our tables, since another argument says whether they must be there:
/// a class, an argument, and a configuration that misses it.
const SPECIAL: &[(&str, &str, &str)] = &[
    // A name that has both addresses may stand for both.
    ("ARPQuerier", "ETH", ""),
    // The kind of socket says what follows.
    ("ChatterSocket", "PORT", "TCP"),
    ("ChatterSocket", "FILENAME", "UNIX"),
    ("ControlSocket", "PORT", "TCP"),
    ("ControlSocket", "FILENAME", "UNIX"),
    ("ControlSocket", "FD", "SOCKET"),
    ("FromSocket", "ADDR", "TCP"),
    ("FromSocket", "PORT", "TCP, 127.0.0.1"),
    ("FromSocket", "FILENAME", "UNIX"),
    ("Socket", "ADDR", "UDP"),
    ("Socket", "PORT", "UDP, 127.0.0.1"),
    ("Socket", "FILENAME", "UNIX_DGRAM"),
    ("ToSocket", "ADDR", "TCP"),
    ("ToSocket", "PORT", "TCP, 127.0.0.1"),
    ("ToSocket", "FILENAME", "UNIX"),
    // One argument alone is the offset.
    ("StoreIPAddress", "OFFSET", ""),
    ("StoreIPAddress", "ADDR", ", 12"),
];

#[test]
fn classes_have_clicks_arguments() {
    let classes = classes();
    let mut wrong = Vec::new();
    for line in CLICK.lines() {
        let (name, arguments) = line.split_once(' ').unwrap_or((line, ""));
        let Some(class) = classes.iter().find(|c| c.name == name) else { continue };
        for argument in arguments.split(' ').filter(|a| !a.is_empty()) {
            let (argument, mandatory) = argument.strip_suffix('!').map_or((argument, false), |a| (a, true));
            let ours = class.args.iter().find(|a| a.name == argument || a.aliases.contains(&argument));
            let is_right = ours.is_some_and(|a| a.is_mandatory() == mandatory);
            let is_special = SPECIAL.iter().any(|(class, special, _)| (*class, *special) == (name, argument));
            if is_right == is_special {
                wrong.push(format!("{name} {argument}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn arguments_that_depend_on_others_are_missed_in_clicks_words() {
    for (name, argument, arguments) in SPECIAL {
        let class = parsed(name).0;
        let missed = format!("{argument}: required argument missing");
        let said = said(class, arguments);
        assert!(said.contains(&missed), "{name}({arguments}): {said}");
    }
}

/// An empty argument is one that is not given: whatever the class says to none at all it says to empty ones.
#[test]
fn empty_arguments_are_those_not_given() {
    for class in classes() {
        let has_rest = class.args.iter().any(|a| a.kind == ArgKind::Rest);
        let places = positional(class);
        // An argument for which an empty one stands is missed if there is none at all.
        if has_rest || places.is_empty() || places.iter().any(|a| a.is_mandatory() && !a.default.is_empty()) {
            continue;
        }
        let commas = ",".repeat(places.len());
        assert_eq!(said(class, &commas), said(class, ""), "{}({commas})", class.name);
    }
}

/// Where an argument can be given by position it can be given by keyword, and means the same.
#[test]
fn positions_and_keywords_mean_the_same() {
    let mut reached = 0;
    for class in classes() {
        let examples: Vec<(&str, &str)> = positional(class)
            .into_iter()
            .map(|a| (a.name, a.ty.example()))
            .take_while(|(_, example)| !example.is_empty())
            .collect();
        let by_position: Vec<&str> = examples.iter().map(|(_, example)| *example).collect();
        let by_keyword: Vec<String> =
            examples.iter().map(|(name, value)| format!("{name} {value}")).collect();
        let (first, second) = (by_position.join(", "), by_keyword.join(", "));
        assert_eq!(said(class, &first), said(class, &second), "{}", class.name);
        reached += usize::from(!said(class, &first).contains(" inputs "));
    }
    assert!(reached > 100, "only {reached} have the connections to be configured");
}

#[test]
fn what_click_accepts_is_accepted() {
    for element in [
        "Print(,10)",
        "Print(a,,CONTENTS ASCII)",
        "IPPrint(,CONTENTS hex)",
        "Paint(,ANNO 4)",
        "PaintTee(,4)",
        "Unqueue(,)",
        "Queue()",
        "Queue(,)",
        "RatedSource(,5,,true)",
        "InfiniteSource(,,5)",
        "DRRSched(50)",
        "Reframe(2, 2)",
        "Reframe(2, 2, true, 1, 1, 0)",
        "TimedSource(0)",
        "TimedUnqueue(0)",
        "Burster(0)",
        "Burster(0, 3)",
        "StaticSwitch(300)",
        "StaticSwitch(-1)",
        "PullSwitch(300)",
        "StaticPullSwitch(300)",
        "ProbeRequester()",
        "ProbeRequester",
        "DelayUnqueue(0)",
        "DelayShaper(0)",
    ] {
        let (class, arguments) = parsed(element);
        assert_eq!(said(class, arguments), "", "{element}");
    }
}

#[test]
fn what_click_refuses_is_refused() {
    for (element, message) in [
        ("Paint()", "COLOR: required argument missing"),
        ("Paint(256)", "COLOR: out of range, bound 255"),
        ("EtherEncap(,1:1:1:1:1:1,2:2:2:2:2:2)", "ETHERTYPE: required argument missing"),
        ("Print(a,5,6)", "too many arguments"),
        ("Switch(300)", "output must be <"),
        ("LinkUnqueue(1s, 50Bps)", "bandwidth too small, minimum 100Bps"),
        ("TimedUnqueue(1, 0)", "bad BURST"),
        ("DRRSched(50, 60)", "too many arguments"),
    ] {
        let (class, arguments) = parsed(element);
        let said = said(class, arguments);
        assert!(said.contains(message), "{element}: {said}");
    }
}
