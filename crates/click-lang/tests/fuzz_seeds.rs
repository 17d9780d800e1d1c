//! The fuzz target's check on the seeds kept with it, so that what fuzzing found once stays found.

#[path = "../../../fuzz/checks/click.rs"]
mod click;

#[test]
fn every_seed_passes() {
    let seeds = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/seeds/parse_click");
    let mut count = 0;
    for entry in std::fs::read_dir(seeds).expect("the seeds are part of the repository") {
        click::check(&std::fs::read(entry.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count >= 10, "only {count} seeds");
}
