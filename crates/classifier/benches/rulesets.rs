//! Rules against nanoseconds: generated access lists and firewalls of 10 to 10,000 rules.

#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../tests/common/rulesets.rs"]
mod rulesets;

use clickwork_classifier::{Headers, NoNames, Program, ip_filter};
use rulesets::Kind;
use std::hint::black_box;
use std::time::Instant;

const PACKETS: usize = 4096;
/// Rounds are short, so that other programs seldom come between.
const ROUNDS: usize = 101;

fn nanoseconds(program: &Program, packets: &[[u8; 40]]) -> f64 {
    let start = Instant::now();
    let decide = |packet: &[u8; 40]| program.classify(&Headers::ip(packet, 0, 20)).unwrap_or(7);
    black_box(black_box(packets).iter().map(decide).sum::<usize>());
    start.elapsed().as_nanos() as f64 / packets.len() as f64
}

/// The fewest milliseconds of three times, and the program.
fn build(texts: &[String]) -> (f64, Program) {
    let once = |_| {
        let start = Instant::now();
        let program = ip_filter(texts, 4, &NoNames).expect("valid").program;
        (start.elapsed().as_secs_f64() * 1e3, program)
    };
    (0..3).map(once).min_by(|(one, _), (other, _)| one.total_cmp(other)).expect("three times")
}

fn main() {
    println!("kind, rules, ns per packet (median of {ROUNDS}), build ms (least of 3), steps");
    for kind in [Kind::AccessList, Kind::Firewall] {
        for count in [10, 100, 1_000, 10_000] {
            let rules = rulesets::rules(kind, count, 1);
            let texts = rulesets::filter(&rules);
            let (build, program) = build(&texts);
            let packets = rulesets::traffic(&rules, PACKETS);
            let mut figures: Vec<f64> = (0..ROUNDS).map(|_| nanoseconds(&program, &packets)).collect();
            figures.sort_by(f64::total_cmp);
            println!("{kind:?}, {count}, {:.1}, {build:.1}, {}", figures[ROUNDS / 2], program.steps().len());
        }
    }
}
