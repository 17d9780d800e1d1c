//! Handlers as Click has them: which there are, and the letters with which lists of handlers show them.
#![allow(missing_docs)]

use clickwork_elements::registry;
use clickwork_lang::{Options as LangOptions, elaborate};
use clickwork_packet::Timestamp;
use clickwork_router::facts::{Class, Processing, port_range, processing_of};
use clickwork_router::{Clock, Log, Options, Router, build};
use clickwork_source::Sources;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The classes of Click, each with its handlers and their letters. `#` stands for the number of a port. Handlers that are there or not,
/// as ports or arguments are, are there. Those of each element are not, except `config` where the class has its own.
const CLICK: &str = include_str!("handlers/click.txt");

/// The handlers of tasks that Click has. (`home_thread` is there only if it was built with threads.)
const OF_TASKS: [&str; 2] = ["scheduled", "tickets"];

type Letters = BTreeMap<String, String>;

/// Handlers of Click's classes, by class.
fn click() -> BTreeMap<&'static str, Letters> {
    let class = |line: &'static str| {
        let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
        let words: Vec<&str> = rest.split_whitespace().collect();
        (name, words.chunks(2).map(|pair| (pair[0].to_string(), pair[1].to_string())).collect())
    };
    CLICK.lines().map(class).collect()
}

fn classes() -> Vec<&'static Class> {
    let registry = registry();
    registry.iter().filter(|(name, class)| *name == class.name).map(|(_, class)| class).collect()
}

/// Handlers that a class of ours has for itself.
fn own(class: &Class) -> Letters {
    let visible = class.handlers.iter().filter(|h| !h.private);
    visible
        .map(|h| {
            let number = if h.numbered.is_some() { "#" } else { "" };
            // Writing it is left to the router.
            let w = if h.name == "config" { "w" } else { "" };
            (format!("{}{number}", h.name), h.letters().replacen('r', &format!("r{w}"), 1))
        })
        .collect()
}

#[test]
fn classes_have_clicks_handlers() {
    let click = click();
    let (mut lacking, mut ours, mut different) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for class in classes() {
        let Some(theirs) = click.get(class.name) else { continue };
        let own = own(class);
        for (name, letters) in theirs.iter().filter(|(name, _)| !OF_TASKS.contains(&name.as_str())) {
            match own.get(name) {
                None => _ = lacking.insert(format!("{} {name} {letters}", class.name)),
                Some(l) if l == letters => {}
                Some(l) => _ = different.insert(format!("{} {name} {letters} {l}", class.name)),
            }
        }
        ours.extend(own.keys().filter(|n| !theirs.contains_key(*n)).map(|n| format!("{} {n}", class.name)));
    }
    let listed = |list: &[&str]| list.iter().map(|l| l.to_string()).collect::<BTreeSet<_>>();
    assert_eq!(
        (&lacking, &different, &ours),
        (&listed(LACKING), &listed(DIFFERENT), &listed(OURS)),
        "lacking: {lacking:#?}\ndifferent: {different:#?}\nours alone: {ours:#?}"
    );
}

/// Whether an element of a class may be one that moves packets of its own accord, in a task.
fn may_have_tasks(class: &Class) -> bool {
    let (inputs, outputs) = class.ports.split_once('/').unwrap_or((class.ports, class.ports));
    let (least, most) = (|side: &str| port_range(side).0, |side: &str| port_range(side).1);
    let kind = |is_output| processing_of(class.processing, is_output, 0);
    let pushes = least(inputs) == 0 && most(outputs) > 0 && kind(true) != Processing::Pull;
    let has_no_pull_outputs = least(outputs) == 0 || kind(true) == Processing::Push;
    let pulls = most(inputs) > 0 && kind(false) != Processing::Push && has_no_pull_outputs;
    class.task_handlers && (pushes || pulls)
}

#[test]
fn classes_with_tasks_have_their_handlers() {
    let click = click();
    let wrong: Vec<String> = classes()
        .into_iter()
        .filter_map(|class| Some((class, click.get(class.name)?)))
        .filter(|(class, theirs)| may_have_tasks(class) != OF_TASKS.iter().any(|t| theirs.contains_key(*t)))
        .map(|(class, _)| class.name.to_string())
        .collect();
    assert_eq!(wrong, WITHOUT_TASKS);
}

/// Some handlers are only for elements with certain ports or arguments.
#[test]
fn lists_show_what_an_element_has() {
    for (handlers, element, has) in [
        ("drop_details", "Idle -> x :: CheckIPHeader(DETAILS true) -> Idle", true),
        ("drop_details", "Idle -> x :: CheckIPHeader -> Idle", false),
        ("drop_details", "Idle -> x :: CheckIPHeader2(DETAILS false) -> Idle", false),
        ("drop_details", "Idle -> x :: CheckTCPHeader(DETAILS true) -> Idle", true),
        ("drop_details", "Idle -> x :: CheckUDPHeader -> Idle", false),
        ("drop_details", "Idle -> x :: CheckICMPHeader -> Idle", false),
        ("drop_details", "Idle -> x :: CheckARPHeader -> Idle", false),
        ("active scheduled tickets", "Idle -> Queue -> x :: Discard", true),
        ("active scheduled tickets", "Idle -> x :: Discard", false),
        ("summary rtt_min rtt_avg rtt_max", "Idle -> x :: ICMPPingSource(1.0.0.1, 2.0.0.2) -> Idle", true),
        ("summary rtt_min rtt_avg rtt_max", "x :: ICMPPingSource(1.0.0.1, 2.0.0.2) -> Idle", false),
        ("scheduled", "x :: RatedSource -> Discard", true),
        ("scheduled", "x :: RatedSource -> Unqueue -> Discard", false),
        ("scheduled", "Idle -> Queue -> x :: TimedSink", false),
        ("pattern0", "Idle -> x :: IPRewriter(keep 0 1); x[0] -> Discard; x[1] -> Discard", true),
        ("pattern1", "Idle -> x :: IPRewriter(keep 0 1); x[0] -> Discard; x[1] -> Discard", false),
        ("pattern0 pattern1", "Idle -> x :: IPClassifier(tcp, -); x[0] -> Discard; x[1] -> Discard", true),
        ("cat kill", "x :: Script", false),
    ] {
        let mut r = router(element);
        let list = r.read("x.handlers", "").expect("it has a list").text();
        let listed = |name: &str| list.lines().any(|line| line.split('\t').next() == Some(name));
        assert!(handlers.split(' ').all(|name| listed(name) == has), "{element}: {handlers}\n{list}");
        r.cleanup();
    }
}

/// An argument that a handler replaces is in the configuration, at its place; what is no value for it changes nothing.
#[test]
fn replaced_arguments_are_in_the_configuration() {
    for (element, writes, config) in [
        ("IPEncap(4, 1.0.0.1, 2.0.0.2)", "src 3.0.0.3, dst DST_ANNO", "4, 3.0.0.3, DST_ANNO"),
        ("IPEncap(PROTO 4, DST 2.0.0.2, SRC 1.0.0.1)", "src 3.0.0.3", "PROTO 4, DST 2.0.0.2, SRC 3.0.0.3"),
        ("IP6Encap(4, 1::1, 2::2)", "dst 3::3, src 4::4", "4, 4::4, 3::3"),
        ("UDPIPEncap(1.0.0.1, 5, 2.0.0.2, 6)", "sport 7, dst 3.0.0.3", "1.0.0.1, 7, 3.0.0.3, 6"),
        ("UDPIP6Encap(1::1, 5, 2::2, 6)", "src 3::3, dport 7", "3::3, 5, 2::2, 7"),
        (
            "EtherEncap(0x800, 1:1:1:1:1:1, 2:2:2:2:2:2)",
            "etht 0x86dd, dst 3:3:3:3:3:3",
            "0x86dd, 1:1:1:1:1:1, 3:3:3:3:3:3",
        ),
        ("EtherRewrite(1:1:1:1:1:1, 2:2:2:2:2:2)", "src 3:3:3:3:3:3", "3:3:3:3:3:3, 2:2:2:2:2:2"),
        ("SetIPDSCP(5)", "dscp 0x6", "0x6"),
        ("SetIP6DSCP(DSCP 5)", "dscp 6", "DSCP 6"),
        ("SetIPECN(ce)", "ecn ECT(1)", "ECT(1)"),
        ("RandomBitErrors(0.5)", "p_bit_error 0.25, error_kind set", "0.25, KIND set"),
        ("Queue(5)", "capacity 6", "6"),
    ] {
        let pull = if element.starts_with("Queue") { "Unqueue -> " } else { "" };
        let mut r = router(&format!("Idle -> x :: {element} -> {pull}Discard"));
        for write in writes.split(", ") {
            let (name, value) = write.split_once(' ').expect("name and value");
            r.write(&format!("x.{name}"), value).expect("it is a value");
            r.write(&format!("x.{name}"), "no such thing").expect_err("it is no value");
        }
        assert_eq!(r.read("x.config", "").expect("it can be read").text(), config, "{element}");
        r.cleanup();
    }
}

/// Click's words for values that are none.
#[test]
fn wrong_values_are_refused_in_clicks_words() {
    for (element, write, error) in [
        ("Bypass", "active x", "syntax error"),
        ("Suppressor", "active0 x", "type mismatch"),
        ("SetAnnoByte(PAINT, 1)", "value 256", "expected uint8_t"),
        ("Resize(1, 2)", "head x", "expected integer"),
        ("IPEncap(4, 1.0.0.1, 2.0.0.2)", "src x", "SRC: parse error"),
        ("IPEncap(4, 1.0.0.1, 2.0.0.2)", "dst x", "DST argument should be IP address or 'DST_ANNO'"),
        ("UDPIP6Encap(1::1, 5, 2::2, 6)", "sport x", "SPORT: parse error"),
        ("EtherRewrite(1:1:1:1:1:1, 2:2:2:2:2:2)", "src x", "SRC: parse error"),
    ] {
        let mut r = router(&format!("Idle -> x :: {element} -> Discard"));
        let (name, value) = write.split_once(' ').expect("name and value");
        let refused = r.write(&format!("x.{name}"), value).expect_err("it is no value");
        assert_eq!(refused.to_string(), error, "{element}");
        r.cleanup();
    }
}

/// Lists of handlers are as the tables say, in their order, whatever the class of the element.
#[test]
fn lists_show_what_the_tables_say() {
    let click = click();
    let mut wrong = BTreeSet::new();
    let examples = classes().into_iter().filter(|class| !class.example.is_empty());
    for mut r in examples.map(|class| router(class.example)) {
        for id in r.ids() {
            let class = r.info(id).class;
            let Some(theirs) = click.get(class.name) else { continue };
            let list = r.read_handler(id, "handlers", "").expect("it has a list").text();
            for (name, letters) in list.lines().filter_map(|line| line.split_once('\t')) {
                let name = name.trim_end_matches(|c: char| c.is_ascii_digit());
                let (own, own_family) = (format!("{} {name}", class.name), format!("{} {name}#", class.name));
                let family = format!("{name}#");
                let Some(expected) = theirs.get(name).or_else(|| theirs.get(&family)) else {
                    let is_known = STANDARD.iter().any(|s| s.0 == name && s.1.contains(&letters))
                        || [&*own, &*own_family].iter().any(|o| OURS.contains(o) || ADDED.contains(o));
                    if !is_known {
                        wrong.insert(format!("{own} {letters}"));
                    }
                    continue;
                };
                // Only some elements can be given other arguments.
                let is_right =
                    expected == letters || name == "config" && expected.replace('w', "") == letters;
                if !is_right && !DIFFERENT.contains(&&*format!("{own} {expected} {letters}")) {
                    wrong.insert(format!("{own} {expected} {letters}"));
                }
            }
        }
        r.cleanup();
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The letters of handlers that every element has, in Click and here, or here alone.
const STANDARD: &[(&str, &[&str])] = &[
    ("name", &["r."]),
    ("class", &["r."]),
    ("config", &["r.", "rw."]),
    ("ports", &["r."]),
    ("handlers", &["r."]),
    ("packets", &["r"]),
    ("drop_reasons", &["r"]),
    ("home_thread", &["rw"]),
];

fn router(config: &str) -> Router {
    let registry = Arc::new(registry());
    let mut sources = Sources::default();
    let file = sources.add("config", config);
    let (graph, _) = elaborate(&mut sources, file, &LangOptions::new(&*registry));
    let clock = Clock::simulated(Timestamp::new(1_000_000_000, 0));
    let options = Options { clock, log: Log::buffer(), seed: Some(1), ..Options::default() };
    let built = build(&graph, &sources, &registry, options);
    built.unwrap_or_else(|_| panic!("it is correct:\n{config}")).0
}

/// Letters come in one order, and flags are letters that there are.
#[test]
fn letters_come_in_clicks_order() {
    const ORDER: &str = "rw+%.$UDbc";
    for class in classes() {
        for handler in class.handlers {
            let letters = handler.letters();
            let places: Option<Vec<usize>> = letters.chars().map(|c| ORDER.find(c)).collect();
            let ordered = places.is_some_and(|p| !p.is_empty() && p.is_sorted_by(|a, b| a < b));
            assert!(ordered, "{} {} {letters}", class.name, handler.name);
        }
    }
}

/// Classes that have a task in Click, and need none here.
const WITHOUT_TASKS: &[&str] = &["PacketStore"];

/// Handlers of Click's that the tables of our classes lack: an element adds the one that its arguments ask for.
const LACKING: &[&str] = &["ControlSocket filename r", "ControlSocket port r"];

/// Handlers with other letters, Click's first: the table of StaticIPLookup can be large, and `interval` can be written in Click's
/// manual, but not in Click.
const DIFFERENT: &[&str] = &["StaticIPLookup table r r$", "TimeFilter interval r rw"];

/// Handlers of Click's classes that are ours alone.
const OURS: &[&str] = &[
    "AddressTranslator count",
    "AggregateCounter refused",
    "AggregateFirst refused",
    "AggregateIPFlows flows",
    "AggregatePacketCounter refused",
    "AnonymizeIPAddr addresses",
    "BandwidthShaper reset",
    "CheckCRC32 drops",
    "ControlSocket connections",
    "ControlSocket memory",
    "Discard burst",
    "EtherSpanTree bridge_id",
    "EtherSpanTree bridge_priority",
    "EtherSpanTree changes",
    "EtherSpanTree dump",
    "EtherSpanTree enabled#",
    "EtherSpanTree path_cost#",
    "EtherSpanTree port_priority#",
    "EtherSpanTree role#",
    "EtherSpanTree root",
    "EtherSpanTree root_cost",
    "EtherSpanTree root_port",
    "EtherSpanTree state#",
    "EtherSpanTree topology_change",
    "EtherSwitch count",
    "EtherSwitch refused",
    "FromDevice repairs",
    "FromRawSocket count",
    "FromSocket connected",
    "FromSocket count",
    "IP6NDSolicitor clear",
    "IP6NDSolicitor count",
    "IP6NDSolicitor delete",
    "IP6NDSolicitor insert",
    "LinearIPLookup flush",
    "ListenEtherSwitch count",
    "ListenEtherSwitch refused",
    "LookupIP6Route lookup",
    "LookupIPRouteMP add",
    "LookupIPRouteMP ctrl",
    "LookupIPRouteMP flush",
    "LookupIPRouteMP lookup",
    "LookupIPRouteMP remove",
    "LookupIPRouteMP set",
    "LookupIPRouteMP table",
    "McastSocket count",
    "RandomSource burstsize",
    "RandomSource datasize",
    "RawSocket count",
    "SATable add",
    "SATable remove",
    "SATable table",
    "Shaper reset",
    "Socket connected",
    "Socket count",
    "SortedIPLookup flush",
    "StaticIPLookup add",
    "StaticIPLookup ctrl",
    "StaticIPLookup flush",
    "StaticIPLookup remove",
    "StaticIPLookup set",
    "TCPBuffer length",
    "ToDevice count",
    "ToDump flush",
    "ToDump lost",
    "ToDump misdated",
    "ToIPFlowDumps refused",
    "ToIPSummaryDump lost",
    "ToRawSocket count",
    "ToSocket connected",
    "ToSocket count",
    "ToyTCP connected",
    "UMLSwitch count",
    "WebGen open",
];

/// Handlers that are ours alone and that an element adds because of its arguments.
const ADDED: &[&str] = &["FromSocket port", "Socket port", "ToSocket port"];
