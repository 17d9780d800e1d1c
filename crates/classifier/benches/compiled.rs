//! Compiled against interpreted decisions: the firewall on the packets of `classify.rs`, and generated access lists.
//!
//! The text of the compiled one goes through rustc into a program of its own. Both decide about the same packets in the same
//! kind of loop, in alternation; printed are medians of medians of short rounds.

#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../tests/common/rulesets.rs"]
mod rulesets;
#[path = "../tests/common/rustc.rs"]
mod rustc;
mod traffic;

use clickwork_classifier::rust::{Sections, module};
use clickwork_classifier::{Headers, NoNames, Program, ip_filter};
use clickwork_packet::Packet;
use std::hint::black_box;
use std::time::Instant;
use traffic::{FIREWALL, Random, dns_traffic, firewall_traffic};

/// Runs of each program, in alternation.
const RUNS: usize = 9;
/// Packets between two looks at the clock: few, so that other programs seldom come between.
const CLASSIFIED: usize = 1 << 16;

/// What becomes of the compiled program: it prints nanoseconds per packet.
const MAIN: &str = r#"
use clickwork_packet::Packet;

fn main() {
    let text = std::fs::read_to_string(std::env::args().nth(1).unwrap()).unwrap();
    let (repeats, text) = text.split_once('\n').unwrap();
    let repeats: u32 = repeats.parse().unwrap();
    let mut packets: Vec<Packet> = text.lines().map(|line| {
        let bytes: Vec<u8> =
            (0..line.len()).step_by(2).map(|at| u8::from_str_radix(&line[at..at + 2], 16).unwrap()).collect();
        let mut p = Packet::new(&bytes);
        p.set_network_header(0, 20);
        p
    }).collect();
    std::hint::black_box(FAST);
    let mut figures = Vec::new();
    let mut sum = 0;
    for _ in 0..31 {
        let start = std::time::Instant::now();
        for _ in 0..repeats {
            for p in std::hint::black_box(&mut packets) {
                sum += c0::fast(&c0::Constants, p).map_or(7, usize::from);
            }
        }
        figures.push(start.elapsed().as_nanos() as f64 / (f64::from(repeats) * packets.len() as f64));
    }
    figures.sort_by(f64::total_cmp);
    println!("{sum} {}", figures[15]);
}
"#;

fn interpreted(program: &Program, packets: &[Packet], repeats: usize) -> (usize, f64) {
    let mut sum = 0;
    let round = |_| {
        let start = Instant::now();
        for _ in 0..repeats {
            for p in black_box(packets) {
                let network = p.network_bytes().unwrap_or_default();
                let transport = p.network_header_len().unwrap_or(u32::MAX);
                sum += program.classify(&Headers::ip(network, 0, transport as usize)).unwrap_or(7);
            }
        }
        start.elapsed().as_nanos() as f64 / (repeats * packets.len()) as f64
    };
    let figures = (0..31).map(round).collect();
    (sum, median(figures))
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn compare(name: &str, program: &Program, bytes: &[[u8; 40]]) {
    let text = module(program, Sections::Headers).expect("short enough");
    let compiled = rustc::compile("classifier-bench", &[text], MAIN, "3");
    let repeats = CLASSIFIED / bytes.len();
    let packets: Vec<Packet> = bytes
        .iter()
        .map(|bytes| {
            let mut p = Packet::new(bytes);
            p.set_network_header(0, 20);
            p
        })
        .collect();
    let line = |bytes: &[u8; 40]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + "\n";
    let input: String = std::iter::once(format!("{repeats}\n")).chain(bytes.iter().map(line)).collect();
    let (mut slow, mut fast) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let (sum, figure) = interpreted(program, &packets, repeats);
        slow.push(figure);
        let output = compiled.run(&input);
        let (other, figure) = output.trim().split_once(' ').expect("two figures");
        assert_eq!(other, sum.to_string(), "both decide alike");
        fast.push(figure.parse().expect("a figure"));
    }
    let (slow, fast) = (median(slow), median(fast));
    println!("{name}: interpreted {slow:.2} ns, compiled {fast:.2} ns, ratio {:.2}", fast / slow);
    // Buffers that are used again lie in disorder, which the other program's do not.
    std::mem::forget(packets);
}

fn main() {
    let program = ip_filter(&FIREWALL, 1, &NoNames).expect("valid").program;
    compare("firewall, DNS only", &program, &dns_traffic());
    compare("firewall, mixed", &program, &firewall_traffic(&mut Random(7)));
    for count in [100, 1_000, 10_000] {
        let rules = rulesets::rules(rulesets::Kind::AccessList, count, 1);
        let program = ip_filter(&rulesets::filter(&rules), 4, &NoNames).expect("valid").program;
        compare(&format!("{count} rules"), &program, &rulesets::traffic(&rules, 4096));
    }
}
