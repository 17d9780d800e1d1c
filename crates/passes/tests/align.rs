//! Alignment: configurations in, configurations out, and what the analysis says against where packets really lie in routers
//! that run.

mod common;

use clickwork_elements::registry;
use clickwork_lang::{Options as LangOptions, archive::Archive};
use clickwork_packet::Packet;
use clickwork_passes::align::{Alignment, align, alignments};
use clickwork_passes::{Facts, Unit};
use clickwork_router::{Class, Cx, Driver, Registry, SimpleElement, Verdict};
use clickwork_source::{Diagnostics, Span};
use common::{Random, start, transform};
use std::sync::Arc;
use std::time::Duration;

fn aligned(text: &str) -> (String, String) {
    transform(text, |network, facts| align(network, facts, Span::NONE))
}

/// How many random routers are tried.
const ROUTERS: u64 = 600;

#[test]
fn a_second_time_nothing_changes() {
    for seed in 0..ROUTERS {
        let once = aligned(&Generator::new(seed).router()).0;
        let same = transform(&once, |_, _| Diagnostics::new()).0;
        let (twice, messages) = aligned(&once);
        assert_eq!(same, twice, "seed {seed}");
        assert!(!messages.contains("added"), "seed {seed}: {messages}");
    }
}

/// Packets of a running router, before and after Aligns were put in, lie as the analysis says; and after that, they lie as
/// every element needs them.
#[test]
fn packets_lie_where_the_analysis_says() {
    let (mut seen, mut sharp, mut added) = (0, 0, 0);
    for seed in 0..ROUTERS {
        let before = Generator::new(seed).router();
        let after = aligned(&before).0;
        added += after.matches("Align@click_align").count();
        for text in [&before, &after] {
            let said = said(text);
            for (witness, address) in witnessed(text, seed % 2 == 0) {
                let alignment = said.iter().find(|(name, _)| *name == witness).map(|(_, a)| *a);
                let alignment = alignment.unwrap_or_else(|| panic!("{witness} {seed}"));
                let (modulus, offset) = (alignment.modulus() as usize, alignment.offset() as usize);
                assert_ne!(alignment, Alignment::Nothing, "seed {seed}: {witness}\n{text}");
                assert_eq!(address % modulus, offset, "seed {seed}: {witness} {alignment:?}\n{text}");
                seen += 1;
                sharp += usize::from(modulus >= 4);
            }
        }
        for (need, alignment) in said(&after) {
            if let Some((modulus, offset)) = need.split_once("_need_").and_then(|(_, n)| n.split_once('_')) {
                let wanted = Alignment::checked(modulus.parse().unwrap(), offset.parse().unwrap()).unwrap();
                assert!(alignment.satisfies(wanted), "seed {seed}: {need} {alignment:?}\n{after}");
            }
        }
    }
    assert!(seen > 20_000 && sharp * 3 > seen && added > 500, "{seen} {sharp} {added}");
}

/// The same packets pass every place in the same order, wherever they lie in memory.
#[test]
fn packets_stay_the_same() {
    for seed in 0..200 {
        // What Unstrip uncovers is whatever the buffer held.
        let covered = Generator::new(seed).router().replace("Unstrip(", "Strip(");
        let before = covered.replace(":: Witness", ":: Print(MAXLENGTH 80)");
        let labelled = |text: &str| {
            let lines = text.lines().map(|line| match line.split_once(" :: Print(MAXLENGTH 80);") {
                Some((name, _)) => format!("{name} :: Print({name}, MAXLENGTH 80);\n"),
                None => format!("{line}\n"),
            });
            lines.collect::<String>()
        };
        let flat = labelled(&transform(&before, |_, _| Diagnostics::new()).0);
        let after = aligned(&flat).0;
        assert_eq!(
            common::run(&flat, true, &[]),
            common::run(&after, true, &[]),
            "seed {seed}\n{flat}\n---\n{after}"
        );
    }
}

/// What the analysis says about the first input of each element.
fn said(text: &str) -> Vec<(String, Alignment)> {
    let options = LangOptions::any_class();
    let (unit, _) = Unit::new("t.click", text.to_string(), Archive::default(), &options);
    let registry = with_witness();
    let facts = Facts::new(&registry, &unit.files);
    let all = alignments(&unit.network, &facts).into_iter();
    let first =
        all.filter_map(|(id, inputs)| Some((unit.network.element(id)?.name.clone(), *inputs.first()?)));
    first.collect()
}

/// All element classes, and one that writes down where packets begin.
fn with_witness() -> Registry {
    static WITNESS: Class = Class::new("Witness", "testing", || Box::new(Witness));
    let mut registry = registry();
    registry.add([&WITNESS]);
    registry
}

struct Witness;

impl SimpleElement for Witness {
    fn simple_action(&mut self, p: &mut Packet, cx: &mut Cx<'_>) -> Verdict {
        let line = format!("witness {} {}", cx.name(), p.data().as_ptr().addr() % 4096);
        cx.chatter(&line);
        Verdict::PASS
    }
}

/// Runs a router: which witnesses saw packets, and where.
fn witnessed(text: &str, ordered: bool) -> Vec<(String, usize)> {
    let (mut router, _, log) = start(text, ordered, &Arc::new(with_witness()));
    Driver::default().run_for(&mut router, Duration::from_millis(200));
    let log = log.taken();
    let words = log.lines().filter_map(|line| line.strip_prefix("witness ")?.split_once(' '));
    words.map(|(name, address)| (name.to_string(), address.parse().unwrap())).collect()
}

/// Random routers, correct by construction: push outputs wait in a list for something to be connected. A witness stands
/// behind most elements.
struct Generator {
    random: Random,
    text: String,
    count: usize,
    open: Vec<String>,
}

impl Generator {
    fn new(seed: u64) -> Generator {
        Generator { random: Random::new(seed), text: String::new(), count: 0, open: Vec::new() }
    }

    fn router(mut self) -> String {
        for _ in 0..1 + self.random.below(3) {
            self.source();
        }
        for _ in 0..4 + self.random.below(20) {
            self.step();
        }
        for output in std::mem::take(&mut self.open) {
            self.text.push_str(&format!("{output} -> Discard;\n"));
        }
        self.text
    }

    fn name(&mut self) -> usize {
        self.count += 1;
        self.count
    }

    /// Long packets, so that all headers can be removed; good IP packets among them.
    fn source(&mut self) {
        let n = self.name();
        let length = 400 + self.random.below(9);
        let source = match self.random.below(4) {
            0 => format!("InfiniteSource(LENGTH {length}, LIMIT 5)"),
            1 => format!("RandomSource(LENGTH {length}, LIMIT 5)"),
            2 => format!("TimedSource(INTERVAL 0.05, DATA \"{}\", HEADROOM {n})", "x".repeat(length)),
            _ => format!(
                "InfiniteSource(LENGTH {length}, LIMIT 5) -> UDPIPEncap(1.0.0.1, 5, 2.0.0.2, 6) -> CheckIPHeader"
            ),
        };
        self.text.push_str(&format!("{source} -> w{n} :: Witness;\n"));
        self.open.push(format!("w{n}"));
    }

    fn step(&mut self) {
        if self.open.is_empty() {
            return self.source();
        }
        let at = self.random.below(self.open.len());
        let from = self.open.swap_remove(at);
        match self.random.below(12) {
            0 => self.split(&from),
            1 => self.join(&from),
            2 => self.circle(&from),
            3 => self.text.push_str(&format!("{from} -> Discard;\n")),
            _ => self.single(&from),
        }
    }

    /// An element with one input and one output.
    fn single(&mut self, from: &str) {
        let n = self.name();
        let small = self.random.below(30);
        let element = match self.random.below(26) {
            0 | 1 => format!("Strip({small})"),
            2 | 3 => format!("Unstrip({small})"),
            4 => format!("Resize(-{small})"),
            24 => format!("Unstrip({small}) -> Resize(-{small})"),
            5 => "EtherEncap(0x0800, 1:1:1:1:1:1, 2:2:2:2:2:2)".to_string(),
            6 => "VLANEncap(5)".to_string(),
            7 => "VLANDecap".to_string(),
            8 => "EtherVLANEncap(0x0800, 1:1:1:1:1:1, 2:2:2:2:2:2, VLAN_ID 5)".to_string(),
            9 => "EtherVLANEncap(0x0800, 1:1:1:1:1:1, 2:2:2:2:2:2, VLAN_ID 5) -> StripEtherVLANHeader"
                .to_string(),
            10 | 11 => format!("Align({}, {})", 2 << (small % 3), small % 2),
            12 => "CheckLength(2000)".to_string(),
            13 => "Queue -> Unqueue".to_string(),
            14 => "SetIPAddress(1.0.0.9) -> StoreData(3, abc)".to_string(),
            15 => "StripIPHeader".to_string(),
            16 => "UnstripIPHeader".to_string(),
            17 => "StripToNetworkHeader".to_string(),
            18 => "Pad(500)".to_string(),
            23 => format!("x{n}_need_4_{} :: CheckIPHeader(OFFSET {small})", (120 - small) % 4),
            19 => format!("x{n}_need_4_0 :: IPEncap(4, 1.0.0.1, 2.0.0.2)"),
            20 => format!("x{n}_need_4_0 :: UDPIPEncap(1.0.0.1, 5, 2.0.0.2, 6)"),
            21 => format!("x{n}_need_4_0 :: ICMPPingEncap(1.0.0.1, 2.0.0.2)"),
            22 => format!("x{n}_need_4_0 :: MarkIPHeader -> IPFragmenter(300, HEADROOM {small})"),
            _ => {
                let offset = small % 4;
                format!("x{n}_need_4_{} :: MarkIPHeader({offset})", (4 - offset) % 4)
            }
        };
        self.text.push_str(&format!("{from} -> {element} -> w{n} :: Witness;\n"));
        self.open.push(format!("w{n}"));
    }

    /// One into several; the copies of a Tee share their data until somebody writes.
    fn split(&mut self, from: &str) {
        let n = self.name();
        let (class, ports) = match self.random.below(3) {
            0 => ("Classifier(0/00%01, 3/00%02, -)", 3),
            1 => ("RoundRobinSwitch", 2),
            _ => ("Tee", 3),
        };
        self.text.push_str(&format!("{from} -> s{n} :: {class};\n"));
        self.open.extend((0..ports).map(|port| format!("s{n} [{port}]")));
    }

    /// Several into one.
    fn join(&mut self, from: &str) {
        let n = self.name();
        self.text.push_str(&format!("{from} -> w{n} :: Witness;\n"));
        for _ in 0..self.random.below(3).min(self.open.len()) {
            let at = self.random.below(self.open.len());
            let other = self.open.swap_remove(at);
            self.text.push_str(&format!("{other} -> w{n};\n"));
        }
        self.open.push(format!("w{n}"));
    }

    /// Some packets go round, and become one byte shorter or longer every time.
    fn circle(&mut self, from: &str) {
        let n = self.name();
        let change = self.random.pick(&["Strip(1)", "Unstrip(2)", "Strip(4)", "Align(4, 2)", "Null"]);
        self.text.push_str(&format!(
            "{from} -> w{n} :: Witness -> r{n} :: RoundRobinSwitch; r{n} [1] -> {change} -> w{n};\n"
        ));
        self.open.push(format!("r{n} [0]"));
    }
}
