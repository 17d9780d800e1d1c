//! The fuzz target's check on its seeds and on pieces of them.

#[path = "../../../fuzz/checks/filter.rs"]
mod filter;

use std::fs;
use std::path::Path;

#[test]
fn the_seeds_and_their_beginnings_pass() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/ip_filter");
    let mut count = 0;
    for entry in fs::read_dir(folder).expect("the seeds are there") {
        let seed = fs::read(entry.expect("readable").path()).expect("readable");
        for length in 0..=seed.len() {
            filter::check(&seed[..length]);
        }
        count += 1;
    }
    assert!(count > 0);
}
