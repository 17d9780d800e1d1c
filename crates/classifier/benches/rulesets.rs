//! Rules against nanoseconds: generated access lists and firewalls of 10 to 10,000 rules.

#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../tests/common/rulesets.rs"]
mod rulesets;

use clickwork_classifier::{Headers, NoNames, Program, ip_filter};
use rulesets::Kind;
use std::hint::black_box;
use std::time::Instant;

const PACKETS: usize = 4096;
const ROUNDS: usize = 7;

fn nanoseconds(program: &Program, packets: &[[u8; 40]]) -> f64 {
    let passes = (200_000 / packets.len()).max(1);
    let start = Instant::now();
    let mut sum = 0;
    for _ in 0..passes {
        for packet in black_box(packets) {
            sum += program.classify(&Headers::ip(packet, 0, 20)).unwrap_or(7);
        }
    }
    black_box(sum);
    start.elapsed().as_nanos() as f64 / (passes * packets.len()) as f64
}

fn main() {
    println!("kind, rules, ns per packet (median of {ROUNDS}), build ms, steps");
    for kind in [Kind::AccessList, Kind::Firewall] {
        for count in [10, 100, 1_000, 10_000] {
            let rules = rulesets::rules(kind, count, 1);
            let texts = rulesets::filter(&rules);
            let start = Instant::now();
            let program = ip_filter(&texts, 4, &NoNames).expect("valid").program;
            let build = start.elapsed().as_secs_f64() * 1e3;
            let packets = rulesets::traffic(&rules, PACKETS);
            let mut figures: Vec<f64> = (0..ROUNDS).map(|_| nanoseconds(&program, &packets)).collect();
            figures.sort_by(f64::total_cmp);
            println!("{kind:?}, {count}, {:.1}, {build:.1}, {}", figures[ROUNDS / 2], program.steps().len());
        }
    }
}
