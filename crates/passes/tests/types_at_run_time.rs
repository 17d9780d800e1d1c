//! What the type check rejects cannot work: random chains of elements are checked, then run with frames of all kinds, and
//! behind an element that the check complains of nothing may arrive.

mod common;

use clickwork_elements::registry;
use clickwork_lang::{Options, archive::Archive, elaborate};
use clickwork_passes::{Facts, Network, types};
use clickwork_source::Sources;
use common::{Random, run};

/// Frames: an ARP query and reply, IP with UDP, TCP and ICMP, IPv6, a VLAN tag before IP, and an unknown type.
const FRAMES: [&str; 8] = [
    "ffffffffffff 020000000001 0806 0001 0800 0604 0001 020000000001 0a000001 000000000000 0a000002",
    "ffffffffffff 020000000001 0806 0001 0800 0604 0002 020000000001 0a000001 020000000002 0a000002",
    "020000000002 020000000001 0800 4500001c00000000 401166cf0a0000010a000002 00350035 00080000",
    "020000000002 020000000001 0800 4500002800000000 400666ce0a0000010a000002 0050005000000000000000005002000000000000",
    "020000000002 020000000001 0800 4500001c00000000 400166df0a0000010a000002 0800f7ff00000000",
    "020000000002 020000000001 86dd 6000000000003b40 00000000000000000000000000000001 00000000000000000000000000000002",
    "020000000002 020000000001 8100 0001 0800 4500001c00000000 401166cf0a0000010a000002 00350035 00080000",
    "020000000002 020000000001 88b5 0000000000000000000000000000000000000000000000000000000000000000",
];

/// Elements that change what a packet is, or look at it and drop what they do not expect. Those that trust a mark, such as
/// DecIPTTL, are not here: they spoil a packet that is something else and pass it on.
const LINKS: [&str; 32] = [
    "Strip(14)",
    "Strip(14)",
    "Strip(4)",
    "Strip(20)",
    "Unstrip(14)",
    "Unstrip(4)",
    "Null",
    "Paint(1)",
    "Paint(2)",
    "CheckPaint(1)",
    "CheckLength(40)",
    "Queue -> Unqueue",
    "Tee",
    "MarkIPHeader",
    "MarkIPHeader(14)",
    "StripToNetworkHeader",
    "EtherEncap(0x88b5, 2:0:0:0:0:1, 2:0:0:0:0:2)",
    "IPEncap(udp, 10.0.0.1, 10.0.0.2)",
    "UDPIPEncap(10.0.0.1, 1, 10.0.0.2, 2, CHECKSUM true)",
    "CheckIPHeader",
    "CheckIPHeader",
    "CheckIPHeader(14)",
    "CheckIPHeader(OFFSET 18)",
    "CheckIPHeader(OFFSET 20)",
    "CheckICMPHeader",
    "CheckUDPHeader",
    "CheckTCPHeader",
    "IPClassifier(udp)",
    "Counter",
    "Classifier(12/0800)",
    "Classifier(12/0806 20/0001)",
    "ARPResponder(10.0.0.2 2:0:0:0:0:2)",
];

/// A chain behind a source: elements `e0`, `e1`, ..., and a counter `n0`, `n1`, ... behind each.
fn chain(random: &mut Random, source: &str) -> (String, usize) {
    let length = 2 + random.below(6);
    let links = (0..length).map(|n| {
        let link = random.pick(&LINKS);
        let (first, rest) = link.split_once(" -> ").map_or((link, ""), |(first, rest)| (first, rest));
        let rest = if rest.is_empty() { String::new() } else { format!("-> {rest} ") };
        format!("-> e{n} :: {first} {rest}-> n{n} :: Counter ")
    });
    (format!("{source} {}-> Discard;", links.collect::<String>()), length)
}

/// The numbers of the elements that the check complains of.
fn rejected(text: &str) -> Vec<usize> {
    let (mut sources, registry) = (Sources::new(), registry());
    let file = sources.add("t", text);
    let (graph, messages) = elaborate(&mut sources, file, &Options::new(&registry));
    assert!(!messages.has_errors(), "{text}: {messages:?}");
    let network = Network::new(graph);
    let at = |d: &clickwork_source::Diagnostic| {
        let (_, e) = network.elements().find(|(_, e)| e.span == d.span()).expect("an element is meant");
        e.name[1..].parse().expect("it is one of the chain")
    };
    let facts = Facts::new(&registry, &Archive::default());
    types::check(&network, &facts).iter().map(at).collect()
}

#[test]
fn behind_a_rejected_element_nothing_arrives() {
    let (mut wrong, mut idle, mut working) = (0, 0, 0);
    for seed in 0..1500 {
        let (links, length) = chain(&mut Random::new(seed), "");
        let mistakes = rejected(&format!("FromDevice(eth0){links}"));
        let frames = FRAMES.map(|f| format!("InfiniteSource(DATA \\<{f}>, LIMIT 1) -> s;\n")).concat();
        let deeds = run(&format!("s :: Null {links}\n{frames}"), true, &["Counter"]);
        let count = |n: usize| deeds.counts[&format!("n{n}")].parse::<u64>().expect("a number");
        for n in &mistakes {
            assert_eq!(count(*n), 0, "e{n} works in {links}");
        }
        match (mistakes.is_empty(), count(length - 1)) {
            (false, _) => wrong += 1,
            (true, 0) => idle += 1,
            (true, _) => working += 1,
        }
    }
    println!("{wrong} rejected, {working} work, {idle} pass no packet but are accepted");
    assert!(wrong > 200 && working > 200, "{wrong} rejected, {working} work");
}
