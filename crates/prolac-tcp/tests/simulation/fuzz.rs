//! Random and mutated segments into every state: the scripts of the fuzz target `fuzz/checks/tcp.rs`, its seeds first.
//!
//! `PROLAC_TCP_SCRIPTS` says how many random ones, 3000 if it is not set; `PROLAC_TCP_SCRIPT` runs the one with that number.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use clickwork_prolac_tcp::Program;

use crate::random::Random;
use crate::runs::{in_parallel, variable};
use crate::world::Outcome;

#[path = "../../../../fuzz/checks/tcp.rs"]
pub mod check;

/// A script that begins in a state and goes on at random.
fn script(number: u64) -> Vec<u8> {
    let mut random = Random::new(number ^ 0xf022);
    let mut bytes = vec![random.next() as u8, random.next() as u8, (number % 11) as u8, random.next() as u8];
    let length = random.scale(20, 2_000);
    bytes.extend((0..length).map(|_| if random.chance(300) { 0 } else { random.next() as u8 }));
    bytes
}

fn caught(work: impl FnOnce()) -> Result<Outcome, String> {
    catch_unwind(AssertUnwindSafe(work)).map(|()| Outcome::default()).map_err(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or(panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default()
    })
}

#[test]
fn random_scripts_break_nothing() {
    let program = Program::linked();
    if let Some(number) = variable("PROLAC_TCP_SCRIPT") {
        check::check_program(program, &script(number));
        return;
    }
    let scripts = variable("PROLAC_TCP_SCRIPTS").unwrap_or(3_000);
    let run = |number| {
        caught(|| {
            check::check_program(program, &script(number));
        })
    };
    let (_, failures) = in_parallel(scripts, run);
    for (number, error) in failures.iter().take(10) {
        println!("script {number}: {error}\n  PROLAC_TCP_SCRIPT={number} {COMMAND}");
    }
    assert!(failures.is_empty(), "{} of {scripts} scripts failed", failures.len());
}

const COMMAND: &str =
    "cargo test -p clickwork-prolac-tcp --test simulation -- --exact fuzz::random_scripts_break_nothing";

/// The scripts begin in every state.
#[test]
fn scripts_reach_every_state() {
    let mut reached = BTreeMap::new();
    for wanted in 0..11 {
        for role in [0, 1] {
            // Without SYN cookies, which keep no state.
            let begun = check::check_program(Program::linked(), &[0, 1, wanted, role]);
            *reached.entry(begun.map_or("none", |state| state.name())).or_insert(0) += 1;
        }
    }
    let states: Vec<_> = reached.keys().copied().collect();
    let all = [
        "CLOSE-WAIT",
        "CLOSING",
        "ESTABLISHED",
        "FIN-WAIT-1",
        "FIN-WAIT-2",
        "LAST-ACK",
        "LISTEN",
        "SYN-RECEIVED",
        "SYN-SENT",
        "TIME-WAIT",
    ];
    assert_eq!(states, all, "{reached:?}");
}

#[test]
fn every_seed_of_the_fuzz_target_passes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/tcp");
    let seeds = std::fs::read_dir(folder).expect("the seeds are part of the repository");
    let seeds: Vec<_> =
        seeds.map(|seed| std::fs::read(seed.expect("a seed").path()).expect("a file")).collect();
    assert!(seeds.len() >= 20, "only {} seeds", seeds.len());
    seeds.iter().for_each(|seed| check::check(seed));
}

/// Writes the seeds anew: `cargo test ... -- --ignored write_seeds`.
#[test]
#[ignore = "writes into the repository"]
fn write_seeds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/tcp");
    std::fs::create_dir_all(&folder).expect("a folder");
    for number in 0..33 {
        let bytes = script(number);
        let bytes = &bytes[..bytes.len().min(400)];
        std::fs::write(folder.join(format!("{number:02}")), bytes).expect("a seed");
    }
}
