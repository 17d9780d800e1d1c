//! The type check: what it must accept. The mistakes that it finds are in `golden/types`.

use std::path::Path;

use clickwork_elements::registry;
use clickwork_lang::{Options, archive::Archive, elaborate};
use clickwork_passes::{Facts, Network, types};
use clickwork_source::{Sources, render_click};

/// The first lines of the messages about a configuration.
fn mistakes(name: &str, text: &str) -> String {
    let (mut sources, registry) = (Sources::new(), registry());
    let file = sources.add(name, text);
    let (graph, messages) = elaborate(&mut sources, file, &Options::new(&registry));
    assert!(!messages.has_errors(), "{name}: {messages:?}");
    let first = |text: String| text.lines().next().unwrap_or_default().to_string() + "\n";
    let facts = Facts::new(&registry, &Archive::default());
    types::check(&Network::new(graph), &facts).iter().map(|d| first(render_click(&sources, d))).collect()
}

/// Configurations that look wrong to a check which knows less.
const RIGHT: &[&str] = &[
    // Colours, patterns and switches that never turn keep packets apart that share a queue.
    "FromDevice(eth0) -> Paint(0) -> q :: Queue; FromDevice(eth1) -> Strip(14) -> CheckIPHeader -> Paint(1) -> q; \
     q -> Unqueue -> s :: PaintSwitch; s [0] -> EtherMirror -> Discard; s [1] -> DecIPTTL -> Discard;",
    "FromDevice(eth0) -> Paint(7) -> q :: Queue -> Unqueue -> c :: CheckPaint(7); c [1] -> DecIPTTL -> Discard; \
     FromDevice(eth1) -> Strip(14) -> CheckIPHeader -> Paint(8) -> q; c -> EtherMirror -> Discard;",
    "FromDevice(eth0) -> a :: Classifier(12/0800, 12/0806); a [0] -> n :: Null; a [1] -> n; \
     n -> b :: Classifier(12/0806, -); b [0] -> CheckARPHeader(14) -> Discard; b [1] -> CheckIPHeader(14) -> Discard;",
    "FromDevice(eth0) -> s :: StaticSwitch(1); s [0] -> CheckIPHeader -> Discard; s [1] -> Discard;",
    "FromDevice(eth0) -> Queue -> [0] s :: StaticPullSwitch(1); \
     FromDevice(eth1) -> Strip(14) -> CheckIPHeader -> Queue -> [1] s -> Unqueue -> DecIPTTL -> Discard;",
    "Idle -> CheckIPHeader -> StripIPHeader -> EtherMirror -> Discard;",
    // What tells packets apart in ways that are not followed.
    "FromDevice(eth0) -> n :: Null; FromDevice(eth1) -> Strip(14) -> n -> c :: CheckLength(40); \
     c [0] -> CheckIPHeader -> Discard; c [1] -> EtherMirror -> Discard;",
    "FromDevice(eth0) -> n :: Null; FromDevice(eth1) -> Strip(14) -> n -> c :: CheckIPHeader; \
     c [0] -> DecIPTTL -> Discard; c [1] -> Strip(14) -> CheckIPHeader -> Discard;",
    "FromDevice(eth0) -> r :: ARPResponder(1.0.0.1 1:1:1:1:1:1); r [0] -> Discard; r [1] -> Strip(14) -> CheckIPHeader -> Discard;",
    "FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> q :: ARPQuerier(1.0.0.1, 1:1:1:1:1:1) -> CheckIPHeader(14) -> Discard; \
     Idle -> [1] q; q [1] -> Discard;",
    // Interfaces, captures and sources that may hold what the element wants.
    "FromDevice(tun0) -> CheckIPHeader -> Queue -> ToDevice(ppp0);",
    "FromDevice(eth0, FORCE_IP true) -> DecIPTTL -> Discard;",
    "FromDump(a.pcap) -> CheckIPHeader -> Discard; FromDump(b.pcap) -> CheckIPHeader(14) -> Discard;",
    "FromDump(a.pcap, FORCE_IP true) -> DecIPTTL -> Discard;",
    "InfiniteSource -> CheckIPHeader -> Discard; InfiniteSource -> EtherMirror -> Discard;",
    // Headers that are found again, or looked at where they are.
    "FromDevice(eth0) -> Strip(14) -> CheckIPHeader -> DecIPTTL -> Unstrip(14) -> EtherMirror -> Queue -> ToDevice(eth0);",
    "FromDevice(eth0) -> CheckIPHeader(14) -> IPClassifier(udp) -> Strip(34) -> Unstrip(20) -> CheckUDPHeader \
     -> UnstripIPHeader -> StripIPHeader -> Discard;",
    "FromDevice(eth0) -> CheckIPHeader(10.0.0.255 10.1.255.255, 14) -> DecIPTTL -> Discard;",
    "FromDevice(eth0) -> Classifier(12/0806) -> MarkIPHeader(14) -> ARPPrint -> Discard;",
    "FromDevice(eth0) -> Classifier(12/8100 16/0800) -> CheckIPHeader(18) -> StripToNetworkHeader -> CheckIPHeader -> Discard;",
    "InfiniteSource -> UDPIPEncap(1.0.0.1, 1, 1.0.0.2, 2) -> IPEncap(ipip, 2.0.0.1, 2.0.0.2) -> StripIPHeader \
     -> CheckIPHeader -> CheckUDPHeader -> EtherEncap(0x0800, 1:1:1:1:1:1, 2:2:2:2:2:2) -> Queue -> ToDevice(eth0);",
    // Numbers beyond all packets.
    "FromDevice(eth0) -> Strip(4294967295) -> Unstrip(65535) -> MarkIPHeader(2147483647) -> CheckIPHeader(2147483647) \
     -> Strip(2147483647) -> Classifier(2147483647/0800 2147483646/08000800, 12/0800) -> DecIPTTL -> Discard;",
    // A cycle in which every packet grows.
    "InfiniteSource -> n :: Null -> c :: CheckLength(500) -> EtherEncap(0x88b5, 1:1:1:1:1:1, 2:2:2:2:2:2) -> n; c [1] -> Discard;",
];

#[test]
fn what_works_is_accepted() {
    for text in RIGHT {
        assert_eq!(mistakes("t", text), "", "{text}");
    }
}

#[test]
fn examples_are_accepted() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let files = std::fs::read_dir(directory).expect("there are examples").map(|f| f.unwrap().path());
    let files: Vec<_> = files.filter(|f| f.extension().is_some_and(|e| e == "click")).collect();
    assert!(files.len() >= 10, "{files:?}");
    for file in files {
        let name = file.display().to_string();
        assert_eq!(mistakes(&name, &std::fs::read_to_string(&file).unwrap()), "");
    }
}

#[test]
fn the_examples_of_all_classes_are_accepted() {
    let mut count = 0;
    let mut errors = String::new();
    for (name, class) in registry().iter().filter(|(_, c)| !c.example.is_empty()) {
        let found = mistakes(name, class.example);
        errors.extend(
            found.lines().filter(|l| !l.contains(": warning: ")).map(|l| format!("{l}\n{}\n", class.example)),
        );
        count += 1;
    }
    assert_eq!(errors, "");
    assert!(count > 100, "{count}");
}
