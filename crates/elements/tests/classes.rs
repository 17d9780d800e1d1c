//! Every class of the library: its facts are complete, its example runs, and it says what is wrong with its arguments.
#![allow(missing_docs)]

mod odd;

use clickwork_elements::registry;
use clickwork_lang::{Options as LangOptions, elaborate};
use clickwork_packet::{Batch, Timestamp};
use clickwork_router::args::ArgKind;
use clickwork_router::packet_types::PacketTypes;
use clickwork_router::{Class, Clock, Driver, Endpoint, Log, Options, Router, build};
use clickwork_source::{Diagnostics, Sources, render_click};
use odd::odd_packets;
use std::sync::Arc;
use std::time::Duration;

fn router(config: &str, ordered: bool) -> Result<Router, String> {
    router_with(config, ordered, Log::buffer())
}

fn router_with(config: &str, ordered: bool, log: Log) -> Result<Router, String> {
    let registry = Arc::new(registry());
    let mut sources = Sources::default();
    let file = sources.add("config", config);
    let (graph, diagnostics) = elaborate(&mut sources, file, &LangOptions::new(&*registry));
    let render = |d: &Diagnostics| d.iter().map(|d| render_click(&sources, d)).collect::<String>();
    if diagnostics.has_errors() {
        return Err(render(&diagnostics));
    }
    let clock = Clock::simulated(Timestamp::new(1_000_000_000, 0));
    let options = Options { ordered, clock, log, seed: Some(1), ..Options::default() };
    build(&graph, &sources, &registry, options).map(|(router, _)| router).map_err(|d| render(&d))
}

/// The classes under their own names.
fn classes() -> Vec<&'static Class> {
    let registry = registry();
    let own: Vec<_> =
        registry.iter().filter(|(name, class)| *name == class.name).map(|(_, class)| class).collect();
    assert!(own.len() > 50);
    own
}

#[test]
fn facts_are_complete() {
    for class in classes() {
        let name = class.name;
        assert!(
            !class.help.is_empty() && !class.help.ends_with('.'),
            "{name}: one line of help, without a full stop"
        );
        assert!(!class.manual.is_empty(), "{name} has a manual");
        assert!(!class.family.is_empty(), "{name} has a family");
        let types = PacketTypes::parse(class.packets);
        assert!(types.is_ok(), "{name}: {}", types.unwrap_err());
        for arg in class.args {
            assert!(!arg.help.is_empty(), "{name}: argument {} has help", arg.name);
        }
        for handler in class.handlers {
            assert!(
                !handler.name.is_empty() && !handler.help.is_empty(),
                "{name}: handler {} has help",
                handler.name
            );
            assert!(
                handler.read.is_some() || handler.write.is_some(),
                "{name}: handler {} does something",
                handler.name
            );
        }
    }
}

#[test]
fn examples_run() {
    for class in classes().into_iter().filter(|c| !c.example.is_empty()) {
        for ordered in [true, false] {
            let mut r = router(class.example, ordered)
                .unwrap_or_else(|e| panic!("the example of {}:\n{e}", class.name));
            Driver::default().run_for(&mut r, Duration::from_secs(3));
            // A class that goes by two names has the example of one of them.
            let used = r.ids().any(|id| r.info(id).class.manual == class.manual);
            assert!(used, "the example of {} uses it", class.name);
            for id in r.ids() {
                for (handler, h) in r.handlers(id) {
                    if h.read.is_some() && !h.parameter {
                        // Reading may fail, but never disturbs.
                        let _ = r.read_handler(id, &handler, "");
                    }
                }
            }
            r.cleanup();
        }
    }
}

/// A configuration with one element of the class, all of whose ports are connected to Idle.
fn alone(class: &Class, arguments: &str) -> String {
    let (inputs, outputs) = class.ports.split_once('/').unwrap_or((class.ports, class.ports));
    let least = |side: &str| {
        side.trim_matches(['!', '+']).split('-').next().and_then(|n| n.parse().ok()).unwrap_or(0usize)
    };
    let inputs = least(inputs);
    let outputs =
        if outputs.starts_with('=') { inputs + outputs.matches('+').count() } else { least(outputs) };
    let mut config = format!("e :: {}({arguments});\n", class.name);
    (0..inputs).for_each(|i| config += &format!("Idle -> [{i}] e;\n"));
    (0..outputs).for_each(|o| config += &format!("e [{o}] -> Idle;\n"));
    config
}

#[test]
fn a_missing_argument_is_named() {
    for class in classes() {
        let mandatory =
            class.args.iter().find(|a| matches!(a.kind, ArgKind::Required | ArgKind::RequiredKeyword));
        let Some(arg) = mandatory else { continue };
        let e = router(&alone(class, ""), true)
            .err()
            .unwrap_or_else(|| panic!("{} needs {}", class.name, arg.name));
        assert!(e.contains(arg.name), "{} says that {} is missing:\n{e}", class.name, arg.name);
    }
}

#[test]
fn an_unknown_argument_is_refused() {
    for class in classes().into_iter().filter(|c| !c.args.iter().any(|a| a.kind == ArgKind::Rest)) {
        let e = router(&alone(class, "NOSUCHARGUMENT 1"), true).err();
        let e = e.unwrap_or_else(|| panic!("{} takes NOSUCHARGUMENT", class.name));
        assert!(e.contains("'e :: "), "{} says where:\n{e}", class.name);
    }
}

#[test]
fn odd_packets_are_survived_and_freed() {
    for class in classes().into_iter().filter(|c| !c.example.is_empty()) {
        for ordered in [true, false] {
            let before = clickwork_packet::buffers_in_use();
            survive(class, ordered);
            assert_eq!(clickwork_packet::buffers_in_use(), before, "{} frees all packets", class.name);
        }
    }
}

fn survive(class: &Class, ordered: bool) {
    let Ok(mut r) = router(class.example, ordered) else { return };
    let of_class: Vec<_> = r.ids().filter(|&id| r.info(id).class.name == class.name).collect();
    for element in of_class {
        for port in 0..r.info(element).inputs.len() as u16 {
            odd_packets().for_each(|p| r.push(Endpoint { element, port }, Batch::one(p)));
        }
    }
    Driver::default().run_for(&mut r, Duration::from_secs(1));
    r.cleanup();
}

/// Classes whose messages about packets are what they are for.
const PRINTERS: &[&str] =
    &["ARPPrint", "DebugBridge", "IP6Print", "IPPrint", "Print", "PrintTXFeedback", "PrintWifi"];

/// However many packets come, what is said about them is little: each kind of message a few times, and then a count.
#[test]
fn a_flood_of_odd_packets_fills_no_log() {
    let mut loud = Vec::new();
    for class in classes().into_iter().filter(|c| !c.example.is_empty()) {
        let log = Log::buffer();
        let Ok(mut r) = router_with(class.example, true, log.clone()) else { continue };
        if r.ids().any(|id| PRINTERS.contains(&r.info(id).class.name)) {
            continue;
        }
        log.taken();
        for element in r.ids().filter(|&id| r.info(id).class.name == class.name).collect::<Vec<_>>() {
            for port in 0..r.info(element).inputs.len() as u16 {
                odd_packets().for_each(|p| r.push(Endpoint { element, port }, Batch::one(p)));
            }
        }
        Driver::default().run_for(&mut r, Duration::from_secs(1));
        r.cleanup();
        let text = log.taken();
        let lines = text.lines().count();
        if lines > 50 {
            loud.push(format!("{}: {lines} lines, such as {:?}", class.name, text.lines().nth(lines - 2)));
        }
    }
    assert!(loud.is_empty(), "{}", loud.join("\n"));
}
