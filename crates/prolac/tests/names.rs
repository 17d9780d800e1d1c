//! Random programs of modules, judged by a second resolver: what each view shows, what each implicit name stands for,
//! and which method each call reaches.
//!
//! - `PROLAC_NAMES_PROGRAMS=100000` compares so many programs;
//! - `PROLAC_NAMES_SEED=17` compares one program, or so many from this one on.
//!
//! Read first: `model.rs`, then `resolve.rs`.

#[path = "names/compare.rs"]
mod compare;
#[path = "names/generate.rs"]
mod generate;
#[path = "names/model.rs"]
mod model;
#[path = "differential/random.rs"]
#[allow(dead_code)]
mod random;
#[path = "names/resolve.rs"]
mod resolve;
#[path = "names/search.rs"]
mod search;
#[path = "names/text.rs"]
mod text;

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|value| value.parse().ok())
}

/// Smaller and smaller programs that differ too.
fn smallest(seed: u64) -> String {
    let mut program = generate::program(seed);
    let mut difference = compare::compare(&program, seed).expect_err("it differs");
    while let Some((smaller, message)) = generate::smaller(&program)
        .into_iter()
        .find_map(|smaller| compare::compare(&smaller, seed).err().map(|message| (smaller, message)))
    {
        (program, difference) = (smaller, message);
    }
    difference
}

#[test]
fn a_second_resolver_agrees() {
    let one = variable("PROLAC_NAMES_SEED");
    let first = one.unwrap_or(1);
    let count = variable("PROLAC_NAMES_PROGRAMS").unwrap_or(if one.is_some() { 1 } else { 200 });
    let mut different = 0;
    for seed in first..first + count {
        let program = generate::program(seed);
        if compare::compare(&program, seed).is_err() {
            println!("seed {seed}: {}", smallest(seed));
            different += 1;
            if different >= 3 {
                break;
            }
        }
    }
    assert_eq!(different, 0, "the compiler and the second resolver differ");
}

/// Programs that all say the same would show nothing.
#[test]
fn programs_have_what_is_compared() {
    let mut counts = compare::Counts::default();
    (1..=200).for_each(|seed| counts.add(&generate::program(seed)));
    let compare::Counts { found, ambiguous, circular, missing, inherited, overridden, nested } = counts;
    println!("{counts:?}");
    for (what, count, least) in [
        ("implicit names that stand for something", found, 80),
        ("ambiguous ones", ambiguous, 3),
        ("circular ones", circular, 1),
        ("undeclared ones", missing, 20),
        ("shown ones that are inherited", inherited, 10),
        ("overridden ones", overridden, 5),
        ("ones that stand for implicit ones", nested, 2),
    ] {
        assert!(count >= least, "{count} {what} are too few");
    }
}
