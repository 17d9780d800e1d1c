//! Thousands of runs, each made from its seed. One that fails prints the command that repeats it.
//!
//! | variable | |
//! |---|---|
//! | `PROLAC_TCP_RUNS` | how many; 2000 if it is not set |
//! | `PROLAC_TCP_SEED` | only the run with this seed |
//! | `PROLAC_TCP_TRACE` | if set, shows every packet of it |
//! | `PROLAC_TCP_SUBSET` | if set, these extensions only |

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use clickwork_prolac_tcp::Program;

use crate::scenario::Scenario;
use crate::subset::{Build, catalogue, program};
use crate::world::{Outcome, run};

/// A number from the environment.
pub fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

/// A TCP, and what it can be asked to do.
#[derive(Clone, Copy)]
pub struct Tested {
    program: Program,
    finds_path_mtu: bool,
}

impl Tested {
    /// With these extensions.
    pub fn new(program: Program, names: &[String]) -> Tested {
        Tested { program, finds_path_mtu: names.iter().any(|name| name == "path-mtu") }
    }

    /// The scenario of a seed, without what it cannot deal with.
    fn scenario(&self, seed: u64) -> Scenario {
        let mut scenario = Scenario::random(seed);
        if !self.finds_path_mtu {
            scenario.links.iter_mut().for_each(|link| link.largest = 0);
        }
        scenario
    }
}

/// The run of a seed; a panic is a failure like others.
pub fn run_seed(tested: Tested, seed: u64, trace: bool) -> Result<Outcome, String> {
    let scenario = tested.scenario(seed);
    let result = catch_unwind(AssertUnwindSafe(|| run(tested.program, &scenario, trace)));
    result.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        Err(text.or(panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default())
    })
}

/// Runs all of `jobs` on all processors; the failures, in order.
pub fn in_parallel(
    jobs: u64,
    work: impl Fn(u64) -> Result<Outcome, String> + Sync,
) -> (Outcome, Vec<(u64, String)>) {
    let next = AtomicU64::new(0);
    let threads = std::thread::available_parallelism().map_or(2, |n| n.get());
    let one = || {
        let (mut sum, mut failures) = (Outcome::default(), Vec::new());
        loop {
            let job = next.fetch_add(1, Ordering::Relaxed);
            if job >= jobs {
                return (sum, failures);
            }
            match work(job) {
                Ok(outcome) => sum.add(&outcome),
                Err(error) => failures.push((job, error)),
            }
        }
    };
    let parts: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        threads.into_iter().map(|thread| thread.join().expect("panics are caught")).collect()
    });
    let mut sum = Outcome::default();
    let mut failures = Vec::new();
    for (part, failed) in parts {
        sum.add(&part);
        failures.extend(failed);
    }
    failures.sort();
    (sum, failures)
}

/// The TCP that is linked in, or that of the extensions which the environment names.
fn tested() -> Tested {
    let Ok(names) = std::env::var("PROLAC_TCP_SUBSET") else {
        return Tested::new(Program::linked(), &catalogue().names());
    };
    let names: Vec<String> = names.split_whitespace().map(str::to_string).collect();
    let program = program(&catalogue(), &names, &Build::default());
    Tested::new(program.unwrap_or_else(|error| panic!("{error}")), &names)
}

#[test]
fn random_runs_deliver_every_byte_once_and_end() {
    let tested = tested();
    let trace = std::env::var_os("PROLAC_TCP_TRACE").is_some();
    if let Some(seed) = variable("PROLAC_TCP_SEED") {
        if trace {
            eprintln!("{:#?}", tested.scenario(seed));
        }
        let outcome = run_seed(tested, seed, trace).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        println!("seed {seed}: {outcome:?}");
        return;
    }
    let runs = variable("PROLAC_TCP_RUNS").unwrap_or(2_000);
    let start = Instant::now();
    let (sum, failures) = in_parallel(runs, |seed| run_seed(tested, seed, false));
    println!("{runs} runs in {:.1} s: {sum:?}", start.elapsed().as_secs_f64());
    for (seed, error) in failures.iter().take(20) {
        println!("seed {seed}: {error}");
        println!("  PROLAC_TCP_SEED={seed} PROLAC_TCP_TRACE=1 {COMMAND}");
    }
    assert!(failures.is_empty(), "{} of {runs} runs failed", failures.len());
    let told = sum.failed as u64;
    assert!(runs < 1_000 || told < runs / 2, "{told} users were told of an error");
}

/// What repeats a run, with variables before it.
pub const COMMAND: &str = "cargo test -p clickwork-prolac-tcp --test simulation -- --exact \
     runs::random_runs_deliver_every_byte_once_and_end --nocapture";

/// The same seed gives the same run, to the packet.
#[test]
fn runs_can_be_repeated() {
    let tested = tested();
    for seed in 0..40 {
        assert_eq!(run_seed(tested, seed, false), run_seed(tested, seed, false), "seed {seed}");
    }
}
