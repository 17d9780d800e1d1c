//! Any subset of the extensions compiles and passes the fixed list of scenarios: all subsets of the four of the paper, each
//! extension, and random ones, in which most pairs stand together and apart.
//!
//! `PROLAC_TCP_SUBSETS` says how many random ones; 40 if it is not set. If it is, all pairs are tested, too.
//! `PROLAC_TCP_SUBSET="delay-ack sack"` tests only that.

use std::collections::BTreeSet;
use std::time::Instant;

use crate::base;
use crate::compose::Catalogue;
use crate::random::Random;
use crate::runs::{Tested, in_parallel, run_seed, variable};
use crate::subset::{Build, catalogue, program, with_large_stack};
use crate::world::Outcome;

/// The extensions of the paper.
const PAPER: [&str; 4] = ["delay-ack", "slow-start", "fast-retransmit", "header-prediction"];

type Subsets = BTreeSet<Vec<String>>;

/// Those that the test is about, with what they need.
fn subsets(catalogue: &Catalogue) -> Subsets {
    let all = catalogue.names();
    let asked = variable("PROLAC_TCP_SUBSETS");
    let mut subsets = Subsets::new();
    let mut add = |names: &[String]| {
        subsets.insert(catalogue.with_needs(names).unwrap_or_else(|error| panic!("{error}")));
    };
    add(&[]);
    add(&all);
    let paper: Vec<String> =
        PAPER.iter().filter(|p| all.iter().any(|a| a == *p)).map(ToString::to_string).collect();
    (0..1u32 << paper.len()).for_each(|bits| add(&members(&paper, |index| bits >> index & 1 == 1)));
    for (index, first) in all.iter().enumerate() {
        let others = if asked.is_some() { &all[index..] } else { std::slice::from_ref(first) };
        others.iter().for_each(|second| add(&[first.clone(), second.clone()]));
    }
    let mut generator = Random::new(1999);
    (0..asked.unwrap_or(40)).for_each(|_| add(&random_members(&all, &mut generator)));
    subsets
}

/// Few extensions, many, or about half.
fn random_members(all: &[String], generator: &mut Random) -> Vec<String> {
    let share = generator.pick(&[150, 500, 500, 850]);
    members(all, |_| generator.chance(share))
}

fn members(of: &[String], mut chosen: impl FnMut(usize) -> bool) -> Vec<String> {
    of.iter().enumerate().filter(|(index, _)| chosen(*index)).map(|(_, name)| name.clone()).collect()
}

/// Compiles and tests each; on all processors.
fn check(catalogue: &Catalogue, subsets: &[Vec<String>]) {
    let start = Instant::now();
    let (_, failures) = in_parallel(subsets.len() as u64, |index| {
        let program = program(catalogue, &subsets[index as usize], &Build::default())?;
        base::check(program).map(|()| Outcome::default())
    });
    println!("{} subsets in {:.1} s", subsets.len(), start.elapsed().as_secs_f64());
    for (index, error) in failures.iter().take(10) {
        let names = subsets[*index as usize].join(" ");
        println!("[{names}]: {error}\n  PROLAC_TCP_SUBSET=\"{names}\" {COMMAND}");
    }
    assert!(failures.is_empty(), "{} of {} subsets failed", failures.len(), subsets.len());
}

const COMMAND: &str = "cargo test -p clickwork-prolac-tcp --test simulation -- --exact \
     subsets::any_subset_passes_the_base_tests --nocapture";

#[test]
fn any_subset_passes_the_base_tests() {
    let catalogue = catalogue();
    if let Ok(names) = std::env::var("PROLAC_TCP_SUBSET") {
        return check(&catalogue, &[names.split_whitespace().map(str::to_string).collect()]);
    }
    check(&catalogue, &subsets(&catalogue).into_iter().collect::<Vec<_>>());
}

/// The random runs of `runs.rs` with random subsets: fifty of each.
#[test]
fn random_subsets_pass_random_runs() {
    const RUNS: u64 = 50;
    let catalogue = catalogue();
    let subset = |number: u64| {
        let names = random_members(&catalogue.names(), &mut Random::new(number ^ 0xab));
        catalogue.with_needs(&names).unwrap_or_else(|error| panic!("{error}"))
    };
    let (_, failures) = in_parallel(variable("PROLAC_TCP_SUBSETS").unwrap_or(12), |number| {
        let names = subset(number);
        let tested = Tested::new(program(&catalogue, &names, &Build::default())?, &names);
        let mut seeds = number * RUNS..(number + 1) * RUNS;
        let failure = seeds.find_map(|seed| Some((seed, run_seed(tested, seed, false).err()?)));
        match failure {
            Some((seed, error)) => Err(format!("{error}\n  PROLAC_TCP_SEED={seed}")),
            None => Ok(Outcome::default()),
        }
    });
    for (number, error) in &failures {
        let names = subset(*number).join(" ");
        println!("[{names}]: {error} PROLAC_TCP_SUBSET=\"{names}\" {}", crate::runs::COMMAND);
    }
    assert!(failures.is_empty(), "{} subsets failed", failures.len());
}

/// What an extension needs is said when it is not there.
#[test]
fn a_missing_need_is_named() {
    let catalogue = catalogue();
    for extension in catalogue.extensions().filter(|extension| !extension.needs.is_empty()) {
        let error =
            catalogue.compile(std::slice::from_ref(&extension.name), "tcp", 1).expect_err("it needs another");
        let message = error.to_string();
        let expected = format!("the extension `{}` needs `", extension.name);
        assert!(message.starts_with(&expected), "{message}");
    }
}

/// The opening comment of each extension says what it is.
#[test]
fn every_extension_says_what_it_is() {
    for extension in catalogue().extensions() {
        assert!(extension.about.len() > 20, "{}: {:?}", extension.name, extension.about);
    }
}

/// With everything in it, no call looks for its target at run time.
#[test]
fn no_dispatch_is_left_in_the_full_program() {
    let catalogue = catalogue();
    let counts = with_large_stack(|| {
        let compilation = catalogue.compilation(&catalogue.names(), 3);
        compilation.unwrap_or_else(|error| panic!("{error}")).counts()
    });
    let counts = counts.expect("a program without errors");
    println!("{counts}");
    assert_eq!((counts.before[3].dispatches, counts.after[3].dispatches), (0, 0));
}
