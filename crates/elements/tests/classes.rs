//! Every class of the library: its facts are complete, its example runs, and it says what is wrong with its arguments.
#![allow(missing_docs)]

use clickwork_elements::registry;
use clickwork_lang::{Options as LangOptions, elaborate};
use clickwork_packet::{Batch, Packet, Timestamp};
use clickwork_router::args::ArgKind;
use clickwork_router::packet_types::PacketTypes;
use clickwork_router::{Class, Clock, Driver, Endpoint, Log, Options, Router, build};
use clickwork_source::{Diagnostics, Sources, render_click};
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

/// Beginnings of packets of many kinds, by what they are.
const KINDS: &[(&str, &str)] = &[
    (
        "TCP",
        "4500002c000100004006 66b9 0a0000010a000002 04d20050 00000001 00000000 6002 ffff 1c46 0000 0204 05b4",
    ),
    (
        "UDP",
        "45000030000100004011 66a9 0a0000010a000002 04d20035 001c 0000 000102030405060708090a0b0c0d0e0f10111213",
    ),
    (
        "ICMP error",
        "4500003800010000ff01 a7b0 0a0000010a000002 0301 fcfe 00000000 4500002000010000 4011 66b9 0a0000020a000001 003504d2 000c0000",
    ),
    ("IP with options", "4700001c00010000401100000a0000010a000002 07070401020304 00 04d20035 00080000"),
    ("IP with lies", "4fffffff000120074011ffff0a0000010a000002 ffffffffffffffffffffffffffffffffffffffff"),
    ("fragment", "45000024000120034011 46b2 0a0000010a000002 000102030405060708090a0b0c0d0e0f"),
    (
        "ESP",
        "4500003400010000403200000a0000010a000002 00000101 00000001 000102030405060708090a0b0c0d0e0f1011121314151617",
    ),
    (
        "IPv6",
        "6000000000101140 20010db8000000000000000000000001 20010db8000000000000000000000002 04d20035 0010 0000 0001020304050607",
    ),
    (
        "IPv6 with headers",
        "60000000002000ff fe800000000000000000000000000001 ff020000000000000000000000000001 3a00050200000000 8700000000000000 fe800000000000000000000000000002 0101020304050607",
    ),
    ("Ethernet", "0200000000020200000000010800 4500001c000100004011 66bf 0a0000010a000002 04d2003500080000"),
    ("ARP", "ffffffffffff0200000000010806 0001080006040001 0200000000010a000001 000000000000 0a000002"),
    (
        "VLAN",
        "02000000000202000000000181006001 0800 4500001c000100004011 66bf 0a0000010a000002 04d2003500080000",
    ),
    (
        "BPDU",
        "0180c20000000200000000010026424203 0000000000 80000200000000010000000080000200000000018001 000014000200 0f00",
    ),
    ("802.11", "0801000002000000000202000000000102000000000310 00 aaaa03000000 0800 4500001c000100004011"),
    (
        "beacon",
        "80000000ffffffffffff02000000000302000000000310 00 0000000000000000 6400 0100 0003616263 010482848b96 030106",
    ),
    ("radiotap", "00000d000400800202000000000000 0801000002000000000202000000000102000000000310 00"),
    (
        "ones",
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    ),
];

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().filter_map(|c| c.to_digit(16)).collect();
    digits.chunks(2).map(|d| (d[0] * 16 + d.get(1).unwrap_or(&0)) as u8).collect()
}

/// A packet of each kind in every length, with and without header marks, and very long ones.
fn odd_packets() -> impl Iterator<Item = Packet> {
    let cut = KINDS.iter().flat_map(|(_, hex)| {
        let whole = bytes(hex);
        (0..=whole.len()).map(move |n| Packet::new(&whole[..n]))
    });
    let marked = cut.clone().map(|mut p| {
        let header = p.data().first().map_or(20, |first| usize::from(first & 15) * 4);
        p.set_mac_offset(0);
        p.set_network_header(0, header as u32);
        p
    });
    cut.chain(marked).chain([Packet::zeroed(28, 65_535, 0), Packet::zeroed(0, 1_500, 0)])
}

#[test]
fn odd_packets_are_survived_and_freed() {
    for class in classes().into_iter().filter(|c| !c.example.is_empty()) {
        for ordered in [true, false] {
            #[cfg(debug_assertions)]
            let before = clickwork_packet::buffers_in_use();
            survive(class, ordered);
            #[cfg(debug_assertions)]
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
